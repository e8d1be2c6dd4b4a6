#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How good the tests are: changes the C++ sources in one place at a time, builds
# and runs the tests that execute the place. A change that no test notices
# survives. Works on clones of what is committed, one for each job; the first
# run also finds out which test executes which line.
"""usage: mutate.py FOLDER [--count N] [--seed S] [--jobs N] [--paths P,P...]
                 [--seconds N]

Writes a line for each mutant to FOLDER/mutants.jsonl, and prints killed/total
and the survivors. A run that was interrupted goes on where it stopped. With
--seconds a mutant that lives so long is left open, for a later run."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import mutants

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LLVM = pathlib.Path("/usr/lib/llvm-19")
LIT = LLVM / "build/utils/lit/lit.py"
COVERAGE = "-O1 -fprofile-instr-generate -fcoverage-mapping"
STEP = 8  # tests that run at a time
MOST_BYTES = 1 << 28  # of a file
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


def clone_into(folder):
    if not folder.exists():
        must(["git", "clone", "-q", SOURCE, folder])
    return folder


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
    """Whether tests pass; one that takes too long, or writes too much, does not."""
    process = subprocess.Popen(
        [sys.executable, LIT, "-q", "-j1", "--max-failures=1",
         *(str(folder / "test" / n) for n in names)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})}, start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                              (MOST_BYTES, MOST_BYTES)))
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
               "-skip-functions", "-skip-branches",
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
    shutil.rmtree(profiles)
    return lines


def cover(folder, jobs):
    """For each file and line the tests that execute it, the quick ones first."""
    cache = folder / "coverage.json"
    if cache.exists():
        return json.loads(cache.read_text(encoding="utf-8"))
    clone = clone_into(folder / "1")
    build = configure(clone, "coverage", COVERAGE)

    def cover_one(number, name):
        print(f"\r{number} tests", end="", file=sys.stderr)
        profiles = folder / "profiles" / str(number)
        profiles.mkdir(parents=True)
        start = time.monotonic()
        if not lit(build, [name],
                   {"LLVM_PROFILE_FILE": f"{profiles}/%2m.profraw"}):
            sys.exit(f"{name} fails without a mutant")
        return time.monotonic() - start, executed_lines(build, profiles, clone)

    names = all_tests(build)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = dict(zip(names, pool.map(cover_one, range(len(names)), names)))
    print(file=sys.stderr)
    covering = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in sorted(names, key=lambda n: found[n][0]):
        for path, lines in found[name][1].items():
            for line in lines:
                covering[path][str(line)].append(name)
    cache.write_text(json.dumps(covering), encoding="utf-8")
    return covering


def draw(clone, paths, seed):
    """The mutants of all sources in a random order."""
    found = []
    for folder in paths:
        for path in sorted((clone / folder).rglob("*.cpp")):
            name = str(path.relative_to(clone))
            text = path.read_text(encoding="utf-8")
            found += [(m, mutants.is_capacity(text, m))
                      for m in mutants.find(name, text)]
    print(f"{len(found)} places", file=sys.stderr)
    random.Random(seed).shuffle(found)
    return [m for m, has_no_effect in found if not has_no_effect]


def tests_of(mutant, covering):
    """Tests that execute the line; if it has no code, as that of a declaration,
    those of the next one that has some."""
    lines = covering.get(mutant.path, {})
    for line in range(mutant.line, mutant.line + 10):
        if tests := lines.get(str(line)):
            return tests
    return []


def judge(clone, folder, mutant, covering, seconds):
    tests = tests_of(mutant, covering)
    path = clone / mutant.path
    original = path.read_text(encoding="utf-8")
    path.write_text(mutants.apply(original, mutant), encoding="utf-8")
    try:
        # Most are noticed without linking every program of the tests.
        for target in "foretrace", "all":
            if run(["ninja", "-C", folder, target]).returncode:
                return "refused", "it does not compile"
            begin = time.monotonic()
            for first in range(0, len(tests), STEP):
                part = tests[first:first + STEP]
                if not lit(folder, part, timeout=60 + 20 * len(part)):
                    return "killed", ""
                if seconds and time.monotonic() - begin > seconds:
                    return "open", f"{first + STEP} tests run"
        return "survived", (f"{len(tests)} tests execute it" if tests else
                            "no test executes it")
    finally:
        path.write_text(original, encoding="utf-8")
        shutil.rmtree(folder / "test" / "out", ignore_errors=True)


def judge_all(folder, todo, jobs, covering, seconds):
    """Judges mutants, each in a clone that no other has meanwhile, and writes
    down at once what became of them; returns it in order."""
    clones = queue.SimpleQueue()
    for number in range(1, jobs + 1):
        clone = clone_into(folder / str(number))
        clones.put((clone, configure(clone, "mutants", "-O1")))
    with (folder / "mutants.jsonl").open("a", encoding="utf-8") as file:

        def judge_one(mutant):
            clone, build = clones.get()
            try:
                verdict, why = judge(clone, build, mutant, covering, seconds)
            finally:
                clones.put((clone, build))
            row = {"mutant": mutant, "verdict": verdict, "why": why}
            file.write(json.dumps(row) + "\n")
            file.flush()
            return row

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(judge_one, todo))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.removeprefix("usage: "))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--paths", default="passes,ir,backends")
    parser.add_argument("--seconds", type=int)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    covering = cover(folder, options.jobs)
    known = {}
    results = folder / "mutants.jsonl"
    if results.exists():
        for row in map(json.loads, results.read_text("utf-8").splitlines()):
            if row["verdict"] != "open" or options.seconds:
                known[tuple(row["mutant"])] = row
    drawn = draw(folder / "1", options.paths.split(","), options.seed)
    rows = []
    while len(rows) < options.count and drawn:
        wanted = options.count - len(rows)
        batch, drawn = drawn[:wanted], drawn[wanted:]
        todo = [m for m in batch if tuple(m) not in known]
        for row in judge_all(folder, todo, options.jobs, covering,
                             options.seconds):
            known[tuple(row["mutant"])] = row
        rows += [known[tuple(m)] for m in batch
                 if known[tuple(m)]["verdict"] != "refused"]
    for row in rows:
        if row["verdict"] != "killed":
            m = mutants.Mutant(*row["mutant"])
            print(f"{m.path}:{m.line}: {m.kind}: `{m.old.strip()}` -> "
                  f"`{m.new.strip()}`: {row['why']}")
    killed = sum(row["verdict"] == "killed" for row in rows)
    print(f"{killed}/{len(rows)} killed")


if __name__ == "__main__":
    main()
