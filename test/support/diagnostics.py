#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks that every error and warning of lang/diagnostics is expected by a
# test, as `[slug]` in a check line, and explained in docs/diagnostics.md.
"""usage: diagnostics.py SOURCE_ROOT"""

import pathlib
import re
import sys

ROW = re.compile(r'^DIAG\(\w+,\s*(Error|Warning),\s*"([\w-]+)"', re.M)
CHECK = re.compile(r"(?:^|[/#;]\s*)[A-Z][A-Z0-9_-]*:.*\[([\w-]+)\]\s*$")
TESTS = {".fore", ".ftir", ".test", ".toml"}


def expected_slugs(tests):
    """The slugs in check lines under the folder."""
    for path in tests.rglob("*"):
        if path.suffix in TESTS and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            for line in text.splitlines():
                match = CHECK.search(line)
                if match:
                    yield match.group(1)


def main():
    root = pathlib.Path(sys.argv[1])
    table = "".join(path.read_text(encoding="utf-8") for path in
                    sorted((root / "lang/diagnostics").glob("*.def")))
    page = (root / "docs/diagnostics.md").read_text(encoding="utf-8")
    slugs = [slug for _, slug in ROW.findall(table)]
    headings = set(re.findall(r"^##+ `?([\w-]+)`?$", page, re.M))
    tested = set(expected_slugs(root / "test"))
    problems = [f"{slug}: no test expects `[{slug}]`"
                for slug in slugs if slug not in tested]
    problems += [f"{slug}: no `## {slug}` in docs/diagnostics.md"
                 for slug in slugs if slug not in headings]
    if not slugs:
        problems.append("lang/diagnostics: no rows found")
    print("\n".join(problems) or f"{len(slugs)} diagnostics")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
