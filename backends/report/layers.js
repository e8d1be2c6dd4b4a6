// SPDX-License-Identifier: Apache-2.0
//
// The layers of each stage, and what stages and layers amount to.

function layerBoxes(groups, colours) {
  return groups.flatMap(({times, runs}) => runs.map(([block, count]) => {
    const text = `${times > 1 ? `${grouped(String(times))} × ` : ""}${grouped(String(count))} ${block}`;
    return html("span", {
      class: "layer", style: `flex-grow: ${times * count}; background: ${colour(colours.get(block))}`,
      "data-tip": text,
    }, text);
  }));
}

function showLayers() {
  const {stages, blocks} = plan;
  const isChunked = plan.schedule.chunks_per_stage > 1;
  const chunksOf = (stage) => plan.chunks.filter(
      ({stages: of}) => of[0] === stage.stages[0]);
  const colours = new Map(blocks.map(({block}, index) => [block, `layer-${index % 6}`]));
  const drawn = stages.map((stage, index) => [stage, data.layers[index]]);
  const root = byId("layers-picture");
  root.replaceChildren(...ends(drawn, 8).flatMap(([stage, chunks]) => [
    html("span", {class: "label"}, stageName(stage.stages)),
    html("div", {class: "chunks"}, ...ends(chunks, 4).map((groups, index) => {
      const [first, last] = chunksOf(stage)[index].chunks;
      return html("div", {class: "chunk"}, isChunked
          ? html("span", {class: "quiet"}, first === last ? `chunk ${first}` : `chunks ${first}–${last}`)
          : null, html("div", {class: "boxes"}, ...layerBoxes(groups, colours)));
    }))]));
  barTips(root);
  const text = (title) => ({title, unit: "text"});
  const count = (title) => ({title, unit: "count"});
  byId("layers-tables").replaceChildren(
      makeTable({
        id: "stages", title: `Stages: a rank in ${plan.serve ? "a step" : "an iteration"}`,
        columns: [text("stage"), text("layers"), count("parameters"),
                  ...plan.serve ? [] : [{title: "peak", unit: "bytes"}], {title: "FLOPs", unit: "flops"},
                  ...plan.serve ? [] : [count("micro-batches in flight")]],
        rows: stages.map((stage) => [
          stage.stages, chunksOf(stage).map(({chunks, layers}) => (isChunked ? `${range(chunks)}: ` : "") +
                                                                  layers).join("; "),
          stage.parameters, stage.peak, stage.flops, stage.in_flight].filter((cell) => cell !== undefined)),
      }),
      makeTable({
        id: "blocks", title: `Kinds of layers: one layer, and a ${plan.serve ? "step" : "micro-batch"}`,
        columns: [text("kind"), count("layers"), count("parameters"), count("parameters of a rank"),
                  ...plan.serve ? [] : [{title: "saved", unit: "bytes"}], {title: "FLOPs of a rank", unit: "flops"}],
        rows: blocks.map((block) => [block.block, block.layers, block.published, block.parameters,
                                     ...plan.serve ? [] : [block.kept], block.flops]),
      }),
      ...[allOf("params"), allOf("flops")].filter(Boolean));
}
