# SPDX-License-Identifier: Apache-2.0
"""Compiles jobs that frameworks refuse, one for each row: layers, keys of `parallel`, and the
reason that the error must give. The same job without these keys must compile.

Sources: Transformer Engine, attention/dot_product_attention/context_parallel.py,
attn_forward_func_with_cp (windows, sinks, widths); Megatron-LM, ssm/mamba_context_parallel.py,
ssm/gated_delta_net (heads and groups), experimental_attention_variant/dsa.py and
absorbed_mla.py, examples/t5/pretrain_t5.py, model_provider (encoders),
transformer/attention.py (key heads), transformer/transformer_config.py, __post_init__
(prediction with overlapped experts); Megatron-Bridge, llama4_utils (chunks). Scans, token shifts
and convolutions without a row in these have no implementation over ranks of cp that is public.
"""
import tool

MLA = "heads = 8  q_lora = 64  kv_lora = 64  rope_dim = 16  nope_dim = 32  v_dim = {}"
DSA = MLA.format(32) + "  index_topk = 64"
INDEXED = DSA + "  index_heads = 4  index_dim = 32"
GQA = "attention gqa { heads = 8  kv_heads = 4 %s }"
DELTA = "attention gated_delta_net { key_heads = 4  value_heads = 8  key_dim = 32  value_dim = 32 }"
MAMBA = "attention mamba2 { heads = 8  head_dim = 32  groups = %d  state = 16 }"
SCANS = {
    "mamba1": "inner = 512  state = 16  dt_rank = 16",
    "kimi_delta_attention": "heads = 8  head_dim = 32",
    "lightning_attention": "heads = 8  head_dim = 32",
    "rg_lru": "heads = 8  width = 256",
    "short_conv": "",
}
CP = "cp = 2  cp_comm = %s"

# Layers, keys of `parallel`, and what the error says.
ROWS = [
    *[(f"attention {kind} {{ {keys} }}", CP % comm, "requires cp = 1")
      for kind, keys in SCANS.items() for comm in ("all_gather", "p2p", "a2a")],
    (DELTA, "cp = 2  tp = 4  sequence_parallel = true  world = 8", "to be a multiple of tp x cp"),
    (MAMBA % 2, "cp = 4  world = 8", "groups = 2 to be a multiple of tp x cp"),
    (GQA % "window = 64", CP % "p2p", "requires cp_comm = a2a or all_gather, as attention has a window"),
    (GQA % "sinks = true", CP % "p2p", "requires cp_comm = a2a, as attention has sinks"),
    (GQA % "sinks = true", CP % "all_gather", "requires cp_comm = a2a, as attention has sinks"),
    (GQA % "chunk = 64", CP % "all_gather", "requires cp = 1, as attention has chunks"),
    (GQA % "v_dim = 16", CP % "all_gather" + '  megatron = "0.17"', "cp_comm = p2p, as keys and values have different widths"),
    (GQA % "v_dim = 16", CP % "a2a" + '  megatron = "0.17"', "cp_comm = p2p, as keys and values have different widths"),
    (f"attention mla {{ {MLA.format(32)} }}", CP % "all_gather" + '  megatron = "0.17"', "cp_comm = p2p, as keys and values have different widths"),
    (GQA % "qk_norm = true  qk_norm_kind = all", "tp = 8  world = 8", "to be a multiple of tp"),
    (GQA % "", 'tp = 8  world = 8  megatron = "0.15"', "kv_heads = 4"),
    (GQA % "sinks = true", 'megatron = "0.14"', "0.15"),
    (GQA % "output_gate = channel", 'megatron = "0.15"', "0.16"),
    (DELTA, 'megatron = "0.15"', "0.16"),
    (f"attention dsa {{ {INDEXED} }}", 'megatron = "0.15"', "0.16"),
    (f"attention dsa {{ {INDEXED} }}", CP % "p2p", "requires cp_comm = all_gather"),
    (f"attention dsa {{ {INDEXED} }}", CP % "a2a", "requires cp_comm = all_gather"),
    (f"attention dsa {{ {INDEXED} }}", "tp = 2", "requires sequence_parallel = true"),
]

# Whole models: the job, what makes it illegal, and what the error says.
SEVERAL = f"""model m {{ vocab = 512  hidden = 256
  block i {{ attention dsa_index {{ {INDEXED} }} }}
  block r {{ attention dsa_reuse {{ {DSA} }} }}
  layers = 2 * (i + 3 * r) }}
train {{ sequence = 256  micro_batch = 1 }}
parallel {{ world = 8  %s }}
"""
PREDICTION = """model m { vocab = 512  hidden = 256  attention mha { heads = 8 }
  block e { experts = 4  topk = 1 }
  layers = 4 * e  branch mtp { depths = 2  layers = e } }
train { sequence = 256  micro_batch = 1  global_batch = 16 }
parallel { world = 8  ep = 4  pp = 2  vpp = 2  %s }
"""
ENCODER = """import "models/t5-small.fore"
train { sequence = 512  micro_batch = 1 }
parallel { world = 8  %s }
"""
JOBS = [
    (SEVERAL, "pp = 2", "pp = 4", "which read `choice` of an earlier stage"),
    (PREDICTION, "", "overlap_moe_expert_parallel_comm = true", "requires depths = 1 with overlap_moe_expert_parallel_comm"),
    (PREDICTION, "", "cp = 2", "the exchange of shifted tokens is not modelled"),
    (ENCODER, "", "pp = 2", "requires pp = 1, as Megatron-LM has no pipeline of encoders and decoders"),
]


def check(legal, illegal, reason):
    run = tool.attempt("plan", "-", "--error-limit=0", input=legal)
    assert run.returncode == 0, run.stderr + legal
    run = tool.attempt("plan", "-", "--error-limit=0", input=illegal)
    assert run.returncode == 1 and "error: " in run.stderr and reason in run.stderr, \
        f"{reason}: exit code {run.returncode}\n{run.stderr}{illegal}"


def of_layers(layers, keys):
    world = "" if "world" in keys else "world = 8"
    return (f"model m {{ vocab = 512  hidden = 256\n  {layers}\n  layers = 2 }}\n"
            f"train {{ sequence = 256  micro_batch = 1 }}\nparallel {{ {world}  {keys} }}\n")


for layers, keys, reason in ROWS:
    check(of_layers(layers, ""), of_layers(layers, keys), reason)
for text, legal, illegal, reason in JOBS:
    check(text % legal, text % illegal, reason)
print("refused:", len(ROWS) + len(JOBS))
