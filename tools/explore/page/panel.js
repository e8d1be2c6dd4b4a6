// SPDX-License-Identifier: Apache-2.0
//
// Puts the panel together.

function choosePane(name) {
  for (const pane of document.querySelectorAll("#explore [data-pane]"))
    pane.hidden = pane.dataset.pane !== name;
  for (const tab of document.querySelectorAll("#explore [data-tab]"))
    tab.setAttribute("aria-selected", tab.dataset.tab === name);
  if (name === "compare")
    showCompared();
}
for (const tab of document.querySelectorAll("#explore [data-tab]"))
  tab.onclick = () => choosePane(tab.dataset.tab);

async function copy(what) {
  const answer = what === "job" ? await ask("/write", variant()) : await ask("/export", {...variant(), to: what});
  const errors = (answer.diagnostics ?? []).filter(({severity}) => severity === "error");
  const rest = answer.rest?.length ? `// Also: ${answer.rest.map((of) => `-D '${of}'`).join(" ")}\n` : "";
  const text = answer.text === undefined ? answer.error ?? errors.map(({message}) => message).join("\n")
                                         : rest + answer.text;
  byId("explore-copied").value = text;
  if (answer.text !== undefined)
    await navigator.clipboard?.writeText(text).then(() => say("copied"), () => say("select the text to copy it"));
}

function showFormats(exports) {
  const names = {job: "The job", command: "The command line"};
  byId("explore-formats").replaceChildren(...["job", "command", ...exports].map((what) => {
    const button = html("button", {type: "button", "data-copy": what}, names[what] ?? what);
    button.onclick = () => copy(what);
    return button;
  }));
}

byId("explore-fit").onclick = () => showSuggestions("fit");
byId("explore-faster").onclick = () => showSuggestions("faster");
byId("explore-filter").oninput = filterControls;
byId("explore-reset").onclick = () => {
  state.set.clear();
  update();
};
byId("explore-pin").onclick = pin;
byId("explore-back").onclick = () => {
  if (!state.pinned)
    return;
  state.set = new Map(state.pinned.set.map(parted));
  setText(state.pinned.text ?? state.file.text);
  update();
};
byId("explore-text").oninput = startTyping;
byId("explore-text").onscroll = () => {
  byId("explore-gutter").scrollTop = byId("explore-text").scrollTop;
};
byId("explore-revert").onclick = () => {
  setText(state.file.text);
  update();
};
byId("explore-write").onclick = async () => {
  const {text, rest, error} = await ask("/write", variant());
  if (error)
    return say(error, true);
  setText(text);
  state.set = new Map(rest.map(parted));
  update();
};

const followInterval = 500;
followFile().then(update);
setInterval(() => document.hidden || followFile(), followInterval);
/** For whoever drives the page. */
window.explore = {state, timings, rows, move, update, isIdle: () => !isBusy && !isWaiting && typing === null};
