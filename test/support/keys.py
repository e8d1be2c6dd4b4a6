#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Keeps the tables of keys in docs/language.md as ir/Spec.def and
# ir/Schedules.def have them, with the defaults of frontend/Defaults.cpp and the `derive` pass: between
# `<!-- keys: Train -->` and `<!-- end -->` stands the table of TRAIN_FIELD. Those
# of docs/aicb.md are of backends/aicb/Options.def.
"""usage: keys.py SOURCE_ROOT [--write]"""

import pathlib
import re
import sys

FIELD = re.compile(r'^(\w+)_FIELD\((\w+), (\w+), "(\w+)",\s*"[^"]*",\s*'
                   r'((?:"[^"]*"\s*)+)\)', re.M)
ENUM = re.compile(r'^([A-Z_]+)\((\w+), "([\w.]+)"\)', re.M)
SCHEDULE = re.compile(r'^SCHEDULE\((\w+), "(\w+)"', re.M)
DEFAULT = re.compile(r"(?:orElse\((?:\w+\.)+(\w+),|(\w+)\.setDefault\()"
                     r"\s*(?:int64_t\()?(?:(\w+)::)?(\w+)\)*;")
DERIVED = re.compile(r"(?:(\w+)\.derive|define\((?:\w+\.)*(\w+),)")
REQUIRED = re.compile(r'\{"(\w+)", "(\w+)", "[^"]*"\}')
TABLE = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end -->)", re.S)
OPTION = re.compile(r'^(?:COUNT\(\w+, "(\w+)", (\d+), ([-\w]+)|FLAG\(\w+, "(\w+)")'
                    r', ([\w:| ]+), "([^"]+)"\)', re.M)
KIND = re.compile(r'^KIND\(\w+, "(\w+)", "([^"]+)"\)', re.M)
# What sets of modes are called.
MODES = {"Any": "all", "Model": "not `collective`", "Zero": "`deepspeed`",
         "Zero1 | Mode::Zero2": "`deepspeed`, zero = 1 or 2",
         "Zero2": "`deepspeed`, zero = 2", "Zero3": "`deepspeed`, zero = 3",
         "Megatron": "`megatron`", "Collective": "`collective`"}
TYPES = {"Int": "1, 2, ...", "Natural": "0, 1, ...", "Bool": "true, false",
         "FlopRate": "FLOP/s", "ByteSize": "bytes", "DataRate": "B/s, bit/s", "Duration": "ns, us, ms", "Text": "text"}
# Sections whose table in Spec.def has another name.
SECTIONS = {"MOE": "block"}


def snake(name):
    """`CostKind` as the tables of enumerators are called: `COST_KIND`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def defaults_of(root, spellings):
    """What each member holds if the job doesn't say."""
    code = "".join((root / name).read_text(encoding="utf-8") for name in (
        "frontend/Defaults.cpp", "passes/Derive.cpp", "passes/DeriveModel.cpp",
        "passes/DeriveCluster.cpp"))
    defaults = {}
    for always, derived, kind, value in DEFAULT.findall(code):
        if kind:
            value = spellings[snake(kind)][value]
        defaults[always or derived] = value
    defaults.update((one or other, "derived")
                    for one, other in DERIVED.findall(code))
    return defaults


def tables(root):
    """The lines of each section's table."""
    spec = (root / "ir/Spec.def").read_text(encoding="utf-8")
    code = (root / "frontend/Defaults.cpp").read_text(encoding="utf-8")
    spellings = {}
    schedules = (root / "ir/Schedules.def").read_text(encoding="utf-8")
    spec = spec.replace('#include "ir/Schedules.def"\n', "".join(
        f'SCHEDULE_KIND({row[0]}, "{row[1]}")\n'
        for row in SCHEDULE.findall(schedules)))
    for kind, enumerator, spelling in ENUM.findall(spec):
        spellings.setdefault(kind, {})[enumerator] = (
            f'"{spelling}"' if "." in spelling else spelling)
    defaults = defaults_of(root, spellings)
    required = set(REQUIRED.findall(code))
    rows = {}
    for section, kind, member, key, doc in FIELD.findall(spec):
        if key == "kind":  # stands after the keyword
            continue
        values = TYPES.get(kind) or ", ".join(
            spellings[snake(kind)].values())
        where = SECTIONS.get(section, section.lower())
        default = ("required" if (where, key) in required
                   else defaults.get(member, ""))
        text = "".join(re.findall(r'"([^"]*)"', doc))
        rows.setdefault(section.title(), []).append(
            f"| `{key}` | {values} | {default} | {text} |\n")
    head = "| key | value | default | meaning |\n|---|---|---|---|\n"
    return {name: head + "".join(lines) for name, lines in rows.items()}


def option_tables(root):
    """The tables of docs/aicb.md."""
    text = (root / "backends/aicb/Options.def").read_text(encoding="utf-8")
    options = ["| option | kinds | value | default | meaning |\n"
               "|---|---|---|---|---|\n"]
    for count, least, default, flag, modes, doc in OPTION.findall(text):
        value = "true, false" if flag else f"{least}, {int(least) + 1}, ..."
        default = {"": "false", "-1": "none", "INT64_MAX": "2^63 - 1"}.get(
            default, default)
        options.append(f"| `{count or flag}` | {MODES[modes[6:]]} | {value} | "
                       f"{default} | {doc} |\n")
    kinds = ["| kind | rows |\n|---|---|\n"]
    kinds += [f"| `{word}` | {doc} |\n" for word, doc in KIND.findall(text)]
    return {"AicbKinds": "".join(kinds), "AicbOptions": "".join(options)}


def refresh(page, known, is_written):
    """Writes the tables of a page, or counts those that are stale."""
    text = page.read_text(encoding="utf-8")
    shown = {match[2]: match[0] for match in TABLE.finditer(text)}
    if is_written:
        page.write_text(TABLE.sub(
            lambda m: m[1] + known.get(m[2], "") + m[3], text), "utf-8")
        return 0
    stale = [name for name in sorted(known | shown)
             if name not in known or known[name] not in shown.get(name, "")]
    for name in stale:
        print(f"docs/{page.name}: the table `{name}` is not what keys.py "
              "--write makes of it")
    return len(stale)


def main():
    root = pathlib.Path(sys.argv[1])
    is_written = "--write" in sys.argv
    stale = sum(refresh(root / "docs" / name, known, is_written)
                for name, known in (("language.md", tables(root)),
                                    ("aicb.md", option_tables(root))))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
