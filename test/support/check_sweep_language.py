# SPDX-License-Identifier: Apache-2.0
"""usage: check_sweep_language.py SEED CONDITIONS

What a sweep leaves out by a condition is what the job itself refuses by a
`require` of the same text: there the frontend computes with the numbers of one
point, here it writes an expression over all. And the legal points of a space are
as many as rules that are counted by hand say."""

import pathlib
import re

import tool

JOB = """import "models/llama3-8b.fore"
param a = 1
param b = 1
param c = small
train { sequence = 4096  micro_batch = 1 }
parallel { world = 8 }
"""
AXES = ["--sweep=a=1..6", "--sweep=b=2,3,5,7", "--sweep=c=bf16,fp32"]


def number(chance, depth):
    """An expression that has a value wherever a and b are positive."""
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(["a", "b", str(chance.randint(0, 9))])
    left, right = number(chance, depth - 1), number(chance, depth - 1)
    return chance.choice([
        f"({left} + {right})", f"({left} - {right})", f"{left} * {right}",
        f"min({left}, {right})", f"max({left}, {right})", f"-({left})",
        f"floor_div({left}, {chance.choice('ab')})",
        f"ceil_div({left}, {chance.choice('ab')})",
        f"({left}) % {chance.choice('ab')}"])


def condition(chance, depth):
    if depth == 0:
        compared = chance.choice(["<", "<=", ">", ">=", "==", "!="])
        if chance.random() < 0.2:
            return f"c {chance.choice(['==', '!='])} bf16"
        if chance.random() < 0.2:
            # A sweep refuses to ask whether an integer is a decimal.
            return (f"{number(chance, 2)} {chance.choice(['<', '<=', '>', '>='])} "
                    f"{chance.randint(-3, 9)}.5")
        return f"{number(chance, 2)} {compared} {number(chance, 2)}"
    left, right = condition(chance, depth - 1), condition(chance, depth - 1)
    return chance.choice([f"({left}) and ({right})", f"({left}) or ({right})",
                          f"not ({left})"])


def accepted(job, *more):
    database = job + ".db"
    pathlib.Path(database).unlink(missing_ok=True)
    done = tool.attempt("sweep", job, *AXES, *more, "--quiet", "-o", database)
    # Without an error the exit code tells that no point is accepted.
    if "error:" in done.stderr:
        return "never" if "[never-holds]" in done.stderr else done.stderr
    rows = tool.run("sweep", "-o", database, "--query", "SELECT id FROM points ORDER BY id")
    return rows.split()[1:] or "never"


def check(case):
    """How often a condition holds."""
    text = condition(case.draw, case.draw.randint(0, 2))
    if not re.search(r"\b[abc]\b", text):
        return None  # the same at all points
    here = accepted(case.write(JOB.replace("small", "bf16")), f"--where={text}")
    there = accepted(case.write(JOB.replace("small", "bf16") + f"require {text}\n"))
    assert here == there, f"{text}: {here} but {there}"
    return "never" if there == "never" else "always" if len(there) == 48 else "sometimes"


def legal_points():
    """Of docs/examples/gpt-1t-4096.fore: 160 heads, 128 layers, 4,096 ranks."""
    def divisors(n):
        return [i for i in range(1, n + 1) if n % i == 0]

    count = 0
    for tp in divisors(160):
        for pp in divisors(128):
            if 4096 % (tp * pp) != 0:
                continue
            dp = 4096 // (tp * pp)
            for micro_batch in divisors(4096):
                if 4096 % (micro_batch * dp) != 0:
                    continue
                ga = 4096 // (micro_batch * dp)
                for vpp in divisors(128 // pp):
                    # Interleaving needs a pipeline, and whole groups of pp.
                    if vpp == 1 or (pp > 1 and ga % pp == 0):
                        count += 1
    return count * 3 * 2  # recomputation, sequence parallelism


tool.cases(check, "conditions")
print("legal:", legal_points())
