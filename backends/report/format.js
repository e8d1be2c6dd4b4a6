// SPDX-License-Identifier: Apache-2.0
//
// The data of the page, and how its numbers are read.

/** What is drawn: the argument of `render`, and the plan in it. */
let data, plan;
const byId = (id) => document.getElementById(id);

function setAll(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes))
    made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const html = (name, attributes = {}, ...children) =>
    setAll(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
    setAll(document.createElementNS("http://www.w3.org/2000/svg", name),
           attributes, children);

/** All digits. A number that says where it comes from is an object. */
const digits = (number) => String(number?.value ?? number);
/** To be drawn, not to be shown. */
const size = (number) => Number(digits(number));

const grouped = (text) => text.replace(/\B(?=(\d{3})+$)/g, ",");
const rounded = (value) => Number(value.toPrecision(4)).toLocaleString("en-US");

function scaled(value, step, names) {
  let power = 0;
  for (; Math.abs(value) >= step && power < names.length - 1; ++power)
    value /= step;
  return `${rounded(value)} ${names[power]}`.trim();
}

/** How people read a unit. */
const readings = {
  text: (text) => text,
  count: (text) => grouped(text),
  short: (text) => scaled(Number(text), 1000, ["", "k", "M", "G", "T", "P"]),
  bytes: (text) => scaled(Number(text), 1024,
                          ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]),
  flops: (text) => scaled(Number(text), 1000, [
    "FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP", "YFLOP",
  ]),
  millionths: (text) => `${rounded(Number(text) / 10000)} %`,
  ns: (text) => scaled(Number(text), 1000, ["ns", "us", "ms", "s"]),
  step: (text) => `${grouped(text)} steps`,
};

/** Words are as they are; a unit that nothing is known of is a count. */
const read = (number, unit) => /^-?\d+$/.test(digits(number))
    ? (readings[unit] ?? readings.count)(digits(number)) : digits(number);

/** `3`, or `1-6`. */
const range = ({first, last}) => first === last ? `${first}` : `${first}-${last}`;

/** At most `count` of a list at each of its ends. */
const ends = (list, count) => list.length <= 2 * count
    ? list : [...list.slice(0, count), ...list.slice(-count)];

const colourOf = (index) => `var(--c${index % 8})`;

function legend(root, names) {
  root.replaceChildren(...names.map((name, index) => html(
      "span", {}, html("i", {style: `background: ${colourOf(index)}`}), name)));
}

function showTip(lines, event) {
  const tip = byId("tip");
  tip.hidden = !lines;
  if (!lines)
    return;
  tip.replaceChildren(...lines.map((line) => html("div", {}, line)));
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4)}px`;
}

/** What `linesOf(target)` says where the pointer is; nothing if it says none. */
function tipsOn(root, linesOf) {
  root.onpointermove = (event) => showTip(linesOf(event.target), event);
  root.onpointerleave = () => showTip(null);
}
