// SPDX-License-Identifier: Apache-2.0
//
// The peak memory of a rank of each stage, by what it is, against the device.

/** `rows`: {name, terms, at, value, unit}, drawn to one scale up to `most`. */
const barRows = (rows, most, limit) => html("div", {class: "bars"}, ...rows.flatMap((row) => [
  html("span", {class: "label"}, row.name),
  html("div", {class: "track"}, ...row.terms.map((term) => html("i", {
    style: `width: ${100 * size(term.value) / most}%; background: ${colour(term.colour)}`,
    "data-tip": `${row.name}: ${term.title} ${read(term.value, row.unit)}`,
  })), limit ? html("i", {class: "limit", style: `left: ${100 * limit / most}%`}) : null),
  html("span", {class: "end"}, figure(row.value, row.unit, row.title ?? row.name, row.at)),
]));

const barTips = (root) => tipsOn(root, ({dataset}) => dataset.tip && [dataset.tip]);

function showMemory() {
  const section = sectionOf("memory");
  const table = tableOf("memory", "stages");
  const rows = rowsOf(table);
  const {device_memory: device, reserved} = plan.cluster ?? {};
  const limit = device && Math.max(0, size(device) - (plan.serve ? 0 : size(reserved)));
  const root = byId("memory-bars");
  const parts = data.memory_parts.filter(
      ({column}) => rows.some((row) => digits(row[column] ?? 0) !== "0"));
  const [total, title] = !plan.serve ? ["peak", "Peak memory"]
      : rows[0]?.pool ? ["pool", "Left for the cache"] : ["weights", "Weights"];
  byId("memory-summary").textContent = !table ? section?.notes.join(" ").replaceAll("`", "") ?? ""
      : (plan.serve ? `Memory of a rank, with ${total === "pool" ? "what is left for the cache" : "the weights"} as a number. `
                    : "Peak memory of a rank, at the moment when it has most. ") + (device
          ? `The line is the memory of the device, ${read(device, "bytes")}` + (plan.serve ? "." : ", without the " +
            `${read(reserved, "bytes")} that are reserved besides tensors.`)
          : "The job has no cluster, so the memory of its device is unknown.");
  const whole = (row) => plan.serve ? parts.reduce((sum, {column}) => sum + size(row[column]), 0) : size(row.peak);
  const most = Math.max(1, limit ?? 0, ...rows.map(whole));
  root.replaceChildren(...table ? [
    legend(...parts.map(({colour: name, title}) => [name, title])),
    barRows(ends(rows, 16).map((row) => ({
      name: stageName(row.stages), at: `memory/${digits(row.stages)}`, unit: "bytes", value: row[total],
      title: `${title}, ${stageName(row.stages)}`,
      terms: parts.map(({column, ...part}) => ({...part, value: row[column]})),
    })), most, limit),
  ] : []);
  barTips(root);
  byId("memory-all").replaceChildren(...[allOf("memory")].filter(Boolean));
}
