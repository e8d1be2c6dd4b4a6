// SPDX-License-Identifier: Apache-2.0
//
// Points over two columns, with their front.

class Scatter extends Picture {
  xAt(number) { return 72 + xColumn.share(number) * (this.width - 88); }
  yAt(number) { return this.height - 44 - yColumn.share(number) * (this.height - 68); }

  draw() {
    const context = this.clear();
    this.drawAxes();
    const dots = (fill, alpha, isMeant) => {
      context.fillStyle = fill;
      context.globalAlpha = alpha;
      context.beginPath();
      for (const all of places.values()) {
        const index = all.find(isMeant);
        if (index === undefined)
          continue;
        const x = this.xAt(xColumn.numbers[index]);
        const y = this.yAt(yColumn.numbers[index]);
        context.moveTo(x, y);
        context.arc(x, y, all.length > 1 ? 4 : 3, 0, 2 * Math.PI);
      }
      context.fill();
    };
    dots(colour("other"), 0.5, (index) => !isChosen[index]);
    for (const [number, fill] of shades.fills().entries())
      dots(fill, 0.8, (index) => isChosen[index] && shades.of(index) === number);
    this.drawLimit();
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
          element("line", {class: "grid", x1: 72, y1: this.yAt(number),
                           x2: width - 16, y2: this.yAt(number)}),
          element("text", {x: 66, y: this.yAt(number) + 4,
                           "text-anchor": "end"}, text));
    svg.append(
        element("path", {class: "axis", fill: "none",
                         d: `M72 24V${height - 44}H${width - 16}`}),
        element("text", {x: width - 16, y: height - 8, "text-anchor": "end"},
                `${xColumn.name} →`),
        element("text", {x: 2, y: 10}, `↑ ${yColumn.name}`));
  }

  /** What does not fit is hatched, where an axis has peaks. */
  drawLimit() {
    const {usable_memory: limit} = data.sweep;
    if (limit === undefined)
      return;
    const {width, height, svg} = this, right = width - 16, low = height - 44;
    const isCut = (column) => column.name === "peak" && column.share(limit) <= 1;
    const hatched = {class: "unfit", fill: "url(#hatch)"};
    const text = `memory for tensors, ${read(limit, "bytes")}`;
    svg.append(element("pattern", {id: "hatch", width: 8, height: 8, patternUnits: "userSpaceOnUse",
                                   patternTransform: "rotate(45)"}, element("path", {d: "M0 0V8"})));
    if (isCut(xColumn)) {
      const x = Math.max(72, this.xAt(limit)), isRight = x > width / 2;
      svg.append(element("rect", {...hatched, x, y: 24, width: right - x, height: low - 24}),
                 element("path", {class: "limit", d: `M${x} 24V${low}`}),
                 element("text", {x: x + (isRight ? -6 : 6), y: 36, "text-anchor": isRight ? "end" : "start"}, text));
    } else if (isCut(yColumn)) {
      const y = Math.min(low, this.yAt(limit));
      svg.append(element("rect", {...hatched, x: 72, y: 24, width: right - 72, height: y - 24}),
                 element("path", {class: "limit", d: `M72 ${y}H${right}`}),
                 element("text", {x: width - 20, y: y - 5, "text-anchor": "end"}, text));
    }
  }

  drawBrush() {
    if (!brushes.has(xColumn) && !brushes.has(yColumn))
      return;
    const whole = (column) => [column.numberAt(0), column.numberAt(1)];
    const [left, right] = brushes.get(xColumn) ?? whole(xColumn);
    const [low, high] = brushes.get(yColumn) ?? whole(yColumn);
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
    for (const all of places.values()) {
      const index = all.find((each) => isChosen[each]) ?? -1;
      const distance = index < 0 ? Infinity
          : Math.hypot(this.xAt(xColumn.numbers[index]) - x, this.yAt(yColumn.numbers[index]) - y);
      if (distance < least) {
        best = index;
        least = distance;
      }
    }
    return best;
  }

  brush(from, to) {
    const numbers = (column, at, ends) => {
      const first = at(column.numberAt(0)), last = at(column.numberAt(1));
      return ends.map((end) => column.numberAt((end - first) / (last - first)))
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
