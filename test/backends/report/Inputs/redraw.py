# SPDX-License-Identifier: Apache-2.0
"""usage: redraw.py PAGE OTHER

Draws the job of OTHER on the open PAGE: all numbers are those of the other job,
and what the reader opened, sorted, zoomed and scrolled is as before.
"""

import json
import sys

from browser import expect, opened

STATE = """[state.view, [...state.open], [...state.sorts], state.explained,
    document.querySelector('#section-memory, [data-open=section-memory]').open,
    document.activeElement.dataset.at, Math.round(scrollY)]"""
NUMBERS = """[...document.querySelectorAll('[data-value]')].map(
    (each) => each.dataset.value)"""
TEXT = "document.body.innerText"


with opened(sys.argv[2]) as browser:
    other = browser.evaluate("JSON.stringify(data)")
    wanted_text = browser.evaluate(TEXT)
with opened(sys.argv[1]) as browser:
    browser.evaluate(f"render({other})")
    browser.settle()
    expect("the other job", browser.evaluate(TEXT), wanted_text)
with opened(sys.argv[1]) as browser:
    browser.evaluate("gantt.zoom(0.25)")
    browser.evaluate(
        "document.querySelector('[data-open=section-memory] summary').click();"
        "document.querySelector('[data-at=\"stages/sort/3\"]').click();"
        "document.querySelector('#tile-peak').click();")
    browser.settle()
    browser.evaluate(
        "document.querySelector('#explanation summary').click();"
        "document.querySelector('[data-at=\"stages/sort/3\"]').focus();"
        "scrollTo({top: 700, behavior: 'instant'})")
    browser.settle()
    before = browser.evaluate(STATE)
    if not all(before):
        sys.exit(f"{before} was not set up")
    old = browser.evaluate(NUMBERS)
    browser.evaluate(f"render({other})")
    browser.settle()
    expect("what the reader did", browser.evaluate(STATE), before)
    expect("other numbers", browser.evaluate(NUMBERS) != old)
    expect("peak", browser.of("#panel .explained [data-value]", "dataset.value"), str(max(
            int(stage["peak"]["value"])
            for stage in json.loads(other)["plan"]["stages"])))
    # Nothing listens twice.
    for _ in range(3):
        browser.evaluate(f"render({other})")
    browser.of("#zoom-in", "click()")
    before_view, after = before[0], browser.evaluate("state.view")
    expect("one zoom for one click", round(
        (before_view[1] - before_view[0]) / (after[1] - after[0]), 6), 2)
