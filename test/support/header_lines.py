# SPDX-License-Identifier: Apache-2.0
"""usage: header_lines.py SOURCE_ROOT BUILD_DIR

Checks the size of the ten headers of ours that most files include, as the lines
that the preprocessor makes of each. Whoever adds a heavy include to one of them,
such as <functional> or FormatVariadic.h, adds it to most of the build."""

import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys

import tool
from layering import includes

# Lines of libstdc++ 12 and LLVM 19 at most: those of today and a twentieth.
BUDGET = {
    "analysis/Figures.h": 56500,
    "backends/Backend.h": 53000,
    "ir/model/Measure.h": 52000,
    "ir/model/OpKinds.h": 28000,
    "ir/model/Program.h": 52000,
    "ir/model/Spec.h": 50000,
    "ir/model/Spellings.h": 52000,
    "lang/Diagnostic.h": 48500,
    "lang/DidYouMean.h": 48500,
    "lang/diagnostics/Backends.h": 48500,
    "lang/diagnostics/Frontend.h": 48500,
    "lang/diagnostics/Lang.h": 48500,
}


def flags(build):
    """The compiler and the folders that it looks in."""
    entry = json.loads((build / "compile_commands.json").read_text("utf-8"))[0]
    words = shlex.split(entry["command"])
    isystem = [words[i + 1] for i, word in enumerate(words)
               if word == "-isystem"]
    return [words[0], "-std=c++17", "-DNDEBUG", "-E", "-x", "c++-header",
            *(word for word in words if word.startswith("-I")),
            *(word for path in isystem for word in ("-isystem", path))]


root, build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
counts = collections.Counter(
    name for _, _, name in includes(root)
    if name.endswith(".h") and (root / name).exists())
problems = []
for name, _ in counts.most_common(10):
    text = subprocess.check_output([*flags(build), root / name], text=True)
    lines = len(re.findall(r"^[^#\n]", text, re.M))
    if lines > BUDGET.get(name, 0):
        problems.append(f"{name}: {lines} lines when preprocessed; at most {BUDGET.get(name, 0)}")
tool.report(problems, "10 headers")
