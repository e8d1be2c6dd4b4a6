# SPDX-License-Identifier: Apache-2.0
"""usage: picture.py PAGE TIED DATABASE

Looks at the picture of a sweep in PAGE, time over peak, in headless Chromium: its units,
the memory of the device, logarithmic scales, colours. In TIED, pp over tp, several points
have one place. No texts overlap.
"""

import math
import re
import sqlite3
import sys

from browser import expect, opened

TICKS = "[...document.querySelectorAll('#scatter text')].map((each) => each.textContent)"
LEGEND = "[...document.querySelectorAll('#legend span')].map((each) => each.textContent)"
IMAGE = "document.querySelector('#scatter canvas').toDataURL()"


def check_overlaps(browser):
    for width in 400, 1440:
        browser.resize(width, 900)
        expect(f"overlaps at {width}", browser.overlaps("body")["found"], [])


def change(browser, control, value):
    browser.evaluate(f"""(() => {{
      const control = document.querySelector({control!r});
      control[control.type === 'checkbox' ? 'checked' : 'value'] = {value};
      control.dispatchEvent(new Event('change'));
    }})()""")
    browser.settle()


def places(browser, points):
    return {point: browser.centre(f"#front-{point}") for point in points}


def check(browser, database):
    front = {point: (peak, fits) for point, peak, fits in database.execute("SELECT id, peak, fits FROM points")
             if browser.evaluate(f"document.querySelector('#front-{point}') !== null")}
    ticks = browser.evaluate(TICKS)
    expect("units", {tick.split()[-1] for tick in ticks if re.match(r"[\d.,]+ ", tick)}, {"GiB", "s"})
    expect("memory of the device", "memory for tensors, 75.65 GiB" in ticks)
    line = browser.centre("#scatter .limit")[0]
    at = places(browser, front)
    expect("points that fit are left of it", {point: x < line for point, (x, _) in at.items()},
           {point: fits == 1 for point, (_, fits) in front.items()})

    def is_even(scale):
        """Whether the distances of points are those of their peaks."""
        at = places(browser, front)
        first, *rest = sorted(front, key=lambda point: front[point][0])
        last = rest[-1]
        share = [((at[point][0] - at[first][0]) / (at[last][0] - at[first][0]),
                  (scale(front[point][0]) - scale(front[first][0])) / (scale(front[last][0]) - scale(front[first][0])))
                 for point in rest]
        return all(abs(shown - wanted) < 0.01 for shown, wanted in share)

    expect("linear", [is_even(float), is_even(math.log)], [True, False])
    change(browser, "#log-x", "true")
    expect("logarithmic", [is_even(float), is_even(math.log)], [False, True])
    change(browser, "#log-y", "true")

    image = browser.evaluate(IMAGE)
    change(browser, "#colour", "'train.recompute'")
    expect("colours of words", browser.evaluate(LEGEND), ["none", "full"])
    words = browser.evaluate(IMAGE)
    change(browser, "#colour", "'bubble'")
    least, most = database.execute("SELECT min(bubble), max(bubble) FROM points").fetchone()
    expect("colours of numbers", browser.evaluate(LEGEND), [f"{least / 1e4:.1f} %", f"{most / 1e4:.1f} %"])
    expect("images", len({image, words, browser.evaluate(IMAGE)}), 3)


def check_ties(browser, database):
    tied = [row[0] for row in database.execute(
        'SELECT id FROM points WHERE "parallel.tp" = 1 AND "parallel.pp" = 1 ORDER BY id')]
    expect("several points", browser.rows("#front tbody"),
           [[f"Point {tied[0]} does not fit and {len(tied) - 1} more", "1", "1", "0", "none"]])
    browser.drag(browser.centre(f"#front-{tied[0]}"))
    expect("links to them", re.findall(r"Point (\d+)", browser.text("#ties")), list(map(str, tied[1:])))
    browser.drag(browser.centre("#close"))


page, tied, name = sys.argv[1:4]
database = sqlite3.connect(name)
with opened(page) as browser:
    check(browser, database)
    check_overlaps(browser)
with opened(tied) as browser:
    check_ties(browser, database)
    check_overlaps(browser)
