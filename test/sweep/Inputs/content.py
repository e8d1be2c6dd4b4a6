# SPDX-License-Identifier: Apache-2.0
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


def sizes(of):
    return f"same content: {len(of['metrics'])} points, {len(of['units'])} units"


def command(job, database, axes, *arguments):
    """Runs a sweep."""
    return ["foretrace", "sweep", job, "-o", str(database), "--quiet",
            *(f"--sweep={axis}" for axis in axes), *arguments]


if __name__ == "__main__":
    first = content(sys.argv[1])
    for other in sys.argv[2:]:
        if content(other) != first:
            sys.exit(f"{other} has another content than {sys.argv[1]}")
    print(sizes(first))
