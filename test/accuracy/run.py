# SPDX-License-Identifier: Apache-2.0
"""Compares `foretrace time` with published iteration times.

  run.py FORETRACE ROWS_DIR [--source NAME] [--rows] [--jobs DIR]

ROWS_DIR has CSV files of measured runs, one for each source, and models.csv. Prints for
each source, device and precision the number of rows and their errors: predicted /
measured - 1. Errors of rows that cannot be stated are listed with their reasons.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

import rows as jobs


def predict(foretrace, row, shapes, folder):
    """Seconds and relative uncertainty, or a reason."""
    if not row["iter_s"]:
        return None, None, "without a time of an iteration"
    try:
        text = jobs.job_of(row, shapes)
    except jobs.Unsayable as why:
        return None, None, str(why)
    path = folder / f"{row['id']}.fore"
    path.write_text(text)
    run = subprocess.run([foretrace, "time", path, "--format=json"],
                         capture_output=True, text=True)
    if run.returncode != 0:
        first = [line for line in run.stderr.splitlines() if "error" in line]
        return None, None, (first or [run.stderr or "no output"])[0]
    of = json.loads(run.stdout)
    return of["time"] / 1e9, of["uncertainty"] / 1e6, ""


def has_experts(row, shapes):
    shape = shapes.get(row["model"])
    return "nemotron-3" in row["model"] or (
        shape is not None and shape["experts"] not in ("", "0"))


def line(name, errors, inside):
    """A row of the table."""
    absolute = sorted(abs(e) for e in errors)
    ninth = absolute[min(len(absolute) - 1, int(0.9 * len(absolute)))]
    print(f"{name:42s} {len(errors):4d} {100 * statistics.mean(absolute):6.1f} "
          f"{100 * statistics.median(absolute):6.1f} {100 * ninth:6.1f} "
          f"{100 * absolute[-1]:6.1f} {100 * statistics.mean(errors):+6.1f} "
          f"{100 * sum(inside) / len(inside):5.0f} %")


def growth(pairs):
    """How much longer the largest run of a family takes than the smallest, of those
    that differ in the number of devices only: measured and predicted, in percent."""
    families = collections.defaultdict(dict)
    for row, seconds in pairs:
        key = tuple(row.get(k) for k in ("source", "model", "gpu", "precision", "framework",
                                         "tp", "cp", "pp", "vpp", "ep", "mbs", "ga", "seq"))
        families[key][int(row["gpus"])] = (float(row["iter_s"]), seconds)
    errors = []
    for key, runs in sorted(families.items()):
        small, large = min(runs), max(runs)
        if small < 64 or large < 8 * small:
            continue
        measured, predicted = (100 * (b / a - 1) for a, b in zip(runs[small], runs[large]))
        errors.append(abs(predicted - measured))
        print(f"growth {key[1]:14s} {key[3]:5s} {small:5d} to {large:5d}: "
              f"{measured:+5.1f} %, predicted {predicted:+5.1f} %")
    if errors:
        print(f"growth: {statistics.mean(errors):.1f} points off in the mean")


def ranking(pairs):
    """Kendall's tau within families of layouts of one job, and how much slower the
    layout is that is predicted to be the fastest than the one that is."""
    families = collections.defaultdict(list)
    for row, seconds in pairs:
        key = tuple(row.get(k) for k in ("source", "model", "layers", "gpu", "gpus",
                                         "precision", "framework", "gbs", "seq"))
        families[key].append((float(row["iter_s"]), seconds))
    by_source = collections.defaultdict(lambda: ([], []))
    for key, runs in families.items():
        if len(runs) < 4:
            continue
        agree = sum(((a[0] - b[0]) * (a[1] - b[1]) > 0) - ((a[0] - b[0]) * (a[1] - b[1]) < 0)
                    for i, a in enumerate(runs) for b in runs[:i])
        best = min(runs, key=lambda r: r[1])[0] / min(r[0] for r in runs) - 1
        by_source[key[0]][0].append(agree / (len(runs) * (len(runs) - 1) / 2))
        by_source[key[0]][1].append(best)
    for source, (taus, regrets) in sorted(by_source.items()):
        print(f"ranking {source}: {len(taus)} families, tau {statistics.mean(taus):.2f}, "
              f"regret {100 * statistics.mean(regrets):.1f} %")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("foretrace")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--source")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--jobs", type=pathlib.Path)
    args = parser.parse_args()
    folder = args.jobs or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    shapes = {r["model"]: r for r in csv.DictReader(open(args.data / "models.csv"))}
    rows = []
    for path in sorted(args.data.glob("*.csv")):
        if path.stem == "models" or args.source not in (None, path.stem):
            continue
        rows += [dict(r, source=path.stem) for r in csv.DictReader(open(path))]
    for path in sorted(args.data.parent.glob("vtrain_*.csv")):
        if args.source in (None, path.stem):
            rows += [dict(jobs.vtrain_row(r, f"{path.stem}-{i:04d}"), source=path.stem)
                     for i, r in enumerate(csv.DictReader(open(path, encoding="utf-8-sig")))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(
            lambda row: predict(args.foretrace, row, shapes, folder), rows))
    groups = collections.defaultdict(lambda: ([], []))
    reasons = collections.Counter()
    for row, (seconds, spread, why) in zip(rows, found):
        kind = "experts" if has_experts(row, shapes) else "dense"
        if seconds is None:
            reasons[row["source"], why.split(": error: ")[-1][:110]] += 1
            if args.rows:
                print(f"{row['id']:20s} {row['model']:20s} {why[:150]}")
            continue
        error = seconds / float(row["iter_s"]) - 1
        keys = [row["source"], f"{row['source']} {kind}",
                f"{row['source']} {kind} {row['gpu']} {row['precision'][:4]}"]
        if row["source"] in ("bridge", "dgxc", "mlperf"):
            keys.append(f"~ NVIDIA {kind}")
            keys.append(f"~ NVIDIA {kind} {row['gpu']}")
        for key in keys:
            groups[key][0].append(error)
            groups[key][1].append(abs(error) <= spread)
        if args.rows:
            print(f"{row['id']:20s} {row['model']:20s} {row['gpu']:8s} {row['gpus']:>6s} "
                  f"{row['precision']:10s} tp{row['tp']} cp{row['cp']} pp{row['pp']} "
                  f"v{row['vpp']} ep{row['ep']} mbs{row['mbs']} ga{row['ga']} "
                  f"{float(row['iter_s']):8.3f} {seconds:8.3f} {100 * error:+6.1f} %")
    print(f"{'':42s} rows   mean median    p90    max   bias inside")
    for key in sorted(groups):
        line(key, *groups[key])
    pairs = [(row, of[0]) for row, of in zip(rows, found) if of[0] is not None]
    growth(pairs)
    ranking(pairs)
    for (source, why), count in sorted(reasons.items()):
        print(f"left out: {source}: {count}: {why}")


if __name__ == "__main__":
    main()
