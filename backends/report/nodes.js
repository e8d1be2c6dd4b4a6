// SPDX-License-Identifier: Apache-2.0
//
// Where ranks stand, coloured by the group of a kind that they are in.

function drawNodes() {
  const {groups, shown} = data.nodes;
  const group = groups.indexOf(byId("nodes-group").value);
  byId("nodes").replaceChildren(...shown.map(({node, ranks}) => html(
      "div", {class: "node"},
      html("div", {}, data.nodes.are_known ? `node ${node}` : `ranks ${ranks[0].rank} on`),
      html("ol", {}, ...ranks.map((rank) => html(
          "li", {style: `background: ${group < 0 ? "var(--c7)" : colourOf(rank.groups[group])}`,
                 "data-rank": rank.rank}, String(rank.rank)))))));
}

function showNodes() {
  const {groups, shown, count, are_known: areKnown, devices_per_node: perNode} = data.nodes;
  const axes = plan.parallel.mesh.map(({axis}) => axis);
  const ranks = new Map(shown.flatMap(({ranks}) => ranks).map((rank) => [String(rank.rank), rank]));
  byId("nodes-group").replaceChildren(...groups.map((name) => html("option", {}, name)));
  byId("nodes-group").onchange = drawNodes;
  byId("nodes-note").textContent =
      (areKnown ? `${grouped(String(count))} nodes of ${perNode} devices`
                : `The job has no cluster: ranks stand in lines of ${perNode}`) +
      (shown[0].ranks.length < Math.min(perNode, size(plan.parallel.world))
          ? `, of which ${shown[0].ranks.length} are shown` : "") +
      (shown.length < count ? `; shown are the first and the last, and those where the first ` +
                              `and the last stages begin, ${shown.length} of ${grouped(String(count))}.`
                            : ".") + " Groups that are near each other have other colours.";
  tipsOn(byId("nodes"), ({dataset}) => {
    const rank = ranks.get(dataset.rank);
    return rank && [
      `rank ${rank.rank}`,
      axes.map((axis, index) => `${axis} ${rank.at[index]}`).join(", "),
      ...groups.map((name, index) => `${name}: group ${rank.groups[index]}`),
    ];
  });
  drawNodes();
}
