#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: towers_and_experts.py SEED COUNT

Compares encoders and decoders, vision towers, and experts of random jobs with closed forms: messages
of a micro-batch, parameters and FLOPs of a rank, saved activations, and gradients that are summed
once per iteration. Sources, where no other is named: Megatron-LM (main of 2026-08, paths in
megatron/core), and models of Hugging Face transformers.

Not compared, as Foretrace does something else (docs/fidelity.md), or nothing determines it:
 * sums over tp of gradients of tables of positions, and what tables of positions save;
 * projectors and norms of patches with sequence parallelism, which Megatron-LM turns off in towers
   (pretrain_vlm.py, model_provider);
 * broadcasts of tokens and images, and messages of keys without a bias;
 * messages and saved activations of layers that no framework trains with tensor parallelism.
"""
import collections
from types import SimpleNamespace

import attention_variants
import tool
from attention_forms import Block, GATED


def affine(kind, width):
    return width * (2 if kind == "layernorm" else 1)


class Layer(Block):
    """A block whose tokens need not be those of the text."""

    def __init__(self, job, tokens=0):
        super().__init__(job)
        self.of(tokens or job.sequence)

    def of(self, tokens):
        self.tokens = tokens * self.job.batch
        self.local = self.tokens // (self.job.tp if self.job.sp else 1)

    def normed(self, name, width=0, kind=None):
        """extensions/transformer_engine.py, TENorm; returns its result."""
        self.own(affine(kind or self.job.norm, width or self.job.hidden), self.job.sp)
        self.save(name, self.local * (width or self.job.hidden))
        return "normed " + name

    def scores(self, name, pairs, a, output, bias):
        """training/training.py, transformer_flops, without the half of a causal mask."""
        self.flops += 12 * pairs * self.job.batch * a.heads * a.width // self.job.tp
        self.row(f"context {name}", a.heads * a.width, output, bias)

    def self_attention(self, name, a, width, bias, pairs, qk_norm=False):
        """transformer/attention.py, SelfAttention, with as many key heads as heads."""
        inner, share = a.heads * a.width, self.tokens // self.job.tp
        self.column(name, width, 3 * inner, bias)
        self.save(f"qkv {name}", 3 * share * inner)
        if qk_norm:
            self.own(2 * a.width, True)
            self.save(f"queries and keys {name}", 2 * share * inner)
        self.scores(name, pairs, a, width, bias)

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
        self.scores(name, job.sequence * memory, a, job.hidden, bias)

    def network(self, name, inputs, wide, outputs, activation, bias):
        """transformer/mlp.py: the activation saves its input."""
        inner = wide * (2 if activation in GATED else 1)
        self.column(name, inputs, inner, bias)
        self.save(f"fc1 {name}", self.tokens * inner // self.job.tp)
        self.row(f"activated {name}", wide, outputs, bias)


class Comparison(attention_variants.Comparison):
    def __init__(self, job, blocks, layers):
        text = attention_variants.text_of(job, "".join(blocks), layers)
        super().__init__(job, text.replace("  ga = ", f"  ep = {job.ep}  etp = {job.etp}  ga = "))
        self.totals = self.program.totals
        for name, messages in self.program.blocks.items():
            self.program.blocks[name] = [m for m in messages if m[1] != "broadcast"]

    def step(self, layers, over_tp=True, experts=0, counts=0):
        """distributed/finalize_model_grads.py: gradients over replicas, partial sums over tp, and
        counts of tokens. Layers come with their numbers; parameters of embedding and head
        are taken from Foretrace. Of these, `experts` are parameters of experts."""
        job, found, expected = self.job, collections.Counter(), collections.Counter()
        is_plain = job.ep == 1 and job.etp == job.tp
        for _, op, axes, size in self.program.blocks["step.0"]:
            found[op, ("dp",) if axes == ("edp",) and is_plain else axes] += size
        rest = sum(self.totals[n]["parameters"] for n in ("embedding", "head"))
        summed = sum(n * b.summed for b, n in layers) + affine(job.norm, job.hidden) * job.sp
        dense = sum(n * b.parameters for b, n in layers) - experts + rest
        axes = tuple(a for a in ("tp", "dp") if getattr(job, a) > 1)
        world = job.tp * job.dp
        for among, ranks, count in (("tp", job.tp, summed), ("dp", job.dp, dense),
                                    ("dp" if is_plain else "edp", world // job.ep // job.etp, experts)):
            expected["all_reduce", (among,)] += 4 * count if ranks > 1 else 0
        expected["all_reduce", axes] += 2 * counts if world > 1 else 0
        if not over_tp:
            del found["all_reduce", ("tp",)], expected["all_reduce", ("tp",)]
        self.equal("gradients", found, +expected)


def random_job(choose):
    job = attention_variants.random_job(choose, may_cp=False)
    job.recompute, job.bias, job.ep, job.etp = False, choose.random() < .5, 1, job.tp
    return job


def random_heads(choose, job):
    return SimpleNamespace(heads=job.tp * choose.randint(1, 3), width=8 * choose.randint(1, 6))


def random_width(choose, job):
    return 8 * job.tp * choose.randint(1, 8)


def keys_of(kind, **keys):
    return f"{kind} {{ {'  '.join(f'{k} = {tool.word(v)}' for k, v in keys.items())} }}"


def block(name, attention="none {}", ffn="none {}", more=""):
    return f"  block {name} {{ attention {attention}\n    ffn {ffn}  {more} }}\n"


def compare_encoder(choose):
    """models/T5/t5_spec.py: both stacks have ordinary layers, and each has a table of positions."""
    job = random_job(choose)
    job.dropout = choose.random() < .3
    a, d = random_heads(choose, job), random_heads(choose, job)
    tokens, hidden, sequence = 2 * job.tp * choose.randint(2, 10), job.hidden, job.sequence
    wide, wide_d = random_width(choose, job), random_width(choose, job)
    activation, buckets = choose.choice(["gelu", "relu", "swiglu"]), choose.choice([0, 0, 4, 9])
    final, key_bias = choose.random() < .5, choose.random() < .8 or not job.bias
    encoders, decoders = choose.randint(1, 3), choose.randint(1, 3)
    both = {"key_bias": key_bias, "buckets": buckets}
    encode = {"tokens": tokens, "heads": a.heads, "head_dim": a.width, "intermediate": wide,
              "activation": activation, **both}
    decode = keys_of("decoder_layer", memory_tokens=tokens, heads=d.heads, head_dim=d.width, **both)
    ffn = keys_of("", intermediate=wide_d, activation=activation)
    c = Comparison(job, [
        block("words", keys_of("encoder_words", tokens=tokens)),
        block("encode", keys_of("encoder_layer", **encode)),
        block("last", keys_of("encoder_layer", **encode, last_norm=final)), block("decode", decode, ffn)],
        f"words + {encoders} * encode + last + {decoders} * decode")
    # tensor_parallel/layers.py, VocabParallelEmbedding.
    words = Layer(job, tokens)
    words.saved = {"ids": 4 * words.tokens, "x1": words.local * hidden}  # of the first layer
    words.send("forward", "reduce_scatter" if job.sp else "all_reduce", "tp", 2 * words.tokens * hidden)
    if job.sp:
        words.send("backward", "all_gather", "tp", 2 * words.tokens * hidden)
    c.block("words", words, ("saved",) if job.dropout else ())

    def encoder(b):
        b.self_attention(b.normed("x1"), a, hidden, job.bias, tokens ** 2)
        b.network(b.normed("x2"), hidden, wide, hidden, activation, job.bias)
        b.save("masks", b.local * hidden * job.dropout)  # two bytes

    def decoder(b):
        b.self_attention(b.normed("x1"), d, hidden, job.bias, sequence ** 2 / 2)
        b.cross_attention(b.normed("x2"), d, tokens, d.heads, job.bias)
        b.network(b.normed("x3"), hidden, wide_d, hidden, activation, job.bias)
        b.save("masks", b.local * hidden * 3 / 2 * job.dropout)
        # Hugging Face, WhisperAttention: keys have no bias.
        b.parameters -= 0 if key_bias else d.heads * d.width // job.tp

    parts = []
    for name, layer, x, count in (("encode", encoder, a, encoders), ("last", encoder, a, 1),
                                  ("decode", decoder, d, decoders)):
        b = Layer(job, 0 if name == "decode" else tokens)
        layer(b)
        b.parameters -= 0 if key_bias else x.heads * x.width // job.tp
        b.saved.pop("memory", 0)  # once, as what the last layer of the encoder makes
        if name == "last" and final:
            b.normed("x3")
        parts.append((b, count))
        for found in (n for n in c.totals if n.split("_")[0] == name):
            table = buckets * x.heads * (found in ("encode", "decode"))  # of the first layer of a stack
            b.parameters += table
            c.block(found, b, () if key_bias else ("saved", "messages"))
            b.parameters -= table
    tables = SimpleNamespace(parameters=buckets * (a.heads + d.heads), summed=0)
    c.step(parts + [(tables, 1)], over_tp=not buckets)


def compare_tower(choose):
    """models/vision/clip_vit_model.py: patches on all ranks, then ordinary layers;
    models/multimodal/llava_model.py: a projector whose tokens replace those of the text."""
    job = random_job(choose)
    a, merge = random_heads(choose, job), choose.choice([1, 2, 4])
    tokens, width = merge * job.tp * choose.randint(1, 6), 16 * choose.randint(1, 8)
    job.sequence = tokens // merge + job.tp * choose.randint(0, 8)
    pixels, positions = choose.randint(10, 200), choose.choice([0, 0, tokens])
    wide, layers = random_width(choose, job), choose.randint(1, 3)
    norm, activation = choose.choice(["layernorm", "rmsnorm"]), choose.choice(["gelu", "swiglu"])
    bias, attention_bias, patch_bias, project_bias = (choose.random() < .5 for _ in "1234")
    qk_norm, sandwich, gated, first_norm, class_token, frozen = (choose.random() < .25 for _ in "123456")
    is_merger = choose.random() < .5 or frozen
    first = width * merge if is_merger else random_width(choose, job)
    last_norm = norm if is_merger else choose.choice(["none", "layernorm", "rmsnorm"])
    of = {"tokens": tokens, "width": width}
    merger = (keys_of("patch_merger", **of, merge=merge, norm=norm) if is_merger else
              keys_of("projector", **of, merge=merge, first=first, last_norm=last_norm, bias=project_bias))
    freeze = keys_of("", frozen=frozen)[3:-1]
    c = Comparison(job, [
        block("patches", keys_of("patch_embedding", **of, pixels=pixels, bias=patch_bias, positions=positions,
                                 class_token=class_token, first_norm=first_norm), more=freeze),
        block("vision", keys_of("vit", tokens=tokens, heads=a.heads, head_dim=a.width, intermediate=wide,
                                activation=activation, norm=norm, sandwich=sandwich, bias=bias,
                                attention_bias=attention_bias, qk_norm=qk_norm, gated=gated), more=freeze),
        block("merge", merger)], f"patches + {layers} * vision + merge")
    patches, vision, last = (Layer(job, tokens) for _ in "123")
    patches.own(pixels * width + width * (patch_bias + class_token + positions))
    # conv1 is whole on each rank, of all tokens, and needs no gradient of pixels. With sequence
    # parallelism tensor_parallel/mappings.py, _ScatterToSequenceParallelRegion, gathers the gradient.
    patches.flops += 4 * patches.tokens * pixels * width
    patches.save("pixels", patches.tokens * pixels)
    if job.sp:
        patches.send("backward", "all_gather", "tp", 2 * patches.tokens * width)
    patches.save("x1", patches.local * width)  # of the first layer
    if first_norm:
        patches.normed("embedded", width, "layernorm")
    vision.self_attention(vision.normed("x1", width, norm), a, width, attention_bias, tokens ** 2, qk_norm)
    vision.network(vision.normed("x2", width, norm), width, wide, width, activation, bias)
    vision.own(2 * affine(norm, width) * sandwich + 2 * gated, job.sp)
    if frozen:
        # llava_model.py, freeze: no gradients, thus nothing to save but what the merger reads.
        for b, passes in ((patches, 2), (vision, 3)):
            b.saved, b.flops = {}, b.flops // passes
            b.messages = {k: v for k, v in b.messages.items() if k[0] == "forward"}
        patches.save("x", patches.local * width)
    c.block("patches", patches, ("saved", "messages", "flops") if positions else
            ("saved",) if job.sp and first_norm else ())
    c.block("vision", vision, ("saved",) if sandwich or gated or frozen else ())
    if last_norm != "none":
        last.normed("x", width, last_norm)
    last.of(tokens // merge)
    last.network("merged", width * merge, first, job.hidden, "gelu", is_merger or project_bias)
    c.block("merge", last, ("saved", "messages") if job.sp else ("saved",))
    trained = [] if frozen else [(patches, 1), (vision, layers)]
    c.step(trained + [(last, 1)], over_tp=not (job.sp and (positions or first_norm)))


def compare_memory(choose):
    """Cross-attention to a tower: attention.py, CrossAttention, but with fewer key heads, norms and
    gates, as in MllamaCrossAttentionDecoderLayer."""
    job = random_job(choose)
    job.bias = False
    a, hidden = random_heads(choose, job), job.hidden
    groups = choose.choice([n for n in range(job.tp, a.heads + 1, job.tp) if a.heads % n == 0])
    of = {"tokens": job.tp * choose.randint(2, 20), "width": 16 * choose.randint(1, 8)}
    tokens, width = of.values()
    wide, count = random_width(choose, job), choose.randint(1, 3)
    outputs = choose.choice([n for n in range(1, 5) if n * width != hidden])
    c = Comparison(job, [
        block("patches", keys_of("patch_embedding", **of, pixels=48)),
        block("memory", keys_of("tower_memory", **of, outputs=outputs)),
        block("cross", keys_of("cross_attention", memory_tokens=tokens, heads=a.heads, kv_heads=groups,
                               head_dim=a.width, intermediate=wide))], f"patches + memory + {count} * cross")
    patches, memory, cross = Layer(job, tokens), Layer(job, tokens), Layer(job)
    patches.own(49 * width)
    memory.normed("x", width, "layernorm")
    # MllamaForConditionalGeneration, multi_modal_projector: one linear layer of all outputs.
    memory.own((width * outputs + 1) * hidden, job.sp)
    memory.flops += 6 * memory.local * width * outputs * hidden
    c.block("memory", memory, ("saved",))
    cross.cross_attention(cross.normed("x1"), a, tokens, groups)
    cross.own(2 * a.width, True)
    cross.network(cross.normed("x2"), hidden, wide, hidden, "swiglu", False)
    cross.own(2, job.sp)
    c.block("cross", cross, ("saved",))
    c.step([(patches, 1), (memory, 1), (cross, count)])


def random_experts(choose):
    """Megatron-LM trains experts with tp only with sequence parallelism (moe_layer.py, forward)."""
    job = random_job(choose)
    job.sp, job.ep = job.tp > 1, choose.choice([1, 2, 4])
    job.etp = job.tp if choose.random() < .4 else 1
    job.dp = -(-job.ep * job.etp // job.tp) * choose.choice([1, 2])
    if job.tp * job.dp % (job.ep * job.etp):
        job.ep, job.dp = 1, choose.choice([1, 2])
    e = SimpleNamespace(experts=job.ep * choose.randint(1, 4), width=8 * job.etp * choose.randint(1, 8),
                        activation=choose.choice(["gelu", "swiglu"]))
    e.topk = choose.randint(1, min(6, e.experts))
    # Each token has a whole number of real experts.
    e.zeros = [0] + [n for n in range(1, 3 * e.experts + 1) if e.topk * e.experts % (e.experts + n) == 0]
    return job, e


class Experts(Layer):
    """A layer of experts; `expert` is how many parameters are not reduced over all of tp x dp."""

    def __init__(self, job, e, latent=0, shared=0, gate=False, linear_bias=False, zero=0, bias=False):
        super().__init__(job)
        ways, hidden, width = e.experts + zero, job.hidden, latent or job.hidden
        inner = e.width * (2 if e.activation in GATED else 1)
        # router.py, Router.reset_parameters: whole, and run on this rank's tokens.
        self.save(self.normed("x"), self.local * hidden)
        self.own(ways * (hidden + linear_bias), job.sp)
        self.flops += 6 * self.local * hidden * ways
        if latent:
            # moe_layer.py, MoELayer.__init__: fc1_latent_proj and fc2_latent_proj.
            self.duplicated("normed x", hidden, latent)
            self.duplicated("latent results", latent, hidden)
            self.own((latent + hidden) * bias, job.sp)
        # token_dispatcher.py, MoEAlltoAllTokenDispatcher: counts of tokens (preprocess), tokens and
        # probabilities to the ranks of their experts, from all ranks of etp, and results back
        # without them.
        self.send("forward", "all_gather", "etp" if job.etp > 1 else "ep", 8 * e.experts * job.etp * job.ep)
        slots = self.local * e.topk * e.experts // ways
        every = slots * job.etp
        for size in (2 * width, 2 * width, 2):
            self.send("forward", "all_to_all", "ep", slots * size)
            self.send("backward", "all_to_all", "ep", slots * size)
        for there, back in (("all_gather", "reduce_scatter"), ("reduce_scatter", "all_gather")):
            for size in (2 * width, 2)[:2 if there == "all_gather" else 1]:
                self.send("forward", there, "etp", every * size)
                self.send("backward", back, "etp", every * size)
        # experts.py, TEGroupedMLP: inputs of both layers and of the activation, and a probability.
        weights = width * (inner + e.width) // job.etp
        self.expert = e.experts // job.ep * (weights + (inner + width) * bias)
        self.own(self.expert)
        self.flops += 6 * every * weights
        self.save("slots", every * (width + (inner + e.width) // job.etp + 1))
        if shared:
            self.network("normed x", hidden, shared, hidden, e.activation, False)
        if gate:
            # shared_experts.py, SharedExpertMLP.forward: the product saves both factors.
            self.own(hidden, job.sp)
            self.flops += 6 * self.local * hidden
            self.save("shared result", self.local * (hidden + 1))


def compare_experts(choose):
    """All messages and sums, and what latent and shared experts save beyond plain ones."""
    job, e = random_experts(choose)
    latent = choose.choice([0, 8 * choose.randint(1, 20)])
    shared = choose.choice([0, random_width(choose, job)])
    gate, (linear_bias, counted) = shared > 0 and choose.random() < .5, (choose.random() < .5 for _ in "12")
    zero, layers = choose.choice(e.zeros), choose.randint(1, 3)
    job.bias = job.bias and not shared and job.etp == 1  # shared_experts.py, SharedExpertMLP.__init__

    def compiled(**more):
        keys = keys_of("", experts=e.experts, topk=e.topk, **more)[3:-1]
        ffn = keys_of("", intermediate=e.width, activation=e.activation)
        return Comparison(job, [block("e", ffn=ffn, more=keys)], f"{layers} * e")

    c = compiled(latent=latent, zero_experts=zero, router_linear_bias=linear_bias, router_bias=counted,
                 **({"shared_intermediate": shared, "shared_gate": gate} if shared else {}))
    b = Experts(job, e, latent, shared, gate, linear_bias, zero, job.bias)
    buffers = (e.experts + zero) * counted  # without gradients: router.py, expert_bias
    b.parameters += buffers
    c.block("e", b, ("saved",))
    b.parameters -= buffers
    c.step([(b, layers)], experts=layers * b.expert, counts=layers * buffers)
    if not zero:
        more = c.totals["e"]["kept"] - compiled().totals["e"]["kept"]
        c.equal("more saved", more, 2 * (sum(b.saved.values()) - sum(Experts(job, e).saved.values())))


def compare_published(choose):
    """Layers that no framework trains with tensor parallelism: parameters of Gemma4TextDecoderLayer
    and LongcatFlashDecoderLayer, and products of their linear layers on all ranks of tp."""
    job, e = random_experts(choose)
    job.bias, job.norm, is_gemma = False, "rmsnorm", choose.random() < .5
    job.placement = "sandwich" if is_gemma else "pre"
    hidden, dense, zero = job.hidden, random_width(choose, job), 0 if is_gemma else choose.choice(e.zeros)
    keys = {"dense_intermediate": dense, "intermediate": e.width, "experts": e.experts, "topk": e.topk}
    router, network, expert = hidden * (e.experts + zero), 3 * hidden * dense, 3 * hidden * e.width
    if is_gemma:
        made = block("e", ffn=keys_of("dense_and_experts", **keys, activation="geglu"))
        # Five norms, a scale of the router's input and one of each expert.
        products, own, core = network + router, 6 * hidden + e.experts, 0
    else:
        heads = job.tp * choose.randint(1, 3)
        q, kv, rope, nope, v = (8 * choose.randint(1, 9) for _ in range(5))
        made = block("e", keys_of("shortcut_experts", heads=heads, q_lora=q, kv_lora=kv, rope_dim=rope,
                                  nope_dim=nope, v_dim=v, zero_experts=zero, **keys))
        attention = hidden * (q + kv + rope) + heads * (q * (nope + rope) + kv * (nope + v) + v * hidden)
        products = 2 * (attention + network) + router
        own, core = 2 * (q + kv) + 4 * hidden + e.experts + zero, heads * (nope + rope + v) * job.sequence
    c = Comparison(job, [made], "2 * e")
    c.equal("published parameters", c.totals["e"]["published"], products + own + e.experts * expert)
    token = products + core + e.topk * e.experts // (e.experts + zero) * expert
    c.equal("FLOPs on all ranks", c.totals["e"]["flops"] * job.tp, 6 * job.sequence * job.batch * token)


KINDS = [compare_encoder, compare_tower, compare_memory, compare_experts, compare_experts, compare_published]


def check(case):
    KINDS[case.number % len(KINDS)](case.draw)


tool.cases(check)
