// SPDX-License-Identifier: Apache-2.0
//
// Ranks on their nodes, coloured by the group of a kind that they are in.

function drawNodes() {
  const {groups, shown, are_known: areKnown} = data.nodes;
  const group = groups.indexOf(state.groups);
  byId("nodes").replaceChildren(...shown.map(({node, ranks}) => html(
      "div", {class: "node"},
      html("div", {}, areKnown ? `node ${grouped(String(node))}`
                               : `ranks ${grouped(String(ranks[0].rank))} and following`),
      html("ol", {}, ...ranks.map((rank) => html(
          "li", {style: `background: ${colour(`group-${(rank.groups[group] ?? 0) % 8}`)}`,
                 "data-rank": rank.rank, tabindex: 0},
          html("span", {}, String(rank.rank)),
          group < 0 ? null : html("small", {}, String(rank.groups[group]))))))));
}

function showNodes() {
  const {groups, shown, count, are_known: areKnown, devices_per_node: perNode} = data.nodes;
  const axes = plan.parallel.mesh.map(({axis}) => axis);
  const ranks = new Map(shown.flatMap(({ranks: each}) => each).map((rank) => [String(rank.rank), rank]));
  if (!groups.includes(state.groups))
    [state.groups = null] = groups;
  byId("nodes-group").replaceChildren(...groups.map((name) => html("option", {}, name)));
  byId("nodes-group").value = state.groups;
  byId("nodes-group").onchange = ({target}) => {
    state.groups = target.value;
    drawNodes();
  };
  const devices = Math.min(perNode, size(plan.parallel.world));
  byId("nodes-note").textContent =
      "Each box has its rank, and below it the number of its group. " +
      (areKnown ? `The job uses ${grouped(String(count))} nodes with ${perNode} devices`
                : `The job has no cluster: its ranks are shown in lines of ${perNode}`) +
      (shown[0].ranks.length < devices ? `, of which ${shown[0].ranks.length} are shown` : "") +
      (shown.length < count ? `. Shown are ${shown.length} of ${grouped(String(count))}: the first and the ` +
                              "last, and those where the first and the last stages begin." : ".");
  tipsOn(byId("nodes"), (target) => {
    const rank = ranks.get(target.closest("[data-rank]")?.dataset.rank);
    return rank && [
      `rank ${rank.rank}`,
      axes.map((axis, index) => `${axis} ${rank.at[index]}`).join(", "),
      ...groups.map((name, index) => `${name}: group ${rank.groups[index]}`),
    ];
  });
  drawNodes();
}
