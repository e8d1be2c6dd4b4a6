// SPDX-License-Identifier: Apache-2.0
//
// Where a number comes from: its expression, and where a job states the keys.

/** A number that can be clicked if it is known where it comes from. */
function figure(number, unit, label) {
  const text = read(number, unit);
  const attributes = {"data-value": digits(number), title: grouped(digits(number))};
  if (number?.from === undefined)
    return html("span", attributes, text);
  const button = html("button", {...attributes, type: "button", class: "number"}, text);
  button.addEventListener("click", () => explain(number, unit, label));
  return button;
}

/** The expression at `index`: by names, and by numbers. */
function expression(index) {
  const {names, numbers, operands} = data.expressions[index];
  const lines = [html("div", {}, "= ", html("code", {}, names))];
  if (numbers !== names)
    lines.push(html("div", {}, "= ", html("code", {}, numbers)));
  return [...lines, html("ul", {}, ...operands.map(operand))];
}

/** A key: what it is, why, and, opened, what it follows from. */
function operand(index) {
  const {key, value, why, where, counts, from} = data.keys[index];
  const line = [
    html("code", {}, `${key} = ${grouped(value)}`), " ",
    html("span", {class: "why"}, where ?? why, counts ? `: ${counts}` : ""),
  ];
  if (from === undefined)
    return html("li", {}, ...line);
  const details = html("details", {}, html("summary", {}, ...line));
  // Definitions stand in each other: they are made when they are looked at.
  details.addEventListener("toggle", () => details.append(...expression(from)),
                           {once: true});
  return html("li", {}, details);
}

function explain(number, unit, label) {
  byId("panel-title").textContent = label;
  byId("explanation").replaceChildren(
      html("p", {id: "explained", "data-value": digits(number)},
           `${grouped(digits(number))} (${read(number, unit)})`),
      ...expression(number.from));
  byId("panel").hidden = false;
  byId("panel-title").focus();
}

function closePanel() {
  byId("panel").hidden = true;
}
