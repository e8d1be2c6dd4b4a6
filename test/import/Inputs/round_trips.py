# SPDX-License-Identifier: Apache-2.0
"""usage: round_trips.py CASES FOLDER

Jobs and models are exported and imported again: their specs must be the same, and models have
as many parameters. Jobs that a format refuses are counted apart. Of all jobs of all models, at
least CASES are taken, or all; and all of FOLDER. Of every third case, three models that follow each other have all
jobs; those of one kind do.
"""
import functools
import itertools
import json
import pathlib
import re
import sys

import spec
import tool

# A release cannot be said by flags; the import states the oldest that has all of them.
NOT_SAID = {"parallel.megatron"}
# A recipe has no mask, and a table of positions as long as the sequence.
NOT_SAID_BY = {"bridge": {"train.attention_mask", "model.max_positions"}}
IMPORTED_AS = {"bridge": "megatron"}
SUFFIXES = {"megatron": ".sh", "bridge": ".py", "hf": ".json", "aicb": ".txt", "torchtitan": ".toml"}
MODELS = ["llama3-8b", "llama3-70b", "qwen2.5-32b", "qwen3-8b", "qwen3-32b", "qwen3-30b-a3b",
          "qwen3-coder-480b-a35b", "mixtral-8x7b", "mixtral-8x22b", "deepseek-v2-lite",
          "deepseek-v3", "kimi-k2", "olmo-2-32b", "gpt2", "phi-4", "glm-4.5", "gpt-oss-20b"]
REST = """
train    {{ sequence = 2048  micro_batch = 1  global_batch = 64  {train} }}
parallel {{ world = 64  {parallel} }}
"""
JOBS = [
    ("", "tp = 2  sequence_parallel = true"),
    ("recompute = full", "pp = 2  zero = 1  overlap_grad_reduce = true"),
    ("recompute = selective  dropout = true  attention_mask = true", "cp = 2  cp_comm = p2p"),
    ("compute_precision = mxfp8  grad_precision = bf16", "pp = 4  zero = 1"),
    ("precision = fp16  per_token_loss = true  fused_loss = te  fused_wgrad = true",
     "zero = 3  dp_framework = megatron_fsdp"),
    ("optimizer = precision_aware  moment_precision = bf16", "pp = 2  vpp = 2  zero = 1"),
    ("reduce_precision = bf16  grad_precision = bf16", "cp = 2  cp_comm = all_gather"),
    ("", "zero = 1  dp_shard = 16"),
    ("precision = fp32", "tp = 2"),
    ("dispatch_precision = fp8  combine_precision = fp16", "tp = 1"),
]



@functools.lru_cache(1)
def spec_of(text):
    """All keys of the spec of a job, those of layers once for each layer."""
    made = spec.of_text(text)
    keys = {f"{section}.{key}": value for section in ("train", "parallel")
            for key, value in made[section].items()}
    for key, value in made["model"].items():
        if key not in ("blocks", "layers", "all_layers", "kind", "branch"):
            keys["model." + key] = value
    for number, layer in enumerate(made["model"]["all_layers"]):
        for part in ("attention", "ffn"):
            # The width of all shared experts is the same, however it is said.
            said = {key: value for key, value in layer.get(part, {}).items() if key != "shared"}
            keys[f"layer {number} {part}"] = json.dumps(said, sort_keys=True)
    return {key: value for key, value in keys.items() if key not in NOT_SAID}


def trip(form, job, folder, suffix, before):
    """Returns the differences after a round trip from the keys before, or None if the format refuses
    the job."""
    exported, again = folder / f"exported{suffix}", folder / "again.fore"
    done = tool.attempt("export", form, job, "-o", exported)
    if done.returncode:
        return None if "[export-refused]" in done.stderr else [done.stderr]
    done = tool.attempt("import", IMPORTED_AS.get(form, form), exported, "-o", again, "--name=m")
    if done.returncode:
        return [done.stderr]
    after = spec_of.__wrapped__(again.read_text())
    return [f"{key}: {before.get(key)} became {after.get(key)}"
            for key in before.keys() | after.keys()
            if before.get(key) != after.get(key) and key not in NOT_SAID_BY.get(form, ())]


def cases(least):
    """Yields formats, with names of cases and texts of jobs."""
    for model in MODELS[::max(1, len(MODELS) // least)]:
        positions = 1024 if model == "gpt2" else 4096
        yield "hf", model, (f'import "models/{model}.fore"\nmodel m : {re.sub(r"[^a-z0-9]", "_", model)} '
                            f"{{ vocab_multiple = 1  max_positions = {positions} }}\n")
    every = list(itertools.product(MODELS, JOBS))
    for model, (train, parallel) in every[::max(1, len(every) // least)]:
        text = f'import "models/{model}.fore"\n' + REST.format(train=train, parallel=parallel)
        for form in ("megatron", "bridge"):
            yield form, f"{model} {train} {parallel}", text


same = {"hf": 0, "megatron": 0, "bridge": 0}
refused = dict(same)
with tool.scratch() as folder:
    job = folder / "job.fore"
    for form, name, text in cases(int(sys.argv[1])):
        job.write_text(text)
        try:
            before = spec_of(text)
        except tool.Failed:
            continue  # not legal with this model
        wrong = trip(form, job, folder, SUFFIXES[form], before)
        if wrong is None:
            refused[form] += 1
        elif wrong:
            print(form, name, *wrong[:5], sep="\n  ")
        else:
            same[form] += 1
    # Jobs of formats that hold few models.
    for other in sorted(pathlib.Path(sys.argv[2]).glob("*.fore")):
        form = other.stem.split("-")[0]
        wrong = trip(form, other, folder, SUFFIXES[form], spec_of(other.read_text()))
        print(form, *(wrong if wrong else ["refused" if wrong is None else "the same"]))
for form in same:
    print(f"{form}: {same[form]} the same, {refused[form]} refused")
