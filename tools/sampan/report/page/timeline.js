// The tracks: where they lie, how they are drawn, and what mouse and keys do there.
const kRowHeight = 25;
const kSliceHeight = 18;
const kAreaHeight = 24;

class Timeline {
  constructor(items, view, selection) {
    Object.assign(this, { items, view, selection });
    this.scroller = document.getElementById("tracks");
    this.rows = document.getElementById("rows");
    this.collapsed = new Set();
    this.matches = null;  // one byte for each item while there is a search
    this.range = null;    // marked with Shift and drag
    this.picture = new Picture(document.getElementById("canvas"), (...all) => this.draw(...all));
    this.layOut();
    this.listen();
    view.listeners.push(() => this.picture.redraw());
    selection.listeners.push(() => this.picture.redraw());
    new ResizeObserver(() => this.fit()).observe(this.scroller);
  }

  // Names at the left, one element each; the canvas draws only what is in view.
  layOut() {
    let top = 0;
    this.rows.replaceChildren();
    const areas = [...new Set(this.items.tracks.map((track) => track.area))];
    for (const area of areas) {
      const tracks = this.items.tracks.filter((track) => track.area === area);
      const heading = document.createElement("button");
      const open = !this.collapsed.has(area);
      heading.type = "button";
      heading.className = "area";
      heading.textContent = area;
      heading.style.top = `${top}px`;
      heading.setAttribute("aria-expanded", String(open));
      const note = document.createElement("small");
      note.textContent = `${countOf(tracks.length, "track")}, ${countOf(tracks.reduce((sum, track) => sum + track.slices, 0), "slice")}`;
      heading.append(note);
      heading.addEventListener("click", () => {
        if (open) this.collapsed.add(area);
        else this.collapsed.delete(area);
        this.layOut();
        [...this.rows.querySelectorAll(".area")].find((other) => other.textContent.startsWith(area))?.focus();
      });
      this.rows.append(heading);
      top += kAreaHeight;
      for (const track of tracks) {
        track.top = open ? top : null;
        if (!open) continue;
        track.height = kRowHeight + (track.depth - 1) * kSliceHeight;
        const label = document.createElement("div");
        label.className = "row";
        label.textContent = track.name;
        label.title = `${track.name}: ${countOf(track.slices, "slice")}`;
        label.style.cssText = `top:${top}px;height:${track.height}px`;
        const count = document.createElement("small");
        count.textContent = showCount(track.slices);
        label.append(count);
        this.rows.append(label);
        top += track.height;
      }
    }
    this.rows.style.height = `${top}px`;
    this.picture.redraw();
  }

  fit() {
    const gutter = this.picture.canvas.offsetLeft;
    const width = Math.max(this.scroller.clientWidth - gutter, 10);
    const height = Math.max(this.scroller.clientHeight, 10);
    this.picture.canvas.style.width = `${width}px`;
    this.picture.canvas.style.height = `${height}px`;
    this.picture.resize(width, height);
    this.onResize?.();
  }

  draw(context, width, height) {
    const colours = theme.colours;
    const top = this.scroller.scrollTop;
    this.picture.canvas.style.transform = `translateY(${top}px)`;
    context.fillStyle = colours.line;
    context.globalAlpha = 0.5;
    for (const time of this.view.ticks(width).times) context.fillRect(Math.round(this.view.x(time, width)), 0, 1, height);
    context.globalAlpha = 1;
    for (const track of this.items.tracks) {
      if (track.top === null || track.top + track.height < top || track.top > top + height) continue;
      this.drawTrack(context, width, track, track.top - top);
    }
    this.drawArrows(context, width, top);
    if (this.range) {
      context.fillStyle = colours.accent;
      context.globalAlpha = 0.18;
      context.fillRect(Math.min(...this.range), 0, Math.abs(this.range[1] - this.range[0]), height);
      context.globalAlpha = 1;
    }
  }

  drawTrack(context, width, track, top) {
    const { items, view } = this;
    const colours = theme.colours;
    context.fillStyle = colours.line;
    context.fillRect(0, Math.round(top + track.height) - 1, width, 1);
    const drawn = new Array(track.depth).fill(-1);  // pixels that are taken, by depth
    const [first, last] = items.within(track, view.from, view.to);
    for (let i = first; i < last; ++i) {
      const left = Math.max(view.x(items.start[i], width), -2);
      const right = Math.min(view.x(items.end[i], width), width + 2);
      if (right < 0) continue;
      const depth = items.depth[i];
      const matches = this.matches === null || this.matches[i] === 1;
      const selected = this.selection.item === i;
      // What falls into a pixel that is drawn already is left out, unless it stands out.
      if (right < drawn[depth] && !selected && !(this.matches && matches) && !["failed", "unfinished"].includes(items.tint[i])) continue;
      const slice = { left, top: top + 3 + depth * kSliceHeight, width: Math.max(right - left, 1), matches, selected };
      drawn[depth] = left + slice.width + 0.25;
      this.drawSlice(context, i, slice);
    }
    const chosen = this.selection.item;
    if (chosen !== null && items.track[chosen] === track.index) this.drawFrame(context, width, chosen, top);
  }

