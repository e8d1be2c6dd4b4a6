#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares calls of jobs with what the source of Transformer Engine says that it sends.

  engine_calls.py FORETRACE

Sizes are those of docs/transformer-engine.md, computed here from the sizes of a job. Prints
the calls of each job, forward / backward, with the bytes of a rank's input, and what the
source says where that differs. Scales are sent beside the data, and values beside the keys.
"""

import fractions
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import chakra  # noqa: E402

TOKENS, HIDDEN, FFN = 256 * 2, 256, 512
HEADS, KV_HEADS, WIDTH, VALUE_WIDTH = 8, 4, 64, 32
Q_LORA, KV_LORA, ROPE, NOPE = 64, 32, 16, 32
# Bytes of an element, with its share of a scale.
BYTES = {"bf16": 2, "fp8": 1, "fp8_block": 1 + fractions.Fraction(4, 128),
         "mxfp8": 1 + fractions.Fraction(1, 32),
         "nvfp4": fractions.Fraction(1, 2) + fractions.Fraction(1, 16)}
HAVE_BLOCKS = {"fp8_block", "mxfp8", "nvfp4"}
ATTENTION = (f"gqa {{ heads = {HEADS} kv_heads = {KV_HEADS} head_dim = {WIDTH} "
             f"v_dim = {VALUE_WIDTH} }}")
LATENT = (f"mla {{ heads = {HEADS} q_lora = {Q_LORA} kv_lora = {KV_LORA} "
          f"rope_dim = {ROPE} nope_dim = {NOPE} v_dim = {VALUE_WIDTH} }}")
CALLS = {"all_gather": "gather", "reduce_scatter": "scatter", "all_reduce": "reduce",
         "all_to_all": "exchange"}


def calls_of(foretrace, folder, is_wanted, attention, train, parallel):
    """(forward, other) calls of rank 0 for which `is_wanted` holds."""
    job = folder / "job.fore"
    job.write_text(
        f"model m {{ vocab = 1024 hidden = {HIDDEN} norm = rmsnorm positions = rope "
        f"attention {attention} ffn {{ intermediate = {FFN} activation = swiglu }} "
        f"layers = 1 }}\ntrain {{ sequence = {TOKENS // 2} micro_batch = 2 {train} }}\n"
        f"parallel {{ {parallel} }}\n"
        'emit chakra { name = "x" provenance = true ranks = "0" }\n')
    subprocess.run([foretrace, "compile", job, "-o", f"{folder}/", "--quiet"], check=True,
                   stderr=subprocess.DEVNULL)
    forward, other = [], []
    for node in chakra.read(folder / "x.0.et")[1]:
        of = node.attributes
        if node.kind in ("compute", "receive") or not is_wanted(node.name, of):
            continue
        kind = f"send to {of['comm_dst']}" if node.kind == "send" else CALLS[of["collective"]]
        (forward if of["phase"] == "forward_step" else other).append(
            (kind, of["comm_size"]))
    return forward, other


def is_of_layer(_, of):
    return of.get("layer") == 1


def is_of_loss(name, of):
    return of.get("layer") == 2 and name in (
        "logits_max", "target_logit", "sum_exp", "terms")


def is_of_weights(name, of):
    return of["phase"] == "step" and of["collective"] == "all_gather"


def column_and_row(size_of_type, is_parallel, gathers):
    """Two pairs of linear layers: module/linear.py, layernorm_linear.py. The gradient of
    an output is gathered `gathers` times."""
    whole = TOKENS * HIDDEN * 2
    if not is_parallel:
        return [("reduce", whole)] * 2, [("reduce", whole)] * 2
    gather = ("gather", TOKENS // 2 * HIDDEN * size_of_type)
    scatter = ("scatter", whole)
    return [gather, scatter] * 2, ([gather] * gathers + [gather, scatter]) * 2


def latent():
    """The down-projections send nothing. Megatron-LM gathers the rotary key."""
    whole = TOKENS * HIDDEN * 2
    part = TOKENS // 2 * 2
    gather, scatter = ("gather", part * HIDDEN), ("scatter", whole)
    inputs = [("gather", part * width) for width in (Q_LORA, KV_LORA, ROPE)]
    return (inputs + [scatter, gather, scatter],
            [gather, gather, scatter, gather, ("scatter", 2 * part * ROPE),
             inputs[1], ("scatter", 2 * part * KV_LORA),
             inputs[0], ("scatter", 2 * part * Q_LORA)])


def context(kind, ranks=4):
    """attention/dot_product_attention/context_parallel.py."""
    part = TOKENS // ranks * 2
    query, key_value = part * HEADS * WIDTH, part * KV_HEADS * (WIDTH + VALUE_WIDTH)
    output = part * HEADS * VALUE_WIDTH
    if kind == "p2p":
        return ([("send to 1", key_value)] * (ranks - 1),
                [(f"send to {ranks - 1}", key_value)] * 2 * (ranks - 1))
    if kind == "all_gather":
        gather = ("gather", key_value)
        return [gather], [gather, ("scatter", key_value * ranks)]
    return ([("exchange", size) for size in (query, key_value, output)],
            [("exchange", size) for size in (output, query, key_value)])


def loss(kind):
    """triton/cross_entropy.py, cross_entropy_forward; otherwise Megatron-LM."""
    return {"none": [("reduce", 4 * TOKENS)] * 3,
            "native": [("reduce", 4 * TOKENS), ("reduce", 8 * TOKENS)],
            "te": [("gather", 12 * TOKENS)]}[kind], []


def weights(gathered, of_rest):
    """Weights of linear layers that dp = 2 shares, and the tables and norms in bf16."""
    linear = HIDDEN * (HEADS * WIDTH + KV_HEADS * (WIDTH + VALUE_WIDTH)
                       + HEADS * VALUE_WIDTH + 3 * FFN) // 2
    return [], ([("gather", of_rest + linear * 2)] if gathered == 2 else
                [("gather", of_rest), ("gather", linear * gathered)])


def cases():
    tp = "world = 2 tp = 2 sequence_parallel = true"
    for kind, size in BYTES.items():
        yield (f"tp, {kind}", is_of_layer, ATTENTION, f"compute_precision = {kind}", tp,
               column_and_row(size, True, 2 if kind in HAVE_BLOCKS else 1))
    yield ("tp, bf16, userbuffers", is_of_layer, ATTENTION, "", tp + " tp_comm_overlap = true",
           column_and_row(2, True, 1))
    yield ("tp, without sequence parallelism", is_of_layer, ATTENTION, "", "world = 2 tp = 2",
           column_and_row(2, False, 1))
    yield "tp, latent attention", is_of_layer, LATENT, "", tp, latent()
    for kind in ("p2p", "all_gather", "a2a"):
        yield (f"cp, {kind}", is_of_layer, ATTENTION, "",
               f"world = 4 cp = 4 cp_comm = {kind}", context(kind))
    for kind in ("none", "native", "te"):
        yield (f"loss, {kind}", is_of_loss, ATTENTION, f"fused_loss = {kind}",
               "world = 2 tp = 2", loss(kind))
    rest = (2 * 1024 + 3) * HIDDEN
    rest += -rest % 256  # each rank's part, see docs/fidelity.md
    for kind, gathered in (("fp8", 1), ("mxfp8", 2)):
        yield (f"weights, {kind}", is_of_weights, ATTENTION,
               f"compute_precision = {kind} weight_precision = {kind} "
               f"gather_precision = {'bf16' if gathered == 2 else kind}",
               "world = 2 zero = 1", weights(gathered, rest))


def text(calls):
    """Calls of both passes, where equal ones follow each other with their number."""
    passes = []
    for of in calls:
        runs = []
        for call in of:
            if runs and runs[-1][0] == call:
                runs[-1][1] += 1
            else:
                runs.append([call, 1])
        passes.append(", ".join((f"{count} x " if count > 1 else "") + f"{kind} {size}"
                                for (kind, size), count in runs))
    return " / ".join(passes)


equal, count = 0, 0
for name, is_wanted, attention, train, parallel, source in cases():
    with tempfile.TemporaryDirectory() as folder:
        plan = calls_of(sys.argv[1], pathlib.Path(folder), is_wanted, attention, train,
                        parallel)
    print(f"{name}: {text(plan)}")
    if text(plan) != text(source):
        print(f"  source: {text(source)}")
    equal += text(plan) == text(source)
    count += 1
print(f"{count} jobs, {equal} as in the source")
