# SPDX-License-Identifier: Apache-2.0
"""usage: moves.py SEED COUNT FOLDER MODEL...

Moves COUNT keys of a job of each model at random, one after the other, to values that
the server says are legal, and to some that it does not. Whatever it answers must be
what `foretrace report` writes of the same job, or refuse the job as it does.
"""

import pathlib
import random
import sys

import tool
from server import Server

JOB = """import "models/{}.fore"
import "clusters/h100.toml" as pod
train {{ sequence = 2Ki   micro_batch = 1   global_batch = 128 }}
parallel {{ world = 64   tp = 1   pp = 1 }}
cluster : pod {{ nodes = 8  device {{ memory = {memory} GB }} }}
cost estimate {{ profile = h100 }}
"""
random.seed(int(sys.argv[1]))
count, folder = int(sys.argv[2]), pathlib.Path(sys.argv[3])


def fresh(job, changes):
    """What a new process says: the data of its page; nothing if it refuses the job."""
    done = tool.attempt("report", job.name, "--quiet", "-o", "-",
                        *(f"-D{change}" for change in changes), cwd=folder)
    return without_changes(tool.page_data(done.stdout)) if done.returncode == 0 else None


def without_changes(data):
    """Without the table of what makes a job fit, which the page of `explore` asks for apart."""
    for section in data["sections"]:
        section["tables"] = [of for of in section["tables"] if of["key"] != "changes"]
    return data


def explain(what, changes, *more):
    sys.exit(f"{what}: {' '.join(f'-D {change!r}' for change in changes)} {more}")


moves = refused = 0
for index, model in enumerate(sys.argv[4:]):
    job = folder / f"{model}.fore"
    # A report looks for changes that make a job fit, which takes seconds for large models.
    job.write_text(JOB.format(model, memory=80 if index % 5 == 1 else 10**5))
    server = Server(job.name, cwd=folder)
    state, start = {}, {}
    for _ in range(count):
        changes = [f"{key}={value}" for key, value in state.items()]
        controls = server.ask("/controls", set=changes)["controls"]
        control = random.choice([of for of in controls if of["type"] != "Text"])
        key = control["key"]
        values = server.ask("/values", set=changes, keys=[key])["values"][key]
        legal = [of["value"] for of in values if "why" not in of]
        wrong = [of["value"] for of in values if "why" in of]
        if control["how"] == "stated" and control["value"] not in legal:
            explain("the value that the job has is refused", changes, key)
        pool = wrong if wrong and random.random() < 0.25 else legal
        moved = {**state, key: random.choice(pool or ["0"])}
        changes = [f"{key}={value}" for key, value in moved.items()]
        answer, wanted = server.ask("/compile", set=changes), fresh(job, changes)
        if answer.get("data") != wanted:
            explain("another page", changes)
        moves += 1
        if wanted is None:
            refused += 1
            errors = [of["message"] for of in answer["diagnostics"] if of["severity"] == "error"]
            if not errors:
                explain("refused without a reason", changes)
        elif pool is wrong and wrong:
            explain("a legal value is called wrong", changes)
        else:
            state = moved
    if server.close():
        sys.exit("the server has failed")
print(f"{moves} moves as fresh, of which {refused} are refused")
