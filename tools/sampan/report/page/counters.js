// The chart of one counter over the range of the timeline: how deep a queue is, how many bytes are in flight.
function startCounters(counters, view) {
  const box = document.getElementById("queues");
  if (counters.length === 0) {
    box.hidden = true;
    return;
  }
  const chooser = document.getElementById("counter");
  const most = document.getElementById("counter-most");
  counters.forEach((counter, at) => {
    let group = [...chooser.children].find((other) => other.label === counter.group);
    if (!group) {
      group = document.createElement("optgroup");
      group.label = counter.group;
      chooser.append(group);
    }
    group.append(new Option(counter.name, String(at)));
  });
  const shown = () => counters[Number(chooser.value)];
  const showValue = (counter, value) => (counter.unit === "bytes" ? showBytes(value) : showCount(value));

  // The points in view, with the one before, whose value still holds.
  const inView = (counter) => {
    const first = Math.max(upperBound(counter.time, 0, counter.time.length, view.from) - 1, 0);
    return [first, upperBound(counter.time, 0, counter.time.length, view.to)];
  };
  const canvas = box.querySelector("canvas");
  const picture = new Picture(canvas, (context, width, height) => {
    const counter = shown();
    const [first, last] = inView(counter);
    let top = 1;
    for (let at = first; at < last; ++at) top = Math.max(top, counter.high[at]);
    const y = (value) => height - 3 - (value / top) * (height - 18);
    context.fillStyle = theme.colours.line;
    for (const time of view.ticks(width).times) context.fillRect(Math.round(view.x(time, width)), 0, 0.5, height);
    context.fillRect(0, Math.round(y(0)), width, 1);
    context.fillStyle = theme.colours.accent;
    for (let at = first; at < last; ++at) {
      const left = Math.max(view.x(counter.time[at], width), 0);
      const right = at + 1 < counter.time.length ? Math.min(view.x(counter.time[at + 1], width), width) : width;
      const line = Math.max(right - left, 1);
      context.globalAlpha = 0.22;
      context.fillRect(left, y(counter.high[at]), line, y(0) - y(counter.high[at]));
      context.globalAlpha = 1;
      const [upper, lower] = [y(counter.high[at]), y(counter.low[at])];
      context.fillRect(left, upper, line, 1.5);
      if (lower > upper) context.fillRect(left, upper, Math.min(line, 1.5), lower - upper);
    }
    context.fillStyle = theme.colours.faint;
    context.textBaseline = "top";
    context.fillText(showValue(counter, top), 4, 3);
    canvas.setAttribute("aria-label", `${counter.group}, ${counter.name}, over time; at most ${showValue(counter, top)} in the range in view`);
  });
  const choose = () => {
    const counter = shown();
    document.getElementById("counter-title").textContent = counter.group;
    most.textContent = `at most ${showValue(counter, counter.high.reduce((a, b) => Math.max(a, b), 0))}`;
    picture.redraw();
  };
  chooser.addEventListener("change", choose);
  canvas.addEventListener("pointermove", (event) => {
    const counter = shown();
    const time = view.time(event.clientX - canvas.getBoundingClientRect().left, picture.width);
    const at = upperBound(counter.time, 0, counter.time.length, time) - 1;
    if (at < 0) return tooltip.hide();
    const [low, high] = [showValue(counter, counter.low[at]), showValue(counter, counter.high[at])];
    tooltip.show(event, [low === high ? high : `${low} to ${high}`, `${counter.group}, ${counter.name}`, `at ${showTime(time)}`]);
  });
  canvas.addEventListener("pointerleave", () => tooltip.hide());
  view.listeners.push(() => picture.redraw());
  choose();
}
