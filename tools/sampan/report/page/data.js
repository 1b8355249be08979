// The trace as it lies in the page, with everything that is looked up often in plain arrays.

// Names of arguments that the page looks at (docs/TRACE.md).
const kBytes = "size(B)";
const kKind = "operation";
const kKinds = { h2d: "host to device", d2h: "device to host", d2d: "device to device", h2h: "host to host", fill: "fill" };

// What became of a slice, by its colour; searched for by these words.
const kStates = { failed: "failed", dropped: "dropped", unfinished: "unfinished when the trace ended" };

// Where a value belongs in an ascending part [begin, end) of an array: before all that are greater.
function upperBound(values, begin, end, value) {
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if (values[middle] <= value) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

// Slices and groups of slices, both called items: first those of track 0 by start, then those of track 1, and so on.
class Items {
  constructor(model) {
    const columns = model.items;
    this.count = columns.track.length;
    this.track = Uint32Array.from(columns.track);
    this.start = new Float64Array(this.count);
    this.end = new Float64Array(this.count);
    this.name = columns.name.map((index) => model.strings[index]);
    this.tint = columns.tint.map((index) => model.tints[index]);
    this.shape = columns.shape;
    this.copy = columns.copy;
    this.firstArgument = new Uint32Array(this.count);
    this.arguments = columns.arguments;
    this.shapes = model.shapes.map((shape) => shape.map((index) => model.strings[index]));
    this.groups = new Map(model.groups.map((group) => [group.item, group]));
    this.strings = model.strings;
    this.command = model.command;
    this.origin = model.origin;
    this.tints = model.tints;
    this.depth = new Uint8Array(this.count);
    this.other = new Map();  // both ends of each flow
    let start = 0;
    let argument = 0;
    for (let i = 0; i < this.count; ++i) {
      start += columns.start[i];
      this.start[i] = start;
      this.end[i] = start + columns.duration[i];
      this.firstArgument[i] = argument;
      argument += this.shapes[this.shape[i]].length;
    }
    for (let i = 0; i < model.flows.length; i += 2) {
      const [from, to] = [model.flows[i], model.flows[i + 1]];
      for (const [one, another] of [[from, to], [to, from]]) {
        if (!this.other.has(one)) this.other.set(one, []);
        this.other.get(one).push(another);
      }
    }
    this.tracks = model.tracks.map((track, index) => ({ ...track, index, begin: 0, end: 0, depth: 1 }));
    for (let i = 0; i < this.count; ++i) {
      const track = this.tracks[this.track[i]];
      if (track.end === 0) track.begin = i;
      track.end = i + 1;
    }
    for (const track of this.tracks) this.nest(track);
  }

  // Slices within others lie one row deeper.
  nest(track) {
    const open = [];
    for (let i = track.begin; i < track.end; ++i) {
      while (open.length > 0 && this.end[open[open.length - 1]] <= this.start[i]) open.pop();
      this.depth[i] = Math.min(open.length, 7);
      track.depth = Math.max(track.depth, this.depth[i] + 1);
      open.push(i);
    }
    // The latest end up to each item: what lies before a time can be told from what reaches into it.
    track.reach = new Float64Array(track.end - track.begin);
    let reach = -Infinity;
    for (let i = track.begin; i < track.end; ++i) track.reach[i - track.begin] = reach = Math.max(reach, this.end[i]);
  }

  // The items of a track that may be seen between two times: [first, last).
  within(track, from, to) {
    const last = upperBound(this.start, track.begin, track.end, to);
    const before = upperBound(track.reach, 0, track.end - track.begin, from);
    return [Math.min(track.begin + before, last), last];
  }

  argumentsOf(i) {
    return this.shapes[this.shape[i]].map((key, at) => [key, this.arguments[this.firstArgument[i] + at]]);
  }

  argument(i, key) {
    const at = this.shapes[this.shape[i]].indexOf(key);
    return at < 0 ? undefined : this.arguments[this.firstArgument[i] + at];
  }

  // How many slices an item stands for, and their bytes as far as they are copies.
  weight(i) {
    return this.groups.get(i)?.count ?? 1;
  }

  copies(i) {
    const group = this.groups.get(i);
    if (group) return [group.copies, group.bytes];
    return this.copy[i] === 1 ? [1, this.argument(i, kBytes)] : [0, 0];
  }

  // In words, if it did not end well.
  state(i) {
    const group = this.groups.get(i);
    if (group) return group.failed > 0 ? `${showCount(group.failed)} failed` : "";
    const code = this.argument(i, "status") ?? this.argument(i, "code");
    return this.tint[i] === "failed" && code !== undefined ? `failed with ${code}` : kStates[this.tint[i]] ?? "";
  }

  title(i) {
    const group = this.groups.get(i);
    return group ? `${showCount(group.count)} × ${this.name[i]}` : this.name[i];
  }
}
