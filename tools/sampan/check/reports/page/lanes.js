// The picture of a finding: threads and streams as lanes, time downwards, the missing order in red.
const kSvg = "http://www.w3.org/2000/svg";
const kLetter = 6.7;  // the width of a letter of the monospaced font
const kRow = { head: 34, submit: 44, box: 78, gap: 34, tail: 26 };
let pictures = 0;

function draw(tag, attributes, text) {
  const element = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// The line number of a place stays.
const shortened = (text, width) => {
  const most = Math.max(3, Math.floor(width / kLetter));
  const end = /:\d+$/.exec(text)?.[0] ?? "";
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1 - end.length))}\u2026${end}`;
};

const onStream = (access) => access.stream !== null;
const threadName = (access) => access.thread === null ? "host" : `thread ${access.thread}`;

// A lane for each thread that took part and each stream; two entries of one batch have a lane each.
function laneOf(access, all) {
  if (!onStream(access)) return threadName(access);
  const stream = `stream ${access.stream}` + (new Set(all.filter(onStream).map((other) => other.device)).size > 1 ? ` of device ${access.device}` : "");
  const twins = all.filter((other) => other.stream === access.stream && other.device === access.device);
  return access.entry !== null && twins.length > 1 ? `${stream}, entry ${access.entry}` : stream;
}

function lanesOf(accesses, isCircle) {
  if (isCircle) return [...new Set(accesses.map((access) => laneOf(access, accesses)))];
  const threads = accesses.filter((access) => access.thread !== null || !onStream(access)).map(threadName);
  const streams = accesses.filter(onStream).map((access) => laneOf(access, accesses));
  return [...new Set([...threads, ...streams])];
}

const doing = { read: "reads", write: "writes", free: "frees", wait: "waits", record: "records" };

const hasBytes = (access) => access.begin !== null && access.end !== null && access.begin < access.end;

// A call that makes a stream, for example, reads and writes nothing.
function verbOf(access) {
  const isAccess = access.does === "read" || access.does === "write";
  return isAccess && !hasBytes(access) ? "" : doing[access.does] ?? access.does;
}

function labelsOf(access) {
  const last = access.end - access.begin > 1 ? `\u2013${access.end - 1}` : "";
  return [access.call ?? "the host", verbOf(access) + (hasBytes(access) ? ` ${access.begin}${last}` : ""), placeOf(access.stack[0])];
}

// Positions from top to bottom: each access has its submission, if it is a stream's, and its box. In a circle of waits only
// the waits matter.
function rowsOf(accesses, isCircle) {
  let y = kRow.head;
  const rows = accesses.map((access) => {
    const row = { access };
    if (onStream(access) && access.thread !== null && !isCircle) {
      row.submit = y + kRow.submit / 2;
      y += kRow.submit;
    }
    row.top = y;
    row.bottom = y + kRow.box;
    y = row.bottom + kRow.gap;
    return row;
  });
  return { rows, height: y - kRow.gap + kRow.tail };
}

class LanePicture {
  constructor(finding, box) {
    this.finding = finding;
    this.box = box;
    this.isCircle = finding.kind === "deadlock";
    this.lanes = lanesOf(finding.accesses, this.isCircle);
    this.number = ++pictures;
    this.width = 0;
    new ResizeObserver(() => this.redraw()).observe(box);
    this.redraw();
  }

  redraw() {
    const width = Math.floor(this.box.clientWidth);
    if (width === this.width || width === 0) return;
    this.width = width;
    this.box.replaceChildren(this.picture());
  }

  middle(lane) {
    return (this.lanes.indexOf(lane) + 0.5) * this.width / this.lanes.length;
  }

  picture() {
    const { rows, height } = rowsOf(this.finding.accesses, this.isCircle);
    const svg = draw("svg", { width: this.width, height, viewBox: `0 0 ${this.width} ${height}`, role: "img" });
    svg.append(draw("title", {}, this.description()), this.marker("missing"), this.marker("order"));
    this.drawLanes(svg, height);
    const boxWidth = Math.min(190, this.width / this.lanes.length - 20);
    for (const [index, row] of rows.entries()) this.drawRow(svg, row, index, boxWidth, height);
    for (const [index, row] of rows.slice(1).entries()) this.drawMissing(svg, rows[index], row, boxWidth);
    if (this.isCircle && rows.length > 1) this.drawBack(svg, rows.at(-1), rows[0], boxWidth);
    return svg;
  }

  description() {
    const said = this.finding.accesses.map((access) => `${laneOf(access, this.finding.accesses)}: ${labelsOf(access).join(", ")}`);
    return `${said.join("; then ")}. ${this.isCircle ? "Each waits for the next." : "Nothing orders them."}`;
  }

  marker(kind) {
    const marker = draw("marker", { id: `${kind}-${this.number}`, class: kind, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" });
    marker.append(draw("path", { d: "M0 0L10 5L0 10z" }));
    return marker;
  }

  drawLanes(svg, height) {
    const width = this.width / this.lanes.length;
    for (const lane of this.lanes) {
      const x = this.middle(lane);
      svg.append(draw("line", { class: "lane", x1: x, x2: x, y1: kRow.head - 8, y2: height }),
        draw("text", { class: "lane-name", x, y: 16 }, shortened(lane, width)));
    }
  }

  drawRow(svg, row, index, width, height) {
    const { access } = row;
    const x = this.middle(laneOf(access, this.finding.accesses));
    if (row.submit !== undefined) this.drawSubmission(svg, row, x);
    const isOpen = onStream(access) && index + 1 < this.finding.accesses.length && !this.isCircle;
    // Until something tells that it is over, the work may run at any time from here on.
    if (isOpen) svg.append(draw("rect", { class: "may-run", x: x - width / 2, y: row.top, width, height: height - row.top - 4, rx: 7 }));
    svg.append(draw("rect", { class: `access ${access.does}`, x: x - width / 2, y: row.top, width, height: kRow.box, rx: 7 }));
    const labels = labelsOf(access);
    for (const [line, text] of labels.entries())
      svg.append(draw("text", { class: line === 0 ? "call" : "detail", x, y: row.top + 21 + 19 * line }, shortened(text, width - 10)));
    svg.append(draw("circle", { class: "badge", cx: x - width / 2 + 1, cy: row.top + 1, r: 9 }),
      draw("text", { class: "badge-text", x: x - width / 2 + 1, y: row.top + 5 }, String(index + 1)));
    if (isOpen) svg.append(draw("text", { class: "may-run-text", x, y: height - 12 }, shortened("may still run", width)));
  }

  drawSubmission(svg, row, x) {
    const from = this.middle(threadName(row.access));
    const y = row.submit;
    const isRight = x > from;
    svg.append(draw("circle", { class: "submit", cx: from, cy: y, r: 4.5 }),
      draw("path", { class: "order", d: `M${from} ${y}H${x + (isRight ? -14 : 14)}q${isRight ? 14 : -14} 0 ${isRight ? 14 : -14} 14V${row.top - 2}`, "marker-end": `url(#order-${this.number})` }),
      draw("text", { class: "submit-text", x: from + (isRight ? 38 : -38), y: y - 6 }, "submits"));
  }

  // The order that is missing: from the end of one to the begin of the other. In a circle: who waits for whom.
  drawMissing(svg, from, to, width) {
    const [x1, x2] = [from, to].map((row) => this.middle(laneOf(row.access, this.finding.accesses)));
    const side = x2 >= x1 ? 1 : -1;
    const target = { x: x2 - side * (width / 2 + 4), y: (to.top + to.bottom) / 2 };
    let path = `M${x1} ${from.bottom}`;
    if (x1 === x2) path += `V${to.top - 3}`;
    else if (this.isCircle) path += `V${target.y}H${target.x}`;
    else path += `C${x1} ${from.bottom + 46} ${x2 - side * width} ${target.y} ${target.x} ${target.y}`;
    this.drawRed(svg, path, x1 === x2 || this.isCircle ? x1 + 38 : (x1 + x2 - side * width / 2) / 2, from.bottom + kRow.gap / 2 + 6);
  }

  // The last of a circle waits for the first: around all others.
  drawBack(svg, from, to, width) {
    const [x1, x2] = [from, to].map((row) => this.middle(laneOf(row.access, this.finding.accesses)));
    this.drawRed(svg, `M${x1} ${from.bottom}v12H4V${(to.top + to.bottom) / 2}H${x2 - width / 2 - 4}`, 44, from.bottom + 16);
  }

  drawRed(svg, path, x, y) {
    svg.append(draw("path", { class: "missing", d: path, "marker-end": `url(#missing-${this.number})` }),
      draw("text", { class: "missing-text", x: Math.min(this.width - 32, Math.max(32, x)), y }, this.isCircle ? "waits for" : "no order"));
  }
}
