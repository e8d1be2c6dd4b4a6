# SPDX-License-Identifier: Apache-2.0
"""Turns the description of a traced Megatron-LM job into a `.fore` file."""

PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def flag(value):
    return "true" if value else "false"


def model_of(c):
    """The lines of the model."""
    kind = "gated" if c["gated"] else "plain"
    ffn = ("ffn { intermediate = %d  activation = %s }"
           % (c["ffn"], {"gated": "swiglu", "plain": "gelu"}[kind]))
    lines = [
        "vocab = %d  vocab_multiple = %d"
        % (c.get("vocab", c["vocab_padded"]), 128 if "vocab" in c else 1),
        "hidden = %d  norm = %s  positions = %s  max_positions = %d"
        % (c["hidden"], c["norm"].lower(), c["pos"], c["max_pos"]),
        "tied = %s  bias = %s" % (flag(c["tied"]), flag(c["bias"])),
        "attention gqa { heads = %d  kv_heads = %d }"
        % (c["heads"], c["kv_groups"]),
    ]
    if c.get("num_experts"):
        lines += ["block moe { experts = %d  topk = %d  %s }"
                  % (c["num_experts"], c["topk"], ffn),
                  "layers = %d * moe" % c["layers"]]
    else:
        lines += [ffn, "layers = %d" % c["layers"]]
    return lines


def dialect_of(c):
    """Scaling runs say only of experts which revision they are."""
    if c.get("scaling") and c["dialect"] == "v2":
        return "v2" if c.get("num_experts") and not c["split"] else "v2b"
    return c["dialect"]


def to_fore(c, ranks):
    """The job, with the traces of some ranks as output."""
    scaling = c.get("scaling", False)
    # Scaling runs give a stage whole layers, print float16 for gradients
    # whatever their type, and pad the vocabulary for one rank.
    layers = c["layers"] // c["pp"] * c["pp"] if scaling else c["layers"]
    precision = "precision = %s" % PRECISIONS[c["dtype"]]
    if not scaling:
        precision += "  grad_precision = %s" % PRECISIONS[c["grad_dtype"]]
    c = dict(c, layers=layers)
    lines = ["model job {"] + ["  " + line for line in model_of(c)] + ["}"]
    lines += [
        "train {",
        "  sequence = %d  micro_batch = %d  global_batch = %d"
        % (c["seq"], c["mbs"], c["mbs"] * c["ga"] * c["dp"]),
        "  %s  recompute = %s" % (precision, c.get("recompute", "none")),
        "}",
        "parallel {",
        "  world = %d  tp = %d  pp = %d  vpp = %d  ep = %d"
        % (c["world"], c["tp"], c["pp"], c.get("vpp", 1), c["ep"]),
        "  sequence_parallel = %s  zero = %d"
        % (flag(c.get("sequence_parallel")),
           1 if c.get("distributed_optimizer") else 0),
        "}",
        'emit megatron { dialect = %s  scaling = %s  ranks = "%s" }'
        % (dialect_of(c), flag(scaling), ",".join(map(str, sorted(ranks)))),
    ]
    return "\n".join(lines) + "\n"
