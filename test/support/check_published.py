# SPDX-License-Identifier: Apache-2.0
#
# Holds the closed form of the property test against figures of papers and of
# published models, so that it is not only Foretrace that agrees with it.
"""usage: check_published.py"""

import closed_form
from job import Experts, Job, Latent

GPT_175B = dict(
    vocab=51200, hidden=12288, norm="layernorm", positions="learned",
    tied=True, bias=True, qkv_bias=True, heads=96, kv_heads=96, head_dim=128,
    ffn=49152, activation="gelu", layers=["dense"] * 96, sequence=2048, tp=8,
    pp=8)
DEEPSEEK_V3 = dict(
    vocab=129280, hidden=7168, heads=128, kv_heads=128,
    latent=Latent(q_lora=1536, kv_lora=512, rope=64, nope=128, v=128),
    ffn=18432, layers=["dense"], sequence=4096)
LLAMA_1B = dict(
    vocab=128256, vocab_multiple=1, hidden=2048, tied=True, heads=32,
    kv_heads=8, head_dim=64, ffn=8192, layers=["dense"] * 16, sequence=2048)
# The run of a real trace: experts with biases, one of two on each rank.
BIASED = dict(
    vocab=1024, hidden=128, bias=True, qkv_bias=True, heads=8, kv_heads=8,
    head_dim=16, activation="gelu", layers=["moe"] * 4, sequence=64, pp=2,
    dp=2, ep=2, experts=Experts(count=2, topk=1, ffn=512))


def kept(block, model, **changes):
    return closed_form.kept(closed_form.block_of(Job(**{**model, **changes}), block))


def sizes(model, axes, phase, **changes):
    b = closed_form.block_of(Job(**{**model, **changes}), "dense")
    return sorted(m[3] for m in closed_form.messages(b) if m[:1] + m[2:3] == (phase, axes))


def elements(model, stage, expert=False, **changes):
    return sum(p.elements for p in closed_form.stage_parameters(
        Job(**{**model, **changes}), stage) if p.expert == expert)


def figures():
    """Yields (what, ours, published)."""
    sbh = 2048 * 12288
    whole = dict(attention_backend="unfused", dropout=True)
    yield ("Korthikanti, table 2: tensor and sequence parallel",
           kept("dense", GPT_175B, sp=True, **whole) * 8,
           sbh * 34 + sbh * 5 * 96 * 2048 // 12288)
    yield ("table 2: tensor parallel", kept("dense", GPT_175B, **whole),
           sbh * 10 + (sbh * 24 + sbh * 5 * 96 * 2048 // 12288) // 8)
    yield ("table 2: selective recomputation", kept(
        "dense", GPT_175B, sp=True, recompute="selective", **whole) * 8,
        sbh * 34)
    yield ("section 5: full recomputation",
           kept("dense", GPT_175B, recompute="full", **whole), 2 * sbh)
    # 4 s b h/t (1 + v/h)
    yield ("section 4.3: the head", kept("head", GPT_175B, sp=True),
           4 * sbh // 8 + 4 * 2048 * 51200 // 8)
    # Two in each pass, 2 s b h bytes: Narayanan et al., arXiv 2104.04473.
    yield ("tensor-parallel all-reduces of a layer",
           sizes(GPT_175B, ("tp",), "forward"), [2 * sbh] * 2)
    yield ("a middle stage of GPT-175B, 12 of 12 h^2/t + ...",
           elements(GPT_175B, 3), 12 * 226576896)
    yield ("Llama 3.2 1B", elements(LLAMA_1B, 0), 1235814400)
    # 4096 * 128 heads * (192 + 128) * 2 bytes
    yield ("DeepSeek-V3 over cp", sizes(DEEPSEEK_V3, ("cp",), "forward", cp=2),
           [335544320])
    # 4096 tokens of 64, 512, 1536 channels, and a scatter of 7168
    yield ("DeepSeek-V3 over tp",
           sizes(DEEPSEEK_V3, ("tp",), "forward", tp=2, sp=True)[:3],
           [524288, 4194304, 12582912])
    # 2 * (4 * 7168 + 2 * 1536 + 576 + 512 + 128 * (3 * 192 - 64 + 128)
    #      + 3 * 18432)
    yield ("a dense layer of DeepSeek-V3 keeps, a token",
           kept("dense", DEEPSEEK_V3) // 4096, 340096)
    # 2 layers * (2 * 128 * 512 + 512 + 128)
    yield ("experts with biases in a trace", elements(BIASED, 0, expert=True),
           263424)


for what, ours, published in figures():
    assert ours == published, f"{what}: {published}, here {ours}"
