# SPDX-License-Identifier: Apache-2.0
"""usage: variables.py SOURCE_ROOT

Each colour that a page names, `var(--forward)`, is in backends/Palette.def, and no
style sheet has one of its own.
"""

import pathlib
import re
import sys

FOLDERS = ("backends/report", "tools/sweep/plot", "tools/explore/page")


root = pathlib.Path(sys.argv[1])
known = set(re.findall(r'COLOUR\(\w+, "([a-z0-9-]+)"',
                       (root / "backends/Palette.def").read_text()))
files = [file for folder in FOLDERS for file in (root / folder).iterdir()
         if file.suffix in (".css", ".html", ".js")]
used = 0
for file in files:
    text = file.read_text(encoding="utf-8")
    for name in re.findall(r"var\(--([a-z0-9-]+)\)", text):
        used += 1
        if name not in known:
            sys.exit(f"{file}: --{name} is no colour of the palette")
    if file.suffix == ".css" and (own := re.search(r"#[0-9a-f]{6}\b", text)):
        sys.exit(f"{file}: {own[0]} is a colour of its own")
print(used, "uses of the palette in", len(files), "files")
