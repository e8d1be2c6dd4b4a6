#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Keeps tables of the documentation as those of the compiler are, between
# `<!-- keys: NAME -->` and `<!-- end -->`: sections as `foretrace list keys` shows them; simai are the options of `emit simai`, which the
# program in the path lists from backends/simai/Options.def; metrics are those of sweeps; models and layers,
# those of the library.
"""usage: keys.py SOURCE_ROOT [--write]"""

import json
import pathlib
import re
import subprocess
import sys

import import_tables

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


def tables(root):
    """The lines of each section's table, as the program lists them."""
    spec = (root / "ir/model/Spec.def").read_text(encoding="utf-8")
    listed = subprocess.check_output(["foretrace", "list", "keys", "--format=json"], text=True)
    keys = [json.loads(line) for line in listed.splitlines()]
    fields = [f"{section.lower()}.{key}" for section, key in FIELD.findall(spec)]
    if missing := set(fields) - {row["key"] for row in keys}:
        sys.exit(f"not listed: {sorted(missing)}")
    rows = {}
    for row in keys:
        section, _, key = row["key"].partition(".")
        # Other keys of `block` are those of experts.
        name = "Moe" if section == "block" and row["key"] not in fields else section.title()
        default = row["default"].replace("unset", "")
        if key != "kind":  # stands after the keyword
            rows.setdefault(name, []).append(
                f"| `{key}` | {row['value']} | {default} | {row['meaning']} |\n")
    head = "| key | value | default | meaning |\n|---|---|---|---|\n"
    return {name: head + "".join(lines) for name, lines in rows.items()}


def values_of(expected):
    """What an option can be: words as code."""
    words = expected.removeprefix("one of ")
    if words == expected:
        return expected
    return ", ".join(f"`{word}`" for word in words.split(", "))


def option_tables(root):
    """The tables of options of each backend, and of the kinds of `aicb`."""
    text = (root / "backends/aicb/Options.def").read_text(encoding="utf-8")
    kinds = {name: MODES[modes[6:]]
             for modes, name in AICB_OPTION.findall(text)}
    listed = subprocess.check_output(["foretrace", "list", "options"], text=True)
    options = OPTION.findall(listed)
    if len(options) != listed.count("\n"):
        sys.exit("an option has no value, default or meaning:\n" + listed)
    rows = {}
    for backend, option, expected, default, doc in options:
        if backend == "aicb" and kinds.get(option, "all") != "all":
            doc = f"{kinds[option]}: {doc}"
        rows.setdefault(backend, []).append(
            f"| `{option}` | {values_of(expected)} | {default} | {doc} |\n")
    head = "| option | value | default | meaning |\n|---|---|---|---|\n"
    known = {name: head + "".join(lines) for name, lines in rows.items()}
    known["aicb-kinds"] = "| kind | rows |\n|---|---|\n" + "".join(
        f"| `{word}` | {doc} |\n" for word, doc in KIND.findall(text))
    return known


def metric_table():
    """The metrics of sweeps; those of groups are one row."""
    listed = subprocess.check_output(["foretrace", "list", "metrics", "--format=json"], text=True)
    rows = [row for row in map(json.loads, listed.splitlines())
            if not row["metric"].startswith("messages_")]
    return {"metrics": "| metric | unit | meaning |\n|---|---|---|\n" + "".join(
        f"| `{row['metric']}` | {row['unit']} | {row['meaning']} |\n" for row in rows)}


def model_table():
    """The models of the library."""
    listed = subprocess.check_output(["foretrace", "list", "models", "--format=json"], text=True)
    def active(row):
        return f"{row['active']:,}" if row["active"] != row["parameters"] else ""
    return {"models": "| model | parameters | active | layers | source |\n"
            "|---|--:|--:|---|---|\n" + "".join(
                f"| `{row['model']}` | {row['parameters']:,} | {active(row)} | "
                f"{row['layers']} | {row['source']} |\n"
                for row in map(json.loads, listed.splitlines()))}


def layer_table():
    """The layers of the library that a job can use."""
    listed = subprocess.check_output(["foretrace", "list", "layers", "--format=json"], text=True)
    return {"layers": "| layer | keys | meaning |\n|---|---|---|\n" + "".join(
        f"| `{row['layer']}` | {row['keys']} | {row['meaning']} |\n"
        for row in map(json.loads, listed.splitlines()))}


def unmodelled_tables(root):
    """What jobs leave out, and what is off then, of lang/import/jobs.fore."""
    text = (root / "lang/import/jobs.fore").read_text(encoding="utf-8")
    known = {}
    for section, name, head in (("not_modelled", "unmodelled", "keys"),
                                ("words_not_modelled", "unmodelled-words", "words")):
        body = re.search(rf"^  {section} \{{(.*?)^  \}}", text, re.M | re.S)[1]
        known[name] = f"| {head} | without |\n|---|---|\n" + "".join(
            f"| {', '.join(f'`{word}`' for word in (names or key).split())} | {then} |\n"
            for key, names, then in import_tables.ENTRY.findall(body))
    return known


def refresh(page, known, is_written):
    """Writes the tables of a page; says which it shows, and counts the stale."""
    text = page.read_text(encoding="utf-8")
    shown = {match[2]: match[0] for match in TABLE.finditer(text) if match[1]}
    if is_written:
        page.write_text(TABLE.sub(
            lambda m: m[1] + known.get(m[2], "") + m[3] if m[1] else m[0],
            text), "utf-8")
        return shown, 0
    stale = [name for name in shown
             if name not in known or known[name] not in shown[name]]
    for name in stale:
        print(f"docs/{page.name}: the table `{name}` is not what keys.py "
              "--write makes of it")
    return shown, len(stale)


def main():
    root = pathlib.Path(sys.argv[1])
    is_written = "--write" in sys.argv
    known = {**tables(root), **option_tables(root), **metric_table(), **model_table(), **layer_table(), **unmodelled_tables(root)}
    shown, stale = set(), 0
    for page in sorted((root / "docs").glob("*.md")):
        names, wrong = refresh(page, known, is_written)
        shown.update(names)
        stale += wrong
    for name in sorted(set(known) - shown):
        print(f"docs: no page has the table `{name}`")
    return 1 if stale or set(known) - shown else 0


if __name__ == "__main__":
    sys.exit(main())
