# SPDX-License-Identifier: Apache-2.0
"""Compares with tables and CSV workloads of the public generator, byte for byte.

A case is the generator's command line, which is imported, with its revision and, for a
timed table, the times that it read.
"""
import json
import os
import pathlib
import re
import shlex

import tool

MARKER = "workload.txt"  # an expected table or workload
# The options of the short keys in case.json. Booleans are flags.
OPTIONS = {
    "frame": "frame", "world_size": "world_size", "tp": "tensor_model_parallel_size",
    "pp": "pipeline_model_parallel", "cp": "context_parallel_size",
    "global_batch": "global_batch", "mbs": "micro_batch", "layers": "num_layers",
    "seq": "seq_length", "hidden": "hidden_size", "heads": "num_attention_heads",
    "vocab": "vocab_size", "ffn": "ffn_hidden_size", "ep": "expert_model_parallel_size",
    "experts": "num_experts", "topk": "moe_router_topk", "ndense": "n_dense_layers",
    "nshared": "n_shared_expert", "q_lora": "q_lora_rank", "kv_lora": "kv_lora_rank",
    "rope": "qk_rope_dim", "nope": "qk_nope_dim", "v": "v_head_dim",
    "vocab_multiple": "make_vocab_size_divisible_by",
    "sp": "enable_sequence_parallel", "swiglu": "swiglu", "bias": "add_bias_linear",
    "recompute": "recompute_activations", "moe": "moe_enable", "gg": "moe_grouped_gemm",
}
# Sections of measured times by their short key in case.json.
SECTIONS = {
    "emb": "Emb", "ln": "layernorm", "qkv": "atten_qkv",
    "flash": "atten_flash", "al": "atten_linear", "ln2": "layernorm2",
    "m1": "mlp_linear_1", "mg": "mlp_gelu", "m2": "mlp_linear_2",
    "lp": "layernorm_post", "lo": "logit", "pmin": "param_time_min",
    "pavg": "param_time_avg",
}
# Revisions of the generator and the version whose output they write.
REVISIONS = {revision: version for version, revisions in {
    "2024-10": "2678a94 d9b4f5c",
    "2024-12": "cf516c0",
    "2025-01": "ed1dee4 3ccea49 9ac2f0e",
    "2025-09-15": "741fbe8 475e77e",
    "2025-12": "92a99f8 b866b12 3d58f44 6584080 05551a1 7dae7db 508cd8f "
               "9d51993 23eec3c",
}.items() for revision in revisions.split()}
# Versions that take experts for a dense network unless their products are grouped.
NEEDS_GROUPED_GEMM = {"2024-10", "2024-12"}
TABLE = "SimAI_training_workload_generator"
# What the generator accepts in spite of the rules of a job.
ALLOWED = [
    "layers-indivisible", "batch-indivisible", "heads-indivisible",
    "kv-heads-indivisible", "kv-heads-no-factor", "head-dim-indivisible",
    "rotary-odd",
    "sequence-indivisible", "sequence-exceeds-positions", "sp-without-tp",
    "moe-needs-sp",
    "topk-exceeds-experts", "ep-exceeds-dp", "ep-without-experts",
    "simai-cp-ignored",
]
ALLOWED_IN = {"simai": ALLOWED + ["simai-time-limit", "simai-pp-comm-limit"],
              "aicb": ALLOWED + ["aicb-ignored"]}


def read_aiob(path):
    """Section times in us, as the generator reads its measurement file."""
    times = {}
    section = None
    for line in open(path):
        name = re.match(r"^(\w+):\s*$", line)
        value = re.match(r"^\s+time_gpu_(\w+):\s*(\S+)", line)
        if name:
            section = name.group(1)
        elif value and section == "param_time":
            if value.group(1) in ("min", "avg"):
                times["param_time_" + value.group(1)] = value.group(2)
        elif value and section and value.group(1) == "avg":
            times[section] = value.group(2)
    return times


def command_of(module, words):
    return "python -m workload_generator.%s %s" % (module, shlex.join(words))


def words_of(config):
    """The options that short keys stand for."""
    words = []
    for key, value in config.items():
        if value is True:
            words += ["--" + OPTIONS[key]]
        elif value is not False and value is not None:
            words += ["--" + OPTIONS[key], str(value)]
    return words


def read_case(folder):
    """The case of a folder: (version, command, times or None)."""
    path = os.path.join(folder, "case.json")
    if os.path.exists(path):
        case = json.load(open(path))
        unknown = sorted(set(case["config"]) - set(OPTIONS))
        if unknown:
            raise ValueError("unknown keys %s" % ", ".join(unknown))
        times = case.get("times_us")
        if times is not None:
            times = {SECTIONS.get(k, k): repr(v) for k, v in times.items()}
        return case["generator_version"], command_of(TABLE, words_of(case["config"])), times
    case = json.load(open(os.path.join(folder, "args.json")))
    times = None
    if case.get("aiob_times"):
        times = read_aiob(os.path.join(folder, case["aiob_times"]))
    return REVISIONS[case["aicb_commit"]], command_of(case["module"], case["argv"]), times


def job_of(folder):
    """The text of the job of a case."""
    version, command, times = read_case(folder)
    if version in NEEDS_GROUPED_GEMM and "--moe_grouped_gemm" not in command:
        command = command.replace(" --moe_enable", "")
    text = tool.run("import", "aicb", command, "-o", "-", "--name=job")
    if times is not None:
        text += "cost profile { times {\n%s} }\n" % "".join(
            "  %s = %s us\n" % item for item in times.items())
    kind = re.search(r"^emit (\w+) {", text, re.M)[1]
    return text.replace("emit %s {" % kind, 'emit %s {\n  version = "%s"\n  allow = [%s]' % (
        kind, version, ", ".join('"%s"' % slug for slug in ALLOWED_IN[kind])))


def first_difference(expected, got):
    want, have = expected.split(b"\n"), got.split(b"\n")
    for number, (a, b) in enumerate(zip(want, have), 1):
        if a != b:
            return number, a, b
    short = min(len(want), len(have))
    end = b"<end of file>"
    return (short + 1, (want + [end])[short], (have + [end])[short])


def compare(folder):
    """What differs in the one case of a folder."""
    try:
        job = job_of(folder)
    except (KeyError, ValueError) as what:
        yield "can't be converted: %r" % what
        return
    with tool.scratch() as temp:
        tool.run("compile", "-", "-o", temp / "workload.txt", "--quiet", input=job)
        got = (temp / "workload.txt").read_bytes()
    expected = pathlib.Path(folder, "workload.txt").read_bytes()
    if got != expected:
        line, *lines = first_difference(expected, got)
        yield "line %d\n  expected: %s\n  got:      %s" % (
            line, *(words.decode(errors="replace") for words in lines))
