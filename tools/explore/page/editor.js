// SPDX-License-Identifier: Apache-2.0
//
// The text of the job with its diagnostics, and the file that it comes from.

function showGutter(diagnostics) {
  const worst = new Map();
  for (const {file, line, severity} of diagnostics)
    if (file === state.file?.path && worst.get(line) !== "error")
      worst.set(line, severity);
  const lines = byId("explore-text").value.split("\n");
  byId("explore-gutter").replaceChildren(...lines.flatMap((text, index) => [
    html("span", {class: worst.get(index + 1) ?? ""}, String(index + 1)), "\n",
  ]));
}

function goTo(line, column) {
  choosePane("text");
  const area = byId("explore-text");
  const start = area.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + column - 1;
  area.focus();
  area.setSelectionRange(start, start);
}

const placeOf = ({file, line}) => !file ? "" : `${file}${line ? `:${line}` : ""}: `;

function showDiagnostics({diagnostics = [], denied = []}) {
  showGutter(diagnostics);
  const items = diagnostics.map((of) => {
    const item = html("li", {class: of.severity}, `${placeOf(of)}${of.severity}: ${of.message} [${of.slug}]`,
                      ...(of.notes ?? []).map((note) => html("div", {}, placeOf(note) + note.message)));
    if (of.file === state.file?.path)
      item.onclick = () => goTo(of.line, of.column);
    return item;
  });
  byId("explore-diagnostics").replaceChildren(...items, ...denied.map((path) => html(
      "li", {class: "error"},
      `${path} is outside of the folder of the job. A text of this page can import files of that folder, of folders given with -I, and those that the file on disk imports.`)));
}

/** The timer that waits for an end of typing. */
let typing = null;
function startTyping() {
  const area = byId("explore-text");
  state.text = area.value === state.file.text ? null : area.value;
  showGutter([]);
  clearTimeout(typing);
  typing = setTimeout(() => {
    typing = null;
    update();
  }, 120);
}

function setText(text) {
  state.text = text === state.file.text ? null : text;
  byId("explore-text").value = textNow();
}

/** Follows the file: an editor that saves it changes the page. */
async function followFile() {
  const answer = await ask("/job");
  if (!answer.stamp || answer.stamp === state.file?.stamp)
    return;
  const isFirst = !state.file;
  state.file = answer;
  if (state.text === null)
    byId("explore-text").value = answer.text;
  else
    say("The file has changed; the text of this page has not.");
  showGutter([]);
  showFormats(answer.exports);
  if (!isFirst)
    update();
}
