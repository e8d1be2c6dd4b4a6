# SPDX-License-Identifier: Apache-2.0
"""usage: tiles.py PAGE

Prints the tiles of a report, with exact numbers, and their terms.
"""

import pathlib
import sys

import tool


def exact(number):
    return number["value"] if isinstance(number, dict) else number


def words(phrase):
    return "".join(part if isinstance(part, str) else exact(part["value"])
                   for part in phrase)


data = tool.page_data(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
for tile in data["tiles"]:
    why = f" ({tile['why']})" if "why" in tile else ""
    print(f"{tile['key']} {tile['verdict']}:", " | ".join(
        words(tile[part]) for part in ("headline", "detail", "reason")) + why)
    for term in tile["terms"]:
        print(term["title"], exact(term["value"]))
