"""usage: shown.py PAGE DATABASE

Holds the points in the page of a sweep against a query that takes the definition of
a front by the word: of each place on it the first point is there, and an even sample
of all others.
"""

import sqlite3
import sys

import tool

with open(sys.argv[1], encoding="utf-8") as file:
    DATA = tool.page_data(file.read())
X, Y = (f'"{DATA[axis]}"' for axis in "xy")
with sqlite3.connect(sys.argv[2]) as db:
    accepted = [row[0] for row in db.execute("SELECT id FROM points")]
    # The order lets most places be beaten soon.
    db.execute(f"CREATE TEMP TABLE places AS SELECT DISTINCT {X} AS x, {Y} AS y "
               "FROM points ORDER BY 1.0 * x + y")
    best = set(db.execute(
        "SELECT x, y FROM places AS p WHERE NOT EXISTS (SELECT 1 FROM places AS q "
        "WHERE q.x <= p.x AND q.y <= p.y AND (q.x < p.x OR q.y < p.y))"))
    front = {point: place for point, *place in db.execute(
        f"SELECT id, {X}, {Y} FROM points") if tuple(place) in best}

first = {}
for point in sorted(front):
    first.setdefault(tuple(front[point]), point)
others = sorted(set(accepted) - set(first.values()))[::DATA["interval"]]
wanted = [(point, point in front)
          for point in sorted([*first.values(), *others])]
shown = [(point["id"], point.get("front", False)) for point in DATA["points"]]
if shown != wanted:
    sys.exit(f"the page has {shown}, not {wanted}")
print(f"{len(accepted)} points, {len(front)} on the front, {len(shown)} shown")
