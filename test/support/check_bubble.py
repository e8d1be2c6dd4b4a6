#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The bubble and the micro-batches on their way that a sweep says of a point in
# closed form are those of a run of its schedule.
"""usage: check_bubble.py FORETRACE FOLDER EVERY"""

import itertools
import json
import pathlib
import subprocess
import sys

JOB = """import "models/llama3-8b.fore"
train { sequence = 4096  micro_batch = 1 }
parallel { world = 8  pp = 2  dp = 1  ga = 2 }
model job : llama3_8b { layers = 48 * layer }
"""
# Each with keys that go with it: sizes of groups of micro-batches.
SCHEDULES = {
    "one_f_one_b": [], "gpipe": [], "looped_bfs": [], "interleaved_1f1b": [],
    "interleaved": ["parallel.micro_batch_group=2..12"], "zb_h1": [],
    "interleaved_zb": [], "zbv": [], "dualpipe": [], "dualpipe_v": [],
}
AXES = ["parallel.pp=2,3,4,6,8", "parallel.vpp=1,2,3",
        "parallel.ga=1..9,12,16,17"]


def points(foretrace, path, schedule):
    """Each accepted point of a schedule: its options, in_flight and bubble."""
    axes = [f"parallel.schedule={schedule}", *AXES, *SCHEDULES[schedule]]
    database = path.with_suffix(f".{schedule}.db")
    database.unlink(missing_ok=True)  # of an earlier run
    keys = [axis.split("=")[0] for axis in axes]
    sweep = [foretrace, "sweep", path, "-o", database]
    # A point has as many ranks as stages.
    subprocess.run([*sweep, *(f"--sweep={axis}" for axis in axes),
                    "--sweep=parallel.world=parallel.pp", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    names = ", ".join(f'"{key}"' for key in [*keys, "parallel.world"])
    rows = subprocess.run(
        [foretrace, "sweep", "-o", database, "--format=json", "--query",
         f"SELECT {names}, in_flight, bubble FROM points"],
        check=True, text=True, capture_output=True).stdout
    for line in rows.splitlines():
        row = json.loads(line)
        in_flight, bubble = row.pop("in_flight"), row.pop("bubble")
        yield [f"-D{key}={value}" for key, value in row.items()], in_flight, bubble


def run(foretrace, path, options):
    """The same of a run of the schedule."""
    text = subprocess.run([foretrace, "plan", path, "--schedule",
                           "--format=json", *options],
                          check=True, text=True, capture_output=True).stdout
    figures = json.loads(text)
    most = max(stage["peak_until_weights"] for stage in figures["stages"])
    return most, 10**6 * figures["idle"] // figures["makespan"]


def main():
    foretrace, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    every = int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "job.fore"
    path.write_text(JOB)
    wrong = 0
    for schedule in SCHEDULES:
        count = 0
        chosen = itertools.islice(points(foretrace, path, schedule), 0, None,
                                  every)
        for options, *said in chosen:
            count += 1
            found = list(run(foretrace, path, options))
            if said != found:
                wrong += 1
                print(" ".join(options), "says", said, "and runs", found)
        print(f"{schedule}: {count} points")
        wrong += count == 0
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
