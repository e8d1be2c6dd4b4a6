# SPDX-License-Identifier: Apache-2.0
"""usage: layout.py PAGE...

Looks at reports at the widths of a phone and of a screen, in both themes: with
everything open no text overlaps another one, the page does not scroll sideways,
and text can be told from its ground.
"""

import sys

from browser import expect, opened, script
from pages import open_all


def look(page):
    with opened(page) as browser:
        open_all(browser)
        texts = 0
        for width in (390, 1440):
            browser.resize(width, 900)
            seen = browser.overlaps("body")
            expect(f"overlaps at {width}", seen["found"], [])
            texts += seen["texts"]
            expect(f"wider than {width}", browser.evaluate(
                "document.documentElement.scrollWidth > innerWidth"), False)
            browser.evaluate("document.querySelector('.tile:nth-child(2)').click();"
                             "document.querySelectorAll('#explanation details')"
                             ".forEach((each) => { each.open = true; })")
            browser.settle()
            expect(f"overlaps in the panel at {width}",
                   browser.overlaps("#panel")["found"], [])
            browser.of("#close", "click()")
        for theme in ("light", "dark"):
            browser.set_theme(theme)
            expect(f"theme {theme}", browser.evaluate(
                "document.documentElement.dataset.theme"), theme)
            expect(f"faint in {theme}", browser.evaluate(script(__file__, "faint.js")), [])
        browser.call("Page.printToPDF")
        if texts < 300:
            sys.exit(f"only {texts} texts")


for each in sys.argv[1:]:
    look(each)
