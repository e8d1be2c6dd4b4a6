// SPDX-License-Identifier: Apache-2.0
//
// Puts the page together.

const isDark = () => document.documentElement.dataset.theme === "dark";

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = isDark() ? "Light" : "Dark";
}

const systemTheme = matchMedia("(prefers-color-scheme: dark)");
setTheme(systemTheme.matches ? "dark" : "light");
systemTheme.addEventListener("change", ({matches}) => setTheme(matches ? "dark" : "light"));
byId("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));

byId("close").addEventListener("click", closePanel);
addEventListener("keydown", ({key}) => {
  if (key === "Escape")
    closePanel();
});

let gantt = null;

function draw() {
  gantt?.draw();
  drawCharts();
}
/** Draws a job, instead of the one before: all that the page shows. */
function render(of) {
  data = of;
  plan = data.plan;
  showSummary();
  showPlan();
  const view = gantt && [gantt.from / gantt.picture.length, gantt.to / gantt.picture.length];
  gantt = makeGantt(view);
  showCharts();
  showGroups();
  showNodes();
  showSections();
  draw();
}

new ResizeObserver(() => requestAnimationFrame(draw)).observe(document.body);

// Paper is light.
let shownTheme;
addEventListener("beforeprint", () => {
  shownTheme = document.documentElement.dataset.theme;
  setTheme("light");
  draw();
});
addEventListener("afterprint", () => setTheme(shownTheme));
render(JSON.parse(byId("data").textContent));
