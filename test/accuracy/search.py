# SPDX-License-Identifier: Apache-2.0
"""Holds the layouts that `foretrace new` finds against published ones.

  search.py FORETRACE LAYOUTS ROWS_DIR [--rows] [--only=TEXT]

LAYOUTS is a CSV file of the best published layouts, ROWS_DIR has the table of shapes,
models.csv. For each row a job is written with all that its source states but the layout;
`new` proposes one. Prints for each row the published and the found time, both by our
estimate, and how long the search took; then how many proposals are legal and fit where
the published layout fits, their times as shares of the published ones, and the slowest
searches.
"""

import argparse
import csv
import json
import pathlib
import re
import sys
import time

import rows as jobs

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import tool

# Keys that make a layout; the others are what a job asks for.
CHOSEN = ("micro_batch", "recompute", "recompute_modules", "recompute_num_layers", "tp",
          "cp", "cp_comm", "pp", "vpp", "ep", "etp", "sequence_parallel", "zero",
          "dp_shard", "zero_pipeline", "layout", "overlap_grad_reduce",
          "overlap_param_gather", "tp_comm_overlap", "overlap_moe_expert_parallel_comm")


def published(row, shapes):
    """The job of a row, with its layout."""
    names = {"gpu": "device", "gpus": "devices", "seq": "sequence", "mbs": "micro_batch",
             "gbs": "global_batch"}
    row = dict(row, id=row["id"].removeprefix("lay-"), layers="",
               **{ours: row[theirs] for ours, theirs in names.items()})
    row["sp"] = "1" if int(row["tp"] or 1) > 1 else "0"
    return jobs.job_of(row, shapes)


def question(job):
    """The job without its layout."""
    value = r'\s*=\s*("[^"]*"|\[[^\]]*\]|[^\s}]+)'
    lines = job.splitlines()
    for number, line in enumerate(lines):
        if line.startswith(("train {", "parallel {")):
            for key in CHOSEN:
                line = re.sub(rf"(?<!\w){key}{value}", "", line)
            lines[number] = line
    return "\n".join(lines) + "\n"


def measure(path):
    """Seconds and whether the job fits, or why there are none."""
    run = tool.attempt("time", path, "--format=json")
    if run.returncode != 0:
        return None, False, next((line for line in run.stderr.splitlines()
                                  if "error" in line), run.stderr)
    return json.loads(run.stdout)["time"] / 1e9, tool.document("memory", path)["fits"], ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("foretrace")
    parser.add_argument("layouts", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    shapes = {r["model"]: r for r in csv.DictReader(open(args.data / "models.csv"))}
    tool.PROGRAM = args.foretrace
    with tool.scratch() as folder:
        compare(args, shapes, folder)


def compare(args, shapes, folder):
    """Prints the rows and what they amount to; files are in `folder`."""
    ratios, took, fitting, lost = [], [], 0, []
    for row in csv.DictReader(open(args.layouts)):
        name = f"{row['id']} {row['model']} {row['devices']} {row['device']} {row['precision']}"
        if args.only not in name:
            continue
        try:
            job = published(row, shapes)
        except jobs.Unsayable as why:
            print(f"{name}: left out: {why}")
            continue
        (folder / "published.fore").write_text(job)
        seconds, fits, why = measure(folder / "published.fore")
        if seconds is None:
            print(f"{name}: left out: {why}")
            continue
        (folder / "question.fore").write_text(question(job))
        start = time.monotonic()
        run = tool.attempt("new", "--model=question.fore", "--force", "-o", "found.fore",
                  cwd=folder)
        took.append(time.monotonic() - start)
        found, found_fits = None, False
        if run.returncode == 0:
            found, found_fits, why = measure(folder / "found.fore")
        if fits and found_fits:
            fitting += 1
            ratios.append(found / seconds)
        elif fits:
            lost.append(name)
        if args.rows:
            ratio = f"{found / seconds:6.3f}" if found else "     -"
            print(f"{name:58s} {seconds:9.3f} s {'' if fits else 'unfit'} "
                  f"{found or 0:9.3f} s {ratio} {took[-1]:5.1f} s "
                  + ("" if found else (run.stderr or why).strip()[:200]))
            if found and args.rows and found / seconds > 1.01:
                print((folder / "published.fore").read_text())
                print((folder / "found.fore").read_text())
    print(f"{len(took)} rows, {fitting + len(lost)} whose published layout fits, "
          f"{fitting} whose proposal fits, too; lost: {', '.join(lost) or 'none'}")
    if ratios:
        print(f"at most 1.01 of the published time: {sum(r <= 1.01 for r in ratios)} of "
              f"{len(ratios)}; worst {max(ratios):.3f}")
    if not took:
        sys.exit(f"no row has `{args.only}` and a job")
    took.sort()
    print(f"time of a search: median {took[len(took) // 2]:.1f} s, nine in ten "
          f"{took[int(0.9 * len(took))]:.1f} s, longest {took[-1]:.1f} s")


if __name__ == "__main__":
    main()
