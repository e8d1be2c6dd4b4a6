# SPDX-License-Identifier: Apache-2.0
"""usage: timeline.py PAGE PLAN

Looks at the pictures of a report: every step of the schedule is drawn, zooms and
tells what it is; communication is drawn; the timeline ends when the iteration
of PLAN, of `emit json`, does.
"""

import json
import pathlib
import sys

from pages import expect, opened


def steps(browser):
    return browser.evaluate("document.querySelectorAll('#gantt .step').length")


def fills(browser, name):
    return browser.evaluate(
        "[...document.querySelectorAll('#gantt rect')].filter((each) => "
        f"each.style.fill === 'var(--{name})').length")


def main():
    plan = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
    schedule = plan["schedule"]
    every = 2 * schedule["stages"] * schedule["chunks"] * schedule[
        "micro_batches"]
    with opened(sys.argv[1]) as browser:
        expect("steps", steps(browser), every)
        expect("end of the iteration", browser.evaluate("data.picture.length"),
               plan["time"]["iteration_ns"])
        expect("updates", fills(browser, "update"), schedule["stages"])
        browser.evaluate("document.querySelector('#timeline').scrollIntoView("
                         "{behavior: 'instant'})")
        browser.mouse("mouseMoved", *browser.centre("#gantt .step"))
        browser.settle()
        tip = browser.text("#tip").split("\n")
        expect("tip", tip[0],
               "forward_step of micro-batch 0, chunk 0 of stage 0")
        expect("communication of a step", any(
            "exposed communication" in line for line in tip))
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


main()
