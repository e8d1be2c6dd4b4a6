# SPDX-License-Identifier: Apache-2.0
"""Compares `foretrace time` of jobs that serve with published runs.

  serving.py FORETRACE serving_agg.csv [--rows] [--jobs DIR] [--every N]

Prints for each engine and device the number of rows and the errors of the time per
output token and the time to first token: predicted / measured - 1. Rows that cannot be
stated are listed with their reasons.
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

MODELS = {
    "MiniMaxAI/MiniMax-M2.5": "minimax-m2",
    "Qwen/Qwen3-235B-A22B-FP8": "qwen3-235b-a22b",
    "Qwen/Qwen3-32B": "qwen3-32b",
    "Qwen/Qwen3.5-397B-A17B": "qwen3.5-397b-a17b-text",
    "deepseek-ai/DeepSeek-R1": "deepseek-r1",
    "deepseek-ai/DeepSeek-V3": "deepseek-v3",
    "meta-llama/Llama-3.1-70B": "llama3.1-70b",
    "meta-llama/Llama-3.1-8B-Instruct": "llama3.1-8b",
    "moonshotai/Kimi-K2.5": "kimi-k2",
    "nvidia/DeepSeek-R1-NVFP4": "deepseek-r1",
    "nvidia/Llama-3.1-8B-Instruct-FP8": "llama3.1-8b",
    "nvidia/Qwen3-32B-NVFP4": "qwen3-32b",
    "openai/gpt-oss-120b": "gpt-oss-120b",
    "zhipuai/GLM-5": "glm-5",
}
CLUSTERS = {"h100_sxm": "h100", "h200_sxm": "h200", "b200_sxm": "b200",
            "b300_sxm": "b300", "gb200": "gb200-nvl72"}
ON_NODE = {"gb200-nvl72": 4}
TYPES = {"fp8": "fp8", "fp8_block": "fp8_block", "nvfp4": "nvfp4", "bfloat16": "bf16",
         "int4_wo": "int4"}
OF_EXPERTS = ("mxfp4", "int4")  # attention is in bf16 in the checkpoints that have these


def number(row, key, default=1):
    return int(row[key]) if row[key] not in ("", "0") else default


def layout_of(tp, dp, etp, ep):
    """The sizes of a run. Some rows have the square of a node's devices: the table counts
    tensor and expert parallelism, or replicas of attention, of the same devices twice."""
    for devices in (2, 4, 8):
        if etp == ep == devices and tp * dp == devices ** 2 and 1 in (tp, dp):
            return min(tp, devices), min(dp, devices), 1, devices
        if tp == dp == devices:
            return 1, devices, min(etp, devices) if etp * ep == devices else 1, min(ep, devices)
    return tp, dp, etp, ep


def job_of(row):
    """The text of a job, or a reason why there is none."""
    cluster = CLUSTERS.get(row["system"])
    model = MODELS.get(row["model"])
    if model is None or cluster is None:
        return None, "no such model or cluster"
    quantized = row["gemm_quant_mode"] or row["precision"] or "bfloat16"
    if model == "gpt-oss-120b":
        quantized = "mxfp4"
    precision = TYPES.get(quantized, quantized)
    if model.startswith("deepseek") and precision == "fp8":
        precision = "fp8_block"
    if precision not in ("bf16", "fp8", "fp8_block", "nvfp4", *OF_EXPERTS):
        return None, f"weights in {quantized}"
    tp, pp, dp, etp, ep = (number(row, k) for k in ("tp", "pp", "dp", "etp", "ep"))
    tp, dp, etp, ep = layout_of(tp, dp, etp, ep)
    world = tp * pp * dp
    if etp * ep > 1 and etp * ep != tp * dp:
        return None, f"tp {tp} x dp {dp} is not etp {etp} x ep {ep}"
    nodes = -(-world // ON_NODE.get(cluster, 8))
    dense = model.startswith(("llama", "qwen3-32b"))
    parallel = f"world = {world}   tp = {tp}   pp = {pp}"
    if not dense:
        parallel += f"   ep = {ep}   etp = {etp}"
    if precision in OF_EXPERTS:
        precision += "   quantized = experts"
    cache = "fp8" if row["backend"] == "trtllm" and precision != "bf16" else "bf16"
    return f"""import "models/{model}.fore"
import "clusters/{cluster}.toml" as pod
requests {{ input = {row['isl']}   output = {row['osl']}   concurrency = {row['concurrency']} }}
serve {{ engine = {row['backend']}   weight_precision = {precision}   kv_precision = {cache} }}
parallel {{ {parallel} }}
cluster : pod {{ nodes = {nodes} }}
""", ""


def predict(foretrace, row, folder, cost=""):
    text, why = job_of(row)
    if text is None:
        return None, why
    text += cost
    path = folder / f"row{row['line']}.fore"
    path.write_text(text)
    run = subprocess.run([foretrace, "time", path, "--format=json"],
                         capture_output=True, text=True)
    if run.returncode != 0:
        first = [line for line in run.stderr.splitlines() if "error" in line]
        return None, (first or [run.stderr or "no output"])[0].split("error: ")[-1]
    return json.loads(run.stdout), ""


def line(name, errors):
    absolute = sorted(abs(e) for e in errors)
    ninth = absolute[min(len(absolute) - 1, int(0.9 * len(absolute)))]
    return (f"{name} {100 * statistics.median(absolute):6.1f} {100 * statistics.mean(absolute):6.1f} "
            f"{100 * ninth:6.1f} {100 * statistics.median(errors):+6.1f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__, allow_abbrev=False)
    parser.add_argument("foretrace", type=os.path.abspath)
    parser.add_argument("table")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--jobs", type=pathlib.Path)
    parser.add_argument("--cost", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    with open(options.table, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for at, row in enumerate(rows):
        row["line"] = at + 2
    rows = [r for r in rows[::options.every]
            if r["tpot_ms"] and options.only in ",".join(map(str, r.values()))]
    failures = collections.Counter()
    errors = collections.defaultdict(lambda: ([], []))
    with tempfile.TemporaryDirectory() as temporary, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = options.jobs or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        for row, (found, why) in zip(rows, pool.map(
                lambda r: predict(options.foretrace, r, folder, options.cost), rows)):
            if found is None:
                failures[why] += 1
                continue
            token = found["tpot"] / 1e6 / float(row["tpot_ms"]) - 1
            first = found["ttft"] / 1e6 / float(row["ttft_ms"]) - 1 if row["ttft_ms"] else None
            for name in ("all", f"{row['backend']} {row['system']}", row["model"]):
                errors[name][0].append(token)
                if first is not None:
                    errors[name][1].append(first)
            if options.rows:
                print(row["line"], row["backend"], row["backend_version"], row["model"], row["system"],
                      row["gemm_quant_mode"], row["isl"], row["osl"], row["concurrency"], row["tp"], row["ep"], row["dp"],
                      f"{row['tpot_ms']} {found['tpot'] / 1e6:.2f} {token:+.2f} "
                      f"{row['ttft_ms']} {found['ttft'] / 1e6:.0f} {found['bound']}", sep=",")
    print(f"{'median, mean, 90 %, bias in %':44s} rows   of tokens                   of first tokens")
    for name, (tokens, firsts) in sorted(errors.items()):
        print(line(f"{name:44s} {len(tokens):4d}", tokens), line(" |", firsts) if firsts else "")
    for why, count in failures.most_common():
        print(f"{count:5d} rows: {why}")


main()
