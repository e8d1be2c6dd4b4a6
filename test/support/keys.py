#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Keeps the tables of keys in docs/language.md as ir/Spec.def and
# frontend/Defaults.cpp have them: between `<!-- keys: Train -->` and
# `<!-- end -->` stands the table of the section TRAIN_FIELD.
"""usage: keys.py SOURCE_ROOT [--write]"""

import pathlib
import re
import sys

FIELD = re.compile(r'^(\w+)_FIELD\((\w+), (\w+), "(\w+)",\s*"[^"]*",\s*'
                   r'((?:"[^"]*"\s*)+)\)', re.M)
ENUM = re.compile(r'^(\w+_KIND)\(\w+, "(\w+)"\)', re.M)
DEFAULT = re.compile(r"orElse\((?:\w+\.)+(\w+),\s*([^;]+)\);")
REQUIRED = re.compile(r'\{"(\w+)", "(\w+)", "[^"]*"\}')
TABLE = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end -->)", re.S)
TYPES = {"Int": "1, 2, ...", "Natural": "0, 1, ...", "Bool": "true, false",
         "FlopRate": "FLOP/s", "DataRate": "B/s, bit/s", "Text": "text"}
# Sections whose table in Spec.def has another name.
SECTIONS = {"MOE": "block"}


def snake(name):
    """`CostKind` as the tables of enumerators are called: `COST_KIND`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def default_of(value):
    """A default as it is written in a job."""
    match = re.fullmatch(r"int64_t\((\d+)\)|\w+::(\w+)|(true|false)", value)
    return next(text for text in match.groups() if text).lower()


def tables(root):
    """The lines of each section's table."""
    spec = (root / "ir/Spec.def").read_text(encoding="utf-8")
    code = (root / "frontend/Defaults.cpp").read_text(encoding="utf-8")
    spellings = {}
    for kind, spelling in ENUM.findall(spec):
        spellings.setdefault(kind, []).append(spelling)
    defaults = {key: default_of(value) for key, value in DEFAULT.findall(code)}
    required = set(REQUIRED.findall(code))
    rows = {}
    for section, kind, member, key, doc in FIELD.findall(spec):
        if key == "kind":  # stands after the keyword
            continue
        values = TYPES.get(kind) or ", ".join(spellings[snake(kind)])
        where = SECTIONS.get(section, section.lower())
        default = ("required" if (where, key) in required
                   else defaults.get(member, ""))
        text = "".join(re.findall(r'"([^"]*)"', doc))
        rows.setdefault(section.title(), []).append(
            f"| `{key}` | {values} | {default} | {text} |\n")
    head = "| key | value | default | meaning |\n|---|---|---|---|\n"
    return {name: head + "".join(lines) for name, lines in rows.items()}


def main():
    root = pathlib.Path(sys.argv[1])
    page = root / "docs/language.md"
    text = page.read_text(encoding="utf-8")
    known = tables(root)
    shown = {name for _, name, _ in TABLE.findall(text)}
    fresh = TABLE.sub(lambda m: m[1] + known[m[2]] + m[3], text)
    for name in sorted(set(known) - shown):
        print(f"docs/language.md has no table `{name}`")
    if "--write" in sys.argv:
        page.write_text(fresh, encoding="utf-8")
    elif fresh != text:
        print("docs/language.md is not what keys.py --write makes of it")
    return 1 if set(known) != shown or (
        fresh != text and "--write" not in sys.argv) else 0


if __name__ == "__main__":
    sys.exit(main())
