# SPDX-License-Identifier: Apache-2.0
"""usage: attention_variants.py SEED COUNT

Compares attention that is no block of check_closed_form.py with closed forms in random jobs:
sparse attention, attention beside a network, windows; and FLOPs of an iteration with the
conventions of Megatron-LM and of Megatron-Bridge.

Not compared, as Megatron-LM or Megatron-Bridge do something else than Foretrace, or nothing
determines it: saved activations and FLOPs of indexers, saved activations of sparse attention with
cp, and its second gather of latents over cp; sums of gradients of norms with a weight for each
channel.
"""
import dataclasses
import re

import tool
from block import CP, TP, Block
from check_closed_form import compare_block, compare_step, keeps_otherwise
from closed_form import block_of
from ftir import Program
from job import Branch, Grouped, Job, Latent, attention_text, latent_text, text_of
from layers import causal_pairs, grouped_attention, latents, sublayer
from random_jobs import with_grouped_attention


def random_job(choose, **more):
    """A job with one stage and without ZeRO."""
    tp, cp = choose.choice([1, 2, 4, 4, 8]), choose.choice([1, 1, 2, 4])
    given = {"tp": tp, "cp": cp, "sp": tp > 1 and choose.random() < .6,
             "cp_comm": choose.choice(["all_gather", "p2p", "a2a"])} | more
    return Job(
        **given, dp=choose.choice([1, 2]), ga=choose.randint(1, 2), micro_batch=choose.randint(1, 3),
        sequence=2 * tp * given["cp"] * choose.randint(3, 12), hidden=64 * choose.randint(1, 6),
        vocab=128 * tp * choose.randint(1, 3), layers=["dense"] * choose.randint(1, 3),
        norm=choose.choice(["rmsnorm", "rmsnorm", "layernorm", "layernorm_no_bias"]),
        recompute="full" if choose.random() < .1 else "none",
        ffn=8 * tp * choose.randint(1, 8), activation=choose.choice(["gelu", "swiglu"]))


def random_latent(choose, job, **more):
    """Transformer Engine takes keys wider than values only with p2p (attn_forward_func_with_cp)."""
    m = Latent(q_lora=choose.choice([0, 24, 96]), kv_lora=32 * choose.randint(1, 4),
               rope=8 * choose.randint(1, 3), nope=8 * choose.randint(1, 5), v=8 * choose.randint(1, 5),
               **more)
    if job.cp > 1 and job.cp_comm != "p2p":
        m.v = m.nope + m.rope
    ranks = job.tp * (job.cp if job.cp_comm == "a2a" else 1)
    return dataclasses.replace(job, latent=m, heads=ranks * choose.randint(1, 3))


def program_of(job, model=None):
    text = text_of(job, model)
    return Program(tool.ir("-", input=text)), text


def indexer(b, m, heads, width):
    """dsa.py, DSAIndexer: weights are whole, x and the query's latent are gathered without a gradient;
    DSAttention: keys are gathered over cp; compute_dsa_indexer_loss: a number for each pair of tokens
    is reduced over tp, here in the backward pass. Gradients are averaged over tp, but equal."""
    job = b.job
    b.own(m.q_lora * heads * width + job.hidden * (width + heads) + 2 * width)
    if job.sp:
        b.send(*(("all_gather", TP, 2 * b.tokens * n) for n in (job.hidden, m.q_lora)))
    key = CP, 2 * b.tokens * width * job.cp
    b.send(("all_gather", *key), back=[("reduce_scatter", *key),
                                       ("all_reduce", TP, 4 * b.tokens * job.sequence)])


def sparse_attention(b, name, topk):
    """transformer/experimental_attention_variant/absorbed_mla.py, AbsorbedMLASelfAttention: one key
    head of latents, whose up-projection weighs queries and results (einsum saves them); latents and
    rotary key are gathered by themselves, and saved whole (ops/sparse_mla.py, SparseMLA)."""
    job, m, share = b.job, b.job.latent, b.tokens // b.job.tp
    latents(b, name, m)
    for tensor, width in (("query", m.nope + m.rope), ("absorbed", m.kv_lora + m.rope), ("sum", m.kv_lora)):
        b.save(tensor, share * job.heads * width)
    b.save("keys", b.tokens * (m.kv_lora + m.rope))
    key = 2 * b.tokens * (m.kv_lora + m.rope)
    for axes, size in ((TP, key * job.sp), (CP, key * job.cp)):
        b.send(("all_gather", axes, size), back=[("reduce_scatter", axes, size)])
    up = m.kv_lora * job.heads * (m.nope + m.v) // job.tp
    b.own(up)
    b.multiply(b.tokens * up)
    # Megatron-Bridge, flop_utils.py, num_floating_point_operations, dsa.
    b.core(job.heads, m.kv_lora + m.rope, m.kv_lora, causal_pairs(job.sequence, topk))
    b.row("context", job.heads * m.v, job.hidden)