  drawSlice(context, i, { left, top, width, matches }) {
    const colours = theme.colours;
    const group = this.items.groups.get(i);
    const height = kSliceHeight - 1;
    context.globalAlpha = matches ? 1 : 0.22;
    context.fillStyle = colours[this.items.tint[i]];
    if (width > 4) {
      context.beginPath();
      context.roundRect(left, top, width - 0.5, height, 2);
      context.fill();
    } else {
      context.fillRect(left, top, width, height);
    }
    if (group) {  // how busy the track was in that time shows as height
      const idle = 1 - Math.min(group.busy / Math.max(this.items.end[i] - this.items.start[i], 1), 1);
      context.fillStyle = colours.surface;
      context.globalAlpha *= 0.55;
      context.fillRect(left, top, width, height * idle);
    }
    if (this.matches && matches) {
      context.globalAlpha = 1;
      context.fillStyle = colours.mark;
      context.fillRect(left, top + height - 3, Math.max(width, 2), 3);
    }
    if (width > 26) this.drawText(context, i, left, top, width);
    context.globalAlpha = 1;
  }

  drawText(context, i, left, top, width) {
    const bytes = this.items.argument(i, kBytes);
    const group = this.items.groups.get(i);
    let text = this.items.title(i).replace(/[A-Za-z]+@/, "");
    if (!group && bytes !== undefined && this.items.tracks[this.items.track[i]].device) text = `${showBytes(bytes)}  ${text}`;
    const from = Math.max(left, 0);
    const room = left + width - from - 8;
    if (room < 18) return;
    const letters = Math.floor(room / 5.9);
    if (letters < text.length) text = letters > 3 ? `${text.slice(0, letters - 1)}…` : "";
    context.fillStyle = theme.colours[group ? "text" : ["call", "wait", "dropped"].includes(this.items.tint[i]) ? "on-pale" : "on-slice"];
    context.textBaseline = "middle";
    context.fillText(text, from + 4, top + kSliceHeight / 2, room);
  }

  drawFrame(context, width, i, top) {
    const left = this.view.x(this.items.start[i], width);
    const right = Math.max(this.view.x(this.items.end[i], width), left + 2);
    context.strokeStyle = theme.colours.text;
    context.lineWidth = 2;
    context.strokeRect(left - 1, top + 2 + this.items.depth[i] * kSliceHeight, right - left + 1.5, kSliceHeight + 1);
  }

  // From the selected call to its copy, or the other way round.
  drawArrows(context, width, scrolled) {
    const i = this.selection.item;
    if (i === null) return;
    context.strokeStyle = context.fillStyle = theme.colours.mark;
    context.lineWidth = 1.5;
    for (const other of this.items.other.get(i) ?? []) {
      const [from, to] = this.items.start[i] <= this.items.start[other] ? [i, other] : [other, i];
      const [begin, end] = [this.place(from, width, scrolled), this.place(to, width, scrolled)];
      if (!begin || !end) continue;
      const bend = Math.max(20, Math.abs(end.x - begin.x) / 2);
      context.beginPath();
      context.moveTo(begin.x, begin.y);
      context.bezierCurveTo(begin.x + bend, begin.y, end.x - bend, end.y, end.x, end.y);
      context.stroke();
      context.beginPath();
      context.moveTo(end.x, end.y);
      context.lineTo(end.x - 7, end.y - 4);
      context.lineTo(end.x - 7, end.y + 4);
      context.fill();
    }
  }

  place(i, width, scrolled) {
    const track = this.items.tracks[this.items.track[i]];
    if (track.top === null) return null;
    return { x: this.view.x(this.items.start[i], width),
      y: track.top - scrolled + 3 + this.items.depth[i] * kSliceHeight + kSliceHeight / 2 };
  }

  // The item under a place of the canvas; null where there is none. The narrowest wins.
  at(x, y) {
    const inside = y + this.scroller.scrollTop;
    const track = this.items.tracks.find(({ top, height }) => top !== null && inside >= top && inside < top + height);
    if (!track) return null;
    const depth = Math.floor((inside - track.top - 3) / kSliceHeight);
    const reach = (this.view.length / this.picture.width) * 2;  // two pixels
    const time = this.view.time(x, this.picture.width);
    const [first, last] = this.items.within(track, time - reach, time + reach);
    let best = null;
    for (let i = first; i < last; ++i) {
      if (this.items.depth[i] !== depth || this.items.end[i] < time - reach) continue;
      if (best === null || this.items.end[i] - this.items.start[i] <= this.items.end[best] - this.items.start[best]) best = i;
    }
    return best;
  }

