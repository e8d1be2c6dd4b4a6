#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How good the tests are: changes the C++ sources in one place at a time, builds
# and runs the tests that execute the place. A change that no test notices
# survives. Works on a clone, in which the sources of the working tree are; the
# first run there also finds out which test executes which line.
"""usage: mutate.py CLONE [--count N] [--seed S] [--skip N] [--paths P,P...]

Writes a line for each mutant to CLONE/mutants.jsonl, and prints killed/total
and the survivors. A run that was interrupted goes on where it stopped."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys

import mutants

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LLVM = pathlib.Path("/usr/lib/llvm-19")
LIT = LLVM / "build/utils/lit/lit.py"
COVERAGE = "-O1 -fprofile-instr-generate -fcoverage-mapping"
# Tests of the repository itself: they read sources, and would see a mutant.
NOT_OF_PROGRAM = r"layering|coverage-diagnostics|docs/(guides|includes)|install"


def run(command, **options):
    return subprocess.run([str(c) for c in command], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, **options)


def must(command, **options):
    done = run(command, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout


def configure(clone, name, flags):
    folder = clone / "build" / name
    must(["cmake", "-S", clone, "-B", folder, "-G", "Ninja",
          "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_COMPILER=clang++-19",
          f"-DCMAKE_CXX_FLAGS_DEBUG={flags}", "-DFORETRACE_WERROR=OFF",
          "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])
    must(["ninja", "-C", folder])
    return folder


def all_tests(folder):
    shown = must([sys.executable, LIT, "--show-tests", folder / "test"])
    names = re.findall(r"^  foretrace :: (\S+)$", shown, re.M)
    return [n for n in names if not re.search(NOT_OF_PROGRAM, n)]


def lit(folder, names, environment=None, timeout=None):
    """Whether tests pass; one that takes too long does not."""
    process = subprocess.Popen(
        [sys.executable, LIT, "-q", "-j2", "--max-failures=1",
         *(str(folder / "test" / n) for n in names)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})}, start_new_session=True)
    try:
        return process.wait(timeout) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def executed_lines(folder, profiles, clone):
    """Lines of the clone's files that ran, from the raw profiles of a test."""
    raw = list(profiles.glob("*.profraw"))
    if not raw:
        return {}
    merged = profiles / "merged.profdata"
    must([LLVM / "bin/llvm-profdata", "merge", "-sparse", "-o", merged, *raw])
    binaries = sorted(p for p in (folder / "bin").iterdir() if p.is_file())
    command = [LLVM / "bin/llvm-cov", "export", "-format=lcov",
               f"-instr-profile={merged}", binaries[0]]
    for binary in binaries[1:]:
        command += ["-object", binary]
    lines = collections.defaultdict(list)
    for record in run(command).stdout.splitlines():
        if record.startswith("SF:"):
            path = os.path.relpath(record[3:], clone)
        elif record.startswith("DA:"):
            line, count = record[3:].split(",")[:2]
            if count != "0" and not path.startswith(".."):
                lines[path].append(int(line))
    for path in (*raw, merged):
        path.unlink()
    return lines


def cover(clone):
    """For each file and line the tests that execute it, the quick ones first."""
    cache = clone / "coverage.json"
    if cache.exists():
        return json.loads(cache.read_text(encoding="utf-8"))
    folder = configure(clone, "coverage", COVERAGE)
    profiles = clone / "profiles"
    profiles.mkdir(exist_ok=True)
    covering = collections.defaultdict(lambda: collections.defaultdict(list))
    times = {}
    names = all_tests(folder)
    for number, name in enumerate(names, 1):
        print(f"\r{number} of {len(names)} tests", end="", file=sys.stderr)
        start = os.times().elapsed
        lit(folder, [name],
            {"LLVM_PROFILE_FILE": f"{profiles}/%2m.profraw"})
        times[name] = os.times().elapsed - start
        for path, lines in executed_lines(folder, profiles, clone).items():
            for line in lines:
                covering[path][str(line)].append(name)
    print(file=sys.stderr)
    for lines in covering.values():
        for tests in lines.values():
            tests.sort(key=times.get)
    cache.write_text(json.dumps(covering), encoding="utf-8")
    return covering


def draw(clone, paths, seed, count):
    """A random order of the mutants of all sources, the first `count`."""
    found = []
    for folder in paths:
        for path in sorted((clone / folder).rglob("*.cpp")):
            name = str(path.relative_to(clone))
            found += mutants.find(name, path.read_text(encoding="utf-8"))
    print(f"{len(found)} places", file=sys.stderr)
    random.Random(seed).shuffle(found)
    return found[:count]


def judge(clone, folder, mutant, covering):
    tests = covering.get(mutant.path, {}).get(str(mutant.line), [])
    if not tests:
        return "survived", "no test executes it"
    path = clone / mutant.path
    original = path.read_text(encoding="utf-8")
    path.write_text(mutants.apply(original, mutant), encoding="utf-8")
    try:
        # Most are noticed without linking every program of the tests.
        for target in "foretrace", "all":
            if run(["ninja", "-C", folder, target]).returncode:
                return "refused", "it does not compile"
            for part in (tests[:8], tests[8:40], tests[40:]):
                if part and not lit(folder, part, timeout=60 + 20 * len(part)):
                    return "killed", ""
        return "survived", f"{len(tests)} tests execute it"
    finally:
        path.write_text(original, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--paths", default="passes,ir,backends")
    options = parser.parse_args()
    clone = options.clone.resolve()
    if not (clone / "CMakeLists.txt").exists():
        must(["git", "clone", "-q", SOURCE, clone])
    covering = cover(clone)
    folder = configure(clone, "mutants", "-O1")
    results = clone / "mutants.jsonl"
    known = {}
    if results.exists():
        for row in map(json.loads, results.read_text("utf-8").splitlines()):
            known[tuple(row["mutant"])] = row
    rows = []
    with results.open("a", encoding="utf-8") as file:
        for mutant in draw(clone, options.paths.split(","), options.seed,
                           10 * options.count):
            row = known.get(tuple(mutant))
            if not row:
                verdict, why = judge(clone, folder, mutant, covering)
                row = {"mutant": mutant, "verdict": verdict, "why": why}
                print(json.dumps(row), file=file, flush=True)
            if row["verdict"] != "refused":
                rows.append(row)
            if len(rows) == options.count:
                break
    killed = sum(row["verdict"] == "killed" for row in rows)
    for row in rows:
        if row["verdict"] != "killed":
            m = mutants.Mutant(*row["mutant"])
            print(f"{m.path}:{m.line}: {m.kind}: `{m.old.strip()}` -> "
                  f"`{m.new.strip()}`: {row['why']}")
    print(f"{killed}/{len(rows)} killed")


if __name__ == "__main__":
    main()
