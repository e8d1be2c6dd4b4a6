# SPDX-License-Identifier: Apache-2.0
"""usage: mutate_log.py JOB SEED COUNT

Makes of a plan's log what eight ranks on one terminal make of it: lines in any
order, some behind each other, other output between. `check` must find all it
looks for, and every number that is changed. Prints caught/total."""

import random
import re
import sys

import tool

NOISE = ["[rank:0] torch version 2.3.1 or higher --> OK", "GPU mode is used.",
         "[rank3]:[W1224 10:00:01.1 ProcessGroupNCCL.cpp:4115] barrier",
         "| epoch   1 |     1/  323 batches | lr 3.00 | ms/batch 7289.00 |"]
# Numbers and names that follow from the job. What a message has about nodes of
# the graph's inputs, or where ranks run, is not compared.
STATEMENT = re.compile(
    r"(?:parameters in model: |World size: |GAS: |GBS: |MBS: |TP: |DP: |PP: "
    r"|Size: |stage2rank = .*: \[|pp group:DeviceMesh\('cuda', \[0, "
    r"|length:|modcnt:|num_stage:|segment:|metadata_range: .*?'\w*?_"
    r"|n.target:submod_\d, n.args:\(getitem_|values:\('submod_|from_:getitem_"
    r"|'getitem_\d': \(|stage:|ops=)(\d)")


def shuffled(lines, rng):
    """The lines in another order, some glued, with other output between. A
    heading is still above its lines."""
    lines = list(lines)
    for _ in range(len(lines)):
        i = rng.randrange(len(lines) - 1)
        lines[i], lines[i + 1] = lines[i + 1], lines[i]
    for noise in NOISE:
        lines.insert(rng.randrange(len(lines)), noise)
    text = ""
    for line in lines:
        text += line + ("" if rng.random() < 0.1 else "\n")
    return text + "\n"


job, rng, count = sys.argv[1], random.Random(int(sys.argv[2])), int(sys.argv[3])
missed, total, orders = [], 0, 0
with tool.scratch() as folder:
    tool.run("compile", job, "-o", folder / "run.log", "--quiet")
    rows = (folder / "run.log").read_text(encoding="utf-8").splitlines()
    changed = folder / "changed.log"
    while total < count:
        text = shuffled(rows, rng)
        changed.write_text(text, encoding="utf-8")
        tool.run("check", job, "--trace", changed)
        orders += 1
        match = rng.choice(list(STATEMENT.finditer(text)))
        digit = str((int(match.group(1)) + rng.randint(1, 8)) % 9 + 1)
        if digit == match.group(1):
            continue
        changed.write_text(text[:match.start(1)] + digit + text[match.end(1):], encoding="utf-8")
        done = tool.attempt("check", job, "--trace", changed)
        total += 1
        if done.returncode != 4:
            missed.append(f"{match.group()} -> {digit} {done.stdout}{done.stderr}")
tool.report(missed, f"{total - len(missed)}/{total} caught, {orders} orders as planned")
