// SPDX-License-Identifier: Apache-2.0
//
// A control for each key: it offers the values with which the job is legal, and
// says of others why it is not.

/** Rows by key: {root, box, control, values}. `values` are fetched when idle. */
const rows = new Map();
let generation = 0; ///< of the values

const sectionOf = (key) => key.includes(".") ? key.split(".")[0] : "param";
const isNumber = ({type}) => type !== "Bool" && type !== "Word" && type !== "Text";
const legalOf = (row) => (row.values ?? []).filter(({why}) => !why).map(({value}) => value);

/** The row that moved last; it says why if its value is refused. */
let mover = null;

/** Sets keys, all together. Why an earlier value was refused matters no more. */
function move(set, row = null) {
  mover = row;
  for (const {why} of rows.values())
    why.replaceChildren();
  for (const [key, value] of set)
    state.set.set(key, value);
  return update();
}

/** Takes a refused move back: the keys are those of the job that is shown. */
function takeBack(answer) {
  const wanted = mover && state.set.get(mover.control.key);
  state.set = new Map(shown.set);
  if (!mover)
    return;
  explain(mover, wanted, answer.diagnostics);
  fill(mover);
}

/** The nearest legal values of a number, one in each direction. */
function nearest(row, wanted) {
  const values = legalOf(row);
  if (!isNumber(row.control) || !/^\d+$/.test(wanted))
    return values.slice(0, 8);
  const all = values.map(Number);
  const below = all.filter((value) => value < Number(wanted));
  const above = all.filter((value) => value > Number(wanted));
  return [...below.length ? [Math.max(...below)] : [], ...above.length ? [Math.min(...above)] : []].map(String);
}

function explain(row, wanted, diagnostics) {
  const error = diagnostics.find(({severity}) => severity === "error");
  const set = (value) => () => move([[row.control.key, value]], row);
  row.why.replaceChildren(
      html("div", {class: "wrong"}, `${row.control.key} = ${wanted}: ${error?.message ?? "refused"}`),
      ...(error?.notes ?? []).map(({message}) => html("div", {}, message)),
      ...nearest(row, wanted).map((value) => {
        const button = html("button", {type: "button", "data-nearest": value}, value);
        button.onclick = set(value);
        return button;
      }));
}

const field = (type, attributes = {}) => html("input", {type, ...attributes});

function fillSelect(row) {
  const {control, values} = row;
  const all = values ?? [{value: control.value}];
  row.input.replaceChildren(...all.map(({value, why}) => html(
      "option", {value, ...why && {disabled: "", title: why}}, value)));
  row.input.value = control.value;
}

function fillSlider(row) {
  const legal = legalOf(row);
  row.slider.disabled = legal.length < 2;
  row.slider.max = Math.max(legal.length - 1, 0);
  row.slider.value = legal.indexOf(row.control.value);
}

/** Shows the value of a row, and its values as far as they are known. */
function fill(row) {
  const {control, values, input} = row;
  row.root.dataset.how = control.how;
  row.root.classList.toggle("moved", state.set.has(control.key));
  row.reset.hidden = !state.set.has(control.key);
  if (control.type === "Bool") {
    const other = values?.find(({value}) => value !== control.value);
    input.checked = control.value === "true";
    input.disabled = Boolean(other?.why);
    input.title = other?.why ?? "";
  } else if (control.type === "Word") {
    fillSelect(row);
  } else {
    input.value = control.value;
  }
  if (row.slider)
    fillSlider(row);
}

function makeRow(control) {
  const id = `explore-${control.key}`;
  const input = control.type === "Word" ? html("select", {id})
      : field(control.type === "Bool" ? "checkbox" : "text",
              {id, class: control.type === "Text" ? "wide" : ""});
  const row = {control, input, slider: isNumber(control) ? field("range", {min: 0, "aria-label": control.key}) : null};
  row.reset = html("button", {type: "button", "aria-label": `Reset ${control.key}`}, "↺");
  row.why = html("div", {class: "why"});
  const name = control.key.split(".").slice(1).join(".") || control.key;
  row.root = html("div", {class: "key", "data-key": control.key},
                  html("label", {for: id, title: `${control.key}: ${control.doc}`}, name),
                  html("span", {class: "value"}, ...row.slider ? [row.slider] : [], input),
                  row.reset, row.why);
  const to = (value) => move([[row.control.key, value]], row);
  input.onchange = () => to(control.type === "Bool" ? String(input.checked) : input.value.trim());
  if (row.slider)
    row.slider.oninput = () => {
      row.input.value = legalOf(row)[row.slider.value];
      to(row.input.value);
    };
  row.reset.onclick = () => {
    state.set.delete(row.control.key);
    row.why.replaceChildren();
    update();
  };
  return row;
}

/** Rows for the keys of the job that is shown; a key keeps its row. */
function showControls(controls) {
  const sections = new Map();
  for (const control of controls) {
    const known = rows.get(control.key);
    const row = known?.control.type === control.type ? known : makeRow(control);
    row.control = control;
    rows.set(control.key, row);
    const section = sectionOf(control.key);
    sections.set(section, [...sections.get(section) ?? [], row]);
  }
  const root = byId("explore-controls");
  for (const [name, all] of sections) {
    let box = root.querySelector(`[data-section="${name}"]`);
    if (!box) {
      box = html("details", {"data-section": name}, html("summary", {}, name));
      box.open = ["param", "parallel", "train", "requests", "serve"].includes(name);
      box.ontoggle = fetchValues;
      root.append(box);
    }
    const wanted = all.map(({root: of}) => of);
    if (wanted.some((of, index) => box.children[index + 1] !== of) || box.children.length !== wanted.length + 1)
      box.replaceChildren(box.firstChild, ...wanted);
    all.forEach(fill);
  }
  filterControls();
}

function filterControls() {
  const words = byId("explore-filter").value.toLowerCase();
  for (const [key, {root}] of rows)
    root.hidden = !key.includes(words);
}

/** Asks which values are legal now, key by key, as long as nothing moves. */
async function fetchValues() {
  const mine = ++generation;
  for (const row of rows.values())
    row.isFresh = false;
  for (const row of rows.values()) {
    if (row.isFresh || !row.root.isConnected || !row.root.closest("details").open)
      continue;
    const key = row.control.key;
    const answer = await ask("/values", {text: shown.text, set: changes(shown.set), keys: [key]});
    if (mine !== generation || isBusy)
      return;
    row.values = answer.values?.[key] ?? [];
    row.isFresh = true;
    if (document.activeElement !== row.input)
      fill(row);
  }
  byId("explore-controls").dataset.fresh = mine;
}

/** The keys as they are in the job that is shown. */
async function refreshControls() {
  const mine = ++generation;
  delete byId("explore-controls").dataset.fresh;
  const answer = await ask("/controls", {text: shown.text, set: changes(shown.set)});
  if (mine !== generation || !answer.controls)
    return;
  showControls(answer.controls);
  fetchValues();
}
