#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests of a tier (docs/contributing.md): lit, then the conformance data
# in the repository and, where it is there and the tier is not `quick`, in
# ../shared/conformance; with --tidy clang-tidy, which counts as one, and with
# --sanitized the tests once more in a build that has sanitizers. Unless the tier is
# `long`, these are a sample of the tier `quick`: the other tests repeat with more jobs
# what these do.
# The last line printed has the totals.
"""usage: check.py BUILD_DIR [--quick | --long] [--seed=N] [--tidy]
                [--sanitized=BUILD_DIR] [LIT_ARGUMENT...]"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"
# More than cores: some tests wait for others' programs.
WORKERS = os.cpu_count() * 3 // 2
SAMPLE = 8  # of tests with sanitizers, one in so many runs
PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def run_lit(build_dir, arguments):
    """Counts lit's results; a lit that did not run counts as a failure."""
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, "results.json")
        status = subprocess.run(
            [sys.executable, LIT, "-sv", f"-j{WORKERS}", "-o", results, *arguments,
             os.path.join(build_dir, "test")], check=False).returncode
        try:
            with open(results, encoding="utf-8") as file:
                tests = json.load(file)["tests"]
        except OSError:
            print("lit did not run", file=sys.stderr)
            return collections.Counter(failed=1)
    counts = collections.Counter()
    for test in tests:
        counts["passed" if test["code"] in PASSED else
               "skipped" if test["code"] in SKIPPED else "failed"] += 1
    if status and not counts["failed"]:
        print(f"lit exited with {status}", file=sys.stderr)
        counts["failed"] += 1
    return counts


def run_conformance(build_dir, data_dir):
    """Counts the families of one folder of conformance data."""
    print(f"conformance: {os.path.relpath(data_dir, SOURCE)}", flush=True)
    tool = os.path.join(build_dir, "bin")
    environment = dict(os.environ, PATH=tool + os.pathsep + os.environ["PATH"])
    process = subprocess.run(
        [sys.executable, os.path.join(SOURCE, "test/conformance/run.py"),
         data_dir], check=False, env=environment, stdout=subprocess.PIPE,
        text=True)
    print(process.stdout, end="", flush=True)
    families = re.findall(r"^[\w-]+: (\d+)/(\d+)$", process.stdout, re.M)
    counts = collections.Counter()
    for matched, total in families:
        counts["passed" if matched == total else "failed"] += 1
    if process.returncode and not counts["failed"] or not families:
        counts["failed"] += 1
    return counts


def run_tidy(build_dir, tier):
    """Counts clang-tidy as one test, skipped where there is none; in the tier
    `long` it looks at all files."""
    print("clang-tidy", flush=True)
    status = subprocess.run(
        [sys.executable, os.path.join(SOURCE, "test/support/tidy.py"), SOURCE,
         build_dir, *(["--all"] if tier == "long" else [])],
        check=False).returncode
    return collections.Counter([{0: "passed", 77: "skipped"}.get(
        status, "failed")])


def main():
    parser = argparse.ArgumentParser(
        usage=__doc__.removeprefix("usage: "), allow_abbrev=False)
    parser.add_argument("build_dir", type=os.path.abspath)
    tier = parser.add_mutually_exclusive_group()
    tier.add_argument("--quick", dest="tier", action="store_const",
                      const="quick", default="full")
    tier.add_argument("--long", dest="tier", action="store_const",
                      const="long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tidy", action="store_true")
    parser.add_argument("--sanitized", type=os.path.abspath)
    options, arguments = parser.parse_known_args()
    arguments.append(f"-Dseed={options.seed}")
    build_dir = options.build_dir
    counts = run_lit(build_dir, [f"-Dtier={options.tier}", *arguments])
    if options.tidy:
        counts += run_tidy(build_dir, options.tier)
    if options.sanitized:
        print("with sanitizers", flush=True)
        chosen = ["-Dtier=long"] if options.tier == "long" else [
            "-Dtier=quick", f"-Dsample={SAMPLE}"]
        counts += run_lit(options.sanitized, [*chosen, *arguments])
    data_dirs = ["test/conformance/data"]
    if options.tier != "quick":
        data_dirs.append("../shared/conformance")
    for data in data_dirs:
        data_dir = os.path.normpath(os.path.join(SOURCE, data))
        if os.path.isdir(data_dir):
            counts += run_conformance(build_dir, data_dir)
    totals = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        totals += f", {counts['skipped']} skipped"
    sys.stderr.flush()
    print(totals, flush=True)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
