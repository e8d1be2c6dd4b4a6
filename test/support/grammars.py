# SPDX-License-Identifier: Apache-2.0
"""usage: grammars.py SOURCE_ROOT [--write]

Keeps the words in the grammars of tools/editors as those of the compiler: keywords of
lang/Fore.g4, units of frontend/Units.def, and values of keys as the program in the path
lists them."""

import json
import pathlib
import re
import sys
import textwrap

import tool

KEYWORD = re.compile(r"^[A-Z]+ : '([a-z]+)' ;$", re.M)
UNIT = re.compile(r'^UNIT\("([^"%]+)"', re.M)  # `%` may be an operator
NUMBER = r"\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?"
BOOLEANS = {"true", "false"}


def words(root):
    """The lists of words, by the names that the grammar of Vim has for them."""
    grammar = (root / "lang/Fore.g4").read_text(encoding="utf-8")
    units = (root / "frontend/Units.def").read_text(encoding="utf-8")
    lists = [row["value"].split(", ") for row in tool.rows("list", "keys")]
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


root = pathlib.Path(sys.argv[1])
listed = words(root)
problems = [problem for name, write in GRAMMARS.items()
            for problem in tool.refresh(root / name, write((root / name).read_text("utf-8"), listed),
                                        "words differ from the compiler's; grammars.py")]
tool.report(problems, ", ".join(f"{len(of)} {name}" for name, of in listed.items()))
