# SPDX-License-Identifier: Apache-2.0
"""usage: diagnostics.py SOURCE_ROOT

Checks that every error and warning of lang/diagnostics is expected by a
test, as `[slug]` in a check line, and explained in docs/diagnostics.md."""

import pathlib
import re
import sys

import tool

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


root = pathlib.Path(sys.argv[1])
table = "".join(path.read_text("utf-8") for path in
                sorted((root / "lang/diagnostics").glob("*.def")))
page = (root / "docs/diagnostics.md").read_text("utf-8")
slugs = [slug for _, slug in ROW.findall(table)]
headings = set(re.findall(r"^##+ `?([\w-]+)`?$", page, re.M))
tested = set(expected_slugs(root / "test"))
assert slugs, "lang/diagnostics: no rows found"
tool.report([*(f"{slug}: no test expects `[{slug}]`" for slug in slugs if slug not in tested),
             *(f"{slug}: no `## {slug}` in docs/diagnostics.md"
               for slug in slugs if slug not in headings)],
            f"{len(slugs)} diagnostics")
