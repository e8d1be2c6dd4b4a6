"""usage: content.py DATABASE DATABASE...

Says whether databases of sweeps have the same content.
"""

import sqlite3
import sys

TABLES = ("sweep", "axis_values", "units", "rejections", "metrics")


def content(database):
    with sqlite3.connect(database) as db:
        return {
            table: sorted(db.execute(f"SELECT * FROM {table}").fetchall())
            for table in TABLES
        }


def main():
    first = content(sys.argv[1])
    for other in sys.argv[2:]:
        if content(other) != first:
            sys.exit(f"{other} has another content than {sys.argv[1]}")
    print(f"same content: {len(first['metrics'])} points,",
          f"{len(first['units'])} units")


if __name__ == "__main__":
    main()
