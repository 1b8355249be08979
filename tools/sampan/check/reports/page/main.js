// Puts the page together.
function showFacts(model) {
  const { report } = model;
  const pairs = { Errors: report.errors, Warnings: report.warnings, Schedule: model.schedule || "parallel" };
  for (const [name, value] of Object.entries(pairs)) {
    const pair = make("div", "", make("dt", "", name), make("dd", "", String(value)));
    pair.dataset.fact = name;
    if (value === 0) pair.dataset.none = "";
    document.getElementById("facts").append(pair);
  }
  const program = document.getElementById("program");
  program.textContent = report.program.join(" ");
  program.title = program.textContent;
  document.title = `${plural(report.errors, "error")}, ${plural(report.warnings, "warning")}: ${baseName(report.program[0] ?? "")} - Sampan check`;
}

function indexEntry(finding) {
  const place = finding.accesses.at(-1)?.stack[0] ?? finding.buffer?.stack[0];
  const link = make("a", finding.severity, make("b", "", finding.kind), make("span", "", placeOf(place)));
  link.href = `#${finding.id}`;
  return link;
}

// Marks the entry of the finding that is being read.
function followReading(articles) {
  const links = new Map([...document.querySelectorAll("#index a")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target);
    const current = articles.find((article) => seen.has(article));
    for (const [id, link] of links) link.toggleAttribute("aria-current", id === current?.id);
  }, { rootMargin: "-10% 0px -60% 0px" });
  for (const article of articles) observer.observe(article);
}

async function start() {
  theme.start();
  const model = await unpack(document.getElementById("data"));
  showFacts(model);
  const { findings } = model.report;
  const box = document.getElementById("findings");
  if (findings.length === 0) box.append(make("p", "clean", make("b", "", "Nothing was found."), "Every order that the program's copies need is there, in this run."));
  const made = findings.map((finding) => articleOf(finding, model));
  box.append(...made.map(({ article }) => article));
  document.getElementById("index").append(...findings.map(indexEntry));
  document.getElementById("index").hidden = findings.length < 2;
  for (const { start: begin } of made) begin();
  followReading(made.map(({ article }) => article));
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  const notes = document.getElementById("notes");
  notes.hidden = false;
  notes.textContent = `The page cannot be shown: ${error.message}. A browser of 2023 or later is needed.`;
  document.documentElement.dataset.ready = "failed";
});
