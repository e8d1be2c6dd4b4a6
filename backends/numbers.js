// SPDX-License-Identifier: Apache-2.0
//
// How the numbers of all pages are read.

/** `3`, or `1-6`: of the first and the last. */
const range = ([first, last]) => first === last ? `${first}` : `${first}-${last}`;

/** All digits. A number that says where it comes from is an object, and stages are
    the first and the last. */
const digits = (number) => Array.isArray(number) ? range(number) : String(number?.value ?? number);
const isNumber = (number) => /^-?\d+$/.test(digits(number));

const grouped = (text) => text.replace(/\B(?=(\d{3})+$)/g, ",");

/** By unit, the larger units that people read. */
const thousands = (...names) => ({step: 1000, names});
const scales = {
  count: thousands("", "k", "M", "B", "T"),
  bytes: {step: 1024, names: ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"]},
  flops: thousands("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP",
                   "ZFLOP", "YFLOP"),
  ns: thousands("ns", "µs", "ms", "s"),
  millionths: {step: 1, names: ["%"], of: 10000},
};

/** The unit in which a number has at least one digit before the point. */
function scaleOf(unit, largest) {
  const {step, names, of = 1} = scales[unit];
  let power = 0, value = Math.abs(largest) / of;
  for (; step > 1 && value >= step && power < names.length - 1; ++power)
    value /= step;
  return {name: names[power], of: of * step ** power};
}

/** Made once: to make a format takes longer than to use it. */
const formats = new Map();
function formatted(value, options) {
  const key = JSON.stringify(options);
  if (!formats.has(key))
    formats.set(key, new Intl.NumberFormat("en-US", options));
  return formats.get(key).format(value);
}
const fixed = (value, decimals) => formatted(
    value, {minimumFractionDigits: decimals, maximumFractionDigits: decimals});
const rounded = (value) => formatted(value, {maximumSignificantDigits: 4});

/** A number with its unit; a count of things has all its digits, unless it may
    be `short`. */
function read(number, unit) {
  const text = digits(number);
  if (!isNumber(number))
    return text;
  if (unit === "flag")
    return text === "1" ? "yes" : "no";
  const isShort = unit === "short" && text.length > 6;
  if (isShort)
    unit = "count";
  if (unit === "step")
    return `${grouped(text)} steps`;
  if (!scales[unit] || (unit === "count" && !isShort))
    return grouped(text);
  if (unit === "millionths")
    return `${fixed(Number(text) / 10000, 1)} %`;
  const {name, of} = scaleOf(unit, Number(text));
  return `${rounded(Number(text) / of)} ${name}`.trim();
}
