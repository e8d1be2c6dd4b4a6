"""usage: resume.py FOLDER JOB KILLS

Kills sweeps so many times, as a whole, in shards, while they are merged, and
beside a reader; starts them again until they are done, and compares their
databases with that of a sweep that nobody disturbed.
"""

import contextlib
import pathlib
import random
import sqlite3
import subprocess
import sys
import time

from content import content

AXES = (
    "parallel.world=128,256,512,1024",
    "parallel.tp=1..8",
    "parallel.pp=1..16",
    "parallel.cp=1,2,4",
    "train.micro_batch=1..8",
    "train.global_batch=powers(64,4096)",
    "train.sequence=powers(1024,65536)",
    "parallel.zero=0,1",
)
MOST_KILLS = 15  # of one program: not all go on where they were


def command(job, database, *arguments):
    sweep = ["foretrace", "sweep", job, "-o", str(database), "--quiet"]
    return sweep + [f"--sweep={axis}" for axis in AXES] + list(arguments)


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


def kill_whole(killer, job, database):
    killer.finish(command(job, database))


def kill_read(killer, job, database):
    killer.finish(command(job, database), lambda: reader(database))


def kill_shards(killer, job, database):
    shards = [f"{database}.{i}" for i in (1, 2)]
    for i, shard in enumerate(shards, 1):
        killer.finish(command(job, shard, f"--shard={i}/2"))
    # What a merge writes is there whole or not at all, and never over a file
    # that is: one killed behind its last step need not, and cannot, go on.
    killer.finish(["foretrace", "merge", *shards, "-o", str(database)],
                  ended=database.exists)


def main():
    folder, job = pathlib.Path(sys.argv[1]), sys.argv[2]
    kills = int(sys.argv[3])
    begin = time.monotonic()
    subprocess.run(command(job, folder / "whole.db"), check=True,
                   stdout=subprocess.DEVNULL)
    # Most starts do not get far, but some are long enough for a unit.
    killer = Killer(max(0.06, (time.monotonic() - begin) / 4))
    whole = content(folder / "whole.db")
    rounds = (kill_whole, kill_read, kill_shards)
    done = 0
    while killer.kills < kills or done < len(rounds):
        database = folder / f"{done}.db"
        rounds[done % len(rounds)](killer, job, database)
        if content(database) != whole:
            sys.exit(f"{database} has another content")
        for left in folder.glob(f"{done}.db*"):
            left.unlink()
        done += 1
    print(f"{killer.kills} kills, same content: {len(whole['metrics'])}",
          f"points, {len(whole['units'])} units")


main()
