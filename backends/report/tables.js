// SPDX-License-Identifier: Apache-2.0
//
// What is said in words and tables.

/** `columns`: {title, unit, of(row)}; the first one names the row. */
function fillTable(table, columns, rows, nameOf) {
  const isNumber = ({unit}) => unit !== "text";
  const side = (column) => isNumber(column) ? {class: "right"} : {};
  table.replaceChildren(
      html("thead", {}, html("tr", {}, ...columns.map((column) => html(
          "th", {scope: "col", ...side(column)}, column.title)))),
      html("tbody", {}, ...rows.map((row) => html("tr", {}, ...columns.map((column) => html(
          "td", side(column),
          isNumber(column) ? figure(column.of(row), column.unit,
                                    `${column.title}, ${nameOf(row)}`)
                           : digits(column.of(row))))))));
}

function showSummary() {
  const {model, train, parallel, schedule, cluster} = plan;
  document.title = `${plan.job}: ${model.name}`;
  byId("title").textContent = plan.job;
  byId("subtitle").textContent = `${model.name}, ${model.layers} layers` +
      (cluster ? `, on ${cluster.name || "a cluster"} of ${grouped(digits(cluster.nodes))} nodes` : "");
  const layout = parallel.mesh.filter(({size}) => digits(size) !== "1");
  const card = (id, title, ...content) =>
      html("div", {id}, html("dt", {}, title), html("dd", {}, ...content));
  const number = (id, title, of, unit) => card(id, title, figure(of, unit, title));
  byId("summary").replaceChildren(
      number("parameters", "Parameters", model.parameters, "short"),
      number("activated", "Active parameters", model.activated, "short"),
      number("world", "Ranks", parallel.world, "count"),
      card("layout", "Layout", ...layout.flatMap(({axis, size}, index) => [
        `${index ? " · " : ""}${axis} `, figure(size, "count", axis)])),
      number("tokens", "Tokens of an iteration", train.tokens, "count"),
      number("micro-batches", "Micro-batches of a replica", parallel.ga, "count"),
      number("flops", "FLOPs of all ranks in an iteration", plan.flops, "flops"),
      number("bubble", "Bubble", schedule.bubble_millionths, "millionths"),
      card("precision", "Precision, recomputation", `${train.precision}, ${train.recompute}`));
}

const stageName = (stage) => `stage ${range(stage)}`;

function showPlan() {
  const bytes = ["weights", "gradients", "optimizer", "activations", "peak"];
  fillTable(byId("stages"), [
    {title: "stage", unit: "text", of: range},
    {title: "layers", unit: "text",
     of: ({chunks}) => chunks.map((chunk) => (plan.schedule.chunks > 1
         ? `${range(chunk)}: ` : "") + chunk.layers).join("; ")},
    {title: "parameters", unit: "short", of: ({parameters}) => parameters},
    ...bytes.map((title) => ({title, unit: "bytes", of: (stage) => stage[`${title}_bytes`]})),
    {title: "FLOPs", unit: "flops", of: ({flops}) => flops},
    {title: "in flight", unit: "count", of: (stage) => stage.in_flight},
  ], plan.stages, stageName);
  fillTable(byId("blocks"), [
    {title: "kind", unit: "text", of: ({block}) => block},
    {title: "layers", unit: "count", of: ({layers}) => layers},
    {title: "parameters", unit: "short", of: ({published}) => published},
    {title: "on a rank", unit: "short", of: ({parameters}) => parameters},
    {title: "weights", unit: "bytes", of: (block) => block.weights_bytes},
    {title: "kept", unit: "bytes", of: (block) => block.kept_bytes},
    {title: "FLOPs", unit: "flops", of: ({flops}) => flops},
  ], plan.blocks, ({block}) => block);
}

/** Of all stages, by first use. */
const messageGroups = () => [...new Set(plan.stages.flatMap(
    ({messages}) => messages.map(({group}) => group)))];
const messagesOf = (stage, group) =>
    stage.messages.find((message) => message.group === group)?.bytes ?? "0";

function showGroups() {
  fillTable(byId("messages-table"), [
    {title: "stage", unit: "text", of: range},
    ...messageGroups().map((title) => (
        {title, unit: "bytes", of: (stage) => messagesOf(stage, title)})),
  ], plan.stages, stageName);
  const tiers = plan.parallel.groups[0]?.tiers ?? [];
  fillTable(byId("groups"), [
    {title: "group", unit: "text", of: ({group}) => group},
    {title: "axes", unit: "text", of: ({axes}) => axes.join(", ")},
    {title: "ranks", unit: "count", of: ({size}) => size},
    {title: "groups", unit: "count", of: ({groups}) => groups},
    ...plan.cluster ? [
      {title: "leave a node", unit: "count", of: (group) => group.leave_node},
      ...tiers.map(({tier}, index) => (
          {title: `joined by ${tier}`, unit: "count",
           of: (group) => group.tiers[index].groups})),
    ] : [],
  ], plan.parallel.groups, ({group}) => group);
}

/** What other backends say, whatever it is. */
function showSections() {
  byId("sections").replaceChildren(...data.sections.map(
      ({name, title, named, tables, notes}) => html(
          "section", {id: `section-${name}`},
          html("h2", {}, `${name}: ${title}`),
          html("dl", {class: "cards"}, ...named.map((each) => html(
              "div", {id: `${name}-${each.key}`}, html("dt", {}, each.title),
              html("dd", {}, figure(each.value, each.unit, each.title))))),
          ...tables.filter(({rows}) => rows.length).flatMap((table) => {
            const made = html("table", {id: `${name}-table-${table.key}`});
            fillTable(made, table.columns.map(({key, unit}, index) => (
                {title: key.replaceAll("_", " "), unit, of: (row) => row[index]})),
                table.rows, (row) => row.filter((_, index) =>
                    table.columns[index].unit === "text").join(" "));
            return [html("h3", {}, table.title), html("div", {class: "wide"}, made)];
          }),
          ...notes.map((note) => html("p", {class: "note"}, note)))));
}
