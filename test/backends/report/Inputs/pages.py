# SPDX-License-Identifier: Apache-2.0
"""A report in headless Chromium, for the other scripts of this folder."""

import contextlib
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[3] / "support"))
from browser import Browser  # noqa: E402


# The boxes of the timeline, each with the path that it is in, which has all of a
# colour; `steps`: the names of the colours of steps.
BOXES = """(() => {
  const steps = new Set(Object.values(data.picture.styles).flatMap(
      ([, even, odd]) => [even, odd]));
  return [...document.querySelectorAll('#gantt path')].flatMap((path) => {
    const [, name] = path.style.fill.match(/^var\\(--(.*)\\)$/);
    return [...path.getAttribute('d').matchAll(
        /M([\\d.]+) ([\\d.]+)h([\\d.]+)v([\\d.]+)h-[\\d.]+z/g)].map((box) => ({
      name, isStep: steps.has(name), fill: getComputedStyle(path).fill,
      x: Number(box[1]), y: Number(box[2]),
      width: Number(box[3]), height: Number(box[4])})); }); })()"""


def expect(what, shown, wanted=True):
    if shown != wanted:
        sys.exit(f"{what}: the page shows {shown!r}, not {wanted!r}")
    print(f"{what}: as expected")


@contextlib.contextmanager
def opened(page):
    """Ends the run if the console has an error."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        browser.open(pathlib.Path(page).resolve())
        yield browser
        errors = list(browser.errors())
        browser.close()
    if errors:
        sys.exit("\n".join(errors))
    print("no errors")


def open_all(browser):
    """Opens what can be opened in the page, but not terms of numbers."""
    browser.evaluate("document.querySelectorAll('main details')"
                     ".forEach((each) => { each.open = true; })")
    browser.settle()
