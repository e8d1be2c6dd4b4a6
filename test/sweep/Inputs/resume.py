# SPDX-License-Identifier: Apache-2.0
"""usage: resume.py FOLDER JOB KILLS (database | points)

Kills sweeps so many times: as a whole, in shards, while they are merged, and beside a
reader, or while they keep some points and emit them. Starts them again until they are
done, and compares their databases and files with those of a sweep that nobody disturbed.
"""

import contextlib
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import time

from content import command, content, sizes

AXES = ("parallel.world=128,512", "parallel.tp=1..8", "parallel.pp=1..16",
        "parallel.cp=1,2,4", "train.micro_batch=1..8", "train.global_batch=powers(64,4096)",
        "train.sequence=powers(1024,65536)", "parallel.zero=0,1")
FEWER = ("parallel.world=128,512", "parallel.tp=powers(1,8)",
         "parallel.pp=1,2,4,5,8,10,16,20", "parallel.cp=1,2,4", "train.micro_batch=1..4",
         "train.global_batch=powers(64,2048)", "train.sequence=powers(1024,32768)",
         "parallel.zero=0,1")
EMITTED = ("--keep=pareto(peak, flops, messages)", "--emit=simai,plan")
MOST_KILLS = 15  # of one program: not all go on where they were


@contextlib.contextmanager
def reader(database):
    """Somebody who reads what is there, and does not come to an end."""
    if not database.exists():
        yield
        return
    with contextlib.closing(sqlite3.connect(database)) as db:
        with contextlib.suppress(sqlite3.OperationalError):  # no tables yet
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM units").fetchone()
        yield


class Killer:
    """Ends programs at moments that nobody foresees, `longest` s at most."""

    def __init__(self, longest):
        self.chance = random.Random(5)
        self.longest = longest
        self.kills = 0

    def finish(self, program, beside=contextlib.nullcontext,
               ended=lambda: False):
        """Starts it until it comes to its end, which it is let at last, or to
        what `ended` takes for one."""
        for start in range(MOST_KILLS + 1):
            patience = self.chance.uniform(0.005, self.longest)
            with beside():
                process = subprocess.Popen(program, stdout=subprocess.DEVNULL)
                try:
                    code = process.wait(
                        None if start == MOST_KILLS else patience)
                except subprocess.TimeoutExpired:
                    process.kill()
                    code = process.wait()
            if code == 0:
                return
            if code > 0:
                sys.exit(f"exit code {code}: {program}")
            self.kills += 1
            if ended():
                return


def kill_shards(killer, job, database):
    shards = [f"{database}.{i}" for i in (1, 2)]
    for i, shard in enumerate(shards, 1):
        killer.finish(command(job, shard, AXES, f"--shard={i}/2"))
    # What a merge writes is there whole or not at all, and never over a file
    # that is: one killed behind its last step need not, and cannot, go on.
    killer.finish(["foretrace", "merge", *shards, "-o", str(database)],
                  ended=database.exists)


ROUNDS = {
    "database": (
        lambda killer, job, database: killer.finish(command(job, database, AXES)),
        lambda killer, job, database: killer.finish(
            command(job, database, AXES), lambda: reader(database)),
        kill_shards),
    "points": (
        lambda killer, job, database: killer.finish(command(job, database, FEWER, *EMITTED)),),
}


def state(folder):
    """The content of the database, and emitted files."""
    points = folder / "points"
    return content(folder / "all.db"), {path.relative_to(points): path.read_bytes()
                                        for path in points.rglob("*") if path.is_file()}


def main():
    folder, job = pathlib.Path(sys.argv[1]), sys.argv[2]
    kills, kind = int(sys.argv[3]), sys.argv[4]
    begin = time.monotonic()
    whole = folder / "whole"
    whole.mkdir()
    options = (FEWER, *EMITTED) if kind == "points" else (AXES,)
    subprocess.run(command(job, whole / "all.db", *options), check=True,
                   stdout=subprocess.DEVNULL)
    # Most starts do not get far, but some are long enough for a unit.
    killer = Killer(max(0.06, (time.monotonic() - begin) / 4))
    wanted, done = state(whole), 0
    while killer.kills < kills or done < len(ROUNDS[kind]):
        part = folder / "part"
        part.mkdir()
        ROUNDS[kind][done % len(ROUNDS[kind])](killer, job, part / "all.db")
        if state(part) != wanted:
            sys.exit(f"round {done}: another content, or other files")
        shutil.rmtree(part)
        done += 1
    print(f"{killer.kills} kills, {sizes(wanted[0])}, {len(wanted[1])} files")


main()
