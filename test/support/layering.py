#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks who includes whom: lang <- ir <- {frontend, passes, backends} <- tools.
"""usage: layering.py SOURCE_ROOT"""

import pathlib
import re
import sys

MAY_INCLUDE = {
    "lang": {"lang"},
    "ir": {"lang", "ir"},
    "frontend": {"lang", "ir", "frontend"},
    "passes": {"lang", "ir", "passes"},
    "backends": {"lang", "ir", "backends"},
    "tools": {"lang", "ir", "frontend", "passes", "backends", "tools"},
}
# What of other people's code stands behind one door.
DOORS = [
    (re.compile(r"antlr4|Fore(Lexer|Parser)"), "frontend"),
    (re.compile(r"toml"), "frontend"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def broken_rules(root):
    """Yields (place, text) for each include that is not allowed."""
    for folder, allowed in MAY_INCLUDE.items():
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".def"}:
                continue
            for number, line in enumerate(
                    path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                place = f"{path.relative_to(root)}:{number}"
                name = match.group(1)
                first = name.split("/")[0]
                if first in MAY_INCLUDE and first not in allowed:
                    yield place, f"{folder} must not include {name}"
                for pattern, home in DOORS:
                    if pattern.match(name) and folder != home:
                        yield place, f"only {home} may include {name}"


def main():
    root = pathlib.Path(sys.argv[1])
    broken = list(broken_rules(root))
    for place, text in broken:
        print(f"{place}: {text}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
