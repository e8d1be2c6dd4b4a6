#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: recurrent_layers.py SEED COUNT

Compares recurrent and convolutional layers in random jobs with closed forms of the
frameworks that train them: parameters of a rank, collectives, activations that are saved,
gradients that are summed over tp, and which jobs are refused.

`mamba2` (Megatron-LM, ssm/mamba_mixer.py, MambaMixer.__init__): z, x, B, C and dt are columns
of one projection; heads, groups and channels are split over tp, each with its part of the
convolution and of the norm. With cp, five exchanges of what the projection makes, and one of
the result (ssm/mamba_context_parallel.py, pre_conv_ssm, post_conv_ssm). Saved are the
projection and the result before its gate (mamba_ssm, ops/triton/ssd_combined.py,
MambaSplitConv1dScanCombinedFn.forward), the input of the norm
(ops/triton/layernorm_gated.py, LayerNormFn.forward), and the input of the last projection.
There is no bias, whatever the model has (hybrid_layer_specs.py, hybrid_stack_spec).

`gated_delta_net` (ssm/gated_delta_net/common.py, _GDNBase.__init__; gdn.py,
_setup_variant_attrs): the same with six components. The output norm is whole on each rank;
its gradient is summed over tp (for a job without sequence parallelism see docs/fidelity.md).
With cp, one exchange there and one back (common.py, a2a_cp_to_hp, a2a_hp_to_cp). Jobs are
refused as in transformer_config.py, TransformerConfig.__post_init__.

Both: with sequence parallelism the input is gathered, and again for the gradient of the
weight; the gradient of the input is scattered, and that of the output gathered
(tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication; mappings.py).
Gradients of weights that are whole on each rank of tp are summed once per iteration
(distributed/finalize_model_grads.py, _allreduce_non_tensor_model_parallel_grads).

`kimi_delta_attention` (Megatron-Bridge, models/kimi/kimi_k3_layers.py, KimiK3Attention):
projections whose input gradients are reduced one by one; convolutions, A_log and dt_bias in
fp32; the norm's gradient is summed over tp. Its collectives with sequence parallelism differ
by intent (docs/fidelity.md), so only those without are compared. The gate with a bottleneck is
that of Kimi-Linear.

The others, which no framework trains with tp, have their parameters counted: Hugging Face
(MiniMaxLightningAttention, Lfm2ShortConv, RecurrentGemmaRecurrentBlock, JambaMambaMixer),
state-spaces/mamba (modules/mamba_simple.py) and flash-linear-attention (layers/rwkv7.py).
"""
import collections
import re

import tool
from ftir import Program

BYTES = {"bf16": 2, "fp32": 4}


class Job:
    """How a random job is trained. `tokens` of a micro-batch are on a rank of cp."""

    def __init__(self, choose, cps, scatters=True):
        self.tp, self.cp = choose.choice([1, 2, 4]), choose.choice(cps)
        self.dp, self.ga = choose.choice([1, 1, 2]), choose.randint(1, 3)
        self.sp = self.tp > 1 and scatters and choose.random() < 0.6
        self.precision = choose.choice(["bf16", "bf16", "fp32"])
        self.norm, self.bias = choose.choice(["rmsnorm", "layernorm"]), choose.random() < 0.3
        self.tied, self.hidden = choose.random() < 0.5, 32 * choose.randint(1, 12)
        self.sequence = 2 * self.tp * self.cp * choose.randint(1, 40)
        self.batch = choose.randint(1, 4)
        self.tokens = self.sequence // self.cp * self.batch

    def norm_size(self):
        return self.hidden * (2 if self.norm == "layernorm" else 1)

    def text(self, layers):
        blocks = "\n".join(f"  block {name} {{ {layer.text} }}" for name, layer in layers.items())
        order = " + ".join(f"{layer.count} * {name}" for name, layer in layers.items())
        return f"""model m {{ vocab = 512  hidden = {self.hidden}  norm = {self.norm}
  bias = {tool.word(self.bias)}  tied = {tool.word(self.tied)}
{blocks}
  layers = {order} }}
train {{ sequence = {self.sequence}  micro_batch = {self.batch}  precision = {self.precision} }}
parallel {{ world = {self.tp * self.cp * self.dp}  tp = {self.tp}  cp = {self.cp}
  sequence_parallel = {tool.word(self.sp)}  ga = {self.ga} }}
