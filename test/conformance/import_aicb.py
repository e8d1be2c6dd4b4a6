# SPDX-License-Identifier: Apache-2.0
"""Imports command lines of AICB, and compares what the jobs mean."""
import os

from importing import Imported, differences, expected, named, not_asked, section_with, verdict

# Options of workloads, their defaults, and the stages of ZeRO that read them.
SIZES = {"reduce_bucket_size": (500000000, {1, 2, 3}),
         "allgather_bucket_size": (500000000, {1, 2}),
         "param_persistence_threshold": (100000, {3}),
         "max_live_parameters": (1000000000, {3}),
         "prefetch_bucket_size": (1000000000, {3})}


def facts_of(job, made, want):
    """The facts that a job means, by the names that the cases have."""
    model, train, parallel = made["model"], made["train"], made["parallel"]
    layers = model["all_layers"]
    attention = layers[0]["attention"]
    dense = section_with([l for l in layers if l["ffn"]["kind"] == "dense"],
                         "ffn", "intermediate")
    experts = section_with(layers, "ffn", "experts")
    emit = made["emit"]
    is_deepspeed = emit.get("kind") == "deepspeed" or \
        'kind = deepspeed' in job.text
    found = {
        "frame": "DeepSpeed" if is_deepspeed else
                 "DeepSeek" if attention["kind"] == "mla" else "Megatron",
        "layers": len(layers), "heads": attention["heads"],
        **named(model, "hidden vocab max_positions"),
        **named(train, "seq=sequence global_batch micro_batch"),
        **named(parallel, "world tp pp cp dp ga zero"),
        "ffn": (dense or experts)["intermediate"],
        "swiglu": (dense or experts)["activation"] == "swiglu",
        # A job with tp = 1 has none, as it would change nothing.
        "sp": "sequence_parallel = true" in job.text,
        "recompute": train["recompute"] != "none",
        "timed": job.warns("times of sections"),
        "times": None,
    }
    if parallel["tp"] > 1:
        found["sp"] = parallel["sequence_parallel"]
    if experts:
        found["moe"] = {"experts": experts["experts"], "topk": experts["topk"],
                        "ep": parallel["ep"],
                        "dense_layers": sum(l["ffn"]["kind"] == "dense" for l in layers),
                        "shared": experts["shared"]}
        found["moe"] = {key: found["moe"][key]
                        for key in found["moe"] if key in want.get("moe", {})}
    if attention["kind"] == "mla":
        found["mla"] = named(attention, "q_lora kv_lora rope_dim nope_dim v_dim")
    for name, (default, stages) in SIZES.items():
        if name in want and parallel["zero"] not in stages:
            found[name] = want[name]  # the generator does not read it
        else:
            found[name] = emit.get(name, default)
    if isinstance(want.get("times"), str) and job.warns(want["times"]):
        found["times"] = want["times"]
    return found


def compare(name, case, path):
    """The differences of one import from the case."""
    job = Imported("aicb", path)
    made = job.spec(*("-D%s=%s" % (param, case["facts"].get(param) or 8)
                      for param in job.params))
    yield from differences(case["facts"], facts_of(job, made, case["facts"]))
    if name == "command":
        yield from not_asked(case, job)
        if case["intent"] and not job.warns("."):
            yield "no warning, but the author meant %s" % case["intent"]


def run_folder(folder):
    """The command of a folder, and the arguments that its script passes on."""
    case = expected(folder)
    for name in ("command", "args"):
        path = os.path.join(folder, name + ".txt")
        if os.path.exists(path):
            yield path, verdict(compare, name, case, path)
