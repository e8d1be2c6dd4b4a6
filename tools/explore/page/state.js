// SPDX-License-Identifier: Apache-2.0
//
// What the page is about, a text and changes of keys, and requests to the server.

/** The job that is shown. `text` is null as long as it is that of the file. */
const state = {text: null, set: new Map(), file: null, pinned: null};
/** Milliseconds from moves to their pictures, the last ones. */
const timings = [];

const token = new URLSearchParams(location.search).get("token");

/** The answer of the server, an object; `error` says why there is none. */
async function ask(path, body, signal) {
  try {
    const answer = await fetch(path, {
      method: body ? "POST" : "GET",
      body: body && JSON.stringify(body),
      headers: {authorization: `Bearer ${token}`},
      signal,
    });
    return answer.headers.get("content-type").startsWith("application/json")
        ? await answer.json() : {error: await answer.text()};
  } catch {
    return {error: "the server does not answer; start `foretrace explore` again"};
  }
}

const changes = (set = state.set) => [...set].map(([key, value]) => `${key}=${value}`);
/** Key and value of a change. */
const parted = (change) => [change.slice(0, change.indexOf("=")), change.slice(change.indexOf("=") + 1)];
/** What requests about the shown job contain. */
const variant = () => ({text: state.text, set: changes()});
const textNow = () => state.text ?? state.file?.text ?? "";

function say(text, isWrong = false) {
  byId("explore-status").textContent = text;
  byId("explore-status").classList.toggle("wrong", isWrong);
}

let isBusy = false, isWaiting = false;
/** The last job that was legal. */
let shown = {text: null, set: new Map(), stamp: null};

/** Whether only keys were moved since the last legal job. */
const isMove = (asked) => asked.text === shown.text && state.file?.stamp === shown.stamp;

/**
 * Compiles and draws the job. Moves that come meanwhile are compiled together
 * when it is drawn.
 */
async function update() {
  isWaiting = true;
  if (isBusy)
    return;
  isBusy = true;
  while (isWaiting) {
    isWaiting = false;
    const began = performance.now();
    const asked = {text: state.text, set: new Map(state.set), stamp: state.file?.stamp};
    const answer = await ask("/compile", {text: asked.text, set: changes(asked.set)});
    if (answer.legal) {
      shown = asked;
      forgetSuggestions();
      render(answer.data);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      timings.push(performance.now() - began);
      timings.splice(0, timings.length - 1000);
    }
    if (isWaiting)
      continue;
    const isTakenBack = answer.legal === false && isMove(asked);
    if (isTakenBack)
      takeBack(answer);
    document.body.classList.toggle("stale", !answer.legal && !isTakenBack);
    follow(answer, isTakenBack);
  }
  isBusy = false;
}

function follow(answer, isTakenBack) {
  if (answer.error)
    say(answer.error, true);
  else if (answer.legal)
    say(`${Math.round(timings.at(-1))} ms from the move to the picture`);
  else
    say(isTakenBack ? "This value is refused." : "The job is refused; the last legal one is shown.", true);
  if (!answer.error && !(isTakenBack && mover))
    showDiagnostics(answer);
  if (answer.legal)
    refreshControls();
  showCompared();
}