"""


class Layer:
    """A kind of layer: weights that tp splits and that are whole, among both those in fp32.
    `there` and `back` are columns that are exchanged over cp; `saved` those that are saved beside
    the inputs of the norm and of the projection, or None; `reduced` is the sizes of input
    gradients of a token, each of which is reduced over tp; `summed`, whole weights whose
    gradients are partial even if sequences are whole."""

    def __init__(self, choose, kind, keys, split, whole=0, norms=1, ffn="none {}", **others):
        shown = "  ".join(f"{k} = {tool.word(v)}" for k, v in keys.items())
        self.text = f"attention {kind} {{ {shown} }}  ffn {ffn}"
        self.count, self.kind, self.norms = choose.randint(1, 3), kind, norms
        self.split, self.whole = split, whole
        for name, default in {"wide": 0, "there": 0, "back": 0, "saved": None, "reduced": None,
                              "summed": 0}.items():
            setattr(self, name, others.get(name, default))


def mamba2(choose, job):
    groups = job.tp * job.cp * choose.randint(1, 2)
    heads, width, state = groups * choose.randint(1, 3), 4 * choose.randint(1, 12), choose.randint(1, 40)
    kernel, gated = choose.randint(2, 5), choose.random() < 0.7
    inner, pairs = heads * width, 2 * groups * state
    columns = 2 * inner + pairs + heads
    return Layer(
        choose, "mamba2", {"heads": heads, "head_dim": width, "groups": groups, "state": state,
                           "kernel": kernel, "gated_norm": gated},
        split=job.hidden * (columns + inner) + (inner + pairs) * (kernel + 1) + 3 * heads
        + (inner if gated else 0),
        there=columns, back=inner, saved=columns + inner * (3 if gated else 2), reduced=[job.hidden])


def gated_delta_net(choose, job):
    keys = job.tp * job.cp * choose.randint(1, 2)
    values, key, value = keys * choose.randint(1, 3), 4 * choose.randint(1, 12), 4 * choose.randint(1, 12)
    kernel, k, v = choose.randint(2, 5), keys * key, values * value
    columns = 2 * k + 2 * v + 2 * values
    return Layer(
        choose, "gated_delta_net", {"key_heads": keys, "value_heads": values, "key_dim": key,
                                    "value_dim": value, "kernel": kernel},
        split=job.hidden * (columns + v) + (2 * k + v) * kernel + 2 * values, whole=value,
        there=columns, back=v, reduced=[job.hidden], summed=value)


def kimi_delta_attention(choose, job):
    heads, width, full = job.tp * choose.randint(1, 4), 4 * choose.randint(1, 12), choose.random() < 0.5
    kernel, h, inner = choose.randint(2, 5), job.hidden, heads * width
    fp32 = 3 * kernel * inner + heads + inner
    gate = h * inner if full else width * inner
    return Layer(
        choose, "kimi_delta_attention", {"heads": heads, "head_dim": width, "kernel": kernel,
                                         "full_gate": full},
        split=4 * h * inner + h * heads + width * inner + gate + fp32,
        whole=h * width + width + (0 if full else h * width), wide=fp32,
        reduced=[h] * (5 if full else 4) + [width] * (1 if full else 2), summed=width)


def lightning_attention(choose, job):
    heads, width = job.tp * choose.randint(1, 4), 4 * choose.randint(1, 12)
    inner = heads * width
    return Layer(choose, "lightning_attention", {"heads": heads, "head_dim": width},
                 split=5 * job.hidden * inner + inner)


def short_conv(choose, job):
    kernel = choose.randint(2, 6)
    return Layer(choose, "short_conv", {"kernel": kernel},
                 split=4 * job.hidden * job.hidden + job.hidden * kernel)


def rg_lru(choose, job):
    heads, block, kernel = job.tp * choose.randint(1, 4), choose.randint(2, 40), choose.randint(2, 5)
    h, width = job.hidden, heads * block
    return Layer(
        choose, "rg_lru", {"heads": heads, "width": width, "kernel": kernel},
        split=2 * (h * width + width) + width * h + h + width * (kernel + 1)
        + 2 * (heads * block * block + width) + width)


def mamba1(choose, job):
    inner, state, rank = job.tp * choose.randint(1, 200), choose.randint(1, 32), choose.randint(1, 40)
    kernel, normed = choose.randint(2, 5), job.norm == "rmsnorm" and choose.random() < 0.5
    return Layer(
        choose, "mamba1", {"inner": inner, "state": state, "dt_rank": rank, "kernel": kernel,
                           "inner_norms": normed},
        split=job.hidden * 3 * inner + inner * (kernel + 1) + inner * (rank + 2 * state)
        + rank * inner + inner + inner * state + inner + (rank + 2 * state if normed else 0))


def rwkv7(choose, job, first=False):
    ranks = {f"{name}_rank": choose.randint(1, 40) for name in ("decay", "strength", "value", "gate")}
    h, low, heads = job.hidden, dict(ranks), job.tp * choose.choice([1, 2, 4])
    if first:
        del low["value_rank"]
    split = 6 * h + 3 * h + 4 * h * h + 2 * h + 2 * h * sum(low.values()) + h * (len(low) - 1)
    ffn, norms = "none {}", 1
    if choose.random() < 0.7:
        wide = job.tp * choose.randint(1, 100)
        ffn, norms, split = f"rwkv7_channel {{ intermediate = {wide} }}", 2, split + 2 * h * wide + h
    return Layer(choose, "rwkv7_first" if first else "rwkv7", {"heads": heads, **low},
                 split=split, norms=norms, ffn=ffn)


def collectives(text):
    """Of each block, how often which collective has which size. Exchanges of a phase are
    added."""
    found = {}
    for block, messages in Program(tool.ir("-", input=text)).blocks.items():
        found[block] = collections.Counter()
        for phase, op, axes, size in messages:
            if op == "all_to_all":
                found[block][phase, op, *axes, "bytes"] += size
            elif op != "broadcast":
                found[block][phase, op, *axes, size] += 1
    return found


def expected_collectives(job, layer):
    size, tokens, counts = BYTES[job.precision], job.tokens, collections.Counter()
    if job.sp:
        whole = size * tokens * job.hidden
        counts.update([("forward", "all_gather", "tp", whole), ("forward", "reduce_scatter", "tp", whole),
                       ("backward", "all_gather", "tp", whole), ("backward", "all_gather", "tp", whole),
                       ("backward", "reduce_scatter", "tp", whole)])
    elif job.tp > 1:
        counts["forward", "all_reduce", "tp", size * tokens * job.hidden] += 1
        for width in layer.reduced:
            counts["backward", "all_reduce", "tp", size * tokens * width] += 1
    if job.cp > 1:
        for phase in ("forward", "backward"):
            counts[phase, "all_to_all", "cp", "bytes"] = (
                size * tokens * (layer.there + layer.back) // job.tp)
    return counts


def compare(choose):
    """A job of layers that a framework splits over tp."""
    kinds = [mamba2, gated_delta_net, kimi_delta_attention]
    with_kda = choose.random() < 0.4
    job = Job(choose, [1] if with_kda else [1, 2, 4])
    kinds = kinds if with_kda else kinds[:2]
    chosen = [choose.choice(kinds) for _ in range(choose.randint(1, 3))]
    if any(kind != mamba2 for kind in chosen):
        job.norm = "rmsnorm"
    layers = {f"l{i}": kind(choose, job) for i, kind in enumerate(chosen)}
    text, size = job.text(layers), BYTES[job.precision]
    plan, found = tool.plan("-", input=text), collectives(text)
    rows = {row["block"]: row for row in plan["blocks"]}
    total = 512 * job.hidden * (1 if job.tied else 2) + job.norm_size()
    summed, exchanged, ordinary = 0, 0, True
    for name, layer in layers.items():
        row, whole = rows[name], job.norm_size() + layer.whole
        expected = {"layers": layer.count, "published": whole + layer.split,
                    "parameters": whole + layer.split // job.tp}
        if layer.kind != "mamba2":
            # Those of fp32 are as wide in each precision.
            expected["weights"] = (size * (whole + (layer.split - layer.wide) // job.tp)
                                         + 4 * layer.wide // job.tp)
        if layer.saved is not None:
            shards = job.tp if job.sp else 1
            expected["kept"] = size * (2 * job.tokens * job.hidden // shards
                                             + job.tokens * layer.saved // job.tp)
        for key, value in expected.items():
            assert row[key] == value, f"{name} {key}: {row[key]}, expected {value}\n{text}"
        total += layer.count * (whole + layer.split)
        summed += layer.count * (layer.summed + (job.norm_size() if job.sp else 0))
        exchanged += layer.count * expected_collectives(job, layer)["forward", "all_to_all", "cp", "bytes"]
        if layer.kind == "kimi_delta_attention" and job.sp:
            ordinary = False
            continue
        expected = expected_collectives(job, layer)
        assert found[name] == expected, f"{name}: {found[name]}, expected {expected}\n{text}"
    assert plan["model"]["published"] == total, f"parameters, expected {total}\n{text}"
    stage, = plan["stages"]
    sent = collections.Counter()
    for row in plan["messages"]:
        sent["tp" if row["group"] == "tp" else "others"] += row["messages"]
    # Gradients are reduced in fp32 over ranks of dp and cp.
    others = job.ga * 2 * exchanged + (4 * stage["parameters"] if job.dp * job.cp > 1 else 0)
    assert sent["others"] == others, f"{sent['others']} over dp and cp, expected {others}\n{text}"
    if ordinary:
        summed += job.norm_size() if job.sp else 0
        summed *= 4 if job.tp > 1 else 0
        step = collections.Counter([("step", "all_reduce", "tp", summed)] if summed else [])
        got = {k: n for k, n in found["step.0"].items() if k[2] == "tp"} if "step.0" in found else {}
        assert got == step, f"step: {got}, expected {step}\n{text}"
        tp = summed + job.ga * sum(m["messages"] * rows[m["block"]]["layers"]
                                   for m in plan["block_messages"] if m["group"] == "tp")
        assert sent["tp"] == tp, f"{sent['tp']} over tp, expected {tp}\n{text}"


def count(choose):
    """A job of layers of which only the parameters are known."""
    kinds = [lightning_attention, short_conv, rg_lru, mamba1, rwkv7]
    chosen = [choose.choice(kinds) for _ in range(choose.randint(1, 3))]
    job = Job(choose, [1], scatters=rwkv7 not in chosen)
    layers = {f"l{i}": kind(choose, job) for i, kind in enumerate(chosen)}
    if rwkv7 in chosen:
        first = rwkv7(choose, job, first=True)
        layers, first.count = {"f": first, **layers}, 1
    text, total = job.text(layers), 512 * job.hidden * (1 if job.tied else 2) + job.norm_size()
    plan = tool.plan("-", input=text)
    for name, layer in layers.items():
        expected = layer.norms * job.norm_size() + layer.split
        # The last layer whose values no other reads may be a block of its own.
        rows = [row for row in plan["blocks"] if row["block"].split("_")[0] == name]
        assert sum(row["layers"] for row in rows) == layer.count, f"{name}\n{text}"
        for row in rows:
            assert row["published"] == expected, f"{name}: {row['published']}, expected {expected}\n{text}"
            assert job.tp > 1 or row["parameters"] == expected, f"{name}: {row['parameters']}\n{text}"
        total += layer.count * expected
    assert plan["model"]["published"] == total, f"parameters, expected {total}\n{text}"


def refuse(choose):
    """A job whose heads or groups cannot be split."""
    kind = choose.choice([mamba2, gated_delta_net, kimi_delta_attention])
    job = Job(choose, [1] if kind == kimi_delta_attention else [1, 2])
    layer = kind(choose, job)
    ranks, odd = job.tp * job.cp, choose.random() < 0.7
    if kind == kimi_delta_attention and (ranks == 1 or not odd):
        job.cp, job.sequence, changed, reason = 2, 2 * job.sequence, {}, "cp = 1"
    elif ranks > 1 and odd:
        # No whole number for each rank, but as many heads in each group.
        part = ranks * choose.randint(1, 3) + choose.randint(1, ranks - 1)
        first, second = {mamba2: ("groups", "heads"), gated_delta_net: ("key_heads", "value_heads"),
                         kimi_delta_attention: ("heads", "none")}[kind]
        changed, reason = {first: part, second: part * ranks}, f"{first} = {part} to be a multiple of tp"
    else:
        # A whole number for each rank, but not for each group.
        first, second = ("groups", "heads") if kind == mamba2 else ("key_heads", "value_heads")
        whole = 2 * ranks * choose.randint(1, 3) + ranks
        changed = {first: 2 * ranks, second: whole}
        reason = f"{second} = {whole} to be a multiple of {first}"
    for key, value in changed.items():
        layer.text = re.sub(rf"\b{key} = \d+", f"{key} = {value}", layer.text)
    text = job.text({"wrong": layer})
    run = tool.attempt("compile", "-", "--emit=json", "--stdout", input=text)
    assert run.returncode == 1 and reason in run.stderr, f"{reason}\n{text}{run.stderr}"


KINDS = [compare, compare, count, refuse]


def check(case):
    KINDS[case.number % len(KINDS)](case.draw)


tool.cases(check)
