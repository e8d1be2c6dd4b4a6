"""usage: resume_points.py FOLDER JOB KILLS

Kills, so many times, sweeps that keep some points and emit them; starts them again
until they are done, and compares databases and files with those of a sweep that
nobody disturbed.
"""

import pathlib
import random
import shutil
import subprocess
import sys

from content import content

AXES = ("parallel.world=128,256,512", "parallel.tp=powers(1,8)",
        "parallel.pp=1,2,4,5,8,10,16,20", "parallel.cp=1,2,4",
        "train.micro_batch=1..4", "train.global_batch=powers(64,2048)",
        "train.sequence=powers(1024,32768)", "parallel.zero=0,1")
MOST_KILLS = 30  # of one sweep


def command(job, folder):
    return ["foretrace", "sweep", job, "-o", str(folder / "fit.db"), "--quiet",
            "--keep=pareto(peak, flops, messages)", "--emit=simai,plan",
            *(f"--sweep={axis}" for axis in AXES)]


def files(folder):
    return {path.relative_to(folder): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def main():
    folder, job = pathlib.Path(sys.argv[1]), sys.argv[2]
    least_kills = int(sys.argv[3])
    whole = folder / "whole"
    whole.mkdir(parents=True)
    subprocess.run(command(job, whole), check=True, stdout=subprocess.DEVNULL)
    wanted = content(whole / "fit.db"), files(whole / "points")
    chance, kills, done = random.Random(7), 0, 0
    while kills < least_kills:
        part = folder / "part"
        part.mkdir()
        for start in range(MOST_KILLS + 1):
            process = subprocess.Popen(command(job, part),
                                       stdout=subprocess.DEVNULL)
            try:
                code = process.wait(None if start == MOST_KILLS
                                    else chance.uniform(0.01, 0.2))
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
                code = process.wait()
            if code > 0:
                sys.exit(f"exit code {code}")
            if code == 0:
                break
        if (content(part / "fit.db"), files(part / "points")) != wanted:
            sys.exit("other points, or other files")
        shutil.rmtree(part)
        done += 1
    print(f"{kills} kills of {done} sweeps, same {len(wanted[1])} files")


main()
