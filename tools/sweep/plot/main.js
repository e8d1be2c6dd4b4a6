// SPDX-License-Identifier: Apache-2.0
//
// Puts the page together: what the reader does, and what is drawn then.

let hovered = -1;
const pictures = [];

function highlight() {
  for (const picture of pictures)
    picture.highlight(hovered < 0 ? opened() : hovered);
}

let isDue = false;
function redraw() {
  if (isDue)
    return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    if (points.length !== 0)
      pictures.forEach((picture) => picture.draw());
    byId("legend").replaceChildren(...shades.legend());
    highlight();
  });
}

const events = {
  choose() {
    choose();
    showStatus();
    redraw();
  },
  hover(index, event) {
    hovered = index;
    showTip(index, event);
    highlight();
  },
  open(index) { location.hash = `point=${points[index].id}`; },
};

function open() {
  showPanel(opened());
  showStatus();
  highlight();
}

function close() {
  history.replaceState(null, "", location.pathname + location.search);
  open();
}

/** Another scale or colour, and all is drawn anew. */
function setUp() {
  for (const [id, column] of [["log-x", xColumn], ["log-y", yColumn]]) {
    byId(id).disabled = !column.canBeLog;
    byId(id).onchange = () => {
      column.setLog(byId(id).checked);
      redraw();
    };
  }
  byId("colour").replaceChildren(html("option", {value: ""}, "nothing"), ...[...colourColumns.keys()].map(
      (name) => html("option", {}, name)));
  byId("colour").onchange = () => {
    shades.choose(byId("colour").value);
    redraw();
  };
}

pictures.push(new Scatter(byId("scatter"), events), new Parallel(byId("parallel"), events));
byId("all").addEventListener("click", () => {
  brushes.clear();
  events.choose();
});
byId("copy").addEventListener("click", copyCommand);
byId("close").addEventListener("click", close);
addEventListener("keydown", (event) => {
  if (event.key === "Escape")
    close();
});
addEventListener("hashchange", open);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
new ResizeObserver(redraw).observe(document.body);

setUp();
showSummary();
showFront();
showRejections();
events.choose();
open();
