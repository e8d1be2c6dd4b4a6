#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: attention_variants.py SEED COUNT

Compares layers of random jobs with closed forms: messages of a micro-batch, parameters and
FLOPs of a rank, saved activations, and gradients that are summed once per iteration.

Not compared, as Megatron-LM or Megatron-Bridge do something else than Foretrace, or nothing
determines it:
 * saved activations of indexers, of sparse attention with cp, of fewer key heads than ranks, of
   exchanged heads, and of other norms of queries and keys than those of a head;
 * FLOPs of indexers, and the second gather of latents of sparse attention over cp;
 * sums of gradients of norms with a weight for each channel;
 * anything but parameters with q_rope_tp = false.
"""
import collections
import re
from types import SimpleNamespace

import tool
from attention_forms import (Block, GATED, causal_pairs, depth, joined, latent_attention, network,
                             self_attention, sparse_attention, sublayer)
from ftir import Program


class Comparison:
    def __init__(self, job, text):
        self.job, self.text = job, text
        self.program = Program(tool.ir("-", input=text))

    def equal(self, what, found, expected):
        assert found == expected, f"{what}: {found}, expected {expected}\n{self.text}"

    def block(self, name, b, without=()):
        total = self.program.totals[name]
        found, expected = collections.defaultdict(list), b.messages
        for phase, op, axes, size in self.program.blocks[name]:
            found[phase, op, axes[0]].append(size)
        saved = int(2 * sum(b.saved.values()))
        if self.job.recompute:
            # tensor_parallel/random.py, CheckpointFunction: the input, and all again.
            expected = {**expected, **{("recompute", *key[1:]): sizes for key, sizes in expected.items()
                                       if key[0] == "forward"}}
            saved, b.flops = 2 * b.local * self.job.hidden, b.flops * 4 // 3
        if "messages" not in without:
            if "gather over cp" in without:
                found.pop(("backward", "all_gather", "cp"), None)
            self.equal(f"messages of {name}", joined(found), joined(expected))
        self.equal(f"parameters of {name}", total["parameters"], b.parameters)
        if "flops" not in without:
            self.equal(f"FLOPs of {name}", total["flops"], b.flops)
        if "saved" not in without or self.job.recompute:
            self.equal(f"saved by {name}", total["kept"], saved)

    def step(self, blocks, has_norm=True):
        """distributed/finalize_model_grads.py: gradients over replicas, then partial sums over tp.
        Blocks come with their numbers; has_norm is whether the head has one. All parameters of
        embedding and head are taken from Foretrace."""
        found = collections.Counter()
        for phase, op, axes, size in self.program.blocks["step.0"]:
            found[op, axes] += size
        rest = sum(self.program.totals[n]["parameters"] for n in ("embedding", "head"))
        summed = sum(n * b.summed for b, n in blocks)
        if has_norm and self.job.sp:
            summed += self.job.hidden * (2 if self.job.norm == "layernorm" else 1)
        axes = tuple(a for a in ("cp", "dp") if getattr(self.job, a) > 1)
        expected = collections.Counter({("all_reduce", ("tp",)): 4 * summed})
        if axes:
            expected["all_reduce", axes] = 4 * (sum(n * b.parameters for b, n in blocks) + rest)
        self.equal("gradients", found, +expected)

    def flops(self, convention, expected):
        """training/training.py, num_floating_point_operations, transformer_flops."""
        found = tool.figures("flops", "-", f"--convention={convention}", input=self.text)
        self.equal(f"FLOPs of {convention}", found["", "", "model_flops"], expected)


def random_job(choose, may_cp=True):
    tp, cp = choose.choice([1, 2, 4, 4, 8]), choose.choice([1, 1, 2, 4]) if may_cp else 1
    job = SimpleNamespace(
        tp=tp, cp=cp, dp=choose.choice([1, 2]), sp=tp > 1 and choose.random() < .6,
        cp_comm=choose.choice(["all_gather", "p2p", "a2a"]), sequence=2 * tp * cp * choose.randint(3, 12),
        batch=choose.randint(1, 3), hidden=64 * choose.randint(1, 6), vocab=128 * tp * choose.randint(1, 3),
        norm=choose.choice(["rmsnorm", "rmsnorm", "layernorm", "layernorm_no_bias"]), placement="pre", dropout=False,
        recompute=choose.random() < .1, layers=choose.randint(1, 3), bias=False)
    job.ga = choose.randint(1, 2)
    return job


def text_of(job, blocks, layers):
    world = job.tp * job.cp * job.dp
    return f"""model m {{
  vocab = {job.vocab}  hidden = {job.hidden}  norm = {job.norm}  norm_placement = {job.placement}
  bias = {tool.word(job.bias)}
{blocks}  layers = {layers}
}}
train {{ sequence = {job.sequence}  micro_batch = {job.batch}  dropout = {tool.word(job.dropout)}
  recompute = {'full' if job.recompute else 'none'} }}
