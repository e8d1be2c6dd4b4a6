// SPDX-License-Identifier: Apache-2.0
//
// Parallel coordinates: an upright axis for each column, a line for each point.

class Parallel extends Picture {
  xOf(column) {
    const steps = Math.max(1, allColumns.length - 1);
    return this.left + allColumns.indexOf(column) / steps * (this.width - this.left - this.right);
  }

  yAt(column, number) {
    return this.height - 16 - column.share(number) * (this.height - 60);
  }

  yOf(column, index) { return this.yAt(column, column.numbers[index]); }

  draw() {
    // An axis needs room for its name, which is above it, and for its values, which
    // are to its right; what is too wide scrolls.
    const names = Math.max(...allColumns.map((column) => this.widthOf(headOf(column))));
    const values = 6 + Math.max(...allColumns.flatMap(
        (column) => column.ticks(10).map(({text}) => this.widthOf(text))));
    this.left = names / 2;
    this.right = Math.max(names / 2, values);
    const between = Math.max(names, values) + 12;
    this.root.style.minWidth = `${this.left + (allColumns.length - 1) * between + this.right}px`;
    const context = this.clear();
    byId("wide").hidden = this.root.clientWidth <= this.root.parentElement.clientWidth;
    const lines = (name, alpha, isMeant) => {
      context.strokeStyle = colour(name);
      context.globalAlpha = alpha;
      for (let index = 0; index < points.length; ++index) {
        if (!isMeant(index))
          continue;
        context.beginPath();
        for (const column of allColumns)
          context.lineTo(this.xOf(column), this.yOf(column, index));
        context.stroke();
      }
    };
    lines("faint", 1, (index) => !isChosen[index]);
    // Where there are many lines, darker is denser.
    const alpha = Math.max(0.1, Math.min(0.6, 60 / chosenCount()));
    lines("accent", alpha, (index) => isChosen[index] && !points[index].front);
    context.lineWidth = 2;
    lines("good", 0.8, (index) => isChosen[index] && points[index].front);
    allColumns.forEach((column) => this.drawAxis(column));
    this.ring = element("path", {class: "ring", visibility: "hidden"});
    this.svg.append(this.ring);
  }

  drawAxis(column) {
    const x = this.xOf(column), top = this.yAt(column, column.numberAt(1));
    this.svg.append(
        element("line", {class: "axis", x1: x, y1: top, x2: x, y2: this.height - 16}),
        element("text", {class: "title", x, y: 16, "text-anchor": "middle"}, headOf(column),
                element("title", {}, column.name)));
    for (const {number, text} of column.ticks(10))
      this.svg.append(element("text", {x: x + 6, y: this.yAt(column, number) + 4}, text));
    const brush = brushes.get(column);
    if (!brush)
      return;
    const [low, high] = brush;
    this.svg.append(element("rect", {
      class: "brush", x: x - 8, width: 16, y: this.yAt(column, high),
      height: this.yAt(column, low) - this.yAt(column, high),
    }));
  }

  /** Of the title of an axis. */
  widthOf(name) {
    const title = element("text", {class: "title"}, name);
    this.svg.append(title);
    const width = title.getComputedTextLength();
    title.remove();
    return width;
  }

  placeRing(index) {
    const places = allColumns.map(
        (column) => `${this.xOf(column)} ${this.yOf(column, index)}`);
    this.ring.setAttribute("d", `M${places.join("L")}`);
  }

  columnAt(x) {
    return allColumns.find((column) => Math.abs(this.xOf(column) - x) < 16);
  }

  /** Of points that are chosen, that whose line passes near; else -1. */
  nearest({x, y}) {
    const right = allColumns.findIndex((column) => this.xOf(column) > x);
    if (right < 1 || this.columnAt(x))
      return -1;
    const [from, to] = [allColumns[right - 1], allColumns[right]];
    const share = (x - this.xOf(from)) / (this.xOf(to) - this.xOf(from));
    let best = -1, least = 8;
    for (let index = 0; index < points.length; ++index) {
      const line = (1 - share) * this.yOf(from, index) + share * this.yOf(to, index);
      const distance = Math.abs(line - y);
      if (isChosen[index] && (distance < least ||
                              distance === least && points[index].front)) {
        best = index;
        least = distance;
      }
    }
    return best;
  }

  brush(from, to) {
    const column = this.columnAt(from.x);
    if (!column)
      return;
    const first = this.yAt(column, column.numberAt(0)), last = this.yAt(column, column.numberAt(1));
    brushes.set(column, [from.y, to.y]
        .map((y) => column.numberAt((y - first) / (last - first)))
        .sort((a, b) => a - b));
  }

  takeBack({x}) { return brushes.delete(this.columnAt(x)); }
}
