# SPDX-License-Identifier: Apache-2.0
"""Jobs of PyTorch (DDP, FSDP, HSDP) and DeepSpeed, all of a small Llama.

A job is a text MODE-wRANKS-gaBATCHES, followed by sizes that differ from the usual ones:

  fsdp2-bf16-hsdp-w4-ga2 hidden=40 layers=3

MODE is ddp, fsdp1, fsdp2 or ds with the stage of ZeRO, followed by words:
  bf16        type of parameters (ddp, ds) or of gathered parameters (fsdp)
  fp32red     gradients are reduced in fp32 (fsdp1)
  gradop      parameters are not freed between the passes (fsdp1); noreshard (fsdp2)
  hsdp        two replicas
  ac          layers are recomputed
  bucket      buckets are small (ddp)
  overlap, rsfalse, nopersist
              overlap_comm, no reduce_scatter, no persistent parameters (ds)
"""
import dataclasses
import json

USUAL = {"hidden": 64, "heads": 4, "kv_heads": 2, "layers": 4, "ffn": 256, "vocab": 160,
         "sequence": 32, "micro_batch": 2, "tied": 0, "persistence": 100000}


@dataclasses.dataclass
class Settings:
    kind: str
    words: list
    world: int
    batches: int
    sizes: dict

    @property
    def precision(self):
        return "bf16" if "bf16" in self.words else "fp32"


def settings_of(text):
    name, *sizes = text.split()
    kind, *words, world, batches = name.split("-")
    sizes = USUAL | {key: int(size) for key, size in (each.split("=") for each in sizes)}
    return Settings(kind, words, int(world[1:]), int(batches[2:]), sizes)


def deepspeed_config(settings):
    words, sizes = settings.words, settings.sizes
    stage = int(settings.kind[2:])
    zero = {"stage": stage, "overlap_comm": "overlap" in words,
            "contiguous_gradients": True, "reduce_scatter": "rsfalse" not in words}
    if stage == 3:
        zero["stage3_param_persistence_threshold"] = \
            0 if "nopersist" in words else sizes["persistence"]
    return {"train_micro_batch_size_per_gpu": sizes["micro_batch"],
            "gradient_accumulation_steps": settings.batches,
            "bf16": {"enabled": "bf16" in words}, "zero_optimization": zero}


def model_of(sizes):
    return f"""
model llama {{
  vocab = {sizes["vocab"]}  vocab_multiple = 1  hidden = {sizes["hidden"]}
  layers = {sizes["layers"]}  tied = {"true" if sizes["tied"] else "false"}
  norm = rmsnorm  positions = rope
  attention gqa {{ heads = {sizes["heads"]}  kv_heads = {sizes["kv_heads"]} }}
  ffn {{ intermediate = {sizes["ffn"]}  activation = swiglu }}
}}
"""


def job_of(text, folder, run):
    """Text of the job; `run` calls Foretrace."""
    settings = settings_of(text)
    kind, words, sizes = settings.kind, settings.words, settings.sizes
    if kind.startswith("ds"):
        config = folder / "ds_config.json"
        config.write_text(json.dumps(deepspeed_config(settings)))
        imported = run("import", "deepspeed", config, "--quiet")
        return model_of(sizes) + imported.replace(
            "param sequence\n", f"param sequence = {sizes['sequence']}\n").replace(
            "param world\n", f"param world = {settings.world}\n")
    # FSDP keeps what `precision` says in fp32 and reduces in `grad_precision`.
    precision = settings.precision
    reduced = "fp32" if precision == "fp32" or kind == "fsdp2" or "fp32red" in words else "bf16"
    zero = 0 if kind == "ddp" else 2 if {"gradop", "noreshard"} & set(words) else 3
    keys = f"world = {settings.world}  zero = {zero}"
    if "hsdp" in words:
        keys += f"  dp_shard = {settings.world // 2}"
    recompute = "full" if "ac" in words else "none"
    batch = sizes["micro_batch"] * settings.world * settings.batches
    return model_of(sizes) + f"""
train {{
  sequence = {sizes["sequence"]}  micro_batch = {sizes["micro_batch"]}  global_batch = {batch}
  precision = {precision}  grad_precision = {reduced}  recompute = {recompute}
}}
parallel {{ {keys}  dp_framework = {"torch_fsdp1" if kind == "fsdp1" else "torch"} }}
"""
