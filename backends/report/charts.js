// SPDX-License-Identifier: Apache-2.0
//
// Bars of stages: memory against the device, and messages.

const rowHeight = 24;
/** `parts`: {name, of(stage)}, side by side; `limit`: {value, name}, if any. */
function drawBars(root, parts, limit) {
  const drawnStages = ends(plan.stages, 32);
  const left = 110, width = root.clientWidth, room = width - left - 90;
  const sums = drawnStages.map((stage) => parts.reduce((sum, {of}) => sum + size(of(stage)), 0));
  const most = Math.max(1, limit?.value ?? 0, ...sums);
  const x = (value) => left + room * value / most;
  const height = drawnStages.length * rowHeight + (limit ? 20 : 4);
  root.setAttribute("viewBox", `0 0 ${width} ${height}`);
  root.setAttribute("height", height);
  root.replaceChildren();
  drawnStages.forEach((stage, row) => {
    const y = row * rowHeight;
    let from = 0;
    root.append(svg("text", {x: 0, y: y + 15}, stageName(stage)));
    parts.forEach(({name, of}, index) => {
      const value = size(of(stage));
      root.append(svg("rect", {
        x: x(from), y, width: room * value / most, height: rowHeight - 4,
        fill: colourOf(index),
        "data-tip": `${stageName(stage)}: ${name} ${read(of(stage), "bytes")}`,
      }));
      from += value;
    });
    root.append(svg("text", {x: x(from) + 6, y: y + 15}, readings.bytes(String(from))));
  });
  if (!limit)
    return;
  const bottom = drawnStages.length * rowHeight;
  root.append(
      svg("line", {x1: x(limit.value), x2: x(limit.value), y1: 0, y2: bottom,
                   stroke: "var(--limit)", "stroke-width": 2}),
      svg("text", {x: x(limit.value), y: bottom + 14, "text-anchor": "middle"}, limit.name));
}

const memoryParts = ["weights", "gradients", "optimizer", "dummy_wgrads", "dynamic"].map(
    (name) => ({name: name.replace("_", " "), of: (stage) => stage[`${name}_bytes`]}));
const messageParts = () => messageGroups().map(
    (name) => ({name: name.replace("_", " "), of: (stage) => messagesOf(stage, name)}));

/** ` (nvlink)`: the tiers that join the groups of a kind, if they are known. */
function tiersOf(name) {
  const tiers = plan.parallel.groups.find(({group}) => group === name)?.tiers
      ?.filter(({groups}) => groups !== 0) ?? [];
  return tiers.length === 0 ? "" : ` (${tiers.map(({tier}) => tier).join(", ")})`;
}

function drawCharts() {
  const device = plan.cluster?.device_memory_bytes;
  drawBars(byId("memory"), memoryParts,
           device && {value: size(device), name: `device: ${read(device, "bytes")}`});
  drawBars(byId("messages"), messageParts());
}

function showCharts() {
  const device = plan.cluster?.device_memory_bytes;
  const over = plan.stages.filter((stage) => size(stage.peak_bytes) > size(device));
  byId("memory-summary").textContent = "Peak memory of a rank: weights, gradients, optimizer " +
      "state, dummy wgrad buffers, and dynamic memory: saved activations and the layer that " +
      "runs. Without buffers of a framework. " +
      (device === undefined ? "The memory of the device is unknown: the job has no cluster."
       : over.length === 0 ? `All stages fit into ${read(device, "bytes")}.`
       : `${over.map(stageName).join(", ")}: more than the ${read(device, "bytes")} of the device.`);
  legend(byId("memory-legend"), memoryParts.map(({name}) => name));
  legend(byId("messages-legend"), messageGroups().map((name) => name + tiersOf(name)));
  for (const id of ["memory", "messages"])
    tipsOn(byId(id), ({dataset}) => dataset.tip && [dataset.tip]);
}
