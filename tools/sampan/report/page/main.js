// Puts the page together.
async function start() {
  theme.start();
  const model = await unpack(document.getElementById("data"));
  const items = new Items(model);
  const view = new View(model.span);
  tabs.start();
  startSplitter();
  showFacts(model);
  showSummary(model.summary);
  showAdvice(model.advice);
  const selection = new Selection(items);
  const timeline = new Timeline(items, view, selection);
  selection.timeline = timeline;
  startOverview(items, view);
  startRuler(view, timeline);
  startViewText(items, view);
  startCounters(model.counters, view);
  startRates(model, timeline, selection);
  startSearch(items, timeline, selection);
  document.getElementById("zoom-in").addEventListener("click", () => view.zoom(2, timeline.selectedTime()));
  document.getElementById("zoom-out").addEventListener("click", () => view.zoom(0.5, timeline.selectedTime()));
  document.getElementById("zoom-all").addEventListener("click", () => view.showAll());
  startHelp();
  document.documentElement.dataset.ready = "true";
}

function startHelp() {
  const dialog = document.getElementById("keys");
  document.getElementById("help").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea") || dialog.open) return;
    if (event.key === "/") document.getElementById("query").focus();
    else if (event.key === "?") dialog.showModal();
    else return;
    event.preventDefault();
  });
}

start().catch((error) => {
  const notes = document.getElementById("notes");
  notes.hidden = false;
  notes.textContent = `The report cannot be shown: ${error.message}. A browser of 2023 or later is needed.`;
  document.documentElement.dataset.ready = "failed";
});
