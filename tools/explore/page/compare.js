// SPDX-License-Identifier: Apache-2.0
//
// A pinned variant beside the one that is shown, and changes that are offered.

/** Digits of a number that may be too large for one. */
const figure = (value, unit) => value === null ? "–"
    : typeof value === "boolean" ? (value ? "yes" : "no")
    : typeof value !== "number" ? digits(value) : read(value.toLocaleString("en-US", {useGrouping: false}), unit);

function share(before, after) {
  if (typeof before !== "number" || typeof after !== "number" || before === 0)
    return "";
  const percent = 100 * (after - before) / before;
  return `${percent > 0 ? "+" : ""}${percent.toFixed(1)} %`;
}

const row = (name, ...cells) => html("tr", {}, ...cells.map((cell) => html(name, {}, cell)));
const table = (...rows) => html("div", {class: "wide"}, html("table", {}, ...rows));

const nameOf = ({answer, table: of, stages, row: words, figure: column}) =>
    [answer, of, stages && range(stages), ...words, column].filter(Boolean).join(" ");

function pin() {
  state.pinned = {text: shown.text, set: changes(shown.set)};
  showCompared();
}

let comparison = 0;
async function showCompared() {
  const mine = ++comparison, root = byId("explore-compared");
  if (!state.pinned || root.closest("[data-pane]").hidden)
    return;
  const now = {text: shown.text, set: changes(shown.set)};
  const answer = await ask("/compare", {before: state.pinned, after: now});
  if (mine !== comparison)
    return;
  if (answer.error)
    return root.replaceChildren(answer.error);
  if (answer.same)
    return root.replaceChildren("Both variants are the same.");
  const named = answer.figures.filter(({table: of}) => !of);
  const others = answer.figures.filter(({table: of}) => of);
  const figureRow = (of) => row("td", nameOf(of), figure(of.before, of.unit), figure(of.after, of.unit),
                                share(of.before, of.after), of.by.join(", "));
  const heads = ["figure", "pinned", "now", "change", "caused by"];
  root.replaceChildren(
      html("h3", {}, "Keys"),
      table(row("th", "key", "pinned", "now"),
            ...answer.keys.map(({key, before, after}) => row("td", key, before?.value ?? "–", after?.value ?? "–"))),
      ...answer.notes.map((note) => html("p", {class: "note"}, note)),
      html("h3", {}, "Numbers"), table(row("th", ...heads), ...named.map(figureRow)),
      html("h3", {}, "Tables"), table(row("th", ...heads), ...others.slice(0, 200).map(figureRow)));
}

let search = new AbortController();
/** What helps one job says nothing of the next one. */
function forgetSuggestions() {
  search.abort();
  byId("explore-suggestions").replaceChildren();
}

/** The page can move on meanwhile. */
async function showSuggestions(goal) {
  forgetSuggestions();
  const {signal} = search = new AbortController(), root = byId("explore-suggestions");
  root.replaceChildren("Trying changes …");
  const answer = await ask("/suggest", {text: shown.text, set: changes(shown.set), goal}, signal);
  if (signal.aborted)
    return;
  if (!answer.suggestions?.length)
    return root.replaceChildren(answer.error ?? answer.why);
  root.replaceChildren(...answer.suggestions.map(({set, peak, time}) => {
    const words = set.map((change) => change.split(".").slice(1).join(".").replace("=", " = ")).join(", ");
    const numbers = [...time ? [read(time, "ns")] : [], `${read(peak, "bytes")} a rank`].join(", ");
    const button = html("button", {type: "button", "data-set": set.join(" ")}, `${words}: ${numbers}`);
    button.onclick = () => move(set.map(parted));
    return button;
  }));
}
