#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Foretrace's output with files of other tools, byte for byte.

DATA_DIR has a folder for each family; a case is a folder with its inputs and
the expected output. Prints `family: matched/total` for each family and exits
with 1 if a case differs, 2 if there is nothing to compare.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

import aicb_to_fore


def find_cases(root):
    """Folders below `root` that hold an expected table, in order."""
    cases = []
    for folder, folders, files in os.walk(root):
        folders.sort()
        if "workload.txt" not in files:
            continue
        args = os.path.join(folder, "args.json")
        if "args.json" in files:
            if json.load(open(args)).get("output_format") != "simai_table":
                continue
        cases.append(folder)
    return cases


def first_difference(expected, got):
    want, have = expected.split(b"\n"), got.split(b"\n")
    for number, (a, b) in enumerate(zip(want, have), 1):
        if a != b:
            return number, a, b
    short = min(len(want), len(have))
    end = b"<end of file>"
    return (short + 1, (want + [end])[short], (have + [end])[short])


def run_aicb(foretrace, folder):
    """None if the case matches, else what is wrong with it."""
    with tempfile.TemporaryDirectory() as temp:
        job = os.path.join(temp, "job.fore")
        try:
            with open(job, "w") as file:
                file.write(aicb_to_fore.to_fore(folder))
        except (KeyError, ValueError) as error:
            return "can't be converted: %r" % error
        run = subprocess.run([foretrace, "compile", job, "-o", temp + "/"],
                             capture_output=True)
        if run.returncode:
            return run.stderr.decode(errors="replace")
        try:
            with open(os.path.join(temp, "workload.txt"), "rb") as file:
                got = file.read()
        except OSError:
            return "nothing was written"
    with open(os.path.join(folder, "workload.txt"), "rb") as file:
        expected = file.read()
    if got == expected:
        return None
    line, want, have = first_difference(expected, got)
    return "line %d\n  expected: %s\n  got:      %s" % (
        line, want.decode(errors="replace"), have.decode(errors="replace"))


# The families that are covered, and how one case is compared.
FAMILIES = {"aicb": run_aicb, "aicb-cli": run_aicb}


def run_family(name, root, foretrace, jobs):
    """(matched, total) of one family; prints what differs."""
    cases = find_cases(root)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda c: FAMILIES[name](foretrace, c), cases))
    for case, problem in zip(cases, results):
        if problem:
            print("%s: %s: %s" % (name, os.path.relpath(case, root), problem))
    matched = results.count(None)
    print("%s: %d/%d" % (name, matched, len(cases)))
    return matched, len(cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", metavar="DATA_DIR")
    parser.add_argument("--family", choices=sorted(FAMILIES),
                        help="compare this one only")
    parser.add_argument("--foretrace", default=shutil.which("foretrace"),
                        help="the program to test (default: from PATH)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="cases at a time (default: number of cores)")
    args = parser.parse_args()
    if not args.foretrace:
        parser.error("no foretrace in PATH; give --foretrace")
    if not os.path.isdir(args.data):
        parser.error("%s is not a folder" % args.data)
    names = [args.family] if args.family else sorted(os.listdir(args.data))
    total = failed = 0
    for name in names:
        root = os.path.join(args.data, name)
        if not os.path.isdir(root):
            continue
        if name not in FAMILIES:
            print("%s: not covered" % name, file=sys.stderr)
            continue
        matched, cases = run_family(name, root, args.foretrace, args.jobs)
        total += cases
        failed += cases - matched
    if total == 0:
        print("no cases in %s" % args.data, file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
