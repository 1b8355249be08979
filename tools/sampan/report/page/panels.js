// The header, and the lower part: tabs, its height, summary and advice.
const tabs = {
  names: ["summary", "rates", "selection"],
  tab: (name) => document.getElementById(`tab-${name}`),

  open(name) {
    for (const other of this.names) {
      const chosen = other === name;
      this.tab(other).setAttribute("aria-selected", String(chosen));
      this.tab(other).tabIndex = chosen ? 0 : -1;
      document.getElementById(`panel-${other}`).hidden = !chosen;
    }
  },

  start() {
    for (const name of this.names) {
      this.tab(name).addEventListener("click", () => this.open(name));
      this.tab(name).addEventListener("keydown", (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        const next = event.key === "Home" ? 0 : event.key === "End" ? this.names.length - 1
          : by && (this.names.indexOf(name) + by + this.names.length) % this.names.length;
        if (next === undefined) return;
        event.preventDefault();
        this.open(this.names[next]);
        this.tab(this.names[next]).focus();
      });
    }
    this.open("summary");
  },
};

function startSplitter() {
  const splitter = document.getElementById("splitter");
  const lower = document.getElementById("lower");
  const resize = (height) => {
    const most = Math.max(document.querySelector("main").clientHeight - 260, 90);
    const chosen = Math.round(Math.min(Math.max(height, 90), most));
    lower.style.height = `${chosen}px`;
    splitter.setAttribute("aria-valuemin", "90");
    splitter.setAttribute("aria-valuemax", String(Math.round(most)));
    splitter.setAttribute("aria-valuenow", String(chosen));
  };
  let before = 0;
  onDrag(splitter, {
    begin: ({ event }) => { before = lower.offsetHeight + event.clientY; },
    move: ({ event }) => resize(before - event.clientY),
  });
  splitter.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 24, ArrowDown: -24 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    resize(lower.offsetHeight + by);
  });
  resize(Math.min(Math.max(innerHeight * 0.34, 180), 360));
}

function showSummary(summary) {
  const panel = document.getElementById("summary");
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const column of summary.columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = column.name;
    cell.classList.toggle("text", column.text);
    head.append(cell);
  }
  const body = table.createTBody();
  for (const entry of summary.rows) {
    const row = body.insertRow();
    entry.cells.forEach((text, at) => {
      const cell = row.insertCell();
      if (at === 0) {
        const key = document.createElement("span");
        key.className = "key";
        key.style.background = `var(--${entry.tint})`;
        cell.append(key);
      }
      cell.append(text);
      cell.classList.toggle("text", summary.columns[at].text);
    });
  }
  panel.append(table);
  document.getElementById("sentences").append(...summary.lines.map(plainLine));
}

function plainLine(text) {
  const line = document.createElement("p");
  line.className = /^(failed|unfinished): /.test(text) ? "plain failed" : "plain";
  line.textContent = text;
  return line;
}

function showAdvice(advice) {
  const panel = document.getElementById("advice");
  document.querySelector("#tab-summary .count").textContent = advice.length > 0 ? String(advice.length) : "";
  for (const text of advice) {
    const box = document.createElement("div");
    box.className = "advice";
    box.textContent = text;
    panel.append(box);
  }
  if (advice.length === 0) panel.append(plainLine("Nothing in this trace is plainly slow."));
}

function showFacts(model) {
  document.title = `${model.file} - Sampan report`;
  document.getElementById("file").textContent = model.file;
  const facts = document.getElementById("facts");
  for (const [name, value] of model.facts) {
    const [pair, term, text] = ["div", "dt", "dd"].map((element) => document.createElement(element));
    term.textContent = name;
    text.textContent = typeof value === "number" ? showCount(value) : value;
    pair.append(term, text);
    pair.dataset.fact = name;
    facts.append(pair);
  }
  const notes = document.getElementById("notes");
  notes.hidden = model.notes.length === 0;
  notes.textContent = model.notes.join(" ");
}
