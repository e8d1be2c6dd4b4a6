# SPDX-License-Identifier: Apache-2.0
"""Imports configurations of torchtitan, and compares what the jobs mean."""
import os

import tool
from importing import Imported, differences, expected, named, not_asked, runs, section_with

TYPES = {"fp32": "float32", "bf16": "bfloat16"}
# Names of recomputation modes, with their options.
RECOMPUTE = {"none": ("none", None), "full": ("full", None),
             "op": ("selective", "op")}
SCHEDULES = {"none": "1F1B", "one_f_one_b": "1F1B", "gpipe": "GPipe",
             "interleaved_1f1b": "Interleaved1F1B", "looped_bfs": "LoopedBFS",
             "interleaved_zb": "InterleavedZeroBubble", "zbv": "ZBVZeroBubble"}
# Facts that a job has no other words for than its messages.
SAID = {"model", "flavor"}


def experts_of(layers, experts):
    kinds = ["moe" if "experts" in layer["ffn"] else "dense"
             for layer in layers]
    return {"experts": experts["experts"], "topk": experts["topk"],
            "ffn": experts["intermediate"],
            "shared_ffn": experts["shared_intermediate"],
            "pattern": runs(kinds)}


def shape_of(made, want):
    """The shape of the model, as far as the case has it."""
    model, layers = made["model"], made["model"]["all_layers"]
    attention = section_with(layers, "attention", "heads")
    dense = next((layer["ffn"] for layer in layers
                  if layer["ffn"]["kind"] == "dense"), {})
    experts = section_with(layers, "ffn", "experts")
    heads = attention["heads"]
    found = {**named(model, "hidden vocab tied norm positions bias vocab_multiple"),
             "layers": len(layers), "heads": heads,
             "kv_heads": attention.get("kv_heads", heads),
             "head_dim": attention.get("head_dim", model["hidden"] // heads),
             "ffn": dense.get("intermediate"),
             "activation": (dense or experts)["activation"],
             "qk_norm": attention.get("qk_norm", False)}
    if experts:
        found["moe"] = experts_of(layers, experts)
    if attention["kind"] == "mla":
        found["mla"] = {key: attention[key] for key in want.get("mla", {})}
    return {key: found.get(key, "missing") for key in want}


def recompute_of(made):
    """How layers are recomputed: the mode and its option."""
    mode = made["train"]["recompute"]
    each = [layer.get("recompute", mode)
            for layer in made["model"]["all_layers"]]
    if len(set(each)) == 1:
        return RECOMPUTE.get(each[0], (each[0], None))
    again = [number for number, kind in enumerate(each, 1) if kind == "full"]
    every = again[0]
    if again != list(range(every, len(each) + 1, every)):
        return "irregular", None
    return "selective", str(every)


def sharding_of(parallel, text):
    """Replicas, and shards: -1 if they are what is left."""
    dp = parallel["dp"]
    shard = parallel.get("dp_shard", dp)
    is_left = "dp_shard" not in parallel
    return {"dp_replicate": dp // shard, "dp_shard": -1 if is_left else shard,
            "dp_shard_resolved": shard, "dp": dp}


def facts_of(job, made, want):
    train, parallel = made["train"], made["parallel"]
    mode, option = recompute_of(made)
    has_pipeline = parallel["pp"] > 1
    local = train["micro_batch"] * (parallel["ga"] if has_pipeline else 1)
    zero = parallel["zero"]
    found = sharding_of(parallel, job.text)
    found.update({
        **named(train, "seq=sequence micro_batch gbs=global_batch"),
        **named(parallel, "world sp=sequence_parallel zero tp pp cp ep vpp cp_comm"),
        "local_batch": local,
        "global_batch": train["global_batch"]
        if "global_batch = " in job.text else -1,
        "grad_accumulation": 1 if has_pipeline else parallel["ga"],
        "tokens_per_microbatch_per_dp_rank": local * train["sequence"],
        # A dense model has no experts to split.
        "etp": parallel["etp"] if "experts = " in job.text else 1,
        "compute": TYPES.get(train["precision"]),
        "storage": TYPES.get(train["weight_precision"]),
        "reduce": TYPES.get(train["reduce_precision"]),
        "recompute": mode, "recompute_option": option,
        "loss_parallel": parallel["tp"] > 1
        and not job.warns("parallel loss"),
        # The default is either of the two, and a job does not tell them apart.
        "reshard_after_forward": "default"
        if want.get("reshard_after_forward") == "default"
        and zero == (2 if has_pipeline else 3) else
        {3: "always", 2: "never"}.get(zero),
    })
    found["schedule"] = SCHEDULES.get(parallel["schedule"])
    is_quantized = train["compute_precision"] != train["precision"]
    for name in ("fp8", "float8", "quantize", "converters"):
        if name in want and bool(want[name]) == is_quantized:
            found[name] = want[name]
    for name in ("async_tp", "enable_async_tensor_parallel"):
        found[name] = parallel.get("tp_comm_overlap", False)
    if found["storage"] == "bfloat16" and zero == 2 and \
            train["master_precision"] == "fp32":
        found["storage"] = "float32"  # the shards are the optimizer's copy
    if "shape" in want:
        found["shape"] = shape_of(made, want["shape"])
    return found


def world_for(facts):
    """A number of ranks that the degrees allow."""
    ranks = facts["tp"] * facts["pp"] * facts["cp"] * facts["dp_replicate"]
    while ranks % facts["ep"]:
        ranks *= 2
    return facts["world"] or ranks * max(facts["dp_shard"], 1)


def compare(folder):
    case = expected(folder)
    facts = case["facts"]
    path = next(os.path.join(folder, name)
                for name in sorted(os.listdir(folder))
                if name.endswith((".toml", ".py")))
    try:
        job = Imported("torchtitan", path)
    except tool.Failed as error:
        if "not a language model" not in str(error) \
                or "not a language model" not in case["today"]["reasons"]:
            yield str(error)
        return
    made = job.spec(*(["-Dworld=%d" % world_for(facts)] if "world" in job.params else []))
    found = facts_of(job, made, facts)
    for line in differences({key: want for key, want in facts.items() if key not in SAID},
                            found):
        if not line.startswith("unknown fact") or not job.warns(line.split()[-1]):
            yield line
    if facts["dp_shard"] < 1:
        yield from not_asked(case, job)