parallel {{ world = {world}  tp = {job.tp}  cp = {job.cp}  cp_comm = {job.cp_comm}
  sequence_parallel = {tool.word(job.sp)}  ga = {job.ga} }}
"""


def random_attention(choose, job):
    """Grouped-query attention that the rules of Megatron-LM (transformer_config.py) and Transformer
    Engine (context_parallel.py, attn_forward_func_with_cp) allow; sets how cp communicates."""
    ranks = job.tp * job.cp
    if job.cp > 1 and job.cp_comm == "a2a":
        groups = ranks * choose.randint(1, 2)
    else:
        groups = choose.choice([g for g in (1, 2, 4, 8, 16) if g % job.tp == 0 or job.tp % g == 0])
    heads = max(groups, job.tp) * choose.randint(1, 3)
    a = SimpleNamespace(heads=heads, groups=groups, width=8 * choose.randint(1, 6), causal=True, window=0,
                        chunk=0, shared=choose.random() < .15)
    a.value = a.width
    if not a.shared and choose.random() < .4 and (job.cp == 1 or job.cp_comm == "p2p"):
        a.value = 8 * choose.randint(1, 6)
    a.gate = choose.choice(["none", "head"] if a.shared else ["none", "channel", "head"])
    kinds = ["none", "none", "head", "l2"]
    if groups % job.tp == 0:
        kinds += ["channel"] + (["all"] * 3 if job.norm == "rmsnorm" else [])
    a.qk_norm = choose.choice(kinds)
    a.sinks = choose.random() < .4 and (job.cp == 1 or job.cp_comm == "a2a")
    pattern = choose.choice(["all", "window", "chunk", "bidirectional"])
    if pattern == "window" and (job.cp == 1 or job.cp_comm != "p2p"):
        a.window = choose.randint(1, 2 * job.sequence)
    elif pattern == "chunk" and job.cp == 1:
        a.chunk = choose.randint(1, 2 * job.sequence)
    elif pattern == "bidirectional" and job.cp == 1:
        a.causal = False
    a.bias, a.output_bias = choose.random() < .4, choose.random() < .4
    return a


def attention_text(a):
    norm = f"qk_norm = true  qk_norm_kind = {a.qk_norm}" if a.qk_norm != "none" else ""
    value = f"  v_dim = {a.value}" if a.value != a.width else ""
    return (f"gqa {{ heads = {a.heads}  kv_heads = {a.groups}  head_dim = {a.width}{value}  {norm}\n"
            f"    window = {a.window}  chunk = {a.chunk}  causal = {tool.word(a.causal)}\n"
            f"    sinks = {tool.word(a.sinks)}  output_gate = {a.gate}  shared_kv = {tool.word(a.shared)}\n"
            f"    qkv_bias = {tool.word(a.bias)}  output_bias = {tool.word(a.output_bias)} }}")


def unknown(job, a):
    """What of this attention nothing determines."""
    is_unknown = (a.groups < job.tp or a.shared or a.qk_norm not in ("none", "head")
                  or job.cp > 1 and job.cp_comm == "a2a")
    return ("saved",) if is_unknown else ()


def random_latent(choose, job):
    """Transformer Engine takes keys wider than values only with p2p (attn_forward_func_with_cp)."""
    ranks = job.tp * (job.cp if job.cp_comm == "a2a" else 1)
    m = SimpleNamespace(
        heads=ranks * choose.randint(1, 3), q_lora=choose.choice([0, 24, 96]), gate=choose.random() < .5,
        kv_lora=32 * choose.randint(1, 4), rope=8 * choose.randint(1, 3), nope=8 * choose.randint(1, 5),
        v=8 * choose.randint(1, 5))
    if job.cp > 1 and job.cp_comm != "p2p":
        m.v = m.nope + m.rope
    return m


def latent_text(m, kind="mla", more=""):
    return (f"{kind} {{ heads = {m.heads}  q_lora = {m.q_lora}  kv_lora = {m.kv_lora}  rope_dim = {m.rope}\n"
            f"    nope_dim = {m.nope}  v_dim = {m.v}  {more} }}")


def network_text(f):
    return f"  ffn {{ intermediate = {f.width}  activation = {f.activation} }}"


def random_network(choose, job):
    return SimpleNamespace(width=8 * job.tp * choose.randint(1, 8),
                           activation=choose.choice(["gelu", "swiglu"]))


def compare_attention(choose):
    """Grouped-query attention without a network."""
    job = random_job(choose)
    a = random_attention(choose, job)
    b = Block(job)
    sublayer(b, 0, lambda x: self_attention(b, x, a, a.bias, a.output_bias))
    c = Comparison(job, text_of(job, f"  attention {attention_text(a)}\n  ffn none {{}}\n", job.layers))
    c.block("layer", b, unknown(job, a))
    if a.qk_norm not in ("all", "channel"):
        c.step([(b, job.layers)])


def compare_latent(choose):
    job = random_job(choose)
    m = random_latent(choose, job)
    b = Block(job)
    sublayer(b, 0, lambda x: latent_attention(b, x, m))
    attention = latent_text(m, more=f"output_gate = {'channel' if m.gate else 'none'}")
    c = Comparison(job, text_of(job, f"  attention {attention}\n  ffn none {{}}\n", job.layers))
    c.block("layer", b, ("saved",) if job.cp > 1 and job.cp_comm == "a2a" else ())
    c.step([(b, job.layers)])
    if m.q_lora and not m.gate:
        # arXiv 2502.07846, section 3: each rank has the rotary part for all heads.
        whole = m.q_lora * m.heads * m.rope
        b.parameters += whole - whole // job.tp
        again = Comparison(job, text_of(job, f"  attention {latent_text(m, more='q_rope_tp = false')}\n"
                                        "  ffn none {}\n", job.layers))
        again.block("layer", b, ("saved", "flops", "messages"))


def compare_sparse(choose):
    """Layers with an indexer, and others that read its choice."""
    job = random_job(choose)
    job.cp_comm, job.recompute, job.sp = "all_gather", False, job.tp > 1
    m = random_latent(choose, job)
    m.q_lora, m.topk = m.q_lora or 16, choose.randint(1, job.sequence - 1)
    m.index_heads, m.index_dim = choose.randint(1, 6), 8 * choose.randint(1, 4)
    topk = f"index_topk = {m.topk}"
    index = f"{topk}  index_heads = {m.index_heads}  index_dim = {m.index_dim}"
    reuses = choose.randint(0, 2)
    kinds = {"i": ("dsa" if not reuses else "dsa_index", index), "r": ("dsa_reuse", topk)}
    blocks = "".join(f"  block {n} {{ attention {latent_text(m, kind, more)}\n  ffn none {{}} }}\n"
                     for n, (kind, more) in kinds.items() if n == "i" or reuses)
    layers = f"{job.layers} * (i + {reuses} * r)" if reuses else f"{job.layers} * i"
    c = Comparison(job, text_of(job, blocks, layers))
    made = {}
    for name in ("i", "r") if reuses else ("i",):
        b = made[name] = Block(job)
        sublayer(b, 0, lambda x: sparse_attention(b, x, m, name == "i"))
        # Layers that pass different values on are several blocks.
        for block in c.program.blocks:
            if block.split("_")[0] == name:
                without = ["gather over cp"]
                without += ["flops"] if name == "i" else []
                without += ["saved"] if name == "i" or job.cp > 1 else []
                c.block(block, b, without)
    c.step([(made["i"], job.layers)] + [(made[n], job.layers * reuses) for n in made if n == "r"])


def compare_parallel(choose):
    """Attention beside a network: one reduction of both, but a gradient for each input."""
    job = random_job(choose, may_cp=False)
    job.bias = choose.random() < .4
    a, f, two = random_attention(choose, job), random_network(choose, job), choose.random() < .5
    if a.qk_norm in ("all", "channel", "l2"):
        a.qk_norm = "none"
    a.gate, a.shared, a.sinks, a.causal, a.chunk, a.value = "none", False, False, True, 0, a.width
    b = Block(job)
    b.norm("x", job.hidden)
    if two:
        b.own(job.hidden * (2 if job.norm == "layernorm" else 1), job.sp)
    self_attention(b, "normed", a, job.bias, job.bias, reduces=False)
    network(b, "normed again" if two else "normed", f, job.bias, gathers=two)
    norm = "qk_norm = true" if a.qk_norm == "head" else ""
    c = Comparison(job, text_of(job, f"""  attention parallel {{
    heads = {a.heads}  kv_heads = {a.groups}  head_dim = {a.width}  window = {a.window}  {norm}
    intermediate = {f.width}  activation = {f.activation}  two_norms = {tool.word(two)} }}
  ffn none {{}}
