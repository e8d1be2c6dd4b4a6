# SPDX-License-Identifier: Apache-2.0
"""usage: mutate_outputs.py FOLDER SEED COUNT

Compiles the jobs FOLDER/*.fore, changes bytes and fields of what they emit at
random, and has each change validated. What is not found must be harmless, as the
module of the format shows without asking `foretrace validate`. Prints how many were
found or harmless, by which rule, and each that is neither.
"""
import collections
import concurrent.futures
import os
import pathlib
import random
import sys

import chakra_changes
import chakra_rules
import goal_changes
import table_changes
import tool
import trace_changes

# By how files end: how fields change, and what is harmless.
FORMATS = {
    ".et": (chakra_changes.change, chakra_rules.harmless),
    ".goal": (goal_changes.change, goal_changes.harmless),
    ".table": (table_changes.change, table_changes.harmless),
    ".txt": (trace_changes.change, trace_changes.harmless),
}


def change_bytes(data, rng):
    """(what was done, the bytes after it)"""
    at = rng.randrange(len(data) + 1)
    end = at + rng.choice([1, 1, 2, 8, 64])
    how = rng.choice(["flip", "flip", "set", "insert", "delete", "truncate",
                      "double"])
    part = data[at:at + 1]
    if how == "flip":
        new = bytes(byte ^ 1 << rng.randrange(8) for byte in part)
    elif how == "set" or how == "insert":
        new = bytes([rng.choice([rng.randrange(256), data[at // 2]])])
        part = part if how == "set" else b""
    elif how == "delete":
        part, new = data[at:end], b""
    elif how == "truncate":
        part, new = data[at:], b""
    else:
        part, new = b"", data[at:end]
    return how, data[:at] + new + data[at + len(part):]


def outputs(job):
    """Compiles a job; what belongs together, as (its name, files by name)."""
    folder = job.with_suffix("")
    # Provenance names the job as it is called here, which is everywhere the same.
    tool.run("compile", job.name, "-o", f"{job.stem}/", "--quiet", cwd=job.parent)
    sets = collections.defaultdict(dict)
    for path in sorted(folder.iterdir()):
        is_set = path.suffix in (".et", ".json")
        name = "traces" if is_set else path.name
        sets[f"{job.stem}.{name}"][path.name] = path.read_bytes()
    return list(sets.items())


def is_found(folder):
    """Whether there is an error or a warning."""
    run = tool.attempt("validate", folder, errors="replace", timeout=60)
    # What is not known any more is refused, too.
    is_refused = run.returncode == 1 or "neither a workload" in run.stderr
    assert run.returncode == 0 or is_refused, run
    return is_refused or " warning: " in run.stdout


def write(folder, files):
    for name, data in files.items():
        if data is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(data)


def one(folder, output, seed):
    """(how, rule) of a change; the rule is None if it was missed."""
    rng = random.Random(seed)
    name, files = output
    here = folder / f"{name}.{os.getpid()}"
    if not here.exists():
        here.mkdir()
        write(here, files)
    fields, harmless = FORMATS[pathlib.Path(sorted(files)[0]).suffix]
    if rng.random() < .4:
        path = rng.choice(sorted(files))
        how, data = change_bytes(files[path], rng)
        how, changed = f"{how} bytes of {path}", {path: data}
    else:
        how, changed = fields(files, rng)
    write(here, changed)
    found = is_found(here)
    after = {n: d for n, d in {**files, **changed}.items() if d is not None}
    write(here, {n: files[n] for n in changed})
    return how, "found" if found else harmless(files, after)


def main():
    folder, seed, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    some = [output for job in sorted(folder.glob("*.fore"))
            for output in outputs(job)]
    for job in folder.glob("*.fore"):
        assert not is_found(job.with_suffix("")), job
    turns = [(some[turn % len(some)], f"{seed}.{turn}") for turn in range(count)]
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(one, [folder] * count, *zip(*turns), chunksize=16))
    rules = collections.Counter(rule or "missed" for _, rule in done)
    for rule, number in rules.most_common():
        print(f"{number:6} {rule}")
    for ((name, _), number), (how, rule) in zip(turns, done):
        if rule is None:
            print(f"missed: seed {number}, {name}: {how}")
    print(f"{count} changes, {rules['missed']} missed")


if __name__ == "__main__":
    main()
