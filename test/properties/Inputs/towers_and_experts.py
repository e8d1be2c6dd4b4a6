# SPDX-License-Identifier: Apache-2.0
"""usage: towers_and_experts.py SEED COUNT

Compares encoders and decoders, and vision towers of random jobs with closed forms: messages of a
micro-batch, parameters and FLOPs of a rank, saved activations, and gradients that are summed once
per iteration. Sources, where no other is named: Megatron-LM (main of 2026-08, paths in
megatron/core), and models of Hugging Face transformers.

Not compared, as Foretrace does something else (docs/fidelity.md), or nothing determines it:
 * sums over tp of gradients of tables of positions, and what tables of positions save;
 * projectors and norms of patches with sequence parallelism, which Megatron-LM turns off in towers
   (pretrain_vlm.py, model_provider);
 * broadcasts of tokens and images, and messages of keys without a bias;
 * messages and saved activations of layers that no framework trains with tensor parallelism.
"""
import collections
import dataclasses
from types import SimpleNamespace

import tool
from attention_variants import random_job
from block import TP, Block
from check_closed_form import compare_block, compare_step
from ftir import Program
from job import Experts, text_of
from tool import section


class Layer(Block):
    """A block whose tokens need not be those of the text."""

    def normed(self, name, width=0, kind=None):
        """extensions/transformer_engine.py, TENorm; returns its result."""
        self.norm(name, width or self.job.hidden, kind=kind)
        return "normed " + name

    def self_attention(self, name, a, width, bias, pairs, qk_norm=False):
        """transformer/attention.py, SelfAttention, with as many key heads as heads."""
        inner, share = a.heads * a.width, self.tokens // self.job.tp
        self.column(name, width, 3 * inner, bias)
        self.save(f"qkv {name}", 3 * share * inner)
        if qk_norm:
            self.own(2 * a.width, True)
            self.save(f"queries and keys {name}", 2 * share * inner)
        self.core(a.heads, a.width, a.width, pairs)
        self.row(f"context {name}", inner, width, bias)

    def cross_attention(self, name, a, memory, groups, bias=False):
        """transformer/attention.py, CrossAttention: queries of the text, keys and values of all
        tokens of the memory; both inputs are gathered by themselves."""
        job, inner = self.job, a.heads * a.width
        self.column(name, job.hidden, inner, bias)
        self.save(f"query {name}", self.tokens * inner // job.tp)
        self.of(memory)
        self.column("memory", job.hidden, 2 * groups * a.width, bias)
        self.save(f"keys {name}", self.tokens * 2 * groups * a.width // job.tp)
        self.of(job.sequence)
        self.core(a.heads, a.width, a.width, job.sequence * memory)
        self.row(f"context {name}", inner, job.hidden, bias)


class Comparison:
    """A job with these blocks, and what is wrong with it."""

    def __init__(self, job, blocks, layers):
        self.job, self.text = job, text_of(job, "".join(blocks) + f"  layers = {layers}\n")
        self.program, self.problems = Program(tool.ir("-", input=self.text)), []

    def block(self, name, b, *without):
        self.problems += compare_block(b, name, self.program, without)

    def end(self, layers, over_tp=True):
        self.problems += compare_step(self.job, self.program, layers, over_tp=over_tp)
        assert not self.problems, "\n".join([*self.problems, self.text])


def random_text_job(choose, **more):
    """A job without recomputation; the sections of layers say whether they have biases."""
    bias = choose.random() < .5
    return dataclasses.replace(random_job(choose, cp=1, cp_comm="all_gather"), recompute="none",
                               **{"bias": bias, "qkv_bias": bias, **more})


def random_heads(choose, job):
    return SimpleNamespace(heads=job.tp * choose.randint(1, 3), width=8 * choose.randint(1, 6))


def random_width(choose, job):
    return 8 * job.tp * choose.randint(1, 8)


def block(name, attention="none {}", ffn="none {}", more=""):
    return f"  block {name} {{ attention {attention}\n    ffn {ffn}  {more} }}\n"


def compare_encoder(choose):
    """models/T5/t5_spec.py: both stacks have ordinary layers, and each has a table of positions."""
    job = random_text_job(choose, dropout=choose.random() < .3)
    a, d = random_heads(choose, job), random_heads(choose, job)
    tokens, hidden, sequence = 2 * job.tp * choose.randint(2, 10), job.hidden, job.sequence
    wide, wide_d = random_width(choose, job), random_width(choose, job)
    activation, buckets = choose.choice(["gelu", "relu", "swiglu"]), choose.choice([0, 0, 4, 9])
    final, key_bias = choose.random() < .5, choose.random() < .8 or not job.bias
    encoders, decoders = choose.randint(1, 3), choose.randint(1, 3)
    both = {"key_bias": key_bias, "buckets": buckets}
    encode = {"tokens": tokens, "heads": a.heads, "head_dim": a.width, "intermediate": wide,
              "activation": activation, **both}
    decode = section("decoder_layer", memory_tokens=tokens, heads=d.heads, head_dim=d.width, **both)
    ffn = section("", intermediate=wide_d, activation=activation)
    c = Comparison(job, [
        block("words", section("encoder_words", tokens=tokens)),
        block("encode", section("encoder_layer", **encode)),
        block("last", section("encoder_layer", **encode, last_norm=final)), block("decode", decode, ffn)],
        f"words + {encoders} * encode + last + {decoders} * decode")
    # tensor_parallel/layers.py, VocabParallelEmbedding.
    words = Layer(job, tokens)
    words.save("ids", words.tokens, 8)
    words.save("x1", words.local * hidden)  # of the first layer
    whole = TP, 2 * words.tokens * hidden
    words.send(("reduce_scatter" if job.sp else "all_reduce", *whole), back=[("all_gather", *whole)] * job.sp)
    c.block("words", words, *["kept"] * job.dropout)

    def encoder(b):
        b.self_attention(b.normed("x1"), a, hidden, job.bias, tokens ** 2)
        b.network(b.normed("x2"), wide, activation=activation, bias=job.bias)
        b.save("masks", b.local * hidden * job.dropout)  # two bytes

    def decoder(b):
        b.self_attention(b.normed("x1"), d, hidden, job.bias, sequence ** 2 // 2)
        b.cross_attention(b.normed("x2"), d, tokens, d.heads, job.bias)
        b.network(b.normed("x3"), wide_d, activation=activation, bias=job.bias)
        b.save("masks", b.local * hidden * 3 * job.dropout, 1)
        lack_key_biases(b, d)

    def lack_key_biases(b, x):
        """Hugging Face, WhisperAttention: keys have no bias."""
        b.own(0 if key_bias else -(x.heads * x.width // job.tp))

    parts = []
    for name, layer, x, count in (("encode", encoder, a, encoders), ("last", encoder, a, 1),
                                  ("decode", decoder, d, decoders)):
        b = Layer(job, 0 if name == "decode" else tokens)
        layer(b)
        lack_key_biases(b, x)
        b.saved.pop("memory", 0)  # once, as what the last layer of the encoder makes
        if name == "last" and final:
            b.normed("x3")
        parts.append((b, count))
        for found in (n for n in c.program.blocks if n.split("_")[0] == name):
            first = Layer(job)  # of a stack: it has the table
            first.include(b, "layer")
            first.own(buckets * x.heads * (found in ("encode", "decode")))
            c.block(found, first, *[] if key_bias else ["kept", "messages"])
    tables = Layer(job)
    tables.own(buckets * (a.heads + d.heads))
    c.end(parts + [(tables, 1)], over_tp=not buckets)


def compare_tower(choose):
    """models/vision/clip_vit_model.py: patches on all ranks, then ordinary layers;
    models/multimodal/llava_model.py: a projector whose tokens replace those of the text."""
    job = random_text_job(choose)
    a, merge = random_heads(choose, job), choose.choice([1, 2, 4])
    tokens, width = merge * job.tp * choose.randint(1, 6), 16 * choose.randint(1, 8)
    job = dataclasses.replace(job, sequence=tokens // merge + job.tp * choose.randint(0, 8))
    pixels, positions = choose.randint(10, 200), choose.choice([0, 0, tokens])
    wide, layers = random_width(choose, job), choose.randint(1, 3)
    norm, activation = choose.choice(["layernorm", "rmsnorm"]), choose.choice(["gelu", "swiglu"])
    bias, attention_bias, patch_bias, project_bias = (choose.random() < .5 for _ in "1234")
    qk_norm, sandwich, gated, first_norm, class_token, frozen = (choose.random() < .25 for _ in "123456")
    is_merger = choose.random() < .5 or frozen
    first = width * merge if is_merger else random_width(choose, job)
    last_norm = norm if is_merger else choose.choice(["none", "layernorm", "rmsnorm"])
    of = {"tokens": tokens, "width": width}
    merger = (section("patch_merger", **of, merge=merge, norm=norm) if is_merger else
              section("projector", **of, merge=merge, first=first, last_norm=last_norm, bias=project_bias))
    freeze = tool.keys(frozen=frozen)
    c = Comparison(job, [
        block("patches", section("patch_embedding", **of, pixels=pixels, bias=patch_bias, positions=positions,
                                 class_token=class_token, first_norm=first_norm), more=freeze),
        block("vision", section("vit", tokens=tokens, heads=a.heads, head_dim=a.width, intermediate=wide,
                                activation=activation, norm=norm, sandwich=sandwich, bias=bias,
                                attention_bias=attention_bias, qk_norm=qk_norm, gated=gated), more=freeze),
        block("merge", merger)], f"patches + {layers} * vision + merge")
    patches, vision, last = (Layer(job, tokens) for _ in "123")
    patches.own(pixels * width + width * (patch_bias + class_token + positions))
    # conv1 is whole on each rank, of all tokens, and needs no gradient of pixels. With sequence
    # parallelism tensor_parallel/mappings.py, _ScatterToSequenceParallelRegion, gathers the gradient.
    patches.flops[""] += 4 * patches.tokens * pixels * width
    patches.save("pixels", patches.tokens * pixels)
    patches.send(back=[("all_gather", TP, 2 * patches.tokens * width)] * job.sp)
    patches.save("x1", patches.local * width)  # of the first layer
    if first_norm:
        patches.normed("embedded", width, "layernorm")
    vision.self_attention(vision.normed("x1", width, norm), a, width, attention_bias, tokens ** 2, qk_norm)
    vision.network(vision.normed("x2", width, norm), wide, width, width, bias, activation)
    vision.own(2 * width * (2 if norm == "layernorm" else 1) * sandwich + 2 * gated, job.sp)
    if frozen:
        # llava_model.py, freeze: no gradients, thus nothing to save but what the merger reads.
        for b, passes in ((patches, 2), (vision, 3)):
            b.saved, b.backward = {}, []
            b.flops = collections.Counter({"": b.flops.total() // passes})
        patches.save("x", patches.local * width)
    c.block("patches", patches, *["kept", "messages", "flops"] if positions else
            ["kept"] * (job.sp and first_norm))
    c.block("vision", vision, *["kept"] * (sandwich or gated or frozen))
    if last_norm != "none":
        last.normed("x", width, last_norm)
    last.of(tokens // merge)
    last.network("merged", first, width * merge, job.hidden, is_merger or project_bias, "gelu")
    c.block("merge", last, "kept", *["messages"] * job.sp)
    trained = [] if frozen else [(patches, 1), (vision, layers)]
    c.end(trained + [(last, 1)], over_tp=not (job.sp and (positions or first_norm)))


def compare_memory(choose):
    """Cross-attention to a tower: attention.py, CrossAttention, but with fewer key heads, norms and
    gates, as in MllamaCrossAttentionDecoderLayer."""
    job = random_text_job(choose, bias=False, qkv_bias=False)
    a, hidden = random_heads(choose, job), job.hidden
    groups = choose.choice([n for n in range(job.tp, a.heads + 1, job.tp) if a.heads % n == 0])
    of = {"tokens": job.tp * choose.randint(2, 20), "width": 16 * choose.randint(1, 8)}
    tokens, width = of.values()
    wide, count = random_width(choose, job), choose.randint(1, 3)
    outputs = choose.choice([n for n in range(1, 5) if n * width != hidden])
    c = Comparison(job, [
        block("patches", section("patch_embedding", **of, pixels=48)),
        block("memory", section("tower_memory", **of, outputs=outputs)),
        block("cross", section("cross_attention", memory_tokens=tokens, heads=a.heads, kv_heads=groups,
                               head_dim=a.width, intermediate=wide))], f"patches + memory + {count} * cross")
    patches, memory, cross = Layer(job, tokens), Layer(job, tokens), Layer(job)
    patches.own(49 * width)
    memory.normed("x", width, "layernorm")
    # MllamaForConditionalGeneration, multi_modal_projector: one linear layer of all outputs.
    memory.own((width * outputs + 1) * hidden, job.sp)
    memory.multiply(memory.local * width * outputs * hidden)
    c.block("memory", memory, "kept")
    cross.cross_attention(cross.normed("x1"), a, tokens, groups)
    cross.own(2 * a.width, True)
    cross.network(cross.normed("x2"), wide, activation="swiglu")
    cross.own(2, job.sp)
    c.block("cross", cross, "kept")
    c.end([(patches, 1), (memory, 1), (cross, count)])


def random_experts(choose):
    """Megatron-LM trains experts with tp only with sequence parallelism (moe_layer.py, forward)."""
    job = random_text_job(choose, bias=False, qkv_bias=False, norm="rmsnorm")
    ep, etp = choose.choice([1, 2, 4]), job.tp if choose.random() < .4 else 1
    dp = -(-ep * etp // job.tp) * choose.choice([1, 2])
    if job.tp * dp % (ep * etp):
        ep, dp = 1, choose.choice([1, 2])
    count = ep * choose.randint(1, 4)
    return dataclasses.replace(
        job, sp=job.tp > 1, ep=ep, etp=etp, dp=dp, experts=Experts(
            count, choose.randint(1, min(6, count)), 8 * etp * choose.randint(1, 8)))


def compare_published(choose):
    """Layers that no framework trains with tensor parallelism: parameters of Gemma4TextDecoderLayer
    and LongcatFlashDecoderLayer, and products of their linear layers on all ranks of tp."""
    is_gemma = choose.random() < .5
    job = dataclasses.replace(random_experts(choose), placement="sandwich" if is_gemma else "pre")
    e, hidden, dense = job.experts, job.hidden, random_width(choose, job)
    if not is_gemma and choose.random() < .7:
        # Each token has a whole number of real experts.
        e.zero = choose.choice([0] + [n for n in range(1, 3 * e.count + 1) if e.topk * e.count % (e.count + n) == 0])
    keys = {"dense_intermediate": dense, "intermediate": e.ffn, "experts": e.count, "topk": e.topk}
    router, network, expert = hidden * e.ways, 3 * hidden * dense, 3 * hidden * e.ffn
    if is_gemma:
        made = block("e", ffn=section("dense_and_experts", **keys, activation="geglu"))
        # Five norms, a scale of the router's input and one of each expert.
        products, own, core = network + router, 6 * hidden + e.count, 0
    else:
        heads = job.tp * choose.randint(1, 3)
        q, kv, rope, nope, v = (8 * choose.randint(1, 9) for _ in range(5))
        made = block("e", section("shortcut_experts", heads=heads, q_lora=q, kv_lora=kv, rope_dim=rope,
                                  nope_dim=nope, v_dim=v, zero_experts=e.zero, **keys))
        attention = hidden * (q + kv + rope) + heads * (q * (nope + rope) + kv * (nope + v) + v * hidden)
        products = 2 * (attention + network) + router
        own, core = 2 * (q + kv) + 4 * hidden + e.ways, heads * (nope + rope + v) * job.sequence
    c = Comparison(job, [made], "2 * e")
    found = c.program.totals["e"]
    token = products + core + e.topk * e.count // e.ways * expert
    assert found["published"] == products + own + e.count * expert, (found, c.text)
    assert found["flops"] * job.tp == 6 * job.sequence * job.micro_batch * token, (found, c.text)


KINDS = [compare_encoder, compare_tower, compare_memory, compare_published]


def check(case):
    KINDS[case.number % len(KINDS)](case.draw)


tool.cases(check)