def compare_sparse(choose):
    """Layers with an indexer, and others that read its choice."""
    job = random_job(choose, cp_comm="all_gather")
    job = random_latent(choose, dataclasses.replace(job, recompute="none", sp=job.tp > 1))
    m = job.latent
    m.q_lora = m.q_lora or 16
    topk, heads, width = choose.randint(1, job.sequence - 1), choose.randint(1, 6), 8 * choose.randint(1, 4)
    reuses, count = choose.randint(0, 2), len(job.layers)
    indexed = {"index_topk": topk, "index_heads": heads, "index_dim": width}
    kinds = {"i": latent_text(job, "dsa_index" if reuses else "dsa", **indexed)}
    if reuses:
        kinds["r"] = latent_text(job, "dsa_reuse", index_topk=topk)
    blocks = "".join(f"  block {name} {{ attention {text}\n  ffn none {{}} }}\n" for name, text in kinds.items())
    layers = f"{count} * (i + {reuses} * r)" if reuses else f"{count} * i"
    program, text = program_of(job, f"{blocks}  layers = {layers}\n")
    found, made = [], {}
    for name in kinds:
        b = made[name] = Block(job)
        sublayer(b, 0, lambda b, x: sparse_attention(b, x, topk))
        if name == "i":
            indexer(b, m, heads, width)
        without = ["flops"] * (name == "i") + ["kept"] * (name == "i" or job.cp > 1)
        # Layers that pass different values on are several blocks.
        for block in program.blocks:
            if block.split("_")[0] == name:
                # Of latents over cp, the second gather.
                program.blocks[block] = [of for of in program.blocks[block] if of[:3] != ("backward", "all_gather", CP)]
                found += compare_block(b, block, program, without)
    found += compare_step(job, program, [(made[name], count * (reuses if name == "r" else 1)) for name in made])
    assert not found, "\n".join([*found, text])


def compare_parallel(choose):
    """Attention beside a network: one reduction of both, but a gradient for each input."""
    job = with_grouped_attention(random_job(choose, cp=1), choose)
    window, is_normed = job.grouped.window, job.qk_norm and job.grouped.norm == "head"
    bias, two = choose.random() < .4, choose.random() < .5
    job = dataclasses.replace(job, bias=bias, qkv_bias=bias, qk_norm=is_normed, grouped=Grouped(
        window=window, bias=bias, output_bias=bias))
    b = Block(job)
    b.norm("x", job.hidden)
    if two:
        b.norm("x", job.hidden)
    grouped_attention(b, "normed", reduces=False)
    b.network("normed again" if two else "normed", job.ffn, bias=bias, gathers=two)
    program, text = program_of(job, "  attention " + tool.section(
        "parallel", heads=job.heads, kv_heads=job.kv_heads, head_dim=job.head_dim, window=window,
        intermediate=job.ffn, activation=job.activation, two_norms=two,
        **{"qk_norm": True} if is_normed else {}) + f"\n  ffn none {{}}\n  layers = {len(job.layers)}\n")
    found = [*compare_block(b, "layer", program, ["kept"] * bool(keeps_otherwise(job))),
             *compare_step(job, program, [(b, len(job.layers))])]
    assert not found, "\n".join([*found, text])


