#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks that every message of `foretrace validate` has a row in Defects.def,
# and that docs/validate.md lists these rows.
"""usage: defects.py SOURCE_ROOT [--print]

Prints what differs, or with --print the lines that the page should have."""

import pathlib
import re
import sys

DIAG = re.compile(r'^DIAG\((\w+), (Error|Warning|Note), "([\w-]+)"', re.M)
DEFECT = re.compile(r'^DEFECT\((\w+), "([^"]+)"\)', re.M)


def expected_lines(diagnostics, defects):
    """A line of the table for each defect, and the slugs without one."""
    effects = dict(DEFECT.findall(defects))
    rows = DIAG.findall(diagnostics)
    lines = [f"| `{slug}` | {effects[ident]} |"
             for ident, _, slug in rows if ident in effects]
    missing = [slug for ident, severity, slug in rows
               if severity != "Note" and ident not in effects]
    return lines, missing


def main():
    root = pathlib.Path(sys.argv[1])
    lines, problems = expected_lines(
        (root / "lang/diagnostics/Validate.def").read_text(encoding="utf-8"),
        (root / "tools/validate/Defects.def").read_text(encoding="utf-8"))
    if "--print" in sys.argv:
        print("\n".join(lines))
        return 0
    problems = [f"{slug}: no row in Defects.def" for slug in problems]
    page = (root / "docs/validate.md").read_text(encoding="utf-8")
    seen = re.findall(r"^\| `\w+-.*$", page, re.M)
    problems += [f"docs/validate.md lacks: {line}"
                 for line in lines if line not in seen]
    problems += [f"docs/validate.md has: {line}"
                 for line in seen if line not in lines]
    print("\n".join(problems) or f"{len(lines)} defects")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
