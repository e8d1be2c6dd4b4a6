// SPDX-License-Identifier: Apache-2.0
//
// Where a number comes from: a tree of terms with values, down to where the job
// states its keys.

/** By place on the page, what fills the panel. */
const explanations = new Map();

/** A number that can be clicked if it is known where it comes from. */
function figure(number, unit, title, at, text = read(number, unit)) {
  if (!isNumber(number))
    return html("span", {}, text);
  const attributes = {"data-value": digits(number), title: grouped(digits(number))};
  if (number?.from === undefined)
    return html("span", attributes, text);
  explanations.set(at, () => [title, [
    html("p", {class: "explained", "data-value": digits(number)},
         html("b", {}, read(number, unit === "count" ? "text" : unit)), " ",
         html("span", {class: "quiet"}, grouped(digits(number)))),
    tree(number.from, at),
  ]]);
  const button = html("button", {
    ...attributes, type: "button", class: "number", "data-at": at,
  }, text);
  button.addEventListener("click", () => explain(at));
  return button;
}

const termOf = (index) => {
  const term = data.terms[index];
  if (!Array.isArray(term))
    return {...term, operands: term.from === undefined ? [] : [term.from]};
  const [op, value, ...operands] = term;
  return {op, value, operands};
};

const signs = {"+": " + ", "*": " × ", "/": " / "};
const names = {"+": "sum", "*": "product", "/": "quotient", floor: "quotient, rounded down",
               ceil: "quotient, rounded up", mod: "remainder", min: "smaller of",
               max: "larger of", less: "1 if less", equal: "1 if equal",
               lcm: "least common multiple of"};
const valueOf = ({value}) => value === null ? "beyond 2^63" : grouped(value);

/** The formula of a term by names; what is deep is its value. */
function formula(index, depth = 0) {
  const {key, op, operands, ...term} = termOf(index);
  if (key !== undefined)
    return key;
  if (op === "" || depth > 1)
    return valueOf(term);
  const parts = operands.map((each) => formula(each, depth + 1));
  if (!signs[op])
    return `${op}(${parts.join(", ")})`;
  const text = parts.length > 6
      ? [...parts.slice(0, 5), `… ${parts.length - 5} more`].join(signs[op])
      : parts.join(signs[op]);
  return depth > 0 && op !== "*" ? `(${text})` : text;
}

/** A term in a line: its name or its formula, and its value. */
function line(index) {
  const {key, op, why, where, counts, ...term} = termOf(index);
  const about = key === undefined ? names[op] : (where ?? why) + (counts ? `: ${counts}` : "");
  return [
    html("code", {}, key ?? formula(index)),
    html("span", {class: "value", "data-value": term.value ?? ""}, `= ${valueOf(term)}`),
    html("span", {class: "quiet"}, about),
  ];
}

/** A term, which opens if it follows from others. */
function branch(index, at) {
  const {operands} = termOf(index);
  return html("li", {}, operands.length
      ? disclosure(at, line(index), () => [terms(operands, at)])
      : html("div", {class: "leaf"}, ...line(index)));
}

/** Terms of a formula; its constants are in it. */
const terms = (indices, at) => html("ul", {class: "tree"}, ...indices
    .map((index, number) => [index, `${at}/${number}`])
    .filter(([index]) => termOf(index).op !== "")
    .map(([index, place]) => branch(index, place)));

/** Where a number comes from. */
function tree(index, at) {
  const {key, op, operands} = termOf(index);
  if (key !== undefined)
    return terms([index], at);
  return html("div", {}, html("p", {}, html("span", {class: "quiet"}, `${names[op]}: `),
                              html("code", {}, formula(index))), terms(operands, at));
}

/** Words, some of them code. */
const prose = (text) => text.split("`").map((part, index) => index % 2
    ? html("code", {}, part) : part);

/** Words and numbers, one after the other. */
const phrase = (parts) => parts.flatMap((part) => typeof part === "string"
    ? prose(part) : html("span", {"data-value": digits(part.value)}, read(part.value, part.unit)));

function fillPanel() {
  const made = explanations.get(state.explained)?.();
  byId("panel").hidden = !made;
  if (!made)
    return;
  const [title, parts] = made;
  byId("panel-title").textContent = title;
  byId("explanation").replaceChildren(...parts);
}

function explain(at) {
  state.explained = at;
  fillPanel();
  byId("panel").scrollTop = 0;
  byId("panel-title").focus({preventScroll: true});
}

/** Closes the panel; the focus goes back to what opened it. */
function closePanel() {
  const at = state.explained;
  state.explained = null;
  byId("panel").hidden = true;
  if (at)
    document.querySelector(`[data-at="${CSS.escape(at)}"]`)?.focus({preventScroll: true});
}
