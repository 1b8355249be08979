// Canvases that are as sharp as the screen and drawn at most once a frame.
class Picture {
  constructor(canvas, draw) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: true });
    this.draw = draw;
    this.waiting = false;
    this.width = 0;
    this.height = 0;
    new ResizeObserver(() => this.resize()).observe(canvas);
    theme.listeners.push(() => this.redraw());
  }

  resize(width = this.canvas.clientWidth, height = this.canvas.clientHeight) {
    this.width = width;
    this.height = height;
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(width * scale));
    this.canvas.height = Math.max(1, Math.round(height * scale));
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.paint();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.waiting = false;
    if (this.width === 0) return;
    this.context.clearRect(0, 0, this.width, this.height);
    this.context.font = "11px system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
    this.draw(this.context, this.width, this.height);
  }
}

// Pointer movements on an element from press to release, told as {x, y, startX, startY, event}.
function onDrag(element, { begin, move, end }) {
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const place = (other) => {
      const box = element.getBoundingClientRect();
      return { x: other.clientX - box.left, y: other.clientY - box.top, event: other };
    };
    const start = place(event);
    element.setPointerCapture(event.pointerId);
    begin?.(start);
    const moved = (other) => move?.({ ...place(other), startX: start.x, startY: start.y });
    const ended = (other) => {
      element.removeEventListener("pointermove", moved);
      element.removeEventListener("pointerup", ended);
      element.removeEventListener("pointercancel", ended);
      end?.({ ...place(other), startX: start.x, startY: start.y, cancelled: other.type === "pointercancel" });
    };
    element.addEventListener("pointermove", moved);
    element.addEventListener("pointerup", ended);
    element.addEventListener("pointercancel", ended);
  });
}

const tooltip = {
  element: document.getElementById("tooltip"),

  // Lines of text beside the pointer; the first is the title.
  show(event, lines) {
    this.element.replaceChildren();
    lines.forEach((line, at) => {
      const part = document.createElement(at === 0 ? "b" : "span");
      part.textContent = line;
      this.element.append(part);
    });
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const right = event.clientX + 14 + width < innerWidth ? event.clientX + 14 : Math.max(4, event.clientX - width - 14);
    const below = event.clientY + 16 + height < innerHeight ? event.clientY + 16 : Math.max(4, event.clientY - height - 12);
    this.element.style.left = `${right}px`;
    this.element.style.top = `${below}px`;
  },

  hide() {
    this.element.hidden = true;
  },
};
