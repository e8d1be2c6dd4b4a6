#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks how long files are, and who includes whom: lang <- ir <- {frontend, passes, backends} <-
# {tools/compiler <- tools/driver <- tools/sweep, tools/explain, tools/runs <-
# tools/validate <- tools/convert} <- tools/foretrace, and no backend another one.
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
    "tools/compiler": {"lang", "ir", "frontend", "passes", "tools/compiler"},
    "tools/driver": {"lang", "ir", "frontend", "passes", "backends",
                     "tools/compiler", "tools/driver"},
    "tools/diff": {"lang", "ir", "passes", "backends", "tools/compiler",
                   "tools/diff"},
    "tools/explain": {"lang", "ir", "passes", "backends", "tools/explain"},
    "tools/runs": {"lang", "ir", "frontend", "passes", "backends",
                   "tools/compiler", "tools/runs"},
    "tools/sweep": {"lang", "ir", "frontend", "passes", "backends",
                    "tools/compiler", "tools/driver", "tools/sweep"},
    "tools/validate": {"lang", "ir", "backends", "tools/runs",
                       "tools/validate"},
    "tools/convert": {"lang", "ir", "frontend", "passes", "tools/validate",
                      "tools/convert"},
    "tools/foretrace": {"lang", "ir", "frontend", "passes", "backends",
                        "tools/compiler", "tools/convert", "tools/diff", "tools/driver",
                        "tools/explain", "tools/runs", "tools/sweep", "tools/validate",
                        "tools/foretrace"},
}
# A command line that grows holds what belongs into a library.
MAX_LINES = {"tools/foretrace": 2100}
MAX_LINES_OF_FILE = 400
# What of other people's code stands behind one door.
DOORS = [
    (re.compile(r"antlr4|Fore(Lexer|Parser)"), "frontend"),
    (re.compile(r"toml"), "frontend"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def layer_of(name):
    """The layer that a path from the root is in, or None."""
    return next((layer for layer in MAY_INCLUDE
                 if name.startswith(layer + "/")), None)


def backend_of(name):
    """The backend whose folder a path is in; None for what all share."""
    parts = name.split("/")
    return parts[1] if parts[0] == "backends" and len(parts) > 2 else None


def why_not(path, name):
    """Why the file at `path` must not include `name`, or None."""
    layer, other = layer_of(path), layer_of(name)
    if other and other not in MAY_INCLUDE[layer]:
        return f"{layer} must not include {name}"
    own, backend = backend_of(path), backend_of(name)
    if own and backend and own != backend:
        return f"the backend {own} must not include {name}"
    for pattern, home in DOORS:
        if pattern.match(name) and layer != home:
            return f"only {home} may include {name}"
    return None


def sources(root, layer):
    """Yields (path from the root, lines)."""
    for path in sorted((root / layer).rglob("*")):
        if path.suffix in {".h", ".cpp", ".def"}:
            yield (path.relative_to(root).as_posix(),
                   path.read_text(encoding="utf-8").splitlines())


def includes(root):
    """Yields (path from the root, line number, what is included)."""
    for layer in MAY_INCLUDE:
        for path, lines in sources(root, layer):
            for number, line in enumerate(lines, 1):
                if match := INCLUDE.match(line):
                    yield path, number, match.group(1)


def main():
    root = pathlib.Path(sys.argv[1])
    broken = 0
    for path, number, name in includes(root):
        if text := why_not(path, name):
            print(f"{path}:{number}: {text}")
            broken += 1
    for layer in MAY_INCLUDE:
        for path, lines in sources(root, layer):
            if len(lines) > MAX_LINES_OF_FILE and not path.endswith(".def"):
                print(f"{path}: {len(lines)} lines; at most "
                      f"{MAX_LINES_OF_FILE}")
                broken += 1
    for layer, most in MAX_LINES.items():
        total = sum(len(lines) for _, lines in sources(root, layer))
        if total > most:
            print(f"{layer}: {total} lines; at most {most}")
            broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
