# SPDX-License-Identifier: Apache-2.0
"""usage: recurrent_layers.py SEED COUNT

Counts the parameters of recurrent and convolutional layers in random jobs that no framework trains
with tp: of Hugging Face (MiniMaxLightningAttention, Lfm2ShortConv, RecurrentGemmaRecurrentBlock,
JambaMambaMixer), state-spaces/mamba (modules/mamba_simple.py) and flash-linear-attention
(layers/rwkv7.py). And sizes of the mixers of check_closed_form.py that cannot be split are refused,
as in Megatron-LM's transformer_config.py, TransformerConfig.__post_init__.
"""
import dataclasses

import tool
from job import Job, Kimi, Mamba, text_of
from random_jobs import with_mixer


def random_job(choose, cps, scatters=True):
    tp, cp = choose.choice([1, 2, 4]), choose.choice(cps)
    return Job(
        tp=tp, cp=cp, dp=choose.choice([1, 1, 2]), ga=choose.randint(1, 3), layers=["dense"],
        sp=tp > 1 and scatters and choose.random() < 0.6, hidden=32 * choose.randint(1, 12),
        precision=choose.choice(["bf16", "bf16", "fp32"]), norm=choose.choice(["rmsnorm", "layernorm"]),
        bias=choose.random() < 0.3, tied=choose.random() < 0.5, micro_batch=choose.randint(1, 4),
        sequence=2 * tp * cp * choose.randint(1, 40), ffn=4 * tp)


# Each kind returns its section, and its parameters beside norms and a network.


def lightning_attention(choose, job):
    heads, width = job.tp * choose.randint(1, 4), 4 * choose.randint(1, 12)
    inner = heads * width
    return tool.section("lightning_attention", heads=heads, head_dim=width), 5 * job.hidden * inner + inner


def short_conv(choose, job):
    kernel = choose.randint(2, 6)
    return tool.section("short_conv", kernel=kernel), 4 * job.hidden * job.hidden + job.hidden * kernel


def rg_lru(choose, job):
    heads, block, kernel = job.tp * choose.randint(1, 4), choose.randint(2, 40), choose.randint(2, 5)
    h, width = job.hidden, heads * block
    return (tool.section("rg_lru", heads=heads, width=width, kernel=kernel),
            2 * (h * width + width) + width * h + h + width * (kernel + 1)
            + 2 * (heads * block * block + width) + width)


def mamba1(choose, job):
    inner, state, rank = job.tp * choose.randint(1, 200), choose.randint(1, 32), choose.randint(1, 40)
    kernel, normed = choose.randint(2, 5), job.norm == "rmsnorm" and choose.random() < 0.5
    return (tool.section("mamba1", inner=inner, state=state, dt_rank=rank, kernel=kernel, inner_norms=normed),
            job.hidden * 3 * inner + inner * (kernel + 1) + inner * (rank + 2 * state)
            + rank * inner + inner + inner * state + inner + (rank + 2 * state if normed else 0))


def rwkv7(choose, job, first=False):
    ranks = [name for name in ("decay", "strength", "value", "gate") if not (first and name == "value")]
    low, h = {f"{name}_rank": choose.randint(1, 40) for name in ranks}, job.hidden
    return (tool.section("rwkv7_first" if first else "rwkv7", heads=job.tp * choose.choice([1, 2, 4]), **low),
            6 * h + 3 * h + 4 * h * h + 2 * h + 2 * h * sum(low.values()) + h * (len(low) - 1))


def rwkv7_channel(choose, job):
    """The network of a layer."""
    wide = job.tp * choose.randint(1, 100)
    return tool.section("rwkv7_channel", intermediate=wide), 2 * job.hidden * wide + job.hidden


def count(choose):
    kinds = [lightning_attention, short_conv, rg_lru, mamba1, rwkv7]
    chosen = [choose.choice(kinds) for _ in range(choose.randint(1, 3))]
    job = random_job(choose, [1], scatters=rwkv7 not in chosen)
    norm = job.hidden * (2 if job.norm == "layernorm" else 1)
    made = [(kind, choose.randint(1, 3), kind(choose, job)) for kind in chosen]
    if rwkv7 in chosen:
        made.insert(0, (rwkv7, 1, rwkv7(choose, job, first=True)))
    blocks, order, layers = "", [], {}
    for number, (kind, times, (text, parameters)) in enumerate(made):
        network, more = (rwkv7_channel(choose, job) if kind == rwkv7 and choose.random() < 0.7
                         else ("none {}", -norm))
        blocks += f"  block l{number} {{ attention {text}  ffn {network} }}\n"
        order.append(f"{times} * l{number}")
        layers[f"l{number}"] = times, parameters + more + 2 * norm
    text = text_of(job, f"{blocks}  layers = {' + '.join(order)}\n")
    plan = tool.plan("-", input=text)
    for name, (times, expected) in layers.items():
        # The last layer whose values no other reads may be a block of its own.
        rows = [row for row in plan["blocks"] if row["block"].split("_")[0] == name]
        assert sum(row["layers"] for row in rows) == times, f"{name}\n{text}"
        for row in rows:
            assert row["published"] == expected, f"{name}: {row['published']}, expected {expected}\n{text}"
            assert job.tp > 1 or row["parameters"] == expected, f"{name}: {row['parameters']}\n{text}"
    total = job.vocab * job.hidden * (1 if job.tied else 2) + norm + sum(
        times * expected for times, expected in layers.values())
    assert plan["model"]["published"] == total, f"parameters, expected {total}\n{text}"


def refuse(choose):
    """A job whose heads or groups cannot be split, or not over cp."""
    job = with_mixer(random_job(choose, [1, 2]), choose)
    mixer, ranks, odd = job.mixer, job.tp * job.cp, choose.random() < 0.7
    names = {Kimi: ("heads", None), Mamba: ("groups", "heads")}
    first, second = names.get(type(mixer), ("key_heads", "value_heads"))
    if isinstance(mixer, Kimi) and (ranks == 1 or not odd):
        job, changed, reason = dataclasses.replace(job, cp=2, sequence=2 * job.sequence), {}, "cp = 1"
    elif ranks > 1 and odd:
        # No whole number for each rank, but as many heads in each group.
        part = ranks * choose.randint(1, 3) + choose.randint(1, ranks - 1)
        changed, reason = {first: part, second: part * ranks}, f"{first} = {part} to be a multiple of tp"
    else:
        # A whole number for each rank, but not for each group.
        whole = 2 * ranks * choose.randint(1, 3) + ranks
        changed, reason = {first: 2 * ranks, second: whole}, f"{second} = {whole} to be a multiple of {first}"
    changed.pop(None, None)
    text = text_of(dataclasses.replace(job, mixer=dataclasses.replace(mixer, **changed)))
    run = tool.attempt("compile", "-", "--emit=json", "--stdout", input=text)
    assert run.returncode == 1 and reason in run.stderr, f"{reason}\n{text}{run.stderr}"


def check(case):
    (count, refuse)[case.number % 2](case.draw)


tool.cases(check)
