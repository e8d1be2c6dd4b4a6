#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Measures whole runs of the tool and of others that answer the same question, each
# of the same job, in one loop: processor time, which does not depend on what else
# runs, and peak memory.
"""usage: against.py FORETRACE [--aicb=DIR] [--stg=DIR] [--simumax=DIR]
                  [--python=PYTHON] [--runs=N]

DIR is where the other tool's repository lies: AICB (a table for SimAI), the symbolic
tensor graph generator (Chakra traces), SimuMax (memory of a rank). PYTHON has what
these import. Without any of them there is nothing to compare with."""

import argparse
import os
import pathlib
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
STG = """main.py --output_name workload --model_type dense --weight_sharded 0
    --dp 2 --tp 2 --pp 2 --batch 64 --micro_batch 16 --seq 4096
    --num_stacks 32 --dmodel 4096 --dff 14336 --head 32 --kvhead 8
    --dvocal 128256""".split()
SIMUMAX = ["examples/perf_llama3_70b_layer12_tp2.py"]


def run(command, folder):
    """Seconds of the processor, and MiB."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": "."})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exits with "
                 f"{process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024



def main():
    parser = argparse.ArgumentParser(usage=__doc__.removeprefix("usage: "))
    parser.add_argument("foretrace", type=pathlib.Path)
    for name in ("aicb", "stg", "simumax"):
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
            ("Chakra traces, Llama 3 8B, 8 ranks", options.stg,
             [*STG, "--output_dir", f"{theirs}/"],
             [*compile_to, JOBS / "traces.fore"]),
            ("memory of a rank, Llama 3 70B, 12 layers", options.simumax,
             SIMUMAX, [tool, "memory", JOBS / "memory.fore"]),
        ]
        pairs = [pair for pair in pairs if pair[1]]
        if not pairs:
            parser.error("nothing to compare with: give --aicb, --stg or "
                         "--simumax")
        print("| job | theirs | MiB | ours | MiB | ratio |")
        print("|---|---|---|---|---|---|")
        for title, folder, arguments, command in pairs:
            rows = [(*run([options.python, *arguments], folder),
                     *run(command, out)) for _ in range(options.runs)]
            seconds, mib, own, own_mib = map(statistics.median, zip(*rows))
            print(f"| {title} | {seconds:.2f} s | {mib:.0f} | "
                  f"{own * 1000:.1f} ms | {own_mib:.0f} | "
                  f"{seconds / own:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
