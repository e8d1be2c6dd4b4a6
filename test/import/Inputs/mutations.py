# SPDX-License-Identifier: Apache-2.0
"""usage: mutations.py SEED COUNT

Damages inputs of each importer: keys are dropped, misspelt, get values of other types, texts
are truncated or replaced by garbage. Each is imported, or there is a message at a place of the
input, and nothing is written; never does the program crash or hang.
"""
import json
import random
import re
import sys

import tool

CONFIG = {"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3",
          "vocab_size": 1024, "hidden_size": 64, "intermediate_size": 128,
          "moe_intermediate_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4,
          "n_routed_experts": 8, "n_shared_experts": 1, "num_experts_per_tok": 2,
          "first_k_dense_replace": 1, "q_lora_rank": None, "kv_lora_rank": 16,
          "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 16, "n_group": 1,
          "topk_group": 1, "rope_scaling": {"factor": 40, "type": "yarn"}}
DEEPSPEED = {"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1,
             "bf16": {"enabled": True}, "zero_optimization": {
                 "stage": 3, "offload_optimizer": {"device": "cpu"}, "overlap_comm": True}}
SCRIPT = """#!/bin/bash
TP=${TP:-2}
H=$((64 * 2))
ARGS=( --num-layers 4 --hidden-size $H --num-attention-heads 4 --swiglu )
if [ "$TP" -gt 1 ]; then SP="--sequence-parallel"; else SP=""; fi
for i in 1 2; do N=$i; done
torchrun --nproc_per_node 8 --nnodes $N pretrain_gpt.py ${ARGS[@]} $SP --seq-length 32 \\
  --max-position-embeddings 32 --micro-batch-size 1 --vocab-size 100 \\
  --tensor-model-parallel-size $TP --moe-layer-freq '([0]*1+[1]*3)' --num-experts 8 "$@"
"""
YAML = """MODEL_ARGS:
  --num-layers: 4
  --hidden-size: 64
  --num-attention-heads: 4
  --seq-length: 32
  --max-position-embeddings: 32
  --micro-batch-size: 1
  --bf16: true
"""
TOML = """[model]
name = "llama3"
flavor = "8B"
[training]
local_batch_size = 1
seq_len = 1024
[parallelism]
tensor_parallel_degree = 2
"""
PYTHON = """def llama3_8b() -> Trainer.Config:
    return Trainer.Config(
        model_spec=model_registry("8B"),
        training=TrainingConfig(local_batch_size=2, seq_len=4096),
        parallelism=ParallelismConfig(tensor_parallel_degree=8),
    )
"""
AICB = ("sh scripts/megatron_gpt.sh --nnodes 1 --world_size 8 --num_layers 4 --hidden_size 64 "
        "--num_attention_heads 4 --seq_length 32 --micro_batch 1 --global_batch 8 -m 7")
INPUTS = {
    "hf": ("config.json", json.dumps(CONFIG, indent=1)),
    "megatron": ("run.sh", SCRIPT),
    "megatron ": ("model_config.yaml", YAML),
    "torchtitan": ("job.toml", TOML),
    "torchtitan ": ("config_registry.py", PYTHON),
    "deepspeed": ("ds_config.json", json.dumps(DEEPSPEED, indent=1)),
    "aicb": ("command.txt", AICB),
}
WORDS = ["-1", "0", "1e9", "9223372036854775807", "null", '"many"', "[]", "[1, 2", "{}", "true",
         "NaN", "$", "${", "$((", "'", '"', "\\", "\x00", "é", "--", "((", "[[", "`", "\n\n"]


def damage(text, chance):
    """One to three changes of a text."""
    for _ in range(chance.randint(1, 3)):
        words = [match.span() for match in re.finditer(r"[\w.-]+", text)]
        kind = chance.randrange(6)
        if kind == 0 or not words:  # truncated
            text = text[:chance.randrange(len(text) + 1)]
        elif kind == 1:  # garbage
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(WORDS) + text[at:]
        else:
            begin, end = chance.choice(words)
            if kind == 2:  # dropped
                text = text[:begin] + text[end:]
            elif kind == 3:  # misspelt
                at = chance.randrange(begin, end)
                text = text[:at] + text[at + 1:]
            else:  # another type
                text = text[:begin] + chance.choice(WORDS) + text[end:]
    return text


chance, count = random.Random(int(sys.argv[1])), int(sys.argv[2])
refused = imported = 0
with tool.scratch() as folder:
    out = folder / "out.fore"
    for form, (name, text) in INPUTS.items():
        for number in range(count):
            damaged = damage(text, chance)
            if number == 0:
                damaged = "".join(chance.choice("{[\"'$(\\a1\n:- ") for _ in range(1 << 20))
            (folder / name).write_bytes(damaged.encode("utf-8", "surrogateescape"))
            out.unlink(missing_ok=True)
            done = tool.attempt("import", form.strip(), folder / name, "-o", out,
                                errors="replace", timeout=20)
            if done.returncode == 0 and out.exists():
                imported += 1
            elif done.returncode != 1 or out.exists() or "error: " not in done.stderr:
                print(f"{form} {number}: status {done.returncode}\n{damaged[:400]}\n"
                      f"{done.stderr[:400]}")
            else:
                refused += 1
print(f"{imported + refused} inputs, {imported} imported")
