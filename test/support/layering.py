# SPDX-License-Identifier: Apache-2.0
"""usage: layering.py SOURCE_ROOT

Checks how long files are, who includes whom, and that no pass names a kind of layer. A
room is a folder with rules of its own; what is in no room belongs to its layer."""

import collections
import pathlib
import re
import sys

import tool

# Each room of the IR includes those before it.
IR = ["ir/model", "ir/schedule", "ir/ranks", "ir/text", "ir/verify"]
FLOOR = {"lang", "analysis", *IR}
FRONTEND = {"frontend", "frontend/sweep"}
PASSES = {"passes", "passes/derive", "passes/vary"}
COMPILER = {*FLOOR, *FRONTEND, *PASSES, "tools/compiler"}
RUNS = {*COMPILER, "backends", "tools/runs"}
MAY_INCLUDE = {
    "lang": {"lang"},
    **{room: {"lang", *IR[:i + 1]} for i, room in enumerate(IR)},
    "analysis": FLOOR,
    "frontend": {"lang", *IR, *FRONTEND},
    "frontend/sweep": {"lang", *IR, *FRONTEND},
    "passes": {*FLOOR, *PASSES},
    "passes/derive": {*FLOOR, *PASSES},
    "passes/vary": {*FLOOR, "passes", "passes/vary"},
    "backends": {*FLOOR, "backends"},
    "tools/compiler": {*COMPILER, "tools/importers"},
    "tools/output": {*FLOOR, "backends", "tools/output"},
    "tools/driver": {*COMPILER, "backends", "tools/output", "tools/driver"},
    "tools/diff": {*FLOOR, "passes/vary", "backends", "tools/compiler",
                   "tools/diff"},
    "tools/explain": {*FLOOR, "backends", "tools/explain"},
    "tools/runs": RUNS,
    "tools/sweep": {*COMPILER, "backends", "tools/output", "tools/driver",
                    "tools/sweep"},
    "tools/validate": {*FLOOR, "frontend", "backends", "tools/runs",
                       "tools/validate"},
    "tools/convert": {*FLOOR, *FRONTEND, *PASSES, "tools/validate",
                      "tools/convert"},
    "tools/importers": {"lang", *FRONTEND, "tools/importers"},
    "tools/exporters": {"lang", *IR, *FRONTEND, "tools/importers",
                        "tools/exporters"},
    "tools/start": {*COMPILER, "backends", "tools/driver", "tools/importers",
                    "tools/output", "tools/sweep", "tools/start"},
    "tools/lsp": {*COMPILER, "tools/lsp"},
    "tools/python": {*COMPILER, "backends", "tools/driver", "tools/explain",
                     "tools/output", "tools/start", "tools/sweep", "tools/python"},
    "tools/fit": {*RUNS, "tools/validate", "tools/fit"},
    "tools/explore": {*COMPILER, "backends", "tools/diff", "tools/driver",
                      "tools/exporters", "tools/output", "tools/start", "tools/explore"},
    "tools/foretrace": {*RUNS, "tools/convert", "tools/diff", "tools/driver",
                        "tools/explain", "tools/explore", "tools/exporters", "tools/fit", "tools/importers", "tools/lsp",
                        "tools/output",
                        "tools/start", "tools/sweep",
                        "tools/validate", "tools/foretrace"},
}
# What backends share; each may include itself and these, and one another only here.
SHARED_BACKENDS = {"aicb", "figures", "ranks"}
BACKEND_PAIRS = {("simainet", "simai"), ("astra", "chakra"),
                 ("llmservingsim", "chakra")}
# A command line that grows holds what belongs into a library.
MAX_LINES = {"tools/foretrace": 2780}
MAX_LINES_OF_FILE = 400
# Public types that many rooms have: each backend's options, and the rows of each table
# of diagnostics. Syntax (ast, layers) has the names of what it becomes.
SHARED_TYPES = {"Options", "Row"}
SYNTAX = {"lang/AST.h", "lang/Layers.h"}
TYPE = re.compile(r"^(?:struct|class|enum|enum class|using) (\w+)"
                  r"(?: final)?(?: : [^{;]*)?(?: \{| =)")
# What of other people's code stands behind one door.
DOORS = [
    (re.compile(r"antlr4|Fore(Lexer|Parser)"), "frontend"),
    (re.compile(r"toml"), "frontend"),
    (re.compile(r"(unsupported/)?Eigen/"), "tools/fit"),
    (re.compile(r"event2/"), "tools/explore"),
    (re.compile(r"pybind11/"), "tools/python"),
]
# Kinds of layers are text of the library; only backends that imitate a tool know them.
LAYER_KIND = re.compile(r'"(mha|gqa|mqa|mla|mamba2|gated_delta_net)"')
KNOW_NO_LAYERS = {"lang", *IR, "analysis", *FRONTEND, *PASSES}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def layer_of(name):
    """The layer or room that a path from the root is in, or None."""
    return max((layer for layer in MAY_INCLUDE if name.startswith(layer + "/")),
               key=len, default=None)


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
    if (own and backend and own != backend and backend not in SHARED_BACKENDS
            and (own, backend) not in BACKEND_PAIRS):
        return f"the backend {own} must not include {name}"
    for pattern, home in DOORS:
        if pattern.match(name) and not f"{layer}/".startswith(f"{home}/"):
            return f"only {home} may include {name}"
    return None


def sources(root, layer):
    """Yields (path from the root, lines)."""
    for path in sorted((root / layer).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix in {".h", ".cpp", ".def"} and layer_of(name) == layer:
            yield name, path.read_text(encoding="utf-8").splitlines()


def includes(root):
    """Yields (path from the root, line number, what is included)."""
    for layer in MAY_INCLUDE:
        for path, lines in sources(root, layer):
            for number, line in enumerate(lines, 1):
                if match := INCLUDE.match(line):
                    yield path, number, match.group(1)


def clashing_types(root):
    """Yields (type, rooms) of public types of which two rooms have one each."""
    rooms = collections.defaultdict(set)
    for layer in MAY_INCLUDE:
        for path, lines in sources(root, layer):
            if not path.endswith(".h") or path in SYNTAX:
                continue
            for line in lines:
                if match := TYPE.match(line):
                    rooms[match.group(1)].add(path.rsplit("/", 1)[0])
    for name in sorted(rooms.keys() - SHARED_TYPES):
        if len(rooms[name]) > 1:
            yield name, ", ".join(sorted(rooms[name]))


def problems_of(root):
    for path, number, name in includes(root):
        if text := why_not(path, name):
            yield f"{path}:{number}: {text}"
    for name, rooms in clashing_types(root):
        yield f"{name} means two things: {rooms}"
    for layer in MAY_INCLUDE:
        total = 0
        for path, lines in sources(root, layer):
            total += len(lines)
            if len(lines) > MAX_LINES_OF_FILE and not path.endswith(".def"):
                yield f"{path}: {len(lines)} lines; at most {MAX_LINES_OF_FILE}"
            for number, line in enumerate(lines, 1):
                if layer in KNOW_NO_LAYERS and (match := LAYER_KIND.search(line)):
                    yield f"{path}:{number}: names the layer `{match.group(1)}`"
        if total > MAX_LINES.get(layer, total):
            yield f"{layer}: {total} lines; at most {MAX_LINES[layer]}"


if __name__ == "__main__":
    tool.report(problems_of(pathlib.Path(sys.argv[1])), f"{len(MAY_INCLUDE)} rooms")
