# SPDX-License-Identifier: Apache-2.0
"""usage: not_modelled.py SOURCE_ROOT

Imports an input with each key that changes figures and is not modelled: a warning must name
the key and say what is wrong without it.
"""
import json
import pathlib
import sys

import import_tables
import tool

ARGUMENTS = ["--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4",
             "--seq-length", "32", "--max-position-embeddings", "32",
             "--micro-batch-size", "1", "--vocab-size", "100"]


def megatron(key, folder):
    return ["megatron", "--", *ARGUMENTS, "--" + key.replace("_", "-"), "1"]


def file_with(folder, content):
    path = folder / "input.json"
    path.write_text(json.dumps(content))
    return str(path)


def huggingface(key, folder):
    return ["hf", file_with(folder, {"model_type": "llama", key: {"a": 1}})]


def deepspeed(key, folder):
    zero = {"stage": 3, key: 4}
    return ["deepspeed", file_with(folder, {"train_batch_size": 8, "zero_optimization": zero,
                                            key: {"enabled": True}})]


def simumax(key, folder):
    return ["simumax", file_with(folder, {
        "hidden_size": 64, "head_num": 4, "layer_num": 2, "intermediate_size": 128,
        "vocab_size": 100, "seq_len": 32, "micro_batch_size": 1, "micro_batch_num": 1,
        key: True})]


def calculon(key, folder):
    return ["calculon", file_with(folder, {
        "hidden": 64, "feedforward": 256, "seq_size": 32, "attn_heads": 4, "attn_size": 16,
        "num_blocks": 2, "num_procs": 1, "batch_size": 1, "microbatch_size": 1, key: "all"})]


AICB = ("python -m workload_generator.SimAI_training_workload_generator "
        "--num_layers 2 --hidden_size 64 --num_attention_heads 4 --")


def aicb(key, folder):
    return ["aicb", AICB + key]


def aicb_value(key, folder):
    return ["aicb", AICB + key + "=1"]


def vllm(key, folder):
    return ["vllm", f"vllm serve Qwen/Qwen3-8B --{key.replace('_', '-')} 1"]


def sglang(key, folder):
    return ["sglang", f"sglang serve --model-path Qwen/Qwen3-8B --{key.replace('_', '-')} 1"]


def trtllm(section):
    def make(key, folder):
        path = folder / "options.yaml"
        path.write_text(f"{section}\n  {key}: 1\n" if section else f"{key}: 2\n")
        return ["trtllm", str(path)]
    return make


MAKE = {"serving/vllm": [vllm], "serving/sglang": [sglang],
        "serving/trtllm": list(map(trtllm, ("", "kv_cache_config:", "quant_config:"))),
        "megatron": [megatron], "huggingface": [huggingface], "deepspeed": [deepspeed],
        "simulators": [simumax, calculon], "aicb": [aicb, aicb_value]}


def said(make, key):
    """The messages of an import."""
    with tool.scratch() as folder:
        return tool.attempt("import", *make(key, folder)).stderr


problems, count = [], 0
for page, makers in MAKE.items():
    for key, text in import_tables.fates(pathlib.Path(sys.argv[1]), page)[1].items():
        expected = f"warning: `{key}` is not modelled: {text} [import-not-modelled]"
        if any(expected in said(make, key) for make in makers):
            count += 1
        else:
            problems.append(f"{page}: {key}: no warning\n{said(makers[0], key)[:300]}")
tool.report(problems, f"{count} keys")