""", job.layers))
    c.block("layer", b, unknown(job, a))
    c.step([(b, job.layers)])


def core_flops(job, attention, pairs, f, depths):
    """attention: multiplications for a token, and for a pair of tokens."""
    hidden, tokens = job.hidden, job.sequence * job.batch
    layers, factor = job.layers + depths, 3 if f.activation in GATED else 2
    token = hidden * f.width * factor * layers + attention[0] * layers
    token += depths * (3 * hidden + 2 * hidden ** 2) + hidden * job.vocab * (depths + 1)
    return 6 * (tokens * token + pairs * job.batch * attention[1] * layers) * job.dp * job.ga


def compare_layers(choose):
    """Norms anywhere, a network, and maybe layers that predict further tokens."""
    depths = choose.choice([0, 0, 1, 2, 3])
    job = random_job(choose, may_cp=not depths)
    job.placement, job.dropout = choose.choice(["pre", "post", "sandwich", "after_sum"]), choose.random() < .4
    if depths:
        job.recompute = False
        if job.placement == "after_sum":
            job.placement = "sandwich"
    f, is_latent, without = random_network(choose, job), choose.random() < .4, ()
    if is_latent:
        m = random_latent(choose, job)
        text = latent_text(m, more=f"output_gate = {'channel' if m.gate else 'none'}")
        without = ("saved",) if job.cp > 1 and job.cp_comm == "a2a" else ()
    else:
        job.bias = choose.random() < .4
        a = random_attention(choose, job)
        text, without = attention_text(a), unknown(job, a)

    def layer(b):
        sublayer(b, 0, (lambda x: latent_attention(b, x, m)) if is_latent else
                 (lambda x: self_attention(b, x, a, a.bias, a.output_bias)))
        sublayer(b, 1, lambda x: network(b, x, f, job.bias))

    is_shared = choose.random() < .5
    branch = f"  branch mtp {{ depths = {depths}  shared = {tool.word(is_shared)}  layers = layer }}\n"
    c = Comparison(job, text_of(job, f"  attention {text}\n{network_text(f)}\n  block layer {{ }}\n"
                                + (branch if depths else ""), f"{job.layers} * layer"))
    b = Block(job)
    layer(b)
    c.block("layer", b, without)
    blocks = [(b, job.layers)]
    if depths:
        blocks.append((prediction(job, depths, is_shared, layer), 1))
        c.block("mtp", blocks[-1][0], without)
    if is_latent or a.qk_norm not in ("all", "channel"):
        # A branch has the norm of the head.
        c.step(blocks, not depths and job.placement != "after_sum")
    compare_conventions(c, job, f, depths, m if is_latent else None, None if is_latent else a)


def compare_conventions(c, job, f, depths, m, a):
    """FLOPs of an iteration as Megatron-LM counts them; Megatron-Bridge discounts windows."""
    pairs = window_pairs = job.sequence ** 2 // 2
    if m and not m.gate:
        head = m.nope + m.rope
        query = (m.q_lora * (job.hidden + m.heads * head + 1) if m.q_lora else job.hidden * m.heads * head)
        token = (query + m.kv_lora * (job.hidden + m.heads * (m.nope + m.v) + 1) + job.hidden * m.rope
                 + m.heads * m.v * job.hidden)
        attention = token, m.heads * (head + m.v)
    elif a and a.value == a.width and not a.shared and a.gate != "head" and a.causal:
        query, key = a.heads * a.width, a.groups * a.width
        gate = query if a.gate == "channel" else 0
        attention = job.hidden * (query + 2 * key + gate) + query * job.hidden, 2 * query
        window_pairs = causal_pairs(job.sequence, a.window)
    else:
        return
    c.flops("core", core_flops(job, attention, pairs, f, depths))
    c.flops("bridge", core_flops(job, attention, window_pairs, f, depths))


def prediction(job, depths, is_shared, layer):
    """All depths of a branch, with the norm of the hidden state before it. The tokens are
    saved for the lookup once."""
    all_depths = Block(job)
    all_depths.norm("last", job.hidden)
    all_depths.saved["tokens"] = 4 * all_depths.tokens  # 8 bytes
    for number in range(depths):
        one = Block(job)
        depth(one)
        layer(one)
        for key, sizes in one.messages.items():
            all_depths.messages[key] += sizes
        all_depths.flops += one.flops
        all_depths.saved[number] = sum(one.saved.values())
        if not number or not is_shared:
            all_depths.parameters += one.parameters
            all_depths.summed += one.summed
    return all_depths


def without_flops(value):
    if isinstance(value, dict):
        return {k: without_flops(v) for k, v in value.items() if "flops" not in k}
    return [without_flops(v) for v in value] if isinstance(value, list) else value


def compare_windows(choose):
    """A window or chunks change FLOPs and the time of attention, and nothing else in any job."""
    job = random_job(choose)
    job.cp_comm = "all_gather" if job.cp_comm == "p2p" else job.cp_comm
    a, f = random_attention(choose, job), random_network(choose, job)
    pp, zero = choose.choice([1, 1, 2]), choose.choice([0, 1])
    a.window = a.chunk = 0
    a.causal = True
    plans, lines = [], []
    key = choose.choice(["window", "chunk"] if job.cp == 1 else ["window"])
    sizes = range(1, job.sequence)
    world = job.tp * job.cp * job.dp
    for value in (0, choose.choice(sizes)):
        setattr(a, key, value)
        text = text_of(job, f"  attention {attention_text(a)}\n{network_text(f)}\n", 2 * job.layers)
        text = text.replace(f"world = {world} ", f"world = {world * pp}  pp = {pp}  zero = {zero} ")
        text += "cost roofline { device { peak_flops = 1 TFLOP/s  memory_bandwidth = 1 TB/s } }\n"
        plans.append(tool.plan("-", input=text))
        lines.append([line for line in tool.ir("-", input=text).splitlines()
                      if not re.search(r" = attention|^ *(window|chunk|total flops) =", line)])
    before, after = plans
    assert without_flops(before) == without_flops(after), text
    assert lines[0] == lines[1], text
    less = causal_pairs(job.sequence) - causal_pairs(job.sequence, a.window, a.chunk)
    found = before["blocks"][1]["flops"] - after["blocks"][1]["flops"]
    pair = (8 if job.recompute else 6) * job.batch * a.heads * (a.width + a.value) // job.tp
    # Numbers of pairs are rounded up to halves.
    assert 0 <= less * pair // job.cp - found < pair // 2 + 1, (found, less, pair, text)


KINDS = [compare_attention, compare_latent, compare_sparse, compare_parallel, compare_layers, compare_windows]


def check(case):
    KINDS[case.number % len(KINDS)](case.draw)


if __name__ == "__main__":
    tool.cases(check)
