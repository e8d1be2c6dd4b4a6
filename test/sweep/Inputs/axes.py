# SPDX-License-Identifier: Apache-2.0
"""usage: axes.py PAGE DATABASE

Looks at the page of a sweep over many axes in headless Chromium: whether all are in view,
on a screen and on paper, and whether the front in it has what DATABASE has.
"""

import sqlite3
import sys

from browser import expect, opened

TITLES = "[...document.querySelectorAll('#parallel .title')].map((each) => each.firstChild.data)"
CUT = """[...document.querySelectorAll('#scatter text, #parallel text')].filter((each) => {
  const {left, right} = each.getBoundingClientRect();
  return left < 0 || right > document.documentElement.clientWidth; }).map((each) => each.textContent)"""
IS_WIDER = "(({scrollWidth, clientWidth}) => scrollWidth > clientWidth)(document.querySelector('#parallel').parentElement)"
HINT = "!document.querySelector('#wide').hidden"


def check_screen(browser):
    browser.resize(1440, 900)
    print("axes:", *browser.evaluate(TITLES))
    expect("in view at 1440", browser.evaluate(CUT), [])
    expect("hint at 1440", browser.evaluate(HINT), False)
    browser.resize(390, 900)
    expect("wider than 390", browser.evaluate(IS_WIDER))
    expect("hint at 390", browser.evaluate(HINT))
    expect("by keyboard", browser.evaluate(
        "[...document.querySelectorAll('.scroll')].map((each) => each.tabIndex)"), [0, 0])


def check_front(browser, database):
    heads, *rows = browser.rows("#front")
    points = [row[0].split()[1] for row in rows]
    wanted = [database.execute(
        'SELECT "parallel.tp", "parallel.pp", "parallel.vpp", "parallel.cp", "train.micro_batch", '
        '"train.recompute", "parallel.zero", "train.global_batch" FROM points WHERE id = ?', [point]).fetchone()
              for point in points]
    expect("configurations", [heads[3:], *(row[3:] for row in rows)],
           [browser.evaluate(TITLES)[:8], *(list(map(str, row)) for row in wanted)])


def check_paper(browser):
    """Nothing is drawn anew for paper, which is as wide as A4 is at 96 dots per inch."""
    browser.resize(1440, 900)
    browser.evaluate("window.requestAnimationFrame = () => 0")
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.call("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)
    expect("on paper", browser.evaluate(CUT), [])


with opened(sys.argv[1]) as browser:
    check_screen(browser)
    check_front(browser, sqlite3.connect(sys.argv[2]))
    check_paper(browser)