  // Has an item in view: its track open and scrolled to, its time in the range.
  show(i) {
    const track = this.items.tracks[this.items.track[i]];
    if (this.collapsed.delete(track.area)) this.layOut();
    if (track.top < this.scroller.scrollTop + 4) this.scroller.scrollTop = track.top - kAreaHeight - 4;
    const below = track.top + track.height - this.scroller.clientHeight;
    if (below > this.scroller.scrollTop) this.scroller.scrollTop = below + 4;
    this.view.reveal(this.items.start[i], this.items.end[i]);
  }

  listen() {
    const canvas = this.picture.canvas;
    const { view } = this;
    this.scroller.addEventListener("scroll", () => {
      this.picture.redraw();
      tooltip.hide();
    });
    canvas.addEventListener("wheel", (event) => this.turnWheel(event), { passive: false });
    let start = null;
    onDrag(canvas, {
      begin: ({ event }) => {
        start = { from: view.from, to: view.to, marks: event.shiftKey, scroll: this.scroller.scrollTop, moved: false };
        tooltip.hide();
      },
      move: ({ x, y, startX, startY }) => {
        if (!start.moved && Math.hypot(x - startX, y - startY) < 4) return;
        start.moved = true;
        if (start.marks) {
          this.range = [startX, x];
          this.picture.redraw();
          return;
        }
        canvas.classList.add("panning");
        const shift = ((startX - x) / this.picture.width) * (start.to - start.from);
        view.set(start.from + shift, start.to + shift);
        this.scroller.scrollTop = start.scroll + startY - y;
      },
      end: ({ x, y, startX, cancelled }) => {
        canvas.classList.remove("panning");
        this.range = null;
        if (!start.moved && !cancelled) this.selection.choose(this.at(x, y));
        else if (start.marks && !cancelled) this.zoomTo(startX, x);
        this.picture.redraw();
      },
    });
    canvas.addEventListener("dblclick", () => this.zoomToSelection());
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons !== 0) return;
      const box = canvas.getBoundingClientRect();
      const i = this.at(event.clientX - box.left, event.clientY - box.top);
      if (i === null) tooltip.hide();
      else tooltip.show(event, tooltipLines(this.items, i));
    });
    canvas.addEventListener("pointerleave", () => tooltip.hide());
    this.scroller.addEventListener("keydown", (event) => {
      if (event.target === this.scroller && this.pressKey(event)) event.preventDefault();
    });
  }

  zoomTo(left, right) {
    const [from, to] = [Math.min(left, right), Math.max(left, right)].map((x) => this.view.time(x, this.picture.width));
    if (Math.abs(right - left) > 3) this.view.set(from, to);
  }

  zoomToSelection() {
    const i = this.selection.item;
    if (i !== null) this.view.focusOn(this.items.start[i], this.items.end[i]);
  }

  turnWheel(event) {
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.ctrlKey) {
      this.scroller.scrollTop += event.deltaY * lines;
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.view.move(((event.deltaX || event.deltaY) * lines) / 800);
    } else {
      const x = event.clientX - this.picture.canvas.getBoundingClientRect().left;
      this.view.zoom(Math.exp((-event.deltaY * lines) / 400), this.view.time(x, this.picture.width));
    }
    tooltip.hide();
    event.preventDefault();
  }

  pressKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const { view, selection } = this;
    const scroll = (rows) => () => { this.scroller.scrollTop += rows * kRowHeight; };
    const zoom = (factor) => () => view.zoom(factor, this.selectedTime());
    const action = {
      "+": zoom(1.5), "=": zoom(1.5), w: zoom(1.5), "-": zoom(1 / 1.5), s: zoom(1 / 1.5),
      ArrowLeft: () => view.move(-0.15), a: () => view.move(-0.15),
      ArrowRight: () => view.move(0.15), d: () => view.move(0.15),
      ArrowUp: scroll(-2), ArrowDown: scroll(2), PageUp: scroll(-10), PageDown: scroll(10),
      0: () => view.showAll(), Home: () => view.showAll(),
      ",": () => selection.step(-1), ".": () => selection.step(1),
      Enter: () => this.zoomToSelection(), f: () => selection.follow(), Escape: () => selection.choose(null),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    action?.();
    return action !== undefined;
  }

  // Keys zoom around the selected slice while it is in view.
  selectedTime() {
    const i = this.selection.item;
    if (i === null || this.items.end[i] < this.view.from || this.items.start[i] > this.view.to) return undefined;
    return (Math.max(this.items.start[i], this.view.from) + Math.min(this.items.end[i], this.view.to)) / 2;
  }
}
