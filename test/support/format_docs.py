# SPDX-License-Identifier: Apache-2.0
"""usage: format_docs.py SOURCE_ROOT [--write]

Names the `fore` blocks of the documentation that `foretrace fmt` would change, or changes them.
Blocks that show an error stay as they are, as do those that are not whole files.
"""

import pathlib
import re
import sys

import tool

BLOCK = re.compile(r"(^```fore[^\n]*\n)(.*?)(^```$)", re.M | re.S)


def formatted(block):
    if re.search(r"(error|warning)=", block[1]):
        return block[0]
    done = tool.attempt("fmt", "-", input=block[2])
    return block[0] if done.returncode else block[1] + done.stdout + block[3]


root, problems, blocks = pathlib.Path(sys.argv[1]), [], 0
for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
    text = path.read_text(encoding="utf-8")
    blocks += len(BLOCK.findall(text))
    problems += tool.refresh(path, BLOCK.sub(formatted, text), "format_docs.py")
tool.report(problems, f"{blocks} blocks, {len(problems)} to format")
