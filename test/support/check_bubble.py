# SPDX-License-Identifier: Apache-2.0
"""usage: check_bubble.py EVERY

The bubble and the micro-batches on their way that a sweep says of a point in closed form
are those of a run of its schedule, of one in EVERY points."""

import sys

import tool

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
# A point has as many ranks as stages.
AXES = ["parallel.pp=2,3,4,6,8", "parallel.vpp=1,2,3", "parallel.ga=1..9,12,16,17",
        "parallel.world=parallel.pp"]


def points(job, schedule):
    """Each accepted point of a schedule: its keys, in_flight and bubble."""
    axes = [f"parallel.schedule={schedule}", *AXES, *SCHEDULES[schedule]]
    database = job.with_suffix(f".{schedule}.db")
    tool.run("sweep", job, "-o", database, *(f"--sweep={axis}" for axis in axes), "--quiet")
    names = ", ".join(f'"{axis.split("=")[0]}"' for axis in axes)
    for row in tool.rows("sweep", "-o", database, "--query",
                         f"SELECT {names}, in_flight, bubble FROM points"):
        said = row.pop("in_flight"), row.pop("bubble")
        yield row, said


def run(job, keys):
    """The same of a run of the schedule."""
    figures = tool.document("plan", job, "--schedule", *tool.defined(keys))
    most = max(stage["peak_until_weights"] for stage in figures["stages"])
    return most, 10**6 * figures["idle"] // figures["makespan"]


with tool.scratch() as folder:
    path = folder / "job.fore"
    path.write_text(JOB)
    for schedule in SCHEDULES:
        chosen = list(points(path, schedule))[::int(sys.argv[1])]
        for keys, said in chosen:
            found = run(path, keys)
            assert said == found, f"{keys} says {said} and runs {found}"
        print(f"{schedule}: {len(chosen)} points")
