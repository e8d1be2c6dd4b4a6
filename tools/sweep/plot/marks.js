// SPDX-License-Identifier: Apache-2.0
//
// What the pictures have in common: a canvas for many points, under an SVG for
// axes, brushes and what can be reached.

function element(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes))
    made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const colour = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

class Picture {
  /** `events`: choose(), hover(index, event) and open(index). */
  constructor(root, events) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.svg = root.querySelector("svg");
    this.events = events;
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("pointerup", (event) => this.release(event));
    this.svg.addEventListener("pointercancel", () => { this.pressed = null; });
    this.svg.addEventListener("dragstart", (event) => event.preventDefault());
    this.svg.addEventListener("pointerleave", () => events.hover(-1));
  }

  /** Makes the canvas as fine as the screen; its context, empty. */
  clear() {
    const {clientWidth, clientHeight} = this.root;
    const scale = window.devicePixelRatio;
    this.width = clientWidth;
    this.height = clientHeight;
    this.canvas.width = clientWidth * scale;
    this.canvas.height = clientHeight * scale;
    // Paper is narrower than the screen, and nothing is drawn anew for it.
    this.svg.setAttribute("viewBox", `0 0 ${clientWidth} ${clientHeight}`);
    this.svg.replaceChildren();
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    return context;
  }

  /** Rings a point, or none: -1. Before the first drawing there is no ring. */
  highlight(index) {
    this.ring?.setAttribute("visibility", index < 0 ? "hidden" : "visible");
    if (this.ring && index >= 0)
      this.placeRing(index);
  }

  place(event) {
    const {left, top} = this.svg.getBoundingClientRect();
    return {x: event.clientX - left, y: event.clientY - top};
  }

  press(event) {
    if (event.button !== 0)
      return;
    this.pressed = this.place(event);
    this.isDragged = false;
    this.svg.setPointerCapture(event.pointerId);
    event.preventDefault(); // selects no text
  }

  move(event) {
    const at = this.place(event);
    if (!this.pressed)
      return this.events.hover(this.nearest(at), event);
    // A hand that clicks is not quite still.
    this.isDragged ||= Math.hypot(at.x - this.pressed.x, at.y - this.pressed.y) > 4;
    if (!this.isDragged)
      return;
    this.events.hover(-1);
    this.brush(this.pressed, at);
    this.events.choose();
  }

  release(event) {
    const at = this.place(event);
    if (this.pressed && !this.isDragged) {
      const index = this.nearest(at);
      if (index >= 0)
        this.events.open(index);
      else if (this.takeBack(at))
        this.events.choose();
    }
    this.pressed = null;
  }
}
