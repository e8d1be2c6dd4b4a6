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
  if (key !== "Escape")
    return;
  showTip(null);
  if (!byId("panel").hidden)
    closePanel();
});

/** Draws a job, instead of the one before: all that the page shows. What the
    reader opened, sorted and zoomed is kept. */
function render(of) {
  data = of;
  plan = data.plan;
  document.title = `${plan.job}: ${plan.model.name}`;
  keepPlace(() => {
    explanations.clear();
    showSentence();
    showTiles();
    showTimeline();
    showMemory();
    showOccupancy();
    showCommunication();
    showNodes();
    showLayers();
    showSources();
    fillPanel();
    gantt?.draw();
  });
}

let drawnWidth = 0;
new ResizeObserver(() => requestAnimationFrame(() => {
  if (byId("gantt").clientWidth === drawnWidth)
    return;
  drawnWidth = byId("gantt").clientWidth;
  gantt?.draw();
})).observe(document.body);

// Paper is light.
let shownTheme;
addEventListener("beforeprint", () => {
  shownTheme = document.documentElement.dataset.theme;
  setTheme("light");
  gantt?.draw();
});
addEventListener("afterprint", () => setTheme(shownTheme));
render(JSON.parse(byId("data").textContent));
