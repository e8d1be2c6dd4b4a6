# SPDX-License-Identifier: Apache-2.0
"""usage: layout.py PAGE

Looks at a report at the widths of a phone and of a screen, in both themes: with
everything open no text overlaps another one, the page does not scroll sideways,
and text can be told from its ground.
"""

import sys

from browser import expect, opened
from pages import open_all
from overlaps import OVERLAPS

# The texts with less contrast than WCAG AA asks for: 4.5, or 3 of large ones.
FAINT = """(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = parts(colour).map((part) => {
      const value = part / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const groundOf = (at) => {
    for (; at; at = at.parentElement) {
      const {backgroundColor} = getComputedStyle(at);
      if ((parts(backgroundColor)[3] ?? 1) === 1)
        return backgroundColor; }
    return 'rgb(255, 255, 255)'; };
  const faint = new Set();
  for (const each of document.querySelectorAll('body *')) {
    const hasText = [...each.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!hasText || each.closest('svg, script, option') || !each.getClientRects().length)
      continue;
    const style = getComputedStyle(each);
    const [a, b] = [luminance(style.color), luminance(groundOf(each))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5))
      faint.add(`${each.textContent.slice(0, 30)} ${contrast.toFixed(2)}`); }
  return [...faint].slice(0, 5); })()"""


with opened(sys.argv[1]) as browser:
    open_all(browser)
    texts = 0
    for width in (390, 1440):
        browser.resize(width, 900)
        seen = browser.evaluate(OVERLAPS + "('body')")
        expect(f"overlaps at {width}", seen["found"], [])
        texts += seen["texts"]
        expect(f"wider than {width}", browser.evaluate(
            "document.documentElement.scrollWidth > innerWidth"), False)
        browser.evaluate("document.querySelector('#tile-peak').click();"
                         "document.querySelectorAll('#explanation details')"
                         ".forEach((each) => { each.open = true; })")
        browser.settle()
        expect(f"overlaps in the panel at {width}",
               browser.evaluate(OVERLAPS + "('#panel')")["found"], [])
        browser.evaluate("document.querySelector('#close').click()")
    for theme in ("light", "dark"):
        browser.set_theme(theme)
        expect(f"theme {theme}", browser.evaluate(
            "document.documentElement.dataset.theme"), theme)
        expect(f"faint in {theme}", browser.evaluate(FAINT), [])
    browser.call("Page.printToPDF")
    if texts < 300:
        sys.exit(f"only {texts} texts")
