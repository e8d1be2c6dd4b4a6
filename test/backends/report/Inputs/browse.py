"""usage: browse.py PAGE PLAN FLOPS

Looks at the page of a report in headless Chromium and holds what it shows
against PLAN, which `emit json` wrote of the same job, and FLOPS, which `foretrace
flops --format=json` did.
"""

import json
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[3] / "support"))
from browser import Browser  # noqa: E402

BYTES = ["weights", "gradients", "optimizer", "activations", "peak"]


def expect(what, shown, wanted):
    if shown != wanted:
        sys.exit(f"{what}: the page shows {shown!r}, not {wanted!r}")
    print(f"{what}: as in the document")


def numbers(browser, selector):
    """By row of a table, the exact numbers in it."""
    return browser.evaluate(
        f"[...document.querySelectorAll({selector + ' tbody tr'!r})].map((row) "
        "=> [...row.querySelectorAll('[data-value]')].map((each) => "
        "each.dataset.value))")


def number(browser, selector):
    return browser.evaluate(
        f"document.querySelector({selector + ' [data-value]'!r}).dataset.value")


def texts(*values):
    return [str(value) for value in values]


def check_numbers(browser, plan, flops):
    expect("summary", [number(browser, "#" + name) for name in (
        "parameters", "activated", "world", "tokens", "micro-batches", "flops",
        "bubble")], texts(
            plan["model"]["parameters"], plan["model"]["activated"],
            plan["parallel"]["world"], plan["train"]["tokens"],
            plan["parallel"]["ga"], plan["flops"],
            plan["schedule"]["bubble_millionths"]))
    expect("stages", numbers(browser, "#stages"), [
        texts(stage["parameters"], *(stage[f"{name}_bytes"] for name in BYTES),
              stage["flops"], stage["in_flight"]) for stage in plan["stages"]])
    groups = list(dict.fromkeys(
        message["group"] for stage in plan["stages"]
        for message in stage["messages"]))
    sent = [{message["group"]: message["bytes"]
             for message in stage["messages"]} for stage in plan["stages"]]
    expect("messages", numbers(browser, "#messages-table"),
           [texts(*(stage.get(group, 0) for group in groups))
            for stage in sent])
    expect("groups", numbers(browser, "#groups"), [
        texts(group["size"], group["groups"], group["leave_node"],
              *(tier["groups"] for tier in group["tiers"]))
        for group in plan["parallel"]["groups"]])
    expect("flops", number(browser, "#flops-model_flops"),
           str(flops["model_flops"]))


def check_explanations(browser):
    shown = browser.evaluate(
        "[...document.querySelectorAll('button.number')].every((each) => {"
        "  each.click();"
        "  return !document.querySelector('#panel').hidden &&"
        "      document.querySelector('#explained').dataset.value === "
        "          each.dataset.value &&"
        "      document.querySelector('#explanation code') !== null; })")
    expect("every explanation", shown, True)
    browser.evaluate("document.querySelector('#world button').click()")
    expect("where it is stated", browser.text("#explanation li"),
           "world = 64 job.fore:5")
    browser.evaluate("document.querySelector('#close').click()")
    expect("panel is closed",
           browser.evaluate("document.querySelector('#panel').hidden"), True)


def steps(browser):
    return browser.evaluate(
        "document.querySelectorAll('#gantt rect').length")


def check_pictures(browser, plan):
    schedule = plan["schedule"]
    every = 2 * schedule["stages"] * schedule["chunks"] * schedule[
        "micro_batches"]
    expect("steps", steps(browser), every)
    browser.evaluate("document.querySelector('#schedule').scrollIntoView()")
    browser.mouse("mouseMoved", *browser.centre("#gantt rect"))
    browser.settle()
    expect("tip", browser.text("#tip").split("\n")[0],
           "forward_step of micro-batch 0, chunk 0 of stage 0")
    for _ in range(3):
        browser.drag(browser.centre("#zoom-in"))
    expect("fewer steps", 0 < steps(browser) < every, True)
    browser.drag(browser.centre("#zoom-all"))
    expect("all again", steps(browser), every)
    expect("bars of memory", browser.evaluate(
        "document.querySelectorAll('#memory rect').length"),
           5 * len(plan["stages"]))
    # The first two ranks are in one tp group, and in two dp groups.
    expect("colours of ranks", browser.evaluate(
        "['tp', 'dp'].map((group) => {"
        "  const select = document.querySelector('#nodes-group');"
        "  select.value = group;"
        "  select.dispatchEvent(new Event('change'));"
        "  const [first, second] = document.querySelectorAll('#nodes li');"
        "  return first.style.background === second.style.background; })"),
           [True, False])
    before = browser.evaluate("getComputedStyle(document.body).color")
    browser.evaluate("document.querySelector('#theme').click()")
    browser.call("Page.printToPDF")
    expect("theme changes", browser.evaluate(
        "getComputedStyle(document.body).color") != before, True)


def main():
    page = pathlib.Path(sys.argv[1])
    plan, flops = (json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
                   for name in sys.argv[2:4])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        browser.open(page.resolve())
        check_numbers(browser, plan, flops)
        check_explanations(browser)
        check_pictures(browser, plan)
        errors = list(browser.errors())
        browser.close()
    if errors:
        sys.exit("\n".join(errors))
    print("no errors")


main()
