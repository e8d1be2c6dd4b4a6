#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Measures whole runs of the tool and of others that answer the same question, each
# of the same job, in one loop: processor time, which does not depend on what else
# runs, and peak memory.
"""usage: against.py FORETRACE [--aicb=DIR] [--stage=DIR] [--simumax=DIR]
                  [--calculon=DIR] [--python=PYTHON] [--runs=N]

DIR is the repository of the other tool: AICB (a table for SimAI), STAGE (Chakra
traces), SimuMax (memory of a rank), Calculon (a search for the best configuration,
several minutes). PYTHON has what these import. Without any of them there is nothing
to compare with."""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

JOBS = pathlib.Path(__file__).resolve().parent / "against"
AICB = """-m workload_generator.SimAI_training_workload_generator
    --frame Megatron --model_name gpt --world_size 1024
    --tensor_model_parallel_size 8 --pipeline_model_parallel 8
    --global_batch 1536 --micro_batch 1 --num_layers 96 --seq_length 2048
    --hidden_size 12288 --num_attention_heads 96 --vocab_size 50257
    --max_position_embeddings 2048 --epoch_num 1
    --enable_sequence_parallel""".split()
# A micro-batch of 16 is of both replicas.
STAGE = """main.py --output_name workload --model_type llama --weight_sharded 0
    --dp 2 --tp 2 --pp 2 --batch 64 --micro_batch 16 --seq 4096
    --num_stacks 32 --dmodel 4096 --dff 14336 --head 32 --kvhead 8
    --dvocal 128256""".split()
SIMUMAX = "examples/perf_llama3_70b_layer12_tp2.py"
REPEATED = """import runpy, sys
main = runpy.run_path(sys.argv[1])["main"]
for _ in range(int(sys.argv[2])):
    main()"""
CALCULON = """bin/calculon llm-optimal-execution models/gpt3-175B.json 1024 1024
    float16 SYSTEM OUTPUT --no-tp-overlap --no-dp-overlap --cpus 1""".split()


def run(command, folder, output=subprocess.DEVNULL):
    """Seconds of the processor, and MiB."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=output, stderr=output,
        env={**os.environ, "PYTHONPATH": "."})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exits with "
                 f"{process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def median_of(runs, *commands):
    """The median seconds of each command; all of them in turn."""
    rows = [[run(*command)[0] for command in commands] for _ in range(runs)]
    return map(statistics.median, zip(*rows))


def repeat(python, folder, tool, runs):
    """One more configuration in a process that has started."""
    more = 10
    once, often, start, whole = median_of(
        runs, ([python, "-c", REPEATED, SIMUMAX, "1"], folder),
        ([python, "-c", REPEATED, SIMUMAX, str(1 + more)], folder),
        ([tool, "--version"], folder),
        ([tool, "memory", JOBS / "memory.fore"], folder))
    theirs, ours = (often - once) / more, whole - start
    print(f"| the same, one more configuration | {theirs * 1000:.1f} ms | | "
          f"{ours * 1000:.1f} ms | | {theirs / ours:.1f} |")


def without_offloading(folder, path):
    """A system of Calculon with one network and no second memory: its search
    would vary where each group communicates, and what is offloaded."""
    system = json.loads((folder / "systems/a100_80g.json").read_text("utf-8"))
    system["networks"] = system["networks"][1:]
    system["mem2"]["GiB"] = 0
    path.write_text(json.dumps(system), encoding="utf-8")


def search(python, folder, tool, out):
    """Both searches, with what they judge and what of that is legal."""
    without_offloading(folder, out / "system.json")
    paths = {"SYSTEM": out / "system.json", "OUTPUT": out / "best.json"}
    theirs = [python, *(paths.get(word, word) for word in CALCULON)]
    ours = [tool, "sweep", JOBS / "search.fore", "--threads=1", "--quiet",
            f"--axes={JOBS / 'search-axes.toml'}"]
    print("\n| search | candidates | legal | time | candidates a second | "
          "legal a second |\n|---|---|---|---|---|---|")
    for name, command, place, patterns in (
            ("Calculon", theirs, folder,
             (r"Total executions: (\d+)", r"Good executions: (\d+)")),
            ("Foretrace", ours, out, (r"(\d+) points", r"(\d+) accepted"))):
        with (out / "log").open("wb") as log:
            seconds, _ = run(command, place, log)
        text = (out / "log").read_text("utf-8")
        judged, legal = (int(re.search(p, text)[1]) for p in patterns)
        print(f"| {name} | {judged:,} | {legal:,} | {seconds:.2f} s | "
              f"{judged / seconds:,.0f} | {legal / seconds:,.0f} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.removeprefix("usage: "))
    parser.add_argument("foretrace", type=pathlib.Path)
    for name in ("aicb", "stage", "simumax", "calculon"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    tool = options.foretrace.resolve()
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name)
        theirs, ours = out / "theirs", out / "ours"
        compile_to = [tool, "compile", "--quiet", "-o", f"{ours}/"]
        pairs = [
            ("a SimAI table, GPT-3 175B, 1,024 ranks", options.aicb, AICB,
             [*compile_to, JOBS / "table.fore"]),
            ("Chakra traces, Llama 3 8B, 8 ranks", options.stage,
             [*STAGE, "--output_dir", f"{theirs}/"],
             [*compile_to, JOBS / "traces.fore"]),
            ("memory of a rank, Llama 3 70B, 12 layers", options.simumax,
             [SIMUMAX], [tool, "memory", JOBS / "memory.fore"]),
        ]
        pairs = [pair for pair in pairs if pair[1]]
        if not pairs and not options.calculon:
            parser.error("nothing to compare with: give --aicb, --stage, "
                         "--simumax or --calculon")
        if pairs:
            print("| job | theirs | MiB | ours | MiB | ratio |\n"
                  "|---|---|---|---|---|---|")
        for title, folder, arguments, command in pairs:
            rows = [(*run([options.python, *arguments], folder),
                     *run(command, out)) for _ in range(options.runs)]
            seconds, mib, own, own_mib = map(statistics.median, zip(*rows))
            print(f"| {title} | {seconds:.2f} s | {mib:.0f} | "
                  f"{own * 1000:.1f} ms | {own_mib:.0f} | "
                  f"{seconds / own:,.0f} |", flush=True)
        if options.simumax:
            repeat(options.python, options.simumax, tool, options.runs)
        if options.calculon:
            search(options.python, options.calculon, tool, out)


if __name__ == "__main__":
    main()
