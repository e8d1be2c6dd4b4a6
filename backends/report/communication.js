// SPDX-License-Identifier: Apache-2.0
//
// Communication by group: each kind of group has a picture to its own scale, so
// that small ones are seen.

const tierColour = (index) => `tier-${Math.min(index, 2)}`;

/** What all ranks send among groups of a kind, by tier. */
function tierBar(group) {
  const tiers = rowsOf(tableOf("volume", "tiers")).map(({tier}) => tier);
  const rows = rowsOf(tableOf("volume", "tier_groups")).filter((row) => row.group === group);
  if (!rows.length)
    return [];
  return [
    html("div", {class: "tiers"}, "All ranks send ", ...rows.flatMap(({tier, sent}, index) => [
      index ? ", " : "",
      html("i", {class: "key", style: `background: ${colour(tierColour(tiers.indexOf(tier)))}`}),
      figure(sent, "bytes", `${group} over ${tier}`, `tier/${group}/${tier}`), ` over ${tier}`])),
    termBar(rows.map(({tier, sent}) => ({value: sent, colour: tierColour(tiers.indexOf(tier))}))),
  ];
}

function groupCard(group) {
  const about = plan.parallel.groups.find((each) => each.group === group);
  const rows = plan.messages
      .filter((row) => row.group === group && digits(row.messages) !== "0")
      .map(({stages, messages}) => ({
        name: stageName(stages), unit: "bytes", value: messages,
        title: `Messages over ${group}, ${stageName(stages)}`,
        at: `messages/${group}/${range(stages)}`,
        terms: [{title: `messages over ${group}`, value: messages, colour: "communication"}],
      }));
  if (!rows.length)
    return null;
  const most = Math.max(...rows.map(({value}) => size(value)));
  return html("figure", {class: "card", id: `group-${group}`},
      html("figcaption", {}, html("b", {}, group), about
          ? ` · ${grouped(digits(about.size))} ranks each, ${grouped(digits(about.groups))} groups`
          : ""),
      barRows(ends(rows, 8), most), ...tierBar(group));
}

function showCommunication() {
  const names = [...new Set(plan.messages.map(({group}) => group))];
  const cards = names.map(groupCard).filter(Boolean);
  const root = byId("groups");
  const tiers = plan.parallel.groups[0]?.tiers ?? [];
  byId("communication-summary").textContent = cards.length
      ? `Messages of a rank in ${plan.serve ? "a step" : "an iteration"}, by kind of group. Each picture has its own scale.`
      : "Every group has one rank, so nothing is sent.";
  byId("communication-legend").replaceChildren(...tiers.length && cards.length ? [legend(
      ...tiers.map(({tier}, index) => [tierColour(index), index ? tier : `${tier}, innermost`]))] : []);
  root.replaceChildren(...cards);
  barTips(root);
  byId("groups-table").replaceChildren(...plan.parallel.groups.length ? [makeTable({
    id: "groups-all", title: "Groups",
    columns: [
      {title: "group", unit: "text"}, {title: "axes", unit: "text"},
      {title: "ranks", unit: "count"}, {title: "groups", unit: "count"},
      ...plan.cluster ? [{title: "leave a node", unit: "count"},
                         ...tiers.map(({tier}) => ({title: `joined by ${tier}`, unit: "count"}))] : [],
    ],
    rows: plan.parallel.groups.map(({group, axes, size: ranks, groups, leave_node: leave, tiers: by}) => [
      group, axes.join(", "), ranks, groups,
      ...plan.cluster ? [leave, ...by.map(({groups: joined}) => joined)] : []]),
  })] : []);
  byId("volume-all").replaceChildren(...[allOf("volume")].filter(Boolean));
}
