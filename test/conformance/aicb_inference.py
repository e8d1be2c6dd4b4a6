# SPDX-License-Identifier: Apache-2.0
"""Compares with the tables and CSV of the public generator's inference programs, byte for byte."""
import csv
import os
import pathlib

import aicb
import tool

MARKER = "INDEX.csv"
MODELS = {"DeepSeek-671B": "deepseek-v3", "Qwen3-Moe-235B": "qwen3-235b-a22b",
          "Qwen3-Next-80B": "qwen3-next-80b-a3b"}
ALLOWED = ["serve-world", "heads-indivisible", "kv-heads-indivisible", "ep-exceeds-dp", "serve-ep", "ffn-indivisible",
           "layers-indivisible", "sequence-exceeds-positions"]


def job_of(case):
    emit = ("emit simai { accounting = aicb  %s }" if case["file"].endswith(".txt")
            else "emit aicb { kind = vidur  %s }") % (
                "allow = [%s]" % ", ".join('"%s"' % slug for slug in ALLOWED))
    return """import "models/%s.fore"
requests { input = %s  output = 1  concurrency = %s }
serve %s { }
parallel { world = %s  tp = %s  ep = %s  pp = %s }
%s
""" % (MODELS[case["model"]], case["seq_length"], case["micro_batch"], case["phase"],
       case["world_size"], case["tp"], case["ep"], case["pp"], emit)


def imported_job_of(case):
    """The job that the arguments of the program become."""
    sizes = {"seq_length": "seq_length", "micro_batch": "micro_batch", "world_size": "world_size",
             "tensor_model_parallel_size": "tp", "expert_model_parallel_size": "ep",
             "pipeline_model_parallel": "pp", "phase": "phase"}
    return tool.run("import", "aicb", "--quiet", " ".join(
        ["python -m workload_generator." + case["generator"], case["model"], "default.json",
         *(f"--{option} {case[name]}" for option, name in sizes.items())]))


def compare(folder, case):
    return compare_job(folder, case, job_of(case)) or \
        compare_job(folder, case, imported_job_of(case))


def compare_job(folder, case, job):
    with tool.scratch() as temp:
        done = tool.attempt("compile", "-", "-o", temp / "out", "--quiet", input=job)
        if case["status"] != "ok":
            number = case["message"].split()[1]
            return None if done.returncode == 1 and number in done.stderr else \
                "not refused: " + done.stderr
        if done.returncode:
            return done.stderr
        got = (temp / "out").read_bytes()
    expected = pathlib.Path(folder, case["file"]).read_bytes()
    if got == expected:
        return None
    line, *lines = aicb.first_difference(expected, got)
    return "line %d\n  expected: %s\n  got:      %s" % (
        line, *(words.decode(errors="replace") for words in lines))


def run_folder(folder):
    with open(os.path.join(folder, MARKER), encoding="utf-8") as file:
        for case in csv.DictReader(file):
            yield os.path.join(folder, case["file"]), compare(folder, case)