def compare_latent_rows(choose):
    """arXiv 2502.07846, section 3: with q_rope_tp = false each rank has the rotary part for all heads."""
    job = random_latent(choose, random_job(choose))
    m = job.latent
    m.q_lora = m.q_lora or 16
    program, text = program_of(job, f"  attention {latent_text(job, q_rope_tp=False)}\n"
                               f"  ffn {{ intermediate = {job.ffn}  activation = {job.activation} }}\n  layers = 2\n")
    whole = m.q_lora * job.heads * m.rope
    b = Block(job)
    b.parameters = list(block_of(job, "dense").parameters)
    b.own(whole - whole // job.tp)
    found = list(compare_block(b, "layer", program, ("messages", "flops", "kept")))
    assert not found, "\n".join([*found, text])


def multiplications(job):
    """Of attention, for a token and for a pair of tokens, and pairs with and without windows; None if
    the conventions have no such attention (training/training.py, num_floating_point_operations,
    transformer_flops)."""
    pairs = job.sequence ** 2 // 2
    if m := job.latent:
        head = m.nope + m.rope
        query = (m.q_lora * (job.hidden + job.heads * head + 1) if m.q_lora
                 else job.hidden * job.heads * head)
        token = (query + m.kv_lora * (job.hidden + job.heads * (m.nope + m.v) + 1) + job.hidden * m.rope
                 + job.heads * m.v * job.hidden)
        return (token, job.heads * (head + m.v), pairs, pairs) if not m.gate else None
    g = job.grouped
    if g.value not in (0, job.head_dim) or g.shared or g.gate == "head" or not g.causal:
        return None
    query, key = job.heads * job.head_dim, job.kv_heads * job.head_dim
    gate = query if g.gate == "channel" else 0
    return (job.hidden * (query + 2 * key + gate) + query * job.hidden, 2 * query, pairs,
            causal_pairs(job.sequence, g.window))


def compare_conventions(choose):
    """FLOPs of an iteration as Megatron-LM counts them; Megatron-Bridge discounts windows. Maybe with
    layers that predict further tokens."""
    depths = choose.choice([0, 0, 1, 2, 3])
    job = random_job(choose, **{"cp": 1} if depths else {})
    job = (random_latent(choose, job, gate=choose.random() < .2) if choose.random() < .4
           else with_grouped_attention(job, choose))
    job = dataclasses.replace(job, branch=Branch(depths, choose.random() < .5) if depths else None)
    if not (of := multiplications(job)):
        return
    token, pair, *both = of
    layers = len(job.layers) + depths
    token = (token + job.hidden * job.ffn * (1 + job.fc1_parts)) * layers
    token += depths * (3 * job.hidden + 2 * job.hidden ** 2) + job.hidden * job.padded_vocab * (depths + 1)
    for convention, pairs in zip(("core", "bridge"), both):
        expected = 6 * (job.sequence * token + pairs * pair * layers) * job.micro_batch * job.dp * job.ga
        found = tool.figures("flops", "-", f"--convention={convention}", input=text_of(job))["", "", "model_flops"]
        assert found == expected, f"{convention}: {found}, expected {expected}\n{text_of(job)}"


def without_flops(value):
    if isinstance(value, dict):
        return {k: without_flops(v) for k, v in value.items() if "flops" not in k}
    return [without_flops(v) for v in value] if isinstance(value, list) else value


def compare_windows(choose):
    """A window or chunks change FLOPs and the time of attention, and nothing else in any job."""
    job = random_job(choose)
    job = with_grouped_attention(dataclasses.replace(
        job, pp=choose.choice([1, 1, 2]), zero=choose.choice([0, 1]), layers=2 * job.layers,
        cp_comm="all_gather" if job.cp_comm == "p2p" else job.cp_comm), choose)
    key = choose.choice(["window", "chunk"] if job.cp == 1 else ["window"])
    plans, lines, size = [], [], choose.choice(range(1, job.sequence))
    for value in (0, size):
        job.grouped = dataclasses.replace(job.grouped, causal=True, **{"window": 0, "chunk": 0, key: value})
        text = text_of(job, f"  attention {attention_text(job)}\n  ffn {{ intermediate = {job.ffn}"
                       f"  activation = {job.activation} }}\n  layers = {len(job.layers)}\n")
        text += "cost roofline { device { peak_flops = 1 TFLOP/s  memory_bandwidth = 1 TB/s } }\n"
        plans.append(tool.plan("-", input=text))
        lines.append([line for line in tool.ir("-", input=text).splitlines()
                      if not re.search(r" = attention|^ *(window|chunk|total flops) =", line)])
    before, after = plans
    assert without_flops(before) == without_flops(after), text
    assert lines[0] == lines[1], text
    less = causal_pairs(job.sequence) - causal_pairs(job.sequence, **{key: size})
    found = before["blocks"][1]["flops"] - after["blocks"][1]["flops"]
    pair = (8 if job.recompute == "full" else 6) * job.micro_batch * job.heads * (
        job.head_dim + (job.grouped.value or job.head_dim)) // job.tp
    # Numbers of pairs are rounded up to halves.
    assert 0 <= less * pair // job.cp - found < pair // 2 + 1, (found, less, pair, text)


KINDS = [compare_sparse, compare_parallel, compare_conventions, compare_latent_rows, compare_windows]


def check(case):
    KINDS[case.number % len(KINDS)](case.draw)


if __name__ == "__main__":
    tool.cases(check)
