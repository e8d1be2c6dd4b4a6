// SPDX-License-Identifier: Apache-2.0
//
// The first screen: what the job is, and whether it is good.

/** The job in one sentence. */
function showSentence() {
  const {model, train, parallel, requests, serve} = plan;
  const number = (of, unit, title) => figure(of, unit, title, `sentence/${title}`);
  const axes = parallel.mesh.filter(({size: of}) => digits(of) !== "1");
  const layout = axes.flatMap(({axis, size: of}, index) => [
    index ? " · " : "", `${axis} `, number(of, "count", axis)]);
  const vpp = digits(parallel.vpp) === "1" ? [] : [" · vpp ", number(parallel.vpp, "count", "vpp")];
  byId("title").textContent = plan.job;
  byId("sentence").replaceChildren(
      html("b", {}, model.name), " with ", number(model.published, "short", "parameters"),
      " parameters",
      ...digits(model.activated) === digits(model.published) ? []
          : [" (", number(model.activated, "short", "active parameters"), " active)"],
      serve ? ` is served by ${serve.engine} in ${serve.precision}`
            : ` trains in ${train.precision}${train.recipe ? ` with the recipe ${train.recipe}` : ""}`,
      " on ", ...serve?.replicas > 1 ? [number(serve.replicas, "count", "replicas"), " × "] : [], number(parallel.world, "count", "ranks"),
      data.device ? ` × ${data.device}` : size(parallel.world) === 1 ? " rank" : " ranks",
      ...layout.length ? [" (", ...layout, ...vpp, ")"] : [], ...serve ? [
        ": ", number(requests.concurrency, "count", "requests at a time"), " requests at a time, of ",
        number(requests.input, "count", "tokens of a prompt"), " + ",
        number(requests.output, "count", "tokens of an output"), ` tokens. Messages and FLOPs are those of a step of ${
        serve.step}.`,
      ] : [", ", number(train.tokens, "short", "tokens of an iteration"), " tokens per iteration."]);
}

const marks = {good: "✓", bad: "✗", none: "?"};
const verdicts = {good: "within the limit", bad: "beyond the limit", none: "no verdict"};

/** Terms that have a colour, side by side. */
function termBar(terms, whole) {
  const drawn = terms.filter(({colour: name}) => name);
  const all = whole ?? drawn.reduce((sum, {value}) => sum + size(value), 0);
  return html("div", {class: "stack", "aria-hidden": "true"}, ...drawn.map((term) => html("i", {
    style: `background: ${colour(term.colour)}; width: ${100 * size(term.value) / all}%`,
    "data-tip": term.title && `${term.title} ${read(term.value, term.unit)}`,
  })));
}

/** The bar of the first tile: the peak against the memory that tensors can occupy, or the parts of
    the memory of an engine. */
function gauge() {
  const room = data.tiles.find(({key}) => key === "room").terms;
  const [device, reserved, peak] = room.map(({value}) => size(value));
  if (plan.serve)
    return html("div", {class: "gauge", "aria-hidden": "true"}, termBar(room, device));
  const usable = Math.max(0, device - reserved);
  const terms = data.tiles.find(({key}) => key === "peak").terms;
  const most = Math.max(device, peak);
  return html("div", {class: "gauge", "aria-hidden": "true"}, termBar(terms, most),
              html("i", {class: "limit", style: `left: ${100 * usable / most}%`}));
}

/** What the panel has of a tile: verdict, reason and terms. */
function explainTile({key, title, verdict, headline, detail, reason, why, section, terms}) {
  const at = `tile/${key}`;
  const link = html("a", {href: `#${section}`}, `Go to ${section}`);
  return [title, [
    html("p", {class: `explained ${verdict}`}, html("b", {}, `${marks[verdict]} `, ...phrase(headline))),
    html("p", {}, ...phrase(detail)),
    html("p", {}, ...phrase(reason), ...why ? [": ", ...prose(why), "."] : []),
    terms.some(({colour: name}) => name) ? termBar(terms) : null,
    terms.length ? html("ul", {class: "tree terms"}, ...terms.map((term, number) => {
      const parts = [
        term.colour ? html("i", {class: "key", style: `background: ${colour(term.colour)}`}) : null,
        html("span", {}, term.title),
        html("span", {class: "value", "data-value": digits(term.value)},
             read(term.value, term.unit)),
      ].filter(Boolean);
      return html("li", {}, term.value.from === undefined
          ? html("div", {class: "leaf"}, ...parts)
          : disclosure(`${at}/${number}`, parts, () => [tree(term.value.from, `${at}/${number}`)]));
    })) : null,
    html("p", {}, link),
  ].filter(Boolean)];
}

function showTiles() {
  byId("tiles").replaceChildren(...data.tiles.map((tile) => {
    const {key, title, verdict, headline, detail, reason} = tile;
    const at = `tile/${key}`;
    explanations.set(at, () => explainTile(tile));
    const button = html("button", {
      type: "button", class: `tile ${verdict}`, id: `tile-${key}`, "data-at": at,
      "aria-haspopup": "dialog",
    },
        html("span", {class: "name"}, html("span", {class: "mark", title: verdicts[verdict]},
                                           marks[verdict]), title),
        html("span", {class: "headline"}, ...phrase(headline)),
        detail.length ? html("span", {class: "detail"}, ...phrase(detail)) : null,
        key === "room" && verdict !== "none" ? gauge() : null,
        html("span", {class: "reason"}, ...phrase(reason)));
    button.addEventListener("click", () => explain(at));
    return button;
  }));
  const changes = tableOf("memory", "changes");
  byId("changes").replaceChildren(...changes ? [tableFrom("memory", changes)] : []);
}
