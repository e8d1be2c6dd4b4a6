"""usage: damaged.py FOLDER JOB FLIPS

Goes on with databases that are damaged, reads and merges them: what SQLite or
the numbers of points show is an error, and nothing makes the tool crash.
"""

import contextlib
import pathlib
import random
import sqlite3
import subprocess
import sys

from content import command

FOLDER, JOB = pathlib.Path(sys.argv[1]), sys.argv[2]
AXES = ("parallel.world=powers(8,1024)", "parallel.tp=1..8", "parallel.pp=1..16",
        "parallel.cp=1,2")
DAMAGED = FOLDER / "damaged.db"


def run(*command):
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    return done.returncode, done.stderr.decode(errors="replace")


def use(data):
    """What becomes of all that can be done with a file of these bytes."""
    for left in FOLDER.glob("damaged.db*"):
        left.unlink()
    merged = FOLDER / "merged.db"
    merged.unlink(missing_ok=True)
    DAMAGED.write_bytes(data)
    yield run("foretrace", "sweep", "-o", str(DAMAGED), "--query",
              "SELECT * FROM points")
    yield run("foretrace", "merge", str(DAMAGED), "-o", str(merged))
    yield run(*command(JOB, DAMAGED, AXES))


def flipped(data, chance):
    changed = bytearray(data)
    begin = chance.randrange(len(data))
    changed[begin:begin + 64] = chance.randbytes(64)
    return bytes(changed[:len(data)])


def changed(data, sql):
    """The file after somebody's change."""
    other = FOLDER / "other.db"
    other.write_bytes(data)
    with contextlib.closing(sqlite3.connect(other)) as db:
        db.execute(sql)
        db.commit()
    return other.read_bytes()


subprocess.run(command(JOB, FOLDER / "good.db", AXES), check=True,
               stdout=subprocess.DEVNULL)
good = (FOLDER / "good.db").read_bytes()
for what, data in {
        "half": good[:len(good) // 2],
        "no header": b"\0" * 100 + good[100:],
        "points": changed(good, "DELETE FROM metrics WHERE id % 7 = 0"),
        "rejections": changed(good, "DELETE FROM rejections"),
        "unit": changed(good, "INSERT INTO units VALUES (99, 0, NULL, NULL, NULL, NULL, NULL)"),
        "facts": changed(good, "DELETE FROM sweep WHERE name = 'axes'"),
        "tables": changed(good, "DROP TABLE units"),
}.items():
    for name, (code, said) in zip(("query", "merge", "sweep"), use(data)):
        if name != "query":  # which may not touch what is damaged
            print(f"{what}: {name}: exit code {code}: {said.strip()}")
chance = random.Random(3)
for at in range(int(sys.argv[3])):
    for code, said in use(flipped(good, chance)):
        if code not in (0, 1, 3) or (code != 0) != bool(said):
            sys.exit(f"flip {at}: exit code {code}: {said}")
print("no crash")
