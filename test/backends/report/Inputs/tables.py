# SPDX-License-Identifier: Apache-2.0
"""usage: tables.py PAGE VOLUME

Tables of a report: neighbours that are alike but for their stages are one row, a
column has one unit, and the copy as CSV has all digits of all rows of VOLUME, what
`foretrace volume --format=json` wrote.
"""

import csv
import json
import pathlib
import sys

from browser import expect, opened
from pages import open_all


volume = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
with opened(sys.argv[1]) as browser:
    expect("folded", browser.evaluate(
        "foldRows([['0', '7'], ['1-2', '7'], ['3', '8'], ['5', '8'], "
        "['moe', '8'], ['6', '8']])"),
           [["0-2", "7"], ["3", "8"], ["5", "8"], ["moe", "8"], ["6", "8"]])
    open_all(browser)
    expect("one unit", browser.evaluate(
        "[...document.querySelectorAll('#volume-groups tbody .right')]"
        ".every((cell) => /^[<\\d., ]+$/.test(cell.textContent))"))
    browser.put_clipboard()
    browser.of('[data-at="volume-groups/copy"]', "click()")
    browser.settle()
    rows = list(csv.reader(browser.evaluate("window.copied").splitlines()))
    expect("copied", rows[1:], [
        [group["group"], *(str(group[key]) for key in (
            "size", "message", "sent", "cross_node"))]
        for group in volume["groups"]])
    print(",".join(rows[0]))
