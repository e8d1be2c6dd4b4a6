// SPDX-License-Identifier: Apache-2.0
//
// What the page shows: points, their columns, and which of them are chosen.

const data = JSON.parse(document.getElementById("data").textContent);
const points = data.points;
const indexOf = new Map(points.map((point, index) => [String(point.id), index]));

/** An integer, which is a text where it needs more bits than a number has. */
const exact = (value) => value === null ? "" :
    (Number.isInteger(Number(value)) ? BigInt(value) : value).toLocaleString("en-US");

/** Round numbers from `low` to `high`, multiples of `least`, at most `count`. */
function roundNumbers(low, high, count, least) {
  const rough = Math.max(least, (high - low) / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough * 0.999);
  const numbers = [];
  for (let at = Math.ceil(low / step); at * step <= high; ++at)
    numbers.push(Number((at * step).toPrecision(12)));
  return numbers;
}

/** The same where powers of ten are equally far apart; fewer digits first. */
function roundPowers(low, high, count) {
  for (const digits of [[1, 2, 5], [1, 3], [1]]) {
    const numbers = [];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power)
      numbers.push(...digits.map((digit) => Number(`${digit}e${power}`)));
    const seen = numbers.filter((number) => number >= low && number <= high);
    if (seen.length <= count)
      return seen.length > 1 ? seen : roundNumbers(low, high, count, low / 1000);
  }
  return roundNumbers(low, high, count, low / 1000);
}

/** What every point is as a number to be drawn at, and as a text. A point that
    lacks it has NaN. */
class Column {
  constructor(name, unit, numbers, textAt) {
    this.name = name;
    this.unit = scales[unit] ? unit : "count";
    this.numbers = numbers;
    this.textAt = textAt;
    this.least = Infinity;
    this.most = -Infinity;
    for (const number of numbers) {
      if (number < this.least) this.least = number;
      if (number > this.most) this.most = number;
    }
    this.setLog(false);
  }

  get canBeLog() { return this.least > 0 && this.least < this.most; }

  /** Makes equal ratios equally far apart, or equal differences. */
  setLog(isLog) {
    this.isLog = isLog && this.canBeLog;
    const [low, high] = [this.at(this.least), this.at(this.most)];
    const room = (high - low) * 0.04 || Math.abs(low) * 0.04 || 1;
    this.ends = [low - room, high + room];
  }

  at(number) { return this.isLog ? Math.log(number) : number; }

  /** Where a number is: 0 at the lower end, 1 at the upper one. */
  share(number) {
    const [low, high] = this.ends;
    return (this.at(number) - low) / (high - low);
  }

  numberAt(share) {
    const [low, high] = this.ends;
    const at = low + share * (high - low);
    return this.isLog ? Math.exp(at) : at;
  }

  /** Numbers that are round in the unit in which people read them. */
  ticks(count) {
    const typical = this.isLog ? Math.sqrt(this.least * this.most) : this.most / 10;
    const {name, of} = scaleOf(this.unit, typical);
    const [low, high] = [this.numberAt(0) / of, this.numberAt(1) / of];
    const numbers = this.isLog ? roundPowers(low, high, count)
                               : roundNumbers(low, high, count, 1 / of);
    return numbers.map((number) => ({
      number: number * of, text: `${formatted(number, {maximumSignificantDigits: 6})} ${name}`.trim(),
    }));
  }
}

/** Values side by side, whatever they are: words, or powers of two. */
class EvenColumn extends Column {
  constructor(name, ranks, texts) {
    super(name, "count", ranks, (index) => texts[ranks[index]]);
    this.texts = texts;
  }

  get canBeLog() { return false; }

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
    return new Column(name, "count", points.map((_, index) => Number(valueAt(index, axis))),
                      (index) => valueAt(index, axis));
  const metric = data.metrics.findIndex((metric) => metric.name === name);
  const {unit} = data.metrics[metric];
  return new Column(name, unit,
                    points.map(({metrics}) => metrics[metric] === null ? NaN : Number(metrics[metric])),
                    (index) => read(points[index].metrics[metric], unit));
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

/** The last word of a column's name, if no other column ends with it. */
const headOf = ({name}) => {
  const lastOf = (text) => text.slice(text.lastIndexOf(".") + 1);
  const names = new Set([...data.axes.map((axis) => axis.name), ...allColumns.map((column) => column.name)]);
  return [...names].filter((other) => lastOf(other) === lastOf(name)).length > 1 ? name : lastOf(name);
};

/** By column that colours points: axes that say something, and metrics. */
const colourColumns = new Map([
  ...data.axes.flatMap(({name, count}, axis) => count < 2 ? [] : [[name, () => evenColumn(axis)]]),
  ...data.metrics.map(({name}) => [name, () => numberColumn(name)]),
]);

/** Points by place: those that are equal in x and y are one dot. */
const keyOfPlace = (index) => `${xColumn.numbers[index]}/${yColumn.numbers[index]}`;
const places = new Map();
points.forEach((_, index) => {
  const key = keyOfPlace(index);
  if (!places.has(key))
    places.set(key, []);
  places.get(key).push(index);
});
const placeOf = (index) => places.get(keyOfPlace(index));

/** `2 more`, of the points in the place of one. */
const othersThere = (index) => placeOf(index).length > 1 ? `${placeOf(index).length - 1} more` : "";

/** Of each place on the front the first point, from left to right. */
const front = [...places.values()].map(([index]) => index)
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

const fitsAt = data.metrics.findIndex(({name}) => name === "fits");
/** Whether a point needs more than the memory of a device. */
const isUnfit = (index) => points[index].metrics[fitsAt] === 0;

/** The command that compiles a point. */
const commandOf = (index) => [
  data.sweep.command,
  ...axisValues.map((values, axis) => values.get(points[index].axes[axis]).option),
].join(" ");
