# SPDX-License-Identifier: Apache-2.0
"""usage: exact.py JOB

Compares what commands print with --exact with their JSON, number by number, and
prints how many numbers are alike. Without the option no number of a table may be
longer than people read.
"""

import json
import re
import sys

import tool

MOST_DIGITS = 7


def rows_of(page):
    """The tables of a page of Markdown: of each the headings, and rows of cells."""
    tables, lines = [], []
    for line in page.splitlines() + [""]:
        if line.startswith("|"):
            lines.append([cell.strip() for cell in line.strip("|").split("|")])
        elif lines:
            tables.append((lines[0], lines[2:]))
            lines = []
    return tables


def text_of(value, unit):
    """A number of JSON as a cell in the exact scale of its unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):  # stages
        return "-".join(map(str, dict.fromkeys(value)))
    if not isinstance(value, int):
        return str(value)
    return f"{value / 10000:.4f}" if unit == "%" else str(value)


def same(command, cell, value, heading):
    unit = heading.split(" ")[-1]
    assert cell == text_of(value, unit), (command, heading, cell, value)
    return isinstance(value, int)


def check_figures(command, page, document):
    """Named figures in order, then tables in order, each column in order."""
    numbers = 0
    named = [value for key, value in document.items()
             if key != "schema" and (key == "peak_stages" or not isinstance(value, list))]
    lines = [line for line in page.splitlines() if line.startswith("* ")]
    for line, value in zip(lines, named, strict=True):
        cell, _, unit = line.rpartition(": ")[2].partition(" ")
        if isinstance(value, int):
            # A half range, `±9.0 % (nine of ten runs)`.
            cell, unit = cell.removeprefix("±"), unit.partition(" (")[0]
            numbers += same(command, cell, value, unit)
    tables = [value for key, value in document.items()
              if isinstance(value, list) and value and key not in ("notes", "peak_stages")]
    for (heads, rows), table in zip(rows_of(page), tables, strict=True):
        for row, of in zip(rows, table, strict=True):
            for heading, cell, value in zip(heads, row, of.values(), strict=True):
                numbers += same(command, cell, value, heading)
    return numbers


def check_plan(command, page, document):
    """The table of chunks, and that of stages."""
    numbers = 0
    (_, chunks), (heads, stages) = rows_of(page)[:2]
    keys = {3: "parameters", 4: "weights", 5: "kept",
            7: "sent"}
    for row, of in zip(chunks, document["chunks"], strict=True):
        for column, key in keys.items():
            numbers += same(command, row[column], of[key], key)
    for row, of in zip(stages, document["stages"], strict=True):
        for heading, cell in list(zip(heads, row))[1:]:
            name = heading.split(" ")[0]
            messages = {row["group"]: row["messages"] for row in document["messages"]
                        if row["stages"] == of["stages"]}
            value = of[name] if name in of else messages.get(name, 0)
            numbers += same(command, cell, value, heading)
    peak = f"peak memory per rank: {document['peak']} B,"
    assert peak in page, (peak, page)
    return numbers + 1


def check_changes(command, page, document):
    """Numbers of both jobs; what has no number is in words."""
    changes = {}
    for of in document["figures"]:
        if of["answer"] == "summary" and of["table"] == "":
            changes[of["figure"]] = of
    (_, rows) = next(table for table in rows_of(page) if "peak" in dict(
        (row[0], row) for row in table[1]))
    numbers = 0
    for row in rows:
        for cell, side in zip(row[1:3], ("before", "after")):
            text, _, unit = cell.partition(" ")
            numbers += same(command, text, changes[row[0]][side], unit)
    return numbers


def check_models(text, models):
    for line, of in zip(text.splitlines(), models, strict=True):
        cells = line.split(";")[0].split()
        assert cells[:3] == [of["model"], str(of["parameters"]), str(of["active"])], line
    return 2 * len(models)


def check_readable(command, text):
    for number in re.findall(r"\d+", text):
        assert len(number) <= MOST_DIGITS, (command, number, text)


job = sys.argv[1]
commands = {("memory", job): check_figures, ("flops", job): check_figures,
            ("params", job): check_figures, ("time", job): check_figures,
            ("params", job, "--by=stage"): check_figures,
            ("volume", job): check_figures, ("plan", job): check_plan,
            ("diff", job, "--with=parallel.tp=4", "--limit=0"): check_changes}
for command, check in commands.items():
    name = " ".join(word for word in command if word != job)
    if command[0] != "diff":  # both sides are exact if they would read the same
        check_readable(name, tool.attempt(*command).stdout)
    page = tool.attempt(*command, "--exact", "--format=md").stdout
    document = json.loads(tool.attempt(*command, "--format=json").stdout)
    print(f"{name}: {check(name, page, document)} numbers")
text = tool.run("list", "models", "--exact")
print("list models:", check_models(text, tool.rows("list", "models")), "numbers")
