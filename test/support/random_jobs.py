# SPDX-License-Identifier: Apache-2.0
"""Random legal jobs."""

import dataclasses

from job import Branch, DeltaNet, Experts, Grouped, Job, Kimi, Latent, Mamba
from layers import AUX_LOSSES


def divisors(n):
    return [k for k in range(1, n + 1) if n % k == 0]


def random_mesh(rng, is_mixture, has_bias):
    tp, cp, dp = (rng.choice(s) for s in ((1, 2, 4), (1, 1, 2, 4), (1, 2, 4)))
    pp = rng.choice((1, 1, 2, 4))
    vpp = rng.choice((1, 2)) if pp > 1 else 1
    mesh = dict(tp=tp, cp=cp, dp=dp, pp=pp, vpp=vpp, ep=1, etp=1)
    # The token dispatcher needs sequence parallelism (moe/moe_layer.py).
    mesh["sp"] = tp > 1 and (is_mixture or rng.random() < .6)
    if is_mixture:
        mesh["ep"] = rng.choice(divisors(tp * cp * dp))
        rest = divisors(tp * cp * dp // mesh["ep"])
        # moe/experts.py adds biases on each rank of etp, before the sum.
        mesh["etp"] = 1 if has_bias else rng.choice(rest)
    mesh["ga"] = pp * rng.choice((1, 2)) if vpp > 1 else rng.choice((1, 3))
    return mesh


def random_attention(rng, mesh):
    tp, cp = mesh["tp"], mesh["cp"]
    heads = tp * rng.choice((2, 4))
    latent = None
    if rng.random() < .3:
        latent = Latent(q_lora=rng.choice((0, 192)), kv_lora=64 * rng.choice(
            (1, 2)), rope=rng.choice((16, 32)), nope=rng.choice((32, 64)),
            v=rng.choice((32, 48)))
    kv_heads = heads if latent else rng.choice(
        [n for n in divisors(heads) if n % tp == 0 or tp % n == 0])
    kinds = ["all_gather", "p2p"] + ["a2a"] * (kv_heads % (tp * cp) == 0)
    return dict(heads=heads, kv_heads=kv_heads, latent=latent,
                head_dim=rng.choice((32, 64)),
                qk_norm=not latent and rng.random() < .3,
                cp_comm=rng.choice(kinds) if cp > 1 else "all_gather",
                attention_backend=rng.choice(
                    ("fused", "fused", "unfused") if cp == 1 else ("fused",)))


def random_experts(rng, mesh, bias, precision):
    count = mesh["ep"] * rng.choice((2, 4))
    # moe/shared_experts.py takes no biases.
    shared = 0 if bias else mesh["tp"] * rng.choice((0, 80))
    return Experts(count=count, topk=rng.randint(1, count),
                   ffn=mesh["etp"] * rng.choice((48, 64)), shared=shared,
                   gate=shared > 0 and rng.random() < .5,
                   router_bias=rng.random() < .3,
                   precision=rng.choice((precision, "fp32")),
                   aux_loss=rng.choice(tuple(AUX_LOSSES)),
                   dispatcher=rng.choice(("alltoall", "allgather")))


def random_layers(rng, chunks, is_mixture):
    each = rng.choice((1, 2, 3))
    if not is_mixture:
        return ["dense"] * (each * chunks)
    dense = rng.randint(0, each * chunks - 1)
    return ["dense"] * dense + ["moe"] * (each * chunks - dense)


def random_model(rng, mesh, bias, is_mixture, precision):
    return dict(
        vocab=rng.randint(500, 4000), vocab_multiple=rng.choice((1, 64, 128)),
        hidden=64 * rng.choice((4, 6, 8)),
        norm=rng.choice(("layernorm", "rmsnorm")),
        positions=rng.choice(("learned", "rope", "rope", "none")),
        tied=rng.random() < .4, bias=bias, qkv_bias=bias or rng.random() < .2,
        ffn=mesh["tp"] * rng.choice((96, 160)),
        activation=rng.choice(("gelu", "relu", "swiglu", "geglu")),
        experts=random_experts(rng, mesh, bias, precision)
        if is_mixture else None,
        layers=random_layers(rng, mesh["pp"] * mesh["vpp"], is_mixture),
        **random_attention(rng, mesh))


def random_job(rng):
    is_mixture, bias = rng.random() < .5, rng.random() < .3
    mesh = random_mesh(rng, is_mixture, bias)
    precision = rng.choice(("bf16", "bf16", "bf16", "fp32"))
    grads = ("bf16", "fp32") if precision == "bf16" else ("fp32",)
    zero = rng.choice((0, 0, 1, 1, 2, 3))
    return Job(
        **random_model(rng, mesh, bias, is_mixture, precision), **mesh,
        sequence=2 * mesh["tp"] * mesh["cp"] * rng.choice((16, 24, 128)),
        micro_batch=rng.choice((1, 2, 3)), precision=precision,
        grad_precision=rng.choice(grads),
        recompute=rng.choice(("none", "none", "selective", "full")),
        dropout=rng.random() < .3, fused_loss=rng.choice(("none", "native", "te")),
        per_token_loss=rng.random() < .3, attention_mask=rng.random() < .3,
        zero=zero, dp_replicate=rng.choice((1, 1, 2, 3)) if zero else 1)


def with_own_attention(job, rng):
    """The job with attention that it defines itself, if that is legal: Transformer Engine
    takes sinks only with cp_comm = a2a, windows not with p2p."""
    if job.latent:
        return job
    may_window = job.cp == 1 or job.cp_comm != "p2p"
    may_sink = job.cp == 1 or job.cp_comm == "a2a"
    return dataclasses.replace(job, grouped=Grouped(
        "gated_attention", gate="channel" if rng.random() < .6 else "none",
        sinks=may_sink and rng.random() < .5, bias=job.qkv_bias, output_bias=job.bias,
        window=rng.choice((0, 8, 4096)) if may_window else 0))


def with_grouped_attention(job, rng):
    """The job with grouped-query attention that the rules of Megatron-LM
    (transformer_config.py) and Transformer Engine (context_parallel.py,
    attn_forward_func_with_cp) allow."""
    exchanges = job.cp > 1 and job.cp_comm == "a2a"
    kv_heads = job.tp * job.cp * rng.randint(1, 2) if exchanges else rng.choice(
        [n for n in (1, 2, 4, 8, 16) if n % job.tp == 0 or job.tp % n == 0])
    head_dim, g = 8 * rng.randint(1, 6), Grouped(shared=rng.random() < .15)
    if not g.shared and rng.random() < .4 and (job.cp == 1 or job.cp_comm == "p2p"):
        g.value = 8 * rng.randint(1, 6)
    g.gate = rng.choice(["none", "head"] if g.shared else ["none", "channel", "head"])
    kinds = ["none", "none", "head", "l2"]
    if kv_heads % job.tp == 0:
        kinds += ["channel"] + (["all"] * 3 if job.norm == "rmsnorm" else [])
    g.norm = rng.choice(kinds)
    g.sinks = rng.random() < .4 and (job.cp == 1 or exchanges)
    pattern = rng.choice(["all", "window", "chunk", "bidirectional"])
    if pattern == "window" and (job.cp == 1 or job.cp_comm != "p2p"):
        g.window = rng.randint(1, 2 * job.sequence)
    elif pattern == "chunk" and job.cp == 1:
        g.chunk = rng.randint(1, 2 * job.sequence)
    g.causal = pattern != "bidirectional" or job.cp > 1
    g.bias, g.output_bias = rng.random() < .4, rng.random() < .4
    return dataclasses.replace(
        job, grouped=g, latent=None, attention_backend="fused", qk_norm=g.norm != "none",
        heads=max(kv_heads, job.tp) * rng.randint(1, 3), kv_heads=kv_heads, head_dim=head_dim)


def with_branch(job, rng):
    """The job with a branch, if that is legal."""
    if job.cp > 1 or job.zero > 1 or job.positions == "learned":
        return job
    return dataclasses.replace(job, branch=Branch(
        depths=rng.choice((1, 1, 2, 3)), shared=rng.random() < .5))


def with_more_experts(job, rng):
    """The job with experts that get fewer channels, that return their input, or a router with or
    without a bias of its own."""
    e = job.experts
    if not e:
        return job
    # Each token has a whole number of real experts.
    zeros = [n for n in range(1, 3 * e.count + 1) if e.topk * e.count % (e.count + n) == 0]
    return dataclasses.replace(job, experts=dataclasses.replace(
        e, latent=rng.choice((0, 16, 32, 80)), linear_bias=rng.random() < .5,
        zero=rng.choice(zeros) if zeros and rng.random() < .5 else 0))


def with_mixer(job, rng):
    """The job with a recurrent mixer in place of attention."""
    groups = job.tp * job.cp * rng.randint(1, 2)
    dim, other, kernel = 4 * rng.randint(1, 12), 4 * rng.randint(1, 12), rng.randint(2, 5)
    mixers = [DeltaNet(groups, groups * rng.randint(1, 4), dim, other, kernel),
              Mamba(groups * rng.randint(1, 3), dim, groups, rng.randint(1, 40), kernel,
                    rng.random() < .7)]
    if job.cp == 1 and not job.sp:
        mixers.append(Kimi(job.tp * rng.randint(1, 4), dim, kernel, rng.random() < .5))
    return dataclasses.replace(job, latent=None, mixer=rng.choice(mixers))


def random_modules(text, rng):
    """Some modules that the job of this text can recompute, if it is selective;
    by chance none."""
    known = ["core_attn", "layernorm"]
    known += ["mla_up_proj"] if "attention mla" in text else []
    known += ["mlp"] if "* dense" in text else []
    known += ["moe", "moe_act"] if "block moe" in text else []
    known += (["shared_experts"] if "block moe" in text
              and "shared_intermediate = 0 " not in text else [])
    if "recompute = selective" not in text or rng.random() < .3:
        return ""
    return " ".join(rng.sample(known, rng.randint(1, len(known))))
