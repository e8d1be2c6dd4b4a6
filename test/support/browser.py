# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, for tests of what people see."""

import atexit
import contextlib
import functools
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

SECONDS = 60


def script(beside, name):
    """Returns an expression that is in a file beside another one."""
    return pathlib.Path(beside).with_name(name).read_text("utf-8").rstrip()


class Browser:
    """A page in Chromium, driven by its DevTools protocol through pipes."""

    def __init__(self, folder):
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()

        def connect():  # Chromium reads 3 and writes 4
            kept = [os.dup2(end, end + 100)
                    for end in (to_browser, from_browser)]
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--no-first-run", "--disable-dev-shm-usage",
             "--remote-debugging-pipe",
             "--window-size=1300,1400", f"--user-data-dir={folder}"],
            env={**os.environ, "HOME": folder}, preexec_fn=connect,
            close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.unread, self.calls = b"", 0
        self.begin()

    def begin(self):
        """Takes a new page, which knows nothing of those before, and has had no events."""
        self.session, self.events = None, []
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context,
                           width=1300, height=1400)
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Log":
            self.call(domain + ".enable")

    def receive(self):
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self.unread:
            ready = select.select([self.back], [], [],
                                  max(0, deadline - time.monotonic()))[0]
            part = os.read(self.back, 1 << 16) if ready else b""
            if not part:
                sys.exit("Chromium does not answer")
            self.unread += part
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.calls:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, script):
        return self.call("Runtime.evaluate", expression=script,
                         awaitPromise=True,
                         returnByValue=True)["result"].get("value")

    def settle(self):
        """Until what is due was drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame("
                      "() => requestAnimationFrame(() => done(0))))")

    def open(self, path):
        self.call("Page.navigate", url=path.as_uri())
        while not self.evaluate("document.readyState === 'complete'"):
            time.sleep(0.05)
        self.settle()

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                  button="none" if kind == "mouseMoved" else "left",
                  clickCount=1)

    def drag(self, *places):
        """Presses at the first place, releases at the last one."""
        self.mouse("mousePressed", *places[0])
        for place in places[1:]:
            self.mouse("mouseMoved", *place)
        self.mouse("mouseReleased", *places[-1])
        self.settle()

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)
        self.settle()

    def set_theme(self, theme):
        """As the system says it: `light`, `dark`."""
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": theme}])
        self.settle()

    def press(self, key, text=""):
        """A key by its name, `Tab`, with the text that it types, if any."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37,
                 "ArrowRight": 39}
        named = {"key": key, "text": text,
                 "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
        self.call("Input.dispatchKeyEvent",
                  type="keyDown" if text else "rawKeyDown", **named)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def of(self, selector, what):
        """A property of the first element, or the result of a call of it."""
        return self.evaluate(f"document.querySelector({selector!r}).{what}")

    def text(self, selector):
        return self.of(selector, "innerText")

    def put_clipboard(self):
        """What the page copies is in `window.copied`."""
        self.evaluate("Object.defineProperty(navigator, 'clipboard', {value: {writeText:"
                      " async (text) => { window.copied = text; }}})")

    def rows(self, selector):
        """The cells of a table, numbers without separators."""
        cells = self.evaluate(
            f"[...document.querySelectorAll({selector + ' tr'!r})].map((row) "
            "=> [...row.cells].map((cell) => cell.innerText))")
        return [[cell.replace(",", "") for cell in row] for row in cells]

    def centre(self, selector):
        return self.evaluate(
            f"(() => {{ const at = document.querySelector({selector!r})"
            ".getBoundingClientRect(); return [at.x + at.width / 2, "
            "at.y + at.height / 2]; })()")

    def overlaps(self, selector):
        """Texts below an element that overlap, and how many texts there are."""
        return self.evaluate(f"{script(__file__, 'overlaps.js')}({selector!r})")

    def errors(self):
        for event in self.events:
            params = event.get("params", {})
            if (event["method"] == "Runtime.exceptionThrown"
                    or params.get("type") == "error"
                    or params.get("entry", {}).get("level") == "error"):
                yield json.dumps(params)

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(SECONDS)


def expect(what, shown, wanted=True):
    """Ends the run if a page shows something else."""
    if shown != wanted:
        sys.exit(f"{what}: the page shows {shown!r}, not {wanted!r}")


@functools.cache
def running():
    """Returns the browser of this run, which ends with it: a start takes longer than most pages."""
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    browser = Browser(folder.name)

    @atexit.register
    def end():
        browser.close()
        folder.cleanup()
    return browser


@contextlib.contextmanager
def opened(page):
    """Opens a page as in a new browser, and ends the run if its console has an error."""
    browser = running()
    browser.begin()
    browser.open(pathlib.Path(page).resolve())
    yield browser
    errors = list(browser.errors())
    if errors:
        sys.exit("\n".join(errors))
    print("no errors")
