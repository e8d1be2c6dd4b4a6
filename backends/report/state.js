// SPDX-License-Identifier: Apache-2.0
//
// What the reader has opened, sorted and zoomed: it is kept when the page draws
// another job.

const state = {
  open: new Set(),   // disclosures, by their ids
  sorts: new Map(),  // by table: {column, isDescending}
  view: [0, 1],      // the part of the timeline that is in view
  explained: null,   // the number in the panel, by its place
  groups: null,      // the kind of groups that colours ranks
};

/** A part of the page that opens; `fill` makes what is in it. */
function disclosure(id, summary, fill) {
  const root = html("details", {"data-open": id}, html("summary", {}, ...summary));
  const show = () => {
    if (root.childElementCount === 1)
      root.append(...fill());
  };
  if (state.open.has(id)) {
    root.open = true;
    show();
  }
  root.addEventListener("toggle", () => {
    state.open[root.open ? "add" : "delete"](id);
    if (root.open)
      show();
  });
  return root;
}

/** Runs `draw`, after which the focus and the scrolled places are as before. */
function keepPlace(draw) {
  const {scrollX, scrollY} = window;
  const panel = byId("panel").scrollTop;
  const at = document.activeElement?.dataset.at;
  draw();
  if (at)
    document.querySelector(`[data-at="${CSS.escape(at)}"]`)?.focus({preventScroll: true});
  byId("panel").scrollTop = panel;
  scrollTo({left: scrollX, top: scrollY, behavior: "instant"});
}

function showTip(lines, event) {
  const tip = byId("tip");
  tip.hidden = !lines;
  if (!lines)
    return;
  tip.replaceChildren(...lines.map((line) => html("div", {}, line)));
  const {x, y} = event;
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - tip.offsetHeight - 4))}px`;
}

/** Shows what `linesOf(target)` returns where the pointer or the focus is. */
function tipsOn(root, linesOf) {
  root.onpointermove = (event) => showTip(linesOf(event.target), event);
  root.onpointerleave = () => showTip(null);
  root.addEventListener("focusin", ({target}) => {
    const {left, bottom} = target.getBoundingClientRect();
    showTip(linesOf(target), {x: left, y: bottom - 10});
  });
  root.addEventListener("focusout", () => showTip(null));
}
