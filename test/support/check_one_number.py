# SPDX-License-Identifier: Apache-2.0
"""usage: check_one_number.py SEED COUNT

Runs every command that prints figures on random jobs. All that print a figure print
the same number under the same key: of the job, of a stage, of a kind of layer, of a
group of ranks."""
import collections
import re

import documents
import tool
from check_volume import CLUSTER, on_cluster, random_cluster

TIMED = ("time", "shapes", "plan with times")


def add_sweep(numbers, case):
    """Metrics: of a rank the most of all stages."""
    database = case.stem + ".db"
    micro_batch = re.search(r"micro_batch = (\d+)", case.text())[1]
    tool.run("sweep", case.job, f"--sweep=train.micro_batch={micro_batch}", "-o", database,
             "--quiet")
    row, = tool.rows("sweep", "-o", database, "--query", "SELECT * FROM points WHERE id = 0")
    most = collections.defaultdict(int)
    for (of, key), values in numbers.given.items():
        if [name for name, _ in of] == ["stages"]:
            most[key] = max(most[key], *values)
        elif [name for name, _ in of] == ["stages", "group"]:
            key += "_" + of[1][1].replace("-", "_")
            most[key] = max(most[key], *values)
    for key, value in row.items():
        if key in most:
            numbers.add("sweep", ("most",), key, value)
            numbers.add("stages", ("most",), key, most[key])
        if key in ("peak", "fits", "cross_node", "bubble"):
            numbers.add("sweep", (), key, value)


def check(case):
    # `memory` looks for changes that make a job fit, which takes seconds.
    memory = case.draw.randint(1, 500) if case.number % 6 == 0 else 10**6
    on_cluster(case, random_cluster, CLUSTER.replace(
        "  tiers", f"  device {{{{ memory = {memory} MB }}}}\n  tiers"))
    numbers, found = documents.read_all(
        case.job, [name for name in documents.COMMANDS if name not in TIMED])
    add_sweep(numbers, case)
    problems = [*documents.problems_of_form(found, ""), *numbers.problems()]
    assert not problems, "\n".join(problems)


tool.cases(check)
