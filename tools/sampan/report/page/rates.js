// Bandwidth over size: copies that are alike in kind, size and rate are one dot, larger for more of them.
function startRates(model, timeline, selection) {
  const dots = model.rates;
  const panel = document.getElementById("panel-rates");
  const canvas = panel.querySelector("canvas");
  const kinds = [...new Set(dots.map((dot) => dot.kind))].sort();
  const legend = document.getElementById("legend");
  for (const kind of kinds) {
    const mine = dots.filter((dot) => dot.kind === kind);
    const sum = (key) => mine.reduce((all, dot) => all + dot[key], 0);
    const entry = document.createElement("li");
    const key = document.createElement("span");
    key.className = "key";
    key.style.background = `var(--${mine[0].tint})`;
    const note = document.createElement("small");
    note.textContent = ` ${countOf(sum("count"), "copy", "copies")}, ${showRate(sum("bytes"), sum("ns"))}`;
    entry.append(key, kind, document.createElement("br"), note);
    legend.append(entry);
  }
  canvas.setAttribute("aria-label", dots.length === 0 ? "There are no copies to show"
    : `Bandwidth over size of ${countOf(dots.reduce((all, dot) => all + dot.count, 0), "copy", "copies")}`);

  const margin = { left: 56, right: 12, top: 10, bottom: 30 };
  const size = (dot) => dot.bytes / dot.count;
  const rate = (dot) => dot.bytes / dot.ns;
  const range = (values, base) => {
    const low = Math.floor(Math.log(Math.min(...values)) / Math.log(base) - 0.1);
    const high = Math.ceil(Math.log(Math.max(...values)) / Math.log(base) + 0.1);
    return [low, Math.max(high, low + 1)];
  };
  const scale = (value, [low, high], base, from, to) => from + ((Math.log(value) / Math.log(base) - low) / (high - low)) * (to - from);
  const radius = (dot) => 3 + Math.min(Math.log10(dot.count) * 2.2, 9);
  let xs = [0, 1];
  let ys = [0, 1];
  if (dots.length > 0) {
    xs = range(dots.map(size), 2);
    ys = range(dots.map(rate), 10);
  }
  // Kinds stand side by side, so that those of the same size do not hide one another.
  const apart = (dot) => (kinds.indexOf(dot.kind) - (kinds.length - 1) / 2) * 9;
  const placeOf = (dot, width, height) => [
    scale(size(dot), xs, 2, margin.left, width - margin.right) + apart(dot),
    scale(rate(dot), ys, 10, height - margin.bottom, margin.top)];

  const picture = new Picture(canvas, (context, width, height) => {
    const colours = theme.colours;
    context.lineWidth = 1;
    if (dots.length === 0) {
      context.fillStyle = colours.faint;
      context.fillText("There are no copies in this trace.", margin.left, height / 2);
      return;
    }
    context.textBaseline = "middle";
    context.textAlign = "right";
    const powers = Array.from({ length: ys[1] - ys[0] + 1 }, (_, at) => ys[0] + at);
    margin.left = 12 + Math.ceil(Math.max(...powers.map((power) => context.measureText(rateLabel(power)).width)));
    const apartAtLeast = 14;  // pixels from label to label
    const everyRate = Math.ceil(((ys[1] - ys[0]) * apartAtLeast) / Math.max(height - margin.top - margin.bottom, 1));
    for (let power = ys[0]; power <= ys[1]; power += everyRate) {
      const y = scale(10 ** power, ys, 10, height - margin.bottom, margin.top);
      context.fillStyle = colours.line;
      context.fillRect(margin.left, Math.round(y), width - margin.left - margin.right, 1);
      context.fillStyle = colours.faint;
      context.fillText(rateLabel(power), margin.left - 6, y);
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    const every = Math.ceil((xs[1] - xs[0]) / ((width - margin.left) / 64));
    for (let power = xs[0]; power <= xs[1]; power += every) {
      const x = scale(2 ** power, xs, 2, margin.left, width - margin.right);
      context.fillStyle = colours.line;
      context.fillRect(Math.round(x), margin.top, 1, height - margin.top - margin.bottom);
      context.fillStyle = colours.faint;
      if (power >= 0) context.fillText(showBytes(2 ** power), Math.min(Math.max(x, 20), width - 24), height - margin.bottom + 7);
    }
    context.textAlign = "left";
    for (const dot of dots) {
      const [x, y] = placeOf(dot, width, height);
      context.beginPath();
      context.arc(x, y, radius(dot), 0, 7);
      context.fillStyle = colours[dot.tint];
      context.globalAlpha = 0.62;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = dot.item !== null && dot.item === selection.item ? colours.text : colours.surface;
      context.stroke();
    }
  });
  const dotAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    let least = Infinity;
    for (const dot of dots) {
      const [atX, atY] = placeOf(dot, picture.width, picture.height);
      const distance = Math.hypot(x - atX, y - atY) - radius(dot);
      if (distance < Math.min(least, 4)) [best, least] = [dot, distance];
    }
    return best;
  };
  canvas.addEventListener("pointermove", (event) => {
    const dot = dotAt(event);
    canvas.style.cursor = dot?.item != null ? "pointer" : "";
    if (!dot) return tooltip.hide();
    const sizes = dot.min === dot.max ? showBytes(dot.min) : `${showBytes(dot.min)} to ${showBytes(dot.max)}`;
    tooltip.show(event, [`${countOf(dot.count, "copy", "copies")} of ${sizes}`, `${showRate(dot.bytes, dot.ns)}, ${dot.kind}`,
      ...(dot.item === null ? [] : ["click to see the slowest of them"])]);
  });
  canvas.addEventListener("pointerleave", () => tooltip.hide());
  canvas.addEventListener("click", (event) => {
    const dot = dotAt(event);
    if (dot?.item == null) return;
    selection.choose(dot.item, { tab: false });
    timeline.show(dot.item);
  });
  selection.listeners.push(() => picture.redraw());
}
