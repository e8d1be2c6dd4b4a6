"""usage: resume.py FOLDER JOB

Kills a sweep again and again, until it is done, and compares its database with
that of a sweep that nobody disturbed.
"""

import pathlib
import random
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


def command(job, database):
    sweep = ["foretrace", "sweep", job, "-o", str(database), "--quiet"]
    return sweep + [f"--sweep={axis}" for axis in AXES]


def main():
    folder, job = pathlib.Path(sys.argv[1]), sys.argv[2]
    begin = time.monotonic()
    subprocess.run(command(job, folder / "whole.db"), check=True,
                   stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    chance = random.Random(5)
    kills = 0
    while True:
        sweep = subprocess.Popen(command(job, folder / "killed.db"),
                                 stdout=subprocess.DEVNULL)
        try:
            # Shorter than all of it takes, so that the first ones never end.
            if sweep.wait(chance.uniform(0, seconds / 3)) != 0:
                sys.exit("the sweep failed")
            break
        except subprocess.TimeoutExpired:
            sweep.kill()
            sweep.wait()
            kills += 1
        if kills == 12:
            subprocess.run(command(job, folder / "killed.db"), check=True,
                           stdout=subprocess.DEVNULL)
            break
    whole = content(folder / "whole.db")
    if content(folder / "killed.db") != whole:
        sys.exit("another content")
    print(f"{kills} kills, same content: {len(whole['metrics'])} points,",
          f"{len(whole['units'])} units")


main()
