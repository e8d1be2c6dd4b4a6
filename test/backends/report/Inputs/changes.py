# SPDX-License-Identifier: Apache-2.0
"""usage: changes.py PAGE JSON

Holds the table of changes on a page in headless Chromium against that of
`foretrace memory --format=json`.
"""

import json
import sys

from browser import opened

with open(sys.argv[2], encoding="utf-8") as file:
    WANTED = [row["change"] for row in json.load(file)["changes"]]

with opened(sys.argv[1]) as browser:
    print("verdict:", browser.text("#tile-room .headline"))
    print(browser.text("#changes h3"))
    shown = [row[0] for row in browser.rows("#changes tbody")]
    print(*shown[1:], sep="\n")
    print("as in memory:", shown == [each.replace(",", "") for each in WANTED])
    print("below the tiles:", browser.centre("#changes")[1] > browser.centre("#tiles")[1])
    browser.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    browser.settle()
    print("tables of changes:", browser.evaluate("document.querySelectorAll('[id=memory-changes]').length"))
