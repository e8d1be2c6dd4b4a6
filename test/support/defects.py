# SPDX-License-Identifier: Apache-2.0
"""usage: defects.py SOURCE_ROOT [--print]

Checks that every message of `foretrace validate` has a row in Defects.def,
and that docs/validate.md lists these rows. With --print it prints the lines
that the page should have."""

import pathlib
import re
import sys

import tool

DIAG = re.compile(r'^DIAG\((\w+), (Error|Warning|Note), "([\w-]+)"', re.M)
DEFECT = re.compile(r'^DEFECT\((\w+), "([^"]+)"\)', re.M)

root = pathlib.Path(sys.argv[1])
effects = dict(DEFECT.findall((root / "tools/validate/Defects.def").read_text("utf-8")))
rows = DIAG.findall((root / "lang/diagnostics/Validate.def").read_text("utf-8"))
lines = [f"| `{slug}` | {effects[ident]} |" for ident, _, slug in rows if ident in effects]
if "--print" in sys.argv:
    print(*lines, sep="\n")
    sys.exit()
page = (root / "docs/validate.md").read_text("utf-8")
seen = re.findall(r"^\| `\w+-.*$", page, re.M)
tool.report([*(f"{slug}: no row in Defects.def" for ident, severity, slug in rows
               if severity != "Note" and ident not in effects),
             *(f"docs/validate.md lacks: {line}" for line in lines if line not in seen),
             *(f"docs/validate.md has: {line}" for line in seen if line not in lines)],
            f"{len(lines)} defects")
