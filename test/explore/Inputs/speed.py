# SPDX-License-Identifier: Apache-2.0
"""usage: speed.py JOB KEY VALUE,VALUE... MOVES [MOST]

Moves a key of the job through its values on the page, and prints what a move takes until
its picture is drawn: the median of the processor time of the server, of the process that
draws the page and of the rest of Chromium, their sum, and the median on the clock. The
process that draws the page may take MOST milliseconds.
"""

import pathlib
import statistics
import sys
import tempfile
import time

from browser import Browser
from server import Server

PROC = pathlib.Path("/proc")


def parents():
    """By process, the one that started it."""
    found = {}
    for path in PROC.glob("[0-9]*/stat"):
        try:
            found[int(path.parent.name)] = int(path.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:  # it has ended
            pass
    return found


def started_by(root):
    of, known = parents(), {root}
    while more := {each for each, parent in of.items() if parent in known} - known:
        known |= more
    return known


def milliseconds(process):
    """The processor time of all threads of a process."""
    return sum(int(path.read_text().split()[0])
               for path in PROC.glob(f"{process}/task/*/schedstat")) / 1e6


def draws(process):
    return b"--type=renderer" in (PROC / str(process) / "cmdline").read_bytes()


job, key, values, moves = sys.argv[1], sys.argv[2], sys.argv[3].split(","), int(sys.argv[4])
server = Server(job)
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    browser = Browser(folder)
    browser.call("Page.navigate", url=server.url)
    settled = ("window.explore?.isIdle() && "
               "document.querySelector('#explore-controls').dataset.fresh !== undefined")
    pages = {each for each in started_by(browser.process.pid) if draws(each)}
    taken = {"server": [], "page": [], "rest": []}
    for index in range(moves + 2):
        while not browser.evaluate(settled):
            time.sleep(0.02)
        of = {"server": {server.process.pid}, "page": pages,
              "rest": started_by(browser.process.pid) - pages}
        before = {name: sum(map(milliseconds, each)) for name, each in of.items()}
        browser.evaluate(f"explore.move([[{key!r}, {values[index % len(values)]!r}]])")
        for name, each in of.items():
            if index >= 2:  # caches are warm
                taken[name].append(sum(map(milliseconds, each)) - before[name])
    shown = browser.evaluate("explore.timings")[-moves:]
    browser.close()
server.close()
for name, each in taken.items():
    print(f"{name}: {statistics.median(each):.1f} ms")
if len(sys.argv) > 5 and statistics.median(taken["page"]) > float(sys.argv[5]):
    sys.exit(f"a move takes longer than {sys.argv[5]} ms to be drawn")
print(f"sum: {statistics.median(map(sum, zip(*taken.values()))):.1f} ms")
print(f"clock: {statistics.median(shown):.1f} ms")
