# SPDX-License-Identifier: Apache-2.0
"""usage: content.py DATABASE DATABASE...

Says whether databases of sweeps have the same content.
"""

import shutil
import sqlite3
import subprocess
import sys

MAY_MOUNT = "--may-mount"
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


def run_mounting(folder):
    """Runs this script once more with an argument, in a name space of its own, with which all that it
    mounts is gone; returns whether the folder can be mounted."""
    alone = ["unshare", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run(
            [*alone, "mount", "-t", "tmpfs", "none", folder], check=False,
            stderr=subprocess.DEVNULL).returncode:
        return False
    subprocess.run([*alone, sys.executable, *sys.argv, MAY_MOUNT], check=True)
    return True


if __name__ == "__main__":
    first = content(sys.argv[1])
    for other in sys.argv[2:]:
        if content(other) != first:
            sys.exit(f"{other} has another content than {sys.argv[1]}")
    print(sizes(first))
