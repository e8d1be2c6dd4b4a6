// SPDX-License-Identifier: Apache-2.0
//
// How many sequences fit over the length of their context. Both axes double at
// equal distances, so that the memory of a token makes a straight line.

function drawOccupancy(points, own) {
  const width = 640, height = 200, left = 60, bottom = 30;
  const log = (value, [first], [last]) => Math.log(value / first) / Math.max(Math.log(last / first), 1e-9);
  const most = [Math.max(...points.map(([, fit]) => fit))];
  const place = ([length, fit]) => [
    left + (width - left - 40) * log(length, points[0], points.at(-1)),
    (height - bottom - 20) * (1 - log(fit, [1], most)) + 10];
  const label = (x, y, text, anchor) => svg("text", {class: "axis", x, y, "text-anchor": anchor}, text);
  const [end] = place(points.at(-1));
  return svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", style: "max-width: 52rem",
                     "aria-label": "Sequences that fit over the length of context"},
      svg("polyline", {points: points.map(place).join(" "), fill: "none",
                       style: `stroke: ${colour("accent")}; stroke-width: 2`}),
      ...points.map((point) => {
        const [cx, cy] = place(point);
        return svg("circle", {cx, cy, r: point[0] === own ? 6 : 3, style: `fill: ${colour("accent")}`,
                              "data-tip": `${grouped(String(point[0]))} tokens: ${grouped(String(point[1]))} sequences`});
      }),
      label(left - 8, 14, grouped(String(most[0])), "end"), label(left - 8, height - bottom - 6, "1", "end"),
      label(left, height - 6, grouped(String(points[0][0])), "start"),
      label(end, height - 6, `${grouped(String(points.at(-1)[0]))} tokens`, "end"));
}

function showOccupancy() {
  const points = data.occupancy ?? [], root = byId("occupancy");
  const own = plan.serve && plan.requests.input + plan.requests.output;
  root.replaceChildren(...points.length > 1 ? [
    html("h3", {}, "Sequences that fit, over the length of context"), drawOccupancy(points, own),
    html("p", {class: "note"}, `A sequence of the job has ${grouped(String(own))} tokens, the large point. ` +
         "Those of a replica, with as many tokens of output as in the job."),
    disclosure("occupancy-table", ["The numbers of the curve"], () => [makeTable({
      id: "occupancy-all", title: "Sequences that fit", columns: [
        {title: "tokens of input + output", unit: "text"}, {title: "sequences", unit: "count"}], rows: points})]),
  ] : []);
  barTips(root);
}
