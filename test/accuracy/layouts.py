# SPDX-License-Identifier: Apache-2.0
"""Estimates runs with profiles that were calibrated on other runs.

  layouts.py FORETRACE TRACES_DIR [--runs PATTERN] [--cluster FILE] [--nodes N]

TRACES_DIR has a folder for each run of Megatron-LM with experts: its config.json and the
trace of every rank. For each run a profile is fitted to its traces, from that of the
cluster's device, and the forward and backward steps of all runs are estimated with it.
Prints estimated / measured - 1 in percent, a row for each profile, then means and the worst:
of other layouts of a model, of other models, and of other sequences.
"""

import argparse
import json
import pathlib
import sys

sys.path += [str(pathlib.Path(__file__).parents[1] / name) for name in ("conformance", "support")]
import megatron_job
import tool

OF_MODEL = ("layers", "hidden", "ffn", "heads", "num_experts", "topk")


def job_of(config, args, cost):
    with tool.scratch() as folder:
        job = megatron_job.write(config, "all", folder)
        text = pathlib.Path(job).read_text(encoding="utf-8").replace(
            "emit megatron", f"cluster : pod {{ nodes = {args.nodes} }}\n{cost}\nemit megatron")
    return f'import "{args.cluster}" as pod\n{text}'


def calibrate(args, folder, config, cost, out):
    """The error of the estimate with the profile that `cost` names, before the fit."""
    job = out.with_suffix(".fore")
    job.write_text(job_of(config, args, cost))
    traces = ",".join(str(path) for path in sorted(folder.glob("rank*.txt")))
    run = tool.attempt("calibrate", job, "--trace", traces, "--kernels", "-o", out,
                       "--format=csv")
    if run.returncode != 0:
        sys.exit(run.stderr)
    columns, values = (line.split(",") for line in run.stderr.splitlines()[-2:])
    return float(dict(zip(columns, values))["before_error_%"])


def summary(what, errors):
    sizes = [abs(error) for error in errors]
    if sizes:
        print(f"{what}: {len(sizes)} estimates, mean {sum(sizes) / len(sizes):.1f} %, "
              f"worst {max(sizes):.1f} %")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("foretrace")
    parser.add_argument("traces", type=pathlib.Path)
    parser.add_argument("--runs", default="*")
    parser.add_argument("--cluster", default="clusters/h100.toml")
    parser.add_argument("--nodes", type=int, default=2)
    args = parser.parse_args()
    tool.PROGRAM = args.foretrace
    runs = {path.parent: json.loads(path.read_text(encoding="ascii"))
            for path in sorted(args.traces.glob(f"{args.runs}/config.json"))}
    runs = {folder: config for folder, config in runs.items() if config.get("num_experts")}
    kinds = {"other layouts of a model": [], "other models": [], "other sequences": []}
    with tool.scratch() as out:
        for folder, config in runs.items():
            calibrate(args, folder, config, "", out / "mine.toml")
            row = []
            for other, its in runs.items():
                error = calibrate(args, other, its, 'import "mine.toml" as mine\n'
                                  "cost estimate { profile = mine }", out / "other.toml")
                row.append(error)
                if other != folder:
                    kind = ("other sequences" if config["seq"] != its["seq"] else
                            "other models" if any(config[key] != its[key]
                                                  for key in OF_MODEL)
                            else "other layouts of a model")
                    kinds[kind].append(error)
            print(folder.name, *(f"{error:6.1f}" for error in row))
    for kind, errors in kinds.items():
        summary(kind, errors)


if __name__ == "__main__":
    main()
