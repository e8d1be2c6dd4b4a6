# SPDX-License-Identifier: Apache-2.0
"""A report in headless Chromium, for the other scripts of this folder."""

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


def open_all(browser):
    """Opens what can be opened in the page, but not terms of numbers."""
    browser.evaluate("document.querySelectorAll('main details')"
                     ".forEach((each) => { each.open = true; })")
    browser.settle()
