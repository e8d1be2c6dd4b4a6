# SPDX-License-Identifier: Apache-2.0
"""A report in headless Chromium, for the other scripts of this folder."""

from browser import script

BOXES = script(__file__, "boxes.js")


def open_all(browser):
    """Opens what can be opened in the page, but not terms of numbers."""
    browser.evaluate("document.querySelectorAll('main details')"
                     ".forEach((each) => { each.open = true; })")
    browser.settle()
