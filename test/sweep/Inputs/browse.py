"""usage: browse.py PAGE DATABASE COMMAND...

Looks at the page of a sweep in headless Chromium and holds what it shows against
the database; COMMAND with `--explain=ID` says how a point is compiled.
"""

import json
import os
import pathlib
import select
import sqlite3
import subprocess
import sys
import tempfile
import time

SECONDS = 60


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
        self.unread, self.calls, self.session = b"", 0, None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")
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

    def text(self, selector):
        return self.evaluate(f"document.querySelector({selector!r}).innerText")

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


def expect(what, shown, wanted):
    if shown != wanted:
        sys.exit(f"{what}: the page shows {shown!r}, not {wanted!r}")
    print(f"{what}: as in the database")


FRONT = """SELECT id, memory, flops FROM points AS p WHERE NOT EXISTS (
  SELECT 1 FROM points AS q WHERE q.memory <= p.memory AND q.flops <= p.flops
  AND (q.memory < p.memory OR q.flops < p.flops)) ORDER BY memory, flops, id"""


def check(browser, database, command):
    def number(sql):
        return database.execute(sql).fetchone()[0]

    accepted = number("SELECT count(*) FROM points")
    rejected = number("SELECT sum(count) FROM rejections")
    expect("summary", browser.text("#summary").split(", over")[0],
           f"{accepted + rejected} points: {accepted} accepted, "
           f"{rejected} rejected")
    front = database.execute(FRONT).fetchall()
    expect("front", browser.rows("#front tbody"),
           [[f"Point {row[0]}", str(row[1]), str(row[2])] for row in front])
    expect("rejections", browser.text("#rejections").split("\n"),
           [f"{count} × {slug} ({key}), for example point {example}"
            for slug, key, count, example in database.execute(
                "SELECT * FROM rejections ORDER BY count DESC, slug, key")])

    point, last = front[0][0], front[-1][0]
    browser.mouse("mouseMoved", *browser.centre(f"#front-{point}"))
    expect("tip", browser.text("#tip").split("\n")[0], f"Point {point}")
    browser.drag(browser.centre(f"#front-{point}"))
    expect("heading", browser.text("#point"), f"Point {point}, on the front")
    explained = subprocess.run([*command, f"--explain={point}"], check=True,
                               text=True, stdout=subprocess.PIPE).stdout
    expect("command", browser.text("#command"), explained.split("\n")[0])
    cursor = database.execute("SELECT * FROM points WHERE id = ?", [point])
    shown = browser.rows("#configuration") + [
        row[:2] for row in browser.rows("#metrics")]
    expect("panel", shown, [
        [column[0], str(value)]
        for column, value in zip(cursor.description, cursor.fetchone())][1:])
    browser.drag(browser.centre("#close"))
    expect("panel is closed",
           browser.evaluate("document.querySelector('#panel').hidden"), True)

    x, y = browser.evaluate(
        "(() => { const at = [...document.querySelectorAll('#parallel text')]"
        ".find((text) => text.textContent === 'full').getBoundingClientRect();"
        " return [at.x - 6, at.y + at.height / 2]; })()")
    browser.drag((x, y - 20), (x, y), (x, y + 20))
    full = number("SELECT count(*) FROM points "
                  "WHERE \"train.recompute\" = 'full'")
    expect("axis", browser.text("#status"),
           f"{full} of {accepted} points chosen")
    browser.drag(browser.centre("#all"))
    expect("all", browser.text("#status"),
           f"{accepted} of {accepted} points chosen")

    (left, top), (right, bottom) = (
        browser.centre(f"#front-{end}") for end in (point, last))
    browser.drag((left - 3, top - 3), (right, bottom), (right + 3, bottom + 3))
    within = number(f"SELECT count(*) FROM points WHERE memory <= {front[-1][1]}"
                    f" AND flops <= {front[0][2]}")
    expect("rectangle", browser.text("#status"),
           f"{within} of {accepted} points chosen")


def main():
    page, database = map(pathlib.Path, sys.argv[1:3])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        browser.open(page.resolve())
        check(browser, sqlite3.connect(database), sys.argv[3:])
        errors = list(browser.errors())
        browser.close()
    if errors:
        sys.exit("\n".join(errors))
    print("no errors")


main()
