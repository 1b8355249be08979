// The range of time that timeline, ruler and counters show.
class View {
  constructor(span) {
    this.span = Math.max(span, 1);
    this.listeners = [];
    const margin = this.span * 0.005;
    this.all = [-margin, this.span + margin];
    [this.from, this.to] = this.all;
  }

  get length() {
    return this.to - this.from;
  }

  set(from, to) {
    const least = 20;  // nanoseconds
    const most = this.all[1] - this.all[0];
    const length = Math.min(Math.max(to - from, least), most);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - length / 2, this.all[0]), this.all[1] - length);
    this.to = this.from + length;
    for (const listener of this.listeners) listener();
  }

  // Makes everything `factor` times as wide around a time that stays where it is.
  zoom(factor, at = (this.from + this.to) / 2) {
    const length = Math.min(Math.max(this.length / factor, 20), this.all[1] - this.all[0]);
    const from = at - (at - this.from) * (length / this.length);
    this.set(from, from + length);
  }

  move(share) {
    this.set(this.from + share * this.length, this.to + share * this.length);
  }

  showAll() {
    this.set(...this.all);
  }

  // Moves as far as needed to have a range in view, and zooms out only where it does not fit.
  reveal(from, to) {
    if (from >= this.from && to <= this.to) return;
    const length = Math.max(this.length, (to - from) * 1.2);
    const middle = (from + to) / 2;
    this.set(middle - length / 2, middle + length / 2);
  }

  focusOn(from, to) {
    const margin = Math.max((to - from) * 0.6, 10);
    this.set(from - margin, to + margin);
  }

  x(time, width) {
    return ((time - this.from) / this.length) * width;
  }

  time(x, width) {
    return this.from + (x / width) * this.length;
  }

  // Times at which lines are drawn, with their distance.
  ticks(width) {
    const step = niceStep((this.length / Math.max(width, 1)) * 90);
    const times = [];
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) times.push(time);
    return { step, times };
  }
}

// A time on the ruler, with as many digits as the distance of the lines needs.
function tickLabel(time, step) {
  const [unit, name] = step >= 1e9 ? [1e9, "s"] : step >= 1e6 ? [1e6, "ms"] : step >= 1e3 ? [1e3, "us"] : [1, "ns"];
  return `${Math.abs(time) < step / 2 ? 0 : Math.round(time / unit).toLocaleString("en-US")} ${name}`;
}
