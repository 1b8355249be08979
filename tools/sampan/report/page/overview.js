// The strip over the tracks: the activity of the whole trace, the ruler, and what is in view in words.
function startOverview(items, view) {
  const copying = new Float64Array(400);  // share of the time in which some device track was busy, by part of the trace
  let most = 0;
  for (let i = 0; i < items.count; ++i) {
    if (!items.tracks[items.track[i]].device) continue;
    const busy = items.groups.get(i)?.busy ?? items.end[i] - items.start[i];
    const first = Math.floor((items.start[i] / view.span) * copying.length);
    const last = Math.floor((items.end[i] / view.span) * copying.length);
    for (let part = Math.max(first, 0); part <= Math.min(last, copying.length - 1); ++part) {
      copying[part] += busy / (last - first + 1);
      most = Math.max(most, copying[part]);
    }
  }
  const canvas = document.querySelector("#overview canvas");
  const picture = new Picture(canvas, (context, width, height) => {
    context.fillStyle = theme.colours.h2d;
    const part = width / copying.length;
    copying.forEach((busy, at) => {
      const tall = most > 0 ? (busy / most) * (height - 4) : 0;
      if (busy > 0) context.fillRect(at * part, height - Math.max(tall, 1), part + 0.3, Math.max(tall, 1));
    });
    const left = Math.max((view.from / view.span) * width, 0);
    const right = Math.min((view.to / view.span) * width, width);
    context.fillStyle = theme.colours.surface;
    context.globalAlpha = 0.65;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = theme.colours.accent;
    context.lineWidth = 2;
    context.strokeRect(left + 1, 1, Math.max(right - left - 2, 1), height - 2);
  });
  const center = ({ x }) => {
    const time = (x / picture.width) * view.span;
    view.set(time - view.length / 2, time + view.length / 2);
  };
  onDrag(canvas, { begin: center, move: center });
  view.listeners.push(() => picture.redraw());
}

function startRuler(view, timeline) {
  const canvas = document.querySelector("#ruler canvas");
  const picture = new Picture(canvas, (context, width, height) => {
    const { step, times } = view.ticks(width);
    context.textBaseline = "middle";
    for (const time of times) {
      const x = Math.round(view.x(time, width));
      context.fillStyle = theme.colours.line;
      context.fillRect(x, height - 6, 1, 6);
      context.fillStyle = theme.colours.faint;
      const label = tickLabel(time, step);
      if (x + 4 + context.measureText(label).width <= width) context.fillText(label, x + 4, height / 2);
    }
  });
  onDrag(canvas, {
    move: ({ x, startX }) => {
      timeline.range = [startX, x];
      timeline.picture.redraw();
    },
    end: ({ x, startX, cancelled }) => {
      timeline.range = null;
      if (!cancelled) timeline.zoomTo(startX, x);
      timeline.picture.redraw();
    },
  });
  view.listeners.push(() => picture.redraw());
}

// What begins in a range of time.
function countWithin(items, from, to) {
  const sum = { slices: 0, copies: 0, bytes: 0 };
  for (const track of items.tracks) {
    const last = upperBound(items.start, track.begin, track.end, to);
    for (let i = upperBound(items.start, track.begin, track.end, from - 0.5); i < last; ++i) {
      const [copies, bytes] = items.copies(i);
      sum.slices += items.weight(i);
      sum.copies += copies;
      sum.bytes += bytes;
    }
  }
  return sum;
}

function startViewText(items, view) {
  const output = document.getElementById("view");
  let timer = 0;
  const show = () => {
    timer = 0;
    const sum = countWithin(items, view.from, view.to);
    const from = Math.max(view.from, 0);
    const to = Math.min(view.to, view.span);
    output.dataset.from = String(Math.round(view.from));
    output.dataset.to = String(Math.round(view.to));
    output.textContent = `${showTime(from)} to ${showTime(to)}: `
      + `${countOf(sum.slices, "slice")}, ${countOf(sum.copies, "copy", "copies")}, ${showBytes(sum.bytes)}`;
    output.title = "What begins in the range in view";
  };
  view.listeners.push(() => {
    timer ||= setTimeout(show, 60);
  });
  show();
}
