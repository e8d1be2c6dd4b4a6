"""usage: locked.py DATABASE JOB

Runs a sweep while another process holds the lock of its database, or the
database itself, and once more; then many, and many that merge, at a time.
"""

import contextlib
import fcntl
import pathlib
import sqlite3
import subprocess
import sys

from content import command, content

DATABASE, JOB = sys.argv[1:3]
AXES = ["parallel.pp=1,2"]


def sweep():
    code = subprocess.run(command(JOB, DATABASE, AXES), check=False).returncode
    print("exit code", code, flush=True)


def at_once(program, refusals):
    """How many of some came to their end; the others are refused."""
    some = [subprocess.Popen(program, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE) for _ in range(8)]
    done = 0
    for one in some:
        _, said = one.communicate()
        if one.returncode == 3 and any(text in said for text in refusals):
            continue
        if one.returncode != 0:
            sys.exit(f"exit code {one.returncode}: {said}")
        done += 1
    return done


with open(DATABASE + ".lock", "w", encoding="ascii") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    sweep()
sweep()
with contextlib.closing(sqlite3.connect(DATABASE)) as db:
    db.execute("BEGIN EXCLUSIVE")
    sweep()
sweep()

shards = [f"{DATABASE}.{i}" for i in (1, 2)]
for i, shard in enumerate(shards, 1):
    if not at_once(command(JOB, shard, AXES, f"--shard={i}/2"), ["another sweep"]):
        sys.exit("no sweep was done")
merged = DATABASE + ".all"
if at_once(["foretrace", "merge", *shards, "-o", merged],
           ["another sweep", "is there already"]) != 1:
    sys.exit("not merged once")
if content(merged) != content(DATABASE):
    sys.exit("another content")
if left := list(pathlib.Path(merged).parent.glob("*.part*")):
    sys.exit(f"there is {left}")
print("same content")
