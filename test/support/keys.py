# SPDX-License-Identifier: Apache-2.0
"""usage: keys.py SOURCE_ROOT [--write]

Keeps tables of the documentation as those of the compiler are, between `<!-- keys: NAME -->`
and `<!-- end -->`: sections as `foretrace list keys` shows them; simai are the options of
`emit simai`, which the program in the path lists from backends/simai/Options.def; metrics are
those of sweeps; models and layers, those of the library."""

import pathlib
import re
import sys

import import_tables
import tool

FIELD = re.compile(r'^(\w+)_FIELD\(\w+, \w+, "(\w+)"', re.M)
# A table, or a block of code, in which one is an example.
TABLE = re.compile(r"^```.*?^```$|(<!-- keys: ([\w-]+) -->\n).*?(<!-- end -->)", re.M | re.S)
OPTION = re.compile(r"^([\w-]+)\.(\w+) +(.+?); default: (.+?); (.+)$", re.M)
AICB_OPTION = re.compile(r'^AICB_OPTION\(([\w:| ]+), .*?"(\w+)"', re.M)
KIND = re.compile(r'^KIND\(\w+, "(\w+)", "([^"]+)"\)', re.M)
# What sets of modes are called.
MODES = {"Any": "all", "Model": "not `collective`", "Zero": "`deepspeed`",
         "Zero1 | Mode::Zero2": "`deepspeed`, zero = 1 or 2",
         "Zero2": "`deepspeed`, zero = 2", "Zero3": "`deepspeed`, zero = 3",
         "Megatron": "`megatron`", "Collective": "`collective`"}


def table(heads, rows):
    """The lines of a table; a heading that ends with `:` is of numbers."""
    rule = "".join("|--:" if head.endswith(":") else "|---" for head in heads) + "|"
    lines = [f"| {' | '.join(cells)} |" for cells in ([head.rstrip(":") for head in heads], *rows)]
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def words_of(text):
    """Words as code."""
    return ", ".join(f"`{word}`" for word in re.split(r",? ", text))


def section_tables(root):
    """The table of each section, as the program lists its keys."""
    spec = (root / "ir/model/Spec.def").read_text(encoding="utf-8")
    keys = tool.rows("list", "keys")
    fields = [f"{section.lower()}.{key}" for section, key in FIELD.findall(spec)]
    missing = set(fields) - {row["key"] for row in keys}
    assert not missing, f"not listed: {sorted(missing)}"
    rows = {}
    for row in keys:
        section, _, key = row["key"].partition(".")
        # Other keys of `block` are those of experts.
        name = "Moe" if section == "block" and row["key"] not in fields else section.title()
        if row["key"] != "cost.kind":  # stands after the keyword
            rows.setdefault(name, []).append(
                (f"`{key}`", row["value"], row["default"].replace("unset", ""), row["meaning"]))
    return {name: table(("key", "value", "default", "meaning"), of) for name, of in rows.items()}


def values_of(expected):
    """What an option can be."""
    words = expected.removeprefix("one of ")
    return expected if words == expected else words_of(words)


def option_tables(root):
    """The tables of options of each backend, and of the kinds of `aicb`."""
    text = (root / "backends/aicb/Options.def").read_text(encoding="utf-8")
    kinds = {name: MODES[modes[6:]]
             for modes, name in AICB_OPTION.findall(text)}
    listed = tool.run("list", "options")
    options = OPTION.findall(listed)
    assert len(options) == listed.count("\n"), (
        "an option has no value, default or meaning:\n" + listed)
    rows = {}
    for backend, option, expected, default, doc in options:
        if backend == "aicb" and kinds.get(option, "all") != "all":
            doc = f"{kinds[option]}: {doc}"
        rows.setdefault(backend, []).append((f"`{option}`", values_of(expected), default, doc))
    known = {name: table(("option", "value", "default", "meaning"), of)
             for name, of in rows.items()}
    known["aicb-kinds"] = table(("kind", "rows"), (
        (f"`{word}`", doc) for word, doc in KIND.findall(text)))
    return known


def listed_tables():
    """Metrics, those of groups in one row; models and layers of the library."""
    yield "metrics", table(("metric", "unit", "meaning"), (
        (f"`{row['metric']}`", row["unit"], row["meaning"]) for row in tool.rows("list", "metrics")
        if not row["metric"].startswith("messages_")))
    yield "models", table(("model", "parameters:", "active:", "layers", "source"), (
        (f"`{row['model']}`", f"{row['parameters']:,}",
         f"{row['active']:,}" if row["active"] != row["parameters"] else "", row["layers"],
         row["source"]) for row in tool.rows("list", "models")))
    yield "layers", table(("layer", "keys", "meaning"), (
        (f"`{row['layer']}`", row["keys"], row["meaning"]) for row in tool.rows("list", "layers")))


def unmodelled_tables(root):
    """What jobs leave out, and what is off then, of lang/import/jobs.fore."""
    text = (root / "lang/import/jobs.fore").read_text(encoding="utf-8")
    for section, name, head in (("not_modelled", "unmodelled", "keys"),
                                ("words_not_modelled", "unmodelled-words", "words")):
        body = re.search(rf"^  {section} \{{(.*?)^  \}}", text, re.M | re.S)[1]
        yield name, table((head, "without"), (
            (words_of(names or key), then)
            for key, names, then in import_tables.ENTRY.findall(body)))


def main():
    root = pathlib.Path(sys.argv[1])
    known = {**section_tables(root), **option_tables(root), **dict(listed_tables()),
             **dict(unmodelled_tables(root))}
    shown, problems = set(), []
    for page in sorted((root / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        shown |= {match[2] for match in TABLE.finditer(text) if match[1]}
        made = TABLE.sub(lambda m: m[1] + known.get(m[2], "") + m[3] if m[1] else m[0], text)
        problems += tool.refresh(page, made, "keys.py")
    problems += [f"docs: no page has the table `{name}`" for name in sorted(set(known) - shown)]
    tool.report(problems, f"{len(known)} tables")


if __name__ == "__main__":
    main()
