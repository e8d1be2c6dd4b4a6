# SPDX-License-Identifier: Apache-2.0
"""Jobs of logged runs of PyTorch (DDP, FSDP, HSDP) and DeepSpeed, all of one model."""
import json

MODEL = """
model llama {
  vocab = 160  vocab_multiple = 1  hidden = 64  norm = rmsnorm  positions = rope  layers = 4
  attention gqa { heads = 4  kv_heads = 2 }
  ffn { intermediate = 256  activation = swiglu }
}
"""


def job_of(layout, folder, run):
    """Text of the job of MODE-wRANKS-gaBATCHES; `run` calls Foretrace."""
    mode, world, ga = layout.rsplit("-", 2)
    world, ga = int(world[1:]), int(ga[2:])
    kind, *words = mode.split("-")
    if kind.startswith("ds"):
        zero = {"stage": int(kind[2]), "overlap_comm": "overlap" in words,
                "contiguous_gradients": True, "reduce_scatter": "rsfalse" not in words}
        if kind == "ds3":
            persistent = 0 if "nopersist" in words else 100000
            zero["stage3_param_persistence_threshold"] = persistent
        config = folder / "ds_config.json"
        config.write_text(json.dumps({
            "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": ga,
            "bf16": {"enabled": True}, "zero_optimization": zero}))
        imported = run("import", "deepspeed", config, "--quiet")
        return MODEL + imported.replace("param sequence\n", "param sequence = 32\n").replace(
            "param world\n", f"param world = {world}\n")
    # FSDP keeps what `precision` says in fp32 and reduces in `grad_precision`.
    precision = "bf16" if "bf16" in words else "fp32"
    reduced = "fp32" if precision == "fp32" or kind == "fsdp2" or "fp32red" in words else "bf16"
    zero = 0 if kind == "ddp" else 2 if {"gradop", "noreshard"} & set(words) else 3
    keys = f"world = {world}  zero = {zero}"
    if "hsdp" in words:
        keys += f"  dp_shard = {world // 2}"
    recompute = "full" if "ac" in words else "none"
    return MODEL + f"""
train {{
  sequence = 32  micro_batch = 2  global_batch = {2 * world * ga}
  precision = {precision}  grad_precision = {reduced}  recompute = {recompute}
}}
parallel {{ {keys} }}
"""
