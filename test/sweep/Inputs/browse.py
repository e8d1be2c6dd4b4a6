"""usage: browse.py PAGE DATABASE COMMAND...

Looks at the page of a sweep in headless Chromium and holds what it shows against
the database; COMMAND with `--explain=ID` says how a point is compiled.
"""

import re
import sqlite3
import subprocess
import sys

from browser import expect, opened


FRONT = """SELECT id, peak, flops FROM points AS p WHERE NOT EXISTS (
  SELECT 1 FROM points AS q WHERE q.peak <= p.peak AND q.flops <= p.flops
  AND (q.peak < p.peak OR q.flops < p.flops)) ORDER BY peak, flops, id"""


def numbers(browser, table):
    """The first cell of each row, and all digits of its numbers."""
    return browser.evaluate(
        f"[...document.querySelectorAll({table + ' tr'!r})].map((row) => [row.cells[0].innerText, "
        "...[...row.querySelectorAll('[data-value]')].map((cell) => cell.dataset.value)])")


def check(browser, database, command):
    def number(sql):
        return database.execute(sql).fetchone()[0]

    accepted = number("SELECT count(*) FROM points")
    rejected = number("SELECT sum(count) FROM rejections")
    expect("summary", browser.text("#summary").split(", over")[0],
           f"{accepted + rejected} points: {accepted} accepted, "
           f"{rejected} rejected")
    front = database.execute(FRONT).fetchall()
    expect("front", numbers(browser, "#front tbody"),
           [[f"Point {row[0]}", str(row[1]), str(row[2])] for row in front])
    expect("units", all(re.fullmatch(r"[\d.,]+ GiB", row[1]) and re.fullmatch(r"[\d.,]+ PFLOP", row[2])
                        for row in browser.rows("#front tbody")), True)
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
    expect("explore", browser.text("#explore"),
           explained.split("\n")[0].replace("foretrace compile", "foretrace explore"))
    cursor = database.execute("SELECT * FROM points WHERE id = ?", [point])
    shown = browser.rows("#configuration") + numbers(browser, "#metrics")
    expect("panel", shown, [
        [column[0], "" if value is None else str(value)]
        for column, value in zip(cursor.description, cursor.fetchone())][1:])
    browser.drag(browser.centre("#close"))
    expect("panel is closed", browser.of("#panel", "hidden"))

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
    within = number(f"SELECT count(*) FROM points WHERE peak <= {front[-1][1]}"
                    f" AND flops <= {front[0][2]}")
    expect("rectangle", browser.text("#status"),
           f"{within} of {accepted} points chosen")


with opened(sys.argv[1]) as page:
    check(page, sqlite3.connect(sys.argv[2]), sys.argv[3:])
