// The selected slice, and the panel that tells all about it.
class Selection {
  constructor(items) {
    this.items = items;
    this.item = null;
    this.listeners = [];
    this.panel = document.getElementById("panel-selection");
    this.show();
  }

  choose(item, { tab = true } = {}) {
    this.item = item;
    this.show();
    if (item !== null && tab) tabs.open("selection");
    if (item !== null) announce(tooltipLines(this.items, item).join(", "));
    for (const listener of this.listeners) listener();
  }

  // Chooses and makes sure that it can be seen.
  goTo(item) {
    this.choose(item);
    this.timeline.show(item);
  }

  // The next or previous item of the same track; of the first track that has any when nothing is selected.
  step(by) {
    const track = this.items.tracks[this.item === null ? this.items.track[0] : this.items.track[this.item]];
    const next = this.item === null ? track?.begin : this.item + by;
    if (track && next >= track.begin && next < track.end) this.goTo(next);
  }

  follow() {
    const others = this.item === null ? undefined : this.items.other.get(this.item);
    if (others) this.goTo(others[0]);
    else announce("The selection has no other end.");
  }

  show() {
    this.panel.replaceChildren();
    if (this.item === null) {
      this.panel.append(plainLine("Nothing is selected. Click on a slice, or press . in the timeline."));
      return;
    }
    const i = this.item;
    const { items } = this;
    const track = items.tracks[items.track[i]];
    const title = document.createElement("h3");
    title.textContent = items.title(i);
    const times = list([
      ["track", `${track.area} / ${track.name}`],
      ...(items.state(i) === "" ? [] : [["state", items.state(i)]]),
      ["begins", showTime(items.start[i])],
      ["lasts", showTime(items.end[i] - items.start[i])],
      ...groupLines(items, i),
    ]);
    const left = document.createElement("div");
    left.append(title, times);
    this.panel.append(left);
    const details = items.argumentsOf(i).map(([key, value]) => [key, showArgument(key, value)]);
    if (details.length > 0) {
      const right = document.createElement("div");
      right.className = "wide";
      const heading = document.createElement("h3");
      heading.textContent = "Arguments";
      right.append(heading, list(details));
      this.panel.append(right);
    }
    this.showFlow(i);
  }

  showFlow(i) {
    const others = this.items.other.get(i);
    if (!others) return;
    const box = document.createElement("div");
    const heading = document.createElement("h3");
    heading.textContent = this.items.tracks[this.items.track[i]].device ? "Call" : countOf(others.length, "task") + " on the device";
    box.append(heading);
    const kMax = 20;
    for (const other of others.slice(0, kMax)) {
      const link = document.createElement("button");
      link.type = "button";
      link.className = "link";
      const apart = this.items.start[other] - this.items.start[i];
      link.textContent = `${this.items.name[other]} on ${this.items.tracks[this.items.track[other]].name}, `
        + `${showTime(Math.abs(apart))} ${apart < 0 ? "earlier" : "later"}`;
      link.addEventListener("click", () => this.goTo(other));
      const line = document.createElement("p");
      line.append(link);
      box.append(line);
    }
    if (others.length > kMax) box.append(`and ${showCount(others.length - kMax)} more`);
    this.panel.append(box);
  }
}

function list(pairs) {
  const element = document.createElement("dl");
  for (const [name, value] of pairs) {
    const [pair, term, text] = ["div", "dt", "dd"].map((each) => document.createElement(each));
    term.textContent = name;
    text.textContent = value;
    pair.append(term, text);
    element.append(pair);
  }
  return element;
}

function showArgument(key, value) {
  if (typeof value !== "number") return String(value);
  return key === kBytes ? `${showBytes(value)}${value >= 1024 ? ` (${showCount(value)})` : ""}` : String(value);
}

// What is known of slices that were too many to show one by one.
function groupLines(items, i) {
  const group = items.groups.get(i);
  if (!group) return [];
  const lines = [["holds", `${countOf(group.count, "slice")} that are too short to show one by one`],
    ["busy", `${showTime(group.busy)}, ${Math.min(100, (100 * group.busy) / Math.max(items.end[i] - items.start[i], 1)).toFixed(0)} % of that time`]];
  if (group.copies > 0) {
    const sizes = group.min === group.max ? `of ${showBytes(group.min)}` : `of ${showBytes(group.min)} to ${showBytes(group.max)}`;
    lines.push(["copies", `${showCount(group.copies)} ${sizes}, together ${showBytes(group.bytes)}`]);
  }
  for (let at = 0; at < group.names.length; at += 2) lines.push([items.strings[group.names[at]], showCount(group.names[at + 1])]);
  const milliseconds = (time) => `${((items.origin + time) / 1e6).toFixed(3)}ms`;
  lines.push(["to see each", `${items.command} --from ${milliseconds(items.start[i])} --to ${milliseconds(items.end[i])}`]);
  return lines;
}

function tooltipLines(items, i) {
  const lines = [items.title(i), `${showTime(items.end[i] - items.start[i])} from ${showTime(items.start[i])}`];
  const state = items.state(i);
  if (state !== "") lines.push(state);
  const group = items.groups.get(i);
  if (group) {
    if (group.copies > 0) lines.push(`${countOf(group.copies, "copy", "copies")}, ${showBytes(group.bytes)}`);
    return lines;
  }
  const bytes = items.argument(i, kBytes);
  if (bytes !== undefined) {
    const device = items.tracks[items.track[i]].device;
    lines.push(showBytes(bytes) + (device && state === "" && items.end[i] > items.start[i] ? `, ${showRate(bytes, items.end[i] - items.start[i])}` : ""));
  }
  const kind = items.argument(i, kKind);
  if (kind !== undefined) lines.push(String(kind));
  return lines;
}

function announce(text) {
  document.getElementById("announcement").textContent = text;
}
