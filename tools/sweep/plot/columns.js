// SPDX-License-Identifier: Apache-2.0
//
// What the page shows: points, their columns, and which of them are chosen.

const data = JSON.parse(document.getElementById("data").textContent);
const points = data.points;
const indexOf = new Map(points.map((point, index) => [String(point.id), index]));

/** An integer, which is a text where it needs more bits than a number has. */
const exact = (value) => value === null ? "" :
    (Number.isInteger(Number(value)) ? BigInt(value) : value).toLocaleString("en-US");

/** At most six digits and a prefix, for ticks. */
function brief(number) {
  const prefixes = ["", "k", "M", "G", "T", "P", "E"];
  let power = 0;
  while (Math.abs(number) >= 1000 && power < prefixes.length - 1) {
    number /= 1000;
    ++power;
  }
  return `${Number(number.toPrecision(6))} ${prefixes[power]}`.trim();
}

/** Round integers from `low` to `high`, at most some `count` of them. */
function roundNumbers(low, high, count) {
  const rough = Math.max(1, (high - low) / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
  const numbers = [];
  for (let at = Math.ceil(low / step); at * step <= high; ++at)
    numbers.push(at * step);
  return numbers;
}

/** What every point is as a number to be drawn at, and as a text. */
class Column {
  constructor(name, numbers, textAt) {
    this.name = name;
    this.numbers = numbers;
    this.textAt = textAt;
    let low = Infinity, high = -Infinity;
    for (const number of numbers) {
      low = Math.min(low, number);
      high = Math.max(high, number);
    }
    const room = (high - low) * 0.04 || Math.abs(low) * 0.04 || 1;
    this.low = low - room;
    this.high = high + room;
  }

  ticks(count) {
    return roundNumbers(this.low, this.high, count)
        .map((number) => ({number, text: brief(number)}));
  }
}

/** Values side by side, whatever they are: words, or powers of two. */
class EvenColumn extends Column {
  constructor(name, ranks, texts) {
    super(name, ranks, (index) => texts[ranks[index]]);
    this.texts = texts;
  }

  ticks(count) {
    const step = Math.ceil(this.texts.length / count);
    return this.texts.map((text, number) => ({number, text}))
        .filter(({number}) => number % step === 0);
  }
}

/** By position, what a value of the axis is. */
const axisValues = data.axes.map(
    (axis) => new Map(axis.values.map((value) => [value.position, value])));

const valueAt = (index, axis) =>
    axisValues[axis].get(points[index].axes[axis]).value;

function numberColumn(name) {
  const axis = data.axes.findIndex((axis) => axis.name === name);
  if (axis >= 0)
    return new Column(name, points.map((_, index) => Number(valueAt(index, axis))),
                      (index) => valueAt(index, axis));
  const metric = data.metrics.findIndex((metric) => metric.name === name);
  return new Column(name, points.map((point) => Number(point.metrics[metric])),
                    (index) => exact(points[index].metrics[metric]));
}

function evenColumn(axis) {
  const {name, numeric, values} = data.axes[axis];
  const sorted = numeric ? [...values].sort((a, b) => a.value - b.value) : values;
  const rank = new Map(sorted.map((value, at) => [value.position, at]));
  return new EvenColumn(name, points.map((point) => rank.get(point.axes[axis])),
                        sorted.map((value) => value.value));
}

const xColumn = numberColumn(data.x);
const yColumn = data.y === data.x ? xColumn : numberColumn(data.y);
const drawnColumns = [xColumn, yColumn];
/** Those of the axes that say something, then x and y, each once. */
const allColumns = [...new Set([
  ...data.axes.flatMap((axis, index) => axis.count < 2 ? [] :
      [drawnColumns.find((column) => column.name === axis.name) ??
       evenColumn(index)]),
  ...drawnColumns,
])];

/** Of points on the front, from left to right. */
const front = points.map((_, index) => index)
    .filter((index) => points[index].front)
    .sort((a, b) => xColumn.numbers[a] - xColumn.numbers[b] ||
                    yColumn.numbers[a] - yColumn.numbers[b]);

/** By column, the least and the largest number of points that are chosen. */
const brushes = new Map();
const isChosen = new Uint8Array(points.length).fill(1);

const chosenCount = () => isChosen.reduce((sum, is) => sum + is, 0);

function choose() {
  for (let index = 0; index < points.length; ++index)
    isChosen[index] = 1;
  for (const [column, [low, high]] of brushes)
    column.numbers.forEach((number, index) => {
      if (number < low || number > high)
        isChosen[index] = 0;
    });
}

/** The command that compiles a point. */
const commandOf = (index) => [
  data.sweep.command,
  ...axisValues.map((values, axis) => values.get(points[index].axes[axis]).option),
].join(" ");
