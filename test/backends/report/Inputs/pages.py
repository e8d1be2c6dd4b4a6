# SPDX-License-Identifier: Apache-2.0
"""A report in headless Chromium, for the other scripts of this folder."""

import contextlib
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[3] / "support"))
from browser import Browser  # noqa: E402


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
