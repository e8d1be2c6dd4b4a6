# SPDX-License-Identifier: Apache-2.0
"""usage: browse.py SEED MOVES JOB

Drives the page of the job in headless Chromium: moves keys by its controls, edits its
text, pins, compares, follows the file, and holds what it shows against the server.
"""

import pathlib
import random
import sys
import tempfile
import time

from browser import Browser
from server import Server

random.seed(int(sys.argv[1]))
job = pathlib.Path(sys.argv[3])
server = Server(job)


def wait(browser, script, seconds=60):
    """Until a script is true."""
    end = time.monotonic() + seconds
    while not browser.evaluate(script):
        if time.monotonic() > end:
            sys.exit(f"never: {script}")
        time.sleep(0.02)


def settle(browser):
    """Until the page has drawn its job."""
    wait(browser, "explore.isIdle()")


def know(browser):
    """Until the page knows the legal values of the keys that it shows."""
    settle(browser)
    wait(browser, "document.querySelector('#explore-controls').dataset.fresh !== undefined")


def click(browser, selector):
    browser.of(selector, "click()")


def move(browser, key, value):
    """Sets a control to a value, as a person does."""
    browser.evaluate(f"""(() => {{
      const row = explore.rows.get({key!r}), input = row.input;
      if (input.type === 'checkbox') input.checked = {value!r} === 'true';
      else input.value = {value!r};
      input.dispatchEvent(new Event('change'));
    }})()""")
    settle(browser)


def held(browser):
    """Whether the page draws what the server says of its text and keys."""
    asked = browser.evaluate("({text: explore.state.text, set: [...explore.state.set].map((each) => each.join('='))})")
    wanted = server.ask("/compile", **{name: of for name, of in asked.items() if of is not None})["data"]
    return browser.evaluate("data") == wanted


with tempfile.TemporaryDirectory() as folder:
    browser = Browser(folder)
    browser.call("Page.navigate", url=server.url)
    wait(browser, "window.explore !== undefined")
    know(browser)
    print("opened:", held(browser))

    as_server = 0
    for _ in range(int(sys.argv[2])):
        key, value = browser.evaluate("""(() => {
          const all = [...explore.rows.values()].flatMap(({control, values}) => control.type === 'Text' ? [] :
              (values ?? []).filter(({why, value}) => !why && value !== control.value)
                  .map(({value}) => [control.key, value]));
          return all[Math.floor(all.length * %f)];
        })()""" % random.random())
        move(browser, key, value)
        if not held(browser):
            sys.exit(f"{key} = {value}: the page draws something else")
        as_server += 1
    print("moves:", as_server)
    click(browser, "#explore-reset")
    know(browser)

    move(browser, "batch", "128")
    know(browser)
    print("param:", browser.evaluate("""(() => {
      const {root, control} = explore.rows.get('batch');
      return [root.closest('details').dataset.section, control.value, root.querySelector('label').textContent];
    })()"""), held(browser))
    click(browser, "#explore-reset")
    know(browser)

    # A slider has the legal values alone.
    browser.evaluate("""(() => {
      const {slider} = explore.rows.get('parallel.tp');
      slider.value = slider.max;
      slider.dispatchEvent(new Event('input'));
    })()""")
    settle(browser)
    know(browser)
    print("slider:", browser.evaluate("explore.state.set.get('parallel.tp')"), held(browser))
    move(browser, "parallel.tp", "5")
    print("refused:", " | ".join(browser.text('[data-key="parallel.tp"] .why').split("\n")[:1]))
    print("nearest:", browser.evaluate("[...document.querySelectorAll('[data-nearest]')].map((of) => of.dataset.nearest)"))
    print("stays:", browser.evaluate("explore.state.set.get('parallel.tp')"), held(browser))
    click(browser, "[data-nearest]")
    settle(browser)
    print("mended:", browser.evaluate("explore.state.set.get('parallel.tp')"), held(browser))
    print("disabled:", browser.evaluate("[...explore.rows.get('parallel.schedule').input.options]"
                                        ".filter((of) => of.disabled).every((of) => of.title !== '')"))

    click(browser, "#explore-pin")
    move(browser, "train.recompute", "full")
    click(browser, "[data-tab='compare']")
    wait(browser, "document.querySelector('#explore-compared table') !== null")
    print("compared:", [row for row in browser.rows("#explore-compared table") if row and row[0] == "train.recompute"])
    click(browser, "#explore-back")
    settle(browser)
    print("returned:", browser.evaluate("explore.state.set.get('train.recompute') ?? 'as before'"), held(browser))

    click(browser, "#explore-fit")
    wait(browser, "document.querySelector('#explore-suggestions').innerText !== 'Trying changes …'")
    print("fit:", browser.text("#explore-suggestions"))
    # A move is drawn while a search runs, whose answer is then of another job.
    click(browser, "#explore-faster")
    began = browser.text("#explore-suggestions")
    move(browser, "train.recompute", "full")
    know(browser)
    print("overtaken:", began, browser.text("#explore-suggestions") == "", held(browser))
    click(browser, "#explore-reset")
    settle(browser)
    click(browser, "#explore-faster")
    wait(browser, "document.querySelector('#explore-suggestions button') !== null")
    before = browser.evaluate("data.plan.time.iteration?.value ?? data.plan.time.total?.value ?? JSON.stringify(data.plan.time)")
    click(browser, "#explore-suggestions button")
    settle(browser)
    print("faster:", held(browser), before != browser.evaluate(
        "data.plan.time.iteration?.value ?? data.plan.time.total?.value ?? JSON.stringify(data.plan.time)"))
    click(browser, "#explore-reset")
    settle(browser)

    def edit(text):
        browser.evaluate(f"""(() => {{
          const area = document.querySelector('#explore-text');
          area.value = {text!r};
          area.dispatchEvent(new Event('input'));
        }})()""")
        settle(browser)

    text = job.read_text()
    edit(text.replace("micro_batch", "micro_bach"))
    print("diagnostics:", "unknown-key" in browser.text("#explore-diagnostics"),
          browser.evaluate("[...document.querySelectorAll('#explore-gutter .error')].map((of) => of.innerText)"))
    edit(text.replace("micro_batch = 1", "micro_batch = 2"))
    print("edited:", browser.text("#explore-diagnostics") == "", held(browser))
    move(browser, "parallel.zero", "1")
    click(browser, "#explore-write")
    wait(browser, "explore.state.set.size === 0")
    settle(browser)
    print("written:", "zero = 1" in browser.evaluate("explore.state.text"), held(browser))
    click(browser, "[data-copy='command']")
    wait(browser, "document.querySelector('#explore-copied').value !== ''")
    click(browser, "#explore-revert")
    settle(browser)
    job.write_text(text.replace("tp = 2", "tp = 1"))
    wait(browser, "explore.rows.get('parallel.tp').control.value === '1'")
    settle(browser)
    print("saved:", held(browser))
    print("errors:", list(browser.errors()))
    browser.close()
print("exit:", server.close())
