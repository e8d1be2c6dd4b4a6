// SPDX-License-Identifier: Apache-2.0
//
// The colours of points: one for all, or from the least to the largest of a
// column.

const shades = {
  column: null,
  count: 1,

  /** Colours by the column of that name; by none if it is empty. */
  choose(name) {
    this.column = colourColumns.get(name)?.() ?? null;
    const {texts, least, most} = this.column ?? {};
    this.count = !this.column || !(least < most) ? 1 : texts ? Math.min(texts.length, 16) : 16;
  },

  /** By number, the colour; points that lack the column have the last one. */
  fills() {
    if (!this.column)
      return [colour("accent")];
    const [from, to] = ["communication", "update"].map((name) => parts(colour(name)));
    const between = (share) => from.map((part, at) => Math.round(part + share * (to[at] - part)));
    return [...Array(this.count).keys()]
        .map((number) => `rgb(${between(this.count > 1 ? number / (this.count - 1) : 1).join(" ")})`)
        .concat(colour("other"));
  },

  /** The number of the colour of a point. */
  of(index) {
    if (!this.column)
      return 0;
    const {numbers, least, most} = this.column;
    const number = numbers[index];
    return Number.isNaN(number) ? this.count
        : this.count === 1 ? 0 : Math.round((number - least) / (most - least) * (this.count - 1));
  },

  /** What the colours mean: each value, or the ends. */
  legend() {
    if (!this.column)
      return [];
    const fills = this.fills().slice(0, -1);
    const key = (fill) => {
      const made = html("i", {});
      made.style.background = fill;
      return made;
    };
    const {texts, numbers, textAt} = this.column;
    if (texts && texts.length <= 8)
      return fills.map((fill, number) => html("span", {}, key(fill), texts[number]));
    const textOf = (wanted) => textAt(numbers.indexOf(wanted));
    return [html("span", {}, textOf(this.column.least)), ...fills.map(key),
            html("span", {}, textOf(this.column.most))];
  },
};

/** Red, green and blue of `#56b4e9`. */
const parts = (hexadecimal) => [1, 3, 5].map((at) => parseInt(hexadecimal.trim().slice(at, at + 2), 16));
