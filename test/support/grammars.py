#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Keeps the words in the grammars of tools/editors as those of the compiler: keywords of
# lang/Fore.g4, units of frontend/Units.def, and values of keys as the program in the path
# lists them.
"""usage: grammars.py SOURCE_ROOT [--write]"""

import json
import pathlib
import re
import subprocess
import sys
import textwrap

KEYWORD = re.compile(r"^[A-Z]+ : '([a-z]+)' ;$", re.M)
UNIT = re.compile(r'^UNIT\("([^"%]+)"', re.M)  # `%` may be an operator
NUMBER = r"\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?"
BOOLEANS = {"true", "false"}


def words(root):
    """The lists of words, by the names that the grammar of Vim has for them."""
    grammar = (root / "lang/Fore.g4").read_text(encoding="utf-8")
    units = (root / "frontend/Units.def").read_text(encoding="utf-8")
    listed = subprocess.check_output(["foretrace", "list", "keys", "--format=json"], text=True)
    lists = [json.loads(line)["value"].split(", ") for line in listed.splitlines()]
    values = {word for row in lists if len(row) > 1 and row[0].isidentifier() for word in row
              if word.isidentifier() and word not in UNIT.findall(units)}
    return {"keywords": [word for word in KEYWORD.findall(grammar) if word not in BOOLEANS],
            # The longest first, as the first that matches is taken.
            "units": sorted(UNIT.findall(units), key=lambda unit: (-len(unit), unit)),
            "values": sorted(values - BOOLEANS)}


def textmate(text, lists):
    """The grammar of VS Code with the lists."""
    grammar = json.loads(text)
    rules = grammar["repository"]
    any_of = {name: f"(?:{'|'.join(words)})" for name, words in lists.items()}
    rules["keyword"]["match"] = rf"\b{any_of['keywords']}\b"
    rules["value"]["match"] = rf"\b{any_of['values']}\b"
    rules["number"]["patterns"][0]["match"] = (
        rf"\b({NUMBER})\s*({any_of['units']})(?![\w/]|\s*=(?!=))")
    return json.dumps(grammar, indent=2) + "\n"


def vim(text, lists):
    """The grammar of Vim with the lists, of 99 columns."""
    for name, listed in lists.items():
        lines = textwrap.wrap(" ".join(listed), 92, break_on_hyphens=False)
        block = f"let s:{name} = split('" + "".join(f"\n      \\ {line}" for line in lines) + "')\n"
        text, count = re.subn(rf"^let s:{name} = split\('[^']*'\)\n", lambda _, new=block: new, text,
                              flags=re.M)
        assert count == 1, name
    return text


GRAMMARS = {"tools/editors/vscode/syntaxes/fore.tmLanguage.json": textmate,
            "tools/editors/vim/syntax/fore.vim": vim}


def main():
    root = pathlib.Path(sys.argv[1])
    lists = words(root)
    stale = 0
    for name, write in GRAMMARS.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        wanted = write(text, lists)
        if wanted != text and sys.argv[2:] == ["--write"]:
            path.write_text(wanted, encoding="utf-8")
        elif wanted != text:
            print(f"{name}: words differ from the compiler's; run test/support/grammars.py . --write")
            stale += 1
    print(", ".join(f"{len(listed)} {name}" for name, listed in lists.items()))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
