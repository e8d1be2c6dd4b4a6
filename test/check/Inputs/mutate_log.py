#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Makes of a plan's log what eight ranks on one terminal make of it: lines in any
# order, some behind each other, other output between. `check` must find all it
# looks for, and every number that is changed. Prints caught/total.
"""usage: mutate_log.py FORETRACE JOB SEED COUNT"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile

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


def check(foretrace, job, path):
    """Exit status and output."""
    run = subprocess.run([foretrace, "check", job, "--trace", str(path)],
                         check=False, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    return run.returncode, run.stdout


def main():
    foretrace, job = sys.argv[1:3]
    rng = random.Random(int(sys.argv[3]))
    caught = total = orders = 0
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "run.log")
        subprocess.run([foretrace, "compile", job, "-o", str(path), "--quiet"],
                       check=True)
        lines = path.read_text(encoding="utf-8").splitlines()
        changed = pathlib.Path(name, "changed.log")
        while total < int(sys.argv[4]):
            text = shuffled(lines, rng)
            changed.write_text(text, encoding="utf-8")
            status, output = check(foretrace, job, changed)
            assert status == 0, output
            orders += 1
            match = rng.choice(list(STATEMENT.finditer(text)))
            digit = str((int(match.group(1)) + rng.randint(1, 8)) % 9 + 1)
            if digit == match.group(1):
                continue
            changed.write_text(text[:match.start(1)] + digit
                               + text[match.end(1):], encoding="utf-8")
            status, output = check(foretrace, job, changed)
            total += 1
            if status == 4:
                caught += 1
            else:
                print(match.group(), "->", digit, output)
    print(f"{caught}/{total} caught, {orders} orders as planned")
    return caught != total


if __name__ == "__main__":
    sys.exit(main())
