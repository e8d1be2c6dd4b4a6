// SPDX-License-Identifier: Apache-2.0
//
// Tables that fold equal rows, have one unit a column, sort, and copy as CSV.

const spanOf = (text) => {
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  return first === undefined ? null : {first, last};
};

/** Neighbours that differ only in their stages are one row: `0`, `1-2` are `0-2`. */
function foldRows(rows) {
  const folded = [];
  for (const row of rows) {
    const before = folded.at(-1);
    const of = before && spanOf(digits(before[0])), next = spanOf(digits(row[0]));
    if (of && next && Number(next.first) === Number(of.last) + 1 &&
        row.slice(1).every((cell, index) => digits(cell) === digits(before[index + 1])))
      folded[folded.length - 1] = [`${of.first}-${next.last}`, ...before.slice(1)];
    else
      folded.push(row);
  }
  return folded;
}

function sortRows(rows, sort) {
  if (!sort)
    return rows;
  const of = (row) => row[sort.column];
  const compare = (a, b) => isNumber(of(a)) && isNumber(of(b))
      ? Number(BigInt(digits(of(a))) > BigInt(digits(of(b)))) -
        Number(BigInt(digits(of(a))) < BigInt(digits(of(b))))
      : digits(of(a)).localeCompare(digits(of(b)), "en", {numeric: true});
  return [...rows].sort((a, b) => sort.isDescending ? compare(b, a) : compare(a, b));
}

const unitsOfCsv = {bytes: " [B]", flops: " [FLOP]", ns: " [ns]", millionths: " [1e-6]"};
const quoted = (text) => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** All digits of all rows. */
const csvOf = ({columns, rows}) => [
  columns.map(({title, unit}) => title + (unitsOfCsv[unit] ?? "")),
  ...rows.map((row) => row.map(digits)),
].map((cells) => cells.map(quoted).join(",") + "\n").join("");

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a page from a file may not
    const area = html("textarea", {}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy CSV"; }, 1500);
}

/** The unit that all numbers of a column share; null if each has its own. */
function scaleOfColumn({unit}, column, rows) {
  const largest = Math.max(0, ...rows.map((row) => Math.abs(size(row[column])) || 0));
  if (!scales[unit] || (unit === "count" && largest < 1e7))
    return null;
  const {name, of} = scaleOf(unit, largest);
  const top = largest / of;
  return {name, of, decimals: unit === "millionths" || (top >= 100 && top < 1000) ? 1
      : top >= 1000 ? 0 : 2};
}

function cellText(number, unit, scale) {
  if (!scale || !isNumber(number))
    return read(number, unit);
  const value = size(number) / scale.of;
  const least = 10 ** -scale.decimals / 2;
  return value !== 0 && Math.abs(value) < least
      ? `< ${fixed(10 ** -scale.decimals, scale.decimals)}` : fixed(value, scale.decimals);
}

/** `columns`: {title, unit}; the cells of `rows` are numbers or words. */
function makeTable({id, title, columns, rows}) {
  const root = html("div", {class: "table", id});
  const folded = foldRows(rows);
  const scale = columns.map((column, index) => scaleOfColumn(column, index, rows));
  const isText = ({unit}) => unit === "text";
  const head = ({title: name}, index) => {
    const sort = state.sorts.get(id);
    const isSorted = sort?.column === index;
    const unit = scale[index]?.name;
    const button = html("button", {type: "button", "data-at": `${id}/sort/${index}`},
        name + (unit ? `, ${unit}` : ""), isSorted ? (sort.isDescending ? " ↓" : " ↑") : "");
    button.addEventListener("click", () => {
      if (isSorted && !sort.isDescending)
        state.sorts.delete(id);
      else
        state.sorts.set(id, {column: index, isDescending: !isSorted});
      keepPlace(draw);
    });
    return html("th", {
      scope: "col", class: isText(columns[index]) ? undefined : "right",
      "aria-sort": isSorted ? (sort.isDescending ? "descending" : "ascending") : undefined,
    }, button);
  };
  const cell = (row) => (number, index) => {
    const {title: name, unit} = columns[index];
    if (isText(columns[index]))
      return html("td", {}, digits(number));
    const of = row.filter((_, other) => isText(columns[other])).map(digits).join(" ");
    return html("td", {class: "right"}, figure(
        number, unit, `${name}, ${of}`, `${id}/${of}/${name}`,
        cellText(number, unit, scale[index])));
  };
  function draw() {
    const button = html("button", {type: "button", "data-at": `${id}/copy`}, "Copy CSV");
    button.addEventListener("click", () => copy(csvOf({columns, rows}), button));
    root.replaceChildren(
        html("div", {class: "bar"}, html("h3", {}, title), button),
        html("div", {class: "wide", tabindex: 0, role: "region", "aria-label": title},
             html("table", {}, html("thead", {}, html("tr", {}, ...columns.map(head))),
                  html("tbody", {}, ...sortRows(folded, state.sorts.get(id)).map(
                      (row) => html("tr", {}, ...row.map(cell(row))))))));
  }
  draw();
  return root;
}

/** A table of another backend. */
const tableFrom = (name, {key, title, columns, rows}) => makeTable({
  id: `${name}-${key}`, title: title[0].toUpperCase() + title.slice(1), rows,
  columns: columns.map(({title: head, unit}) => ({title: words(head), unit})),
});

/** All that another backend has, closed until it is asked for. */
function allOf(name) {
  const section = sectionOf(name);
  if (!section)
    return null;
  const {title, named, tables, notes} = section;
  if (!named.length && !tables.length)
    return html("p", {class: "note"}, ...notes.flatMap(prose));
  return disclosure(`section-${name}`, ["All figures of ", html("code", {}, `foretrace ${name}`)], () => [
    html("p", {class: "note"}, `${title}.`),
    html("dl", {class: "named"}, ...named.map((each) => html(
        "div", {id: `${name}-${each.key}`}, html("dt", {}, each.title),
        html("dd", {}, figure(each.value, each.unit, each.title, `${name}/${each.key}`))))),
    // Changes are below the tiles.
    ...tables.filter(({key, rows}) => rows.length && key !== "changes").map((table) => tableFrom(name, table)),
    ...notes.map((note) => html("p", {class: "note"}, ...prose(note))),
  ]);
}
