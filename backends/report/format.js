// SPDX-License-Identifier: Apache-2.0
//
// Elements of the page.

/** What is drawn: the argument of `render`, and the plan in it. */
let data, plan;

const byId = (id) => document.getElementById(id);

function setAll(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined)
      made.setAttribute(key, value);
  made.append(...children.filter((each) => each !== null));
  return made;
}
const html = (name, attributes = {}, ...children) =>
    setAll(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
    setAll(document.createElementNS("http://www.w3.org/2000/svg", name),
           attributes, children);
const colour = (name) => `var(--${name})`;

/** To be drawn, not to be shown. */
const size = (number) => Number(digits(number));

const words = (key) => key.replaceAll("_", " ");

const stageName = (stages) => {
  const text = digits(stages);
  return `stage${/\d-/.test(text) ? "s" : ""} ${text.replace("-", "–")}`;
};

/** At most `count` of a list at each of its ends. */
const ends = (list, count) => list.length <= 2 * count
    ? list : [...list.slice(0, count), ...list.slice(-count)];

/** Colours with what they mean here. */
const legend = (...entries) => html("p", {class: "legend"}, ...entries.map(
    ([name, meaning]) => html("span", {}, html("i", {style: `background: ${colour(name)}`}),
                              meaning)));

/** An answer of another backend by its name, and a table of it. */
const sectionOf = (name) => data.sections.find((each) => each.name === name);
const tableOf = (name, key) => sectionOf(name)?.tables.find((table) => table.key === key);
/** The rows of a table as objects, by the keys of its columns. */
const rowsOf = (table) => (table?.rows ?? []).map((row) => Object.fromEntries(
    table.columns.map(({key}, index) => [key, row[index]])));
