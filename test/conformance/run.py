#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Foretrace's output with files of other tools.

DATA_DIR has a folder for each family, with the inputs of its cases and what
another tool made of them. Prints `family: matched/total` for each family and exits
with 1 if a case differs, 2 if there is nothing to compare.
"""
import argparse
import concurrent.futures
import os
import shutil
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "support"))
import aicb
import aicb_inference
import import_aicb
import import_deepspeed
import import_hf
import import_megatron
import import_torchtitan
import importing
import megatron
import optimus
import schedules
import serving
import tool


# The families that are covered. A module says which folders hold cases, by a file of theirs
# (`MARKER`) or by itself, and compares the one case of a folder, or runs all.
FAMILIES = {"aicb": aicb, "aicb-cli": aicb, "aicb-inference": aicb_inference,
            "import-aicb": import_aicb,
            "import-deepspeed": import_deepspeed, "import-hf": import_hf,
            "import-megatron": import_megatron,
            "import-torchtitan": import_torchtitan, "megatron-trace": megatron,
            "optimus-prime": optimus, "pipeline-schedules": schedules,
            "serving": serving}


def run_family(name, root, jobs):
    """(matched, total) of one family; prints what differs."""
    family = FAMILIES[name]
    if hasattr(family, "find_folders"):
        folders = family.find_folders(root)
    else:
        folders = sorted(folder for folder, _, files in os.walk(root) if getattr(family, "MARKER", importing.MARKER) in files)

    def run_folder(folder):
        if hasattr(family, "run_folder"):
            return list(family.run_folder(folder))
        return [(folder, importing.verdict(family.compare, folder))]

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = [case for cases in pool.map(run_folder, folders) for case in cases]
    for case, problem in results:
        if problem:
            print("%s: %s: %s" % (name, os.path.relpath(case, root), problem))
    matched = sum(problem is None for _, problem in results)
    print("%s: %d/%d" % (name, matched, len(results)))
    return matched, len(results)


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
    tool.PROGRAM = args.foretrace
    names = [args.family] if args.family else sorted(os.listdir(args.data))
    total = failed = 0
    for name in names:
        root = os.path.join(args.data, name)
        if not os.path.isdir(root):
            continue
        if name not in FAMILIES:
            print("%s: not covered" % name, file=sys.stderr)
            continue
        matched, cases = run_family(name, root, args.jobs)
        total += cases
        failed += cases - matched
    if total == 0:
        print("no cases in %s" % args.data, file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
