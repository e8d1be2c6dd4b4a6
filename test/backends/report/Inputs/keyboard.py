# SPDX-License-Identifier: Apache-2.0
"""usage: keyboard.py PAGE

Uses a report with nothing but keys: tiles, explanations, tables, the timeline.
"""

import sys

from browser import expect, opened

FOCUS = "document.activeElement.dataset.at || document.activeElement.id"


def tab_to(browser, place, most=400):
    for _ in range(most):
        browser.press("Tab")
        if browser.evaluate(FOCUS) == place:
            return
    sys.exit(f"{place} is not reached")


with opened(sys.argv[1]) as browser:
    tab_to(browser, "tile/peak")
    expect("focus is seen", browser.evaluate(
        "getComputedStyle(document.activeElement).outlineStyle"), "solid")
    browser.press("Enter", "\r")
    expect("panel", browser.of("#panel", "hidden"), False)
    expect("its title", browser.evaluate(FOCUS), "panel-title")
    browser.press("Escape")
    expect("panel closes", browser.of("#panel", "hidden"))
    expect("focus returns", browser.evaluate(FOCUS), "tile/peak")
    tab_to(browser, "gantt")
    browser.press("+", "+")
    browser.press("ArrowRight")
    expect("zoom and move", browser.evaluate("state.view"), [0.375, 0.875])
    browser.press("0", "0")
    expect("all", browser.evaluate("state.view"), [0, 1])
    tab_to(browser, "stages/sort/3")
    browser.press("Enter", "\r")
    peaks = "[...document.querySelectorAll('#stages tbody tr')].map(" \
        "(row) => Number(row.cells[3].querySelector('[data-value]')" \
        ".dataset.value))"
    shown = browser.evaluate(peaks)
    expect("sorted", shown, sorted(shown, reverse=True))
    expect("focus stays", browser.evaluate(FOCUS), "stages/sort/3")
    browser.press("Enter", "\r")
    expect("the other way", browser.evaluate(peaks), sorted(shown))
    tab_to(browser, "blocks/copy")
    browser.put_clipboard()
    browser.press("Enter", "\r")
    rows = browser.evaluate("window.copied").splitlines()
    print(rows[0])
    expect("rows", [row.split(",")[0] for row in rows[1:]],
           browser.evaluate("plan.blocks.map(({block}) => block)"))
