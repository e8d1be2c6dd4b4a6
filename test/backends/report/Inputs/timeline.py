# SPDX-License-Identifier: Apache-2.0
"""usage: timeline.py PAGE PLAN

Looks at the pictures of a report: every step of the schedule is drawn, zooms and
tells what it is; communication is drawn; the timeline ends when the iteration
of PLAN, of `emit json`, does.
"""

import json
import pathlib
import sys

from browser import expect, opened
from pages import BOXES


def steps(browser):
    return browser.evaluate(BOXES + ".filter(({isStep}) => isStep).length")


def fills(browser, name):
    return browser.evaluate(
        f"{BOXES}.filter((each) => each.name === '{name}').length")


def centre_of(browser, box):
    """Of a box of the timeline, on the screen."""
    return browser.evaluate(
        f"((box) => {{ const at = document.querySelector('#gantt')"
        ".getBoundingClientRect(); return [at.x + box.x + box.width / 2, "
        f"at.y + box.y + box.height / 2]; }})({BOXES}.find({box}))")


def tip(browser, *place):
    browser.mouse("mouseMoved", *place)
    browser.settle()
    return browser.text("#tip").split("\n") if not browser.of("#tip", "hidden") else []


plan = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
schedule = plan["schedule"]
every = 2 * schedule["pp"] * schedule["chunks_per_stage"] * schedule[
    "micro_batches"]
with opened(sys.argv[1]) as browser:
    expect("steps", steps(browser), every)
    # The time that it takes to draw does not grow with the steps.
    expect("a path for each colour", *browser.evaluate(
        "[document.querySelectorAll('#gantt path').length,"
        f" new Set({BOXES}.map(({{name}}) => name)).size]"))
    expect("end of the iteration", browser.evaluate("data.picture.length"),
           plan["time"])
    expect("updates", fills(browser, "update"), schedule["pp"])
    browser.of("#timeline", "scrollIntoView({behavior: 'instant'})")
    of_step = tip(browser, *centre_of(browser, "({isStep}) => isStep"))
    expect("tip", of_step[0],
           "forward_step of micro-batch 0, chunk 0 of stage 0")
    expect("communication of a step", any(
        "exposed communication" in line for line in of_step))
    expect("tip of an update", tip(browser, *centre_of(
        browser, "({name}) => name === 'update'"))[0],
           "update of stage 0, once an iteration")
    # The last stage waits for the first one.
    x, y = centre_of(browser, "({name, y}) => name === 'bubble' && y > 20")
    left = browser.evaluate("document.querySelector('#gantt')"
                            ".getBoundingClientRect().x + gantt.left")
    expect("no tip where a stage is idle", tip(browser, left + 1, y), [])
    for _ in range(4):
        browser.drag(browser.centre("#zoom-in"))
    expect("fewer steps", 0 < steps(browser) < every)
    expect("exposed", fills(browser, "communication") > 0)
    expect("overlapped", fills(browser, "overlapped") > 0)
    browser.drag(browser.centre("#zoom-all"))
    expect("all again", steps(browser), every)
    # The first two ranks are in one tp group, and in two dp groups.
    expect("colours of ranks", browser.evaluate(
        "['tp', 'dp'].map((group) => {"
        "  const select = document.querySelector('#nodes-group');"
        "  select.value = group;"
        "  select.dispatchEvent(new Event('change'));"
        "  const [first, second] = document.querySelectorAll('#nodes li');"
        "  return first.style.background === second.style.background; })"),
           [True, False])
