// SPDX-License-Identifier: Apache-2.0
//
// The job's text, with what follows from each line beside it.

function showSources() {
  const files = data.sources ?? [];
  byId("job").hidden = files.length === 0;
  byId("job-note").textContent = plan.serve
      ? "What follows from each line: sizes, and bytes that all ranks send in a step."
      : "What follows from each line: sizes, bytes that all ranks send, and time on the critical path.";
  byId("sources").replaceChildren(...files.map(({name, lines}) => html("figure", {class: "source"},
      html("figcaption", {}, name),
      html("div", {class: "lines"}, ...lines.flatMap(({text, remarks = []}, index) => [
        html("span", {class: "number-of-line"}, String(index + 1)),
        html("code", {}, text || " "),
        html("span", {class: "remarks"}, ...remarks.map(({title, value, unit}) => html(
            "span", {class: "remark"}, `${title}${unit === "count" ? " = " : ": "}`,
            figure(value, unit, title, `${name}:${index + 1}/${title}`)))),
      ])))));
}
