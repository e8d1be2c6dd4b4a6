// SPDX-License-Identifier: Apache-2.0
//
// What is said in words and tables: points, the front, and rejections.

const byId = (id) => document.getElementById(id);

function html(name, attributes, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

const row = (name, ...cells) => html("tr", {}, html("th", {scope: "row"}, name), ...cells);

/** The point that the address names: `#point=883`; else -1. */
const opened = () =>
    indexOf.get(/^#point=(\d+)$/.exec(location.hash)?.[1]) ?? -1;

/** By key, the value of each axis at a point. */
const configurationOf = (index) =>
    data.axes.map((axis, at) => [axis.name, valueAt(index, at)]);

function showTip(index, event) {
  const tip = byId("tip");
  tip.hidden = index < 0;
  if (index < 0)
    return;
  const lines = [
    ...configurationOf(index),
    ...new Map([...drawnColumns, ...shades.column ? [shades.column] : []].map(
        (column) => [column.name, column.textAt(index)])),
  ].map(([name, text]) => html("div", {}, `${name} = ${text}`));
  const others = othersThere(index);
  tip.replaceChildren(html("strong", {}, `Point ${points[index].id}`),
                      ...others ? [` and ${others} in this place`] : [], ...lines);
  const {innerWidth, innerHeight} = window;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4)}px`;
}

function showPanel(index) {
  const panel = byId("panel");
  panel.hidden = index < 0;
  if (index < 0)
    return;
  byId("point").textContent = `Point ${points[index].id}` +
      (points[index].front ? ", on the front" : "") + (isUnfit(index) ? ", does not fit" : "");
  byId("command").textContent = commandOf(index);
  byId("explore").textContent = commandOf(index).replace(" compile ", " explore ");
  byId("copy").textContent = "Copy";
  byId("configuration").replaceChildren(...configurationOf(index).map(
      ([name, value]) => row(name, html("td", {}, value))));
  byId("metrics").replaceChildren(...data.metrics.map(
      ({name, unit, doc}, at) => row(
          name, numberCell(points[index].metrics[at], unit), html("td", {className: "doc"}, doc))));
  const others = placeOf(index).filter((other) => other !== index);
  byId("ties").hidden = others.length === 0;
  byId("ties").replaceChildren(`Equal in ${xColumn.name} and ${yColumn.name}: `, ...others.slice(0, 20).flatMap(
      (other) => [linkTo(other), " "]), others.length > 20 ? `and ${others.length - 20} more` : "");
  byId("point").focus();
}

async function copyCommand() {
  const code = byId("command");
  try {
    await navigator.clipboard.writeText(code.textContent);
    byId("copy").textContent = "Copied";
  } catch {
    // Not every browser lets a page copy; then the keyboard can.
    getSelection().selectAllChildren(code);
    byId("copy").textContent = "Selected";
  }
}

const linkTo = (index) => html("a", {href: `#point=${points[index].id}`}, `Point ${points[index].id}`);

/** A number as people read it, with all its digits in reach. */
function numberCell(number, unit) {
  const cell = html("td", {className: "number", title: exact(number)}, number === null ? "" : read(number, unit));
  cell.dataset.value = number ?? "";
  return cell;
}

/** Of the point at that place in the columns of the first picture. */
function drawnCell(column, index) {
  const metric = data.metrics.findIndex(({name}) => name === column.name);
  return metric < 0 ? html("td", {className: "number"}, column.textAt(index))
                    : numberCell(points[index].metrics[metric], column.unit);
}

function showFront() {
  // With what tells points apart.
  const axes = allColumns.filter((column) => !drawnColumns.includes(column));
  const names = [...drawnColumns, ...axes].map((column) => html(
      "th", {scope: "col", className: axes.includes(column) ? "" : "number", title: column.name}, headOf(column)));
  const rows = front.map((index) => row(
      html("span", {className: isUnfit(index) ? "unfit" : ""}, linkTo(index),
           isUnfit(index) ? " does not fit" : "", othersThere(index) ? ` and ${othersThere(index)}` : ""),
      ...drawnColumns.map((column) => drawnCell(column, index)),
      ...axes.map((column) => html("td", {}, column.textAt(index)))));
  byId("front").replaceChildren(
      html("thead", {}, html("tr", {}, html("th", {scope: "col"}, "point"), ...names)),
      html("tbody", {}, ...rows));
}

/** Longer bars for reasons of more points. */
function showRejections() {
  const most = Math.max(...data.rejections.map(({count}) => Number(count)));
  const reasons = data.rejections.map(({slug, key, count, example}) => {
    const bar = html("div", {className: "bar"});
    bar.style.width = `${Math.max(0.5, 100 * Number(count) / most)}%`;
    const reason = key ? `${slug} (${key})` : slug;
    return html("li", {},
                `${exact(count)} × ${reason}, for example point ${example}`, bar);
  });
  byId("rejections").replaceChildren(...reasons, ...reasons.length ? [] : ["None"]);
}

function showSummary() {
  const {job, points: all} = data.sweep;
  const rejected = data.rejections.reduce((sum, {count}) => sum + BigInt(count), 0n);
  const judged = BigInt(data.accepted) + rejected;
  document.title = `Sweep of ${job}`;
  byId("title").textContent = `Sweep of ${job}`;
  byId("summary").textContent =
      (judged < BigInt(all) ? `${exact(judged)} of ${exact(all)} points: `
                            : `${exact(all)} points: `) +
      `${exact(data.accepted)} accepted` +
      (data.shown === undefined ? "" : ` (${exact(data.shown)} of them shown)`) +
      (data.unfit ? ` (${exact(data.unfit)} do not fit)` : "") +
      `, ${exact(rejected)} rejected, over ` +
      data.axes.map(({name}) => name).join(", ");
  byId("sample").hidden = data.interval === 1;
  byId("sample").textContent =
      `This page has ${exact(points.length)} of ${exact(data.shown ?? data.accepted)} points: ` +
      `the front, and one in ${exact(data.interval)} of the others`;
  byId("scatter-caption").textContent =
      `${data.accepted === 0 ? "No accepted point" : "Accepted points"}: ` +
      `${yColumn.name} over ${xColumn.name}`;
}

function showStatus() {
  byId("all").disabled = brushes.size === 0; // not hidden: pictures stay in place
  byId("status").textContent =
      `${exact(chosenCount())} of ${exact(points.length)} points chosen` +
      (location.hash && opened() < 0 ? "; the one you ask for is not in this page" : "");
}
