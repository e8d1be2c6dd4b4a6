// SPDX-License-Identifier: Apache-2.0
//
// Points over two columns, with their front.

class Scatter extends Picture {
  xAt(number) {
    const {low, high} = xColumn;
    return 64 + (number - low) / (high - low) * (this.width - 80);
  }

  yAt(number) {
    const {low, high} = yColumn;
    return this.height - 44 - (number - low) / (high - low) * (this.height - 68);
  }

  draw() {
    const context = this.clear();
    this.drawAxes();
    const dots = (name, alpha, isMeant) => {
      context.fillStyle = colour(name);
      context.globalAlpha = alpha;
      context.beginPath();
      for (let index = 0; index < points.length; ++index) {
        if (!isMeant(index))
          continue;
        const x = this.xAt(xColumn.numbers[index]);
        const y = this.yAt(yColumn.numbers[index]);
        context.moveTo(x, y);
        context.arc(x, y, 3, 0, 2 * Math.PI);
      }
      context.fill();
    };
    dots("other", 0.5, (index) => !isChosen[index]);
    dots("accent", 0.8, (index) => isChosen[index]);
    this.drawBrush();
    this.drawFront();
  }

  drawAxes() {
    const {width, height, svg} = this;
    for (const {number, text} of xColumn.ticks(Math.max(2, width / 110)))
      svg.append(
          element("line", {class: "grid", x1: this.xAt(number), y1: 24,
                           x2: this.xAt(number), y2: height - 44}),
          element("text", {x: this.xAt(number), y: height - 28,
                           "text-anchor": "middle"}, text));
    for (const {number, text} of yColumn.ticks(Math.max(2, height / 60)))
      svg.append(
          element("line", {class: "grid", x1: 64, y1: this.yAt(number),
                           x2: width - 16, y2: this.yAt(number)}),
          element("text", {x: 58, y: this.yAt(number) + 4,
                           "text-anchor": "end"}, text));
    svg.append(
        element("path", {class: "axis", fill: "none",
                         d: `M64 24V${height - 44}H${width - 16}`}),
        element("text", {x: width - 16, y: height - 8, "text-anchor": "end"},
                `${xColumn.name} →`),
        element("text", {x: 2, y: 10}, `↑ ${yColumn.name}`));
  }

  drawBrush() {
    if (!brushes.has(xColumn) && !brushes.has(yColumn))
      return;
    const [left, right] = brushes.get(xColumn) ?? [xColumn.low, xColumn.high];
    const [low, high] = brushes.get(yColumn) ?? [yColumn.low, yColumn.high];
    this.svg.append(element("rect", {
      class: "brush", x: this.xAt(left), y: this.yAt(high),
      width: this.xAt(right) - this.xAt(left),
      height: this.yAt(low) - this.yAt(high),
    }));
  }

  /** Links, which a keyboard reaches; steps bound what is worse than them. */
  drawFront() {
    const places = front.map((index) => ({
      index, x: this.xAt(xColumn.numbers[index]), y: this.yAt(yColumn.numbers[index]),
    }));
    this.svg.append(element("path", {
      class: "step",
      d: places.map(({x, y}, at) => at === 0 ? `M${x} ${y}` : `H${x}V${y}`).join(""),
    }));
    for (const {index, x, y} of places) {
      const {id} = points[index];
      this.svg.append(element(
          "a", {href: `#point=${id}`, id: `front-${id}`,
                "aria-label": `Point ${id}`},
          element("path", {class: isChosen[index] ? "mark" : "mark out",
                           d: `M${x} ${y - 6}l6 6-6 6-6-6z`})));
    }
    this.ring = element("circle", {class: "ring", r: 8, visibility: "hidden"});
    this.svg.append(this.ring);
  }

  placeRing(index) {
    this.ring.setAttribute("cx", this.xAt(xColumn.numbers[index]));
    this.ring.setAttribute("cy", this.yAt(yColumn.numbers[index]));
  }

  /** Of points that are chosen, that at most 10 pixels away; else -1. */
  nearest({x, y}) {
    let best = -1, least = 10;
    for (let index = 0; index < points.length; ++index) {
      const distance = Math.hypot(this.xAt(xColumn.numbers[index]) - x,
                                  this.yAt(yColumn.numbers[index]) - y);
      // Of those in one place the one that is marked.
      if (isChosen[index] && (distance < least ||
                              distance === least && points[index].front)) {
        best = index;
        least = distance;
      }
    }
    return best;
  }

  brush(from, to) {
    const numbers = (column, at, ends) => {
      const first = at(column.low), last = at(column.high);
      return ends.map((end) => column.low + (end - first) / (last - first) *
                                            (column.high - column.low))
          .sort((a, b) => a - b);
    };
    brushes.set(xColumn, numbers(xColumn, (number) => this.xAt(number), [from.x, to.x]));
    brushes.set(yColumn, numbers(yColumn, (number) => this.yAt(number), [from.y, to.y]));
  }

  takeBack() {
    const hadX = brushes.delete(xColumn), hadY = brushes.delete(yColumn);
    return hadX || hadY;
  }
}
