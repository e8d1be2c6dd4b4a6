# SPDX-License-Identifier: Apache-2.0
"""usage: figures.py JOB...

Holds all numbers of the report of each job against what `emit json`, `foretrace flops
--format=json` and the like write of the same job: each number is one of theirs, tables
have theirs in order, and what is read of a number, `1.5 GiB`, is that number rounded.
"""

import json
import pathlib
import re
import sys

import tool
from browser import expect, opened
from pages import open_all

UNITS = {"": 1, "%": 1e4, "steps": 1, "GPU": 1}
UNITS |= {name: 1024**power for power, name in enumerate(
    ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"))}
UNITS |= {name: 1000**power for power, name in enumerate(
    ("ns", "µs", "ms", "s"))}
UNITS |= {name: 1000**power for power, name in enumerate(
    ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP",
     "YFLOP"))}
UNITS |= {name: 1000**(power + 1) for power, name in enumerate("kM")}
UNITS["T"] = 10**12

# Value, text, and the heading of the column, of every number on the page.
EVERY = """[...document.querySelectorAll(
    'header [data-value], #tiles [data-value], main [data-value]')].map((each) => {
  const cell = each.closest('td');
  const head = cell && cell.closest('table').tHead.rows[0].cells[cell.cellIndex];
  return [each.dataset.value, each.textContent, head ? head.textContent : '']; })"""


def numbers_in(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return {number for each in value for number in numbers_in(each)}
    return {str(value)} if isinstance(value, int) else set()


def scale_of(unit, value):
    """Billions and bytes have one sign; no more than 1,023 bytes have it."""
    return 10**9 if unit == "B" and abs(value) > 1023 else UNITS[unit]


def read(text, heading, value):
    """The number that a text says, and how far off it may be."""
    found = re.fullmatch(r"< ?([\d.]+)|(-?[\d,]+(?:\.\d+)?) ?(\D*)", text)
    if not found:
        sys.exit(f"{text!r} is no number")
    if found[1]:
        return 0, float(found[1]) * scale_of(
            heading.rsplit(", ", 1)[-1].strip(" ↓↑"), value)
    unit = found[3]
    if not unit and ", " in heading:
        unit = heading.rsplit(", ", 1)[-1].strip(" ↓↑")
    shown = found[2].replace(",", "")
    decimals = len(shown.partition(".")[2])
    scale = scale_of(unit, value)
    # Four digits, or the decimals of a column.
    return float(shown) * scale, max(
        0.51 * 10**-decimals * scale, 0.0006 * abs(float(shown) * scale))


def check_all(browser, documents):
    known = set().union(*map(numbers_in, documents))
    shown = browser.evaluate(EVERY)
    for value, text, heading in shown:
        if text in ("yes", "no"):
            continue
        number, error = read(text, heading, int(value))
        if value not in known:
            sys.exit(f"{text} ({value}) is in no document")
        if abs(number - int(value)) > (error if error > 0.6 else 0.5):
            sys.exit(f"{text} in {heading!r} is not {value}")
    print(len(shown), "numbers are those of the documents")


def row_values(browser, table):
    return browser.evaluate(
        f"[...document.querySelectorAll('#{table} tbody tr')].map((row) => "
        "[...row.querySelectorAll('[data-value]')].map((each) => "
        "each.dataset.value))")


def check_tables(browser, plan, memory):
    columns = ["parameters", "peak", "flops", "in_flight"]
    expect("stages", row_values(browser, "stages"), [
        [str(stage[of]) for of in columns if of in stage] for stage in plan["stages"]])
    expect("groups", [row[:2] for row in row_values(browser, "groups-all")],
           [[str(group["size"]), str(group["groups"])]
            for group in plan["parallel"]["groups"]])
    peaks = browser.evaluate(
        "[...document.querySelectorAll('#memory-bars .end [data-value]')]"
        ".map((each) => Number(each.dataset.value))")
    if "serve" in plan:
        expect("the rest is for the cache", peaks, [stage["pool"] for stage in memory["stages"]])
        return
    expect("one memory figure", max(peaks),
           max(stage["peak"] for stage in plan["stages"]))
    expect("the tile has it, too", browser.of("#tile-peak [data-value]", "dataset.value"), str(max(peaks)))


def check_bubble(browser, documents):
    """The tile of the time for which stages wait is that of the bar of the iteration; without times
    the plan has the bubble. A job that serves has neither."""
    if "serve" in documents[0]:
        expect("no timeline", browser.evaluate("byId('timeline').hidden && byId('to-timeline').hidden"))
        return
    times = [each for each in documents if each.get("schema", "").startswith("foretrace.time/")]
    shares = [part["share"] for each in times for part in each["parts"] if part["part"] == "waiting for stages"]
    wanted = (shares + [0])[0] if times else documents[0]["bubble"]
    tile = "waiting" if times else "bubble"
    expect("one bubble", browser.of(f"#tile-{tile} [data-value]", "dataset.value"), str(wanted))


def check_explanations(browser):
    """Every number that can be explained has a tree, whose root it is."""
    expect("every explanation", browser.evaluate(
        "[...document.querySelectorAll('main button.number, .tile')].every("
        "  (each) => { each.click(); const value = each.dataset.value;"
        "  return !document.querySelector('#panel').hidden && (!value ||"
        "      document.querySelector('.explained').dataset.value === value &&"
        "      document.querySelector('#explanation .tree') !== null); })"))
    expect("unfolded", browser.evaluate("""(() => {
      document.querySelector('#stages button.number').click();
      for (let round = 0; round < 30; ++round)
        document.querySelectorAll('#explanation details:not([open])').forEach(
            (each) => { each.open = true; each.dispatchEvent(new Event('toggle')); });
      return [...document.querySelectorAll('#explanation .leaf')].some(
          (each) => /\\.fore:\\d+/.test(each.textContent)); })()"""))


def documents_of(job):
    """The plan, then the answers of the commands that have one."""
    yield tool.plan(job)
    for name in ("memory", "flops", "time", "volume", "params"):
        done = tool.attempt(name, job, "--format=json")
        if done.returncode == 0:
            yield json.loads(done.stdout)


def check(job):
    page = pathlib.Path(job).with_suffix(".html")
    tool.run("report", job, "--quiet", "-o", page)
    documents = list(documents_of(job))
    print(job, len(documents), "documents")
    with opened(page) as browser:
        open_all(browser)
        check_tables(browser, *documents[:2])
        check_bubble(browser, documents)
        data = json.loads(browser.evaluate("JSON.stringify(data)"))
        # Limits, margins and sizes of the job are no figures of a command.
        own = [[int(part["value"]) for tile in data["tiles"]
                for key in ("detail", "reason") for part in tile[key]
                if isinstance(part, dict) and isinstance(part["value"], str)]]
        own.append([fitting for _, fitting in data.get("occupancy", [])])
        own.append([int(term["value"]) for term in data["terms"]
                    if isinstance(term, dict) and term["value"]])
        check_all(browser, documents + own)
        check_explanations(browser)


for each in sys.argv[1:]:
    check(each)
