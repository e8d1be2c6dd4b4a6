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

showSummary();
showPlan();
const gantt = makeGantt();
showCharts();
showGroups();
showNodes();
showSections();

function draw() {
  gantt?.draw();
  drawCharts();
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
draw();
