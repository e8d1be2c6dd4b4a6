#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: format_docs.py SOURCE_ROOT [--write]

Names the `fore` blocks of the documentation that `foretrace fmt` would change, or changes them.
Blocks that show an error stay as they are, as do those that are not whole files.
"""

import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"(^```fore[^\n]*\n)(.*?)(^```$)", re.M | re.S)


def formatted(block):
    if re.search(r"(error|warning)=", block[1]):
        return block[2]
    run = subprocess.run(["foretrace", "fmt", "-"], input=block[2], capture_output=True,
                         text=True, check=False)
    return block[2] if run.returncode else run.stdout


def main():
    root = pathlib.Path(sys.argv[1])
    blocks = changed = 0
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            blocks += 1
            if formatted(block) != block[2]:
                changed += 1
                line = text.count("\n", 0, block.start()) + 1
                print(f"{path.relative_to(root)}:{line}: not in the style of `foretrace fmt`")
        if "--write" in sys.argv:
            path.write_text(BLOCK.sub(lambda b: b[1] + formatted(b) + b[3], text),
                            encoding="utf-8")
    print(f"{blocks} blocks, {changed} to format")


main()
