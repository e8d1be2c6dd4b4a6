# SPDX-License-Identifier: Apache-2.0
"""Draws the options of a random job of Megatron-LM."""

from draw import Draw, divisors
from draw_experts import draw_experts


def draw_mesh(job):
    """Draws a mesh of up to 8 ranks, sometimes 16."""
    rng = job.rng
    most = rng.choice((4, 8, 8, 8, 16))
    while True:
        job.tp, job.pp = rng.choice((1, 1, 2, 2, 2, 3, 4)), rng.choice((1, 1, 2, 2, 3, 4))
        job.cp, job.dp = rng.choice((1, 1, 1, 1, 1, 2)), rng.choice((1, 2, 2, 3, 4, 8))
        if most // 3 < job.world <= most:
            break
    # In 0.15, Megatron-FSDP is for dense models without tensor parallelism.
    job.is_fsdp = job.dp > 1 and job.chance(.12) and job.has("--use-megatron-fsdp") and \
        (job.release > 15 or job.tp == 1)
    if job.is_fsdp:
        job.dp, job.pp = job.dp * job.pp, 1
    job.vpp = rng.choice((1, 1, 2, 3)) if job.pp > 1 else 1


def draw_large_mesh(job):
    rng = job.rng
    while True:
        job.tp, job.pp = rng.choice((1, 2, 4, 8)), rng.choice((1, 2, 4, 8, 16))
        job.cp, job.dp = rng.choice((1, 1, 1, 2)), rng.choice((4, 8, 16, 24, 32, 64, 128))
        if 64 <= job.world <= 1024:
            break
    job.is_fsdp = job.pp == 1 and job.chance(.4)
    job.vpp = rng.choice((1, 2)) if job.pp > 1 else 1


def add_mesh(job):
    for option, ranks in (("tensor-model", job.tp), ("pipeline-model", job.pp),
                          ("context", job.cp)):
        if ranks > 1:
            job.add(f"--{option}-parallel-size", ranks)


def draw_sizes(job):
    rng = job.rng
    heads = job.tp * rng.choice((1, 2, 2, 3))
    job.hidden = rng.choice((5, 6, 8, 9, 12)) * 8 * (2 if job.tp > 2 else 1)
    job.add("--hidden-size", job.hidden)
    job.add("--num-attention-heads", heads)
    job.add("--ffn-hidden-size", job.tp * rng.choice((24, 40, 60, 100)))
    unit = 2 * job.tp * job.cp
    job.sequence = unit * rng.randint(-(-16 // unit), 48 // unit)
    job.add("--seq-length", job.sequence)
    # Up to 0.10, MLA needs a rotation for each position.
    job.add("--max-position-embeddings", job.sequence + (
        rng.choice((0, 0, 16)) if job.release > 10 else 0))
    job.add("--vocab-size", rng.randint(90, 400))
    job.add("--make-vocab-size-divisible-by", rng.choice((1, 8, 16, 128)))
    job.micro_batch = rng.randint(1, 3)
    batches = rng.randint(1, 4)
    if job.vpp > 1:
        batches *= job.pp
        if batches % (2 * job.pp) == 0:
            job.maybe(.3, "--microbatch-group-size-per-virtual-pipeline-stage", 2 * job.pp)
    job.add("--micro-batch-size", job.micro_batch)
    job.add("--global-batch-size", job.micro_batch * batches * job.dp)
    kind = rng.choice(("--bf16", "--bf16", "--bf16", "--fp16", ""))
    if kind == "--fp16" and job.is_fsdp:
        # Megatron-FSDP has no unscaled gradients.
        kind = "--bf16"
    if kind:
        job.add(kind)
    if kind == "--fp16":
        # An iteration that overflows would skip its update.
        job.add("--initial-loss-scale", 64)
    job.is_sequence_parallel = job.tp > 1 and job.chance(.6)
    return heads


def draw_latent_attention(job):
    rng = job.rng
    # Projections are split over tp.
    unit = {3: 3, 8: 2}.get(job.tp, 1)
    job.add("--multi-latent-attention")
    job.add("--position-embedding-type", "rope")
    job.maybe(.5, "--rope-type", "rope")
    job.maybe(.6, "--q-lora-rank", unit * rng.choice((16, 24)))
    for option, size in (("kv-lora-rank", (16, 40)), ("qk-head-dim", (8, 16)),
                         ("qk-pos-emb-head-dim", (4, 8)), ("v-head-dim", (8, 12))):
        job.add(f"--{option}", unit * rng.choice(size))


def draw_attention(job, heads):
    rng = job.rng
    job.add("--kv-channels", rng.choice((8, 12, 16)))
    # Up to 0.10, MLA is for tp = 1.
    can_be_latent = not job.is_fsdp and (job.release > 10 or job.tp == 1)
    if can_be_latent and job.chance(.15):
        draw_latent_attention(job)
    else:
        groups = [each for each in divisors(heads) if each % job.tp == 0]
        if job.chance(.5):
            job.add("--group-query-attention")
            job.add("--num-query-groups", rng.choice(groups))
        kind = rng.choice(("rope", "rope", "learned_absolute", "none"))
        job.add("--position-embedding-type", kind)
        if kind == "rope":
            job.maybe(.2, "--rotary-percent", 0.5)
        job.maybe(.25, "--add-qkv-bias")
    # From 0.19 on, norms of MLA need both latent projections.
    lacks_query = job.release >= 19 and job.is_set("--multi-latent-attention") and \
        not job.is_set("--q-lora-rank")
    if job.chance(.25) and not lacks_query:
        job.add("--qk-layernorm")


def draw_model(job):
    job.has_experts = job.has("--num-experts") and job.chance(.35) and \
        (job.release > 15 or not job.is_fsdp)
    # Up to 0.13, biases of experts are rejected.
    job.maybe(.5 if not job.has_experts or job.release >= 15 else 1, "--disable-bias-linear")
    job.maybe(.5, "--untie-embeddings-and-output-weights")
    job.maybe(.5, "--normalization", "RMSNorm")
    if not job.maybe(.5, "--swiglu"):
        job.maybe(.3, "--squared-relu")
    if job.tp > 1 and job.maybe(.3, "--cross-entropy-loss-fusion"):
        job.add("--cross-entropy-fusion-impl", "native")


def split_layers(job):
    """Draws the number of layers of each chunk; the first may have none."""
    return [job.rng.randint(0 if not chunk else 1, 3) for chunk in range(job.pp * job.vpp)]


def draw_pipeline_layout(job):
    chunks = split_layers(job)
    job.layers = sum(chunks)
    texts = ["t" * each for each in chunks]
    texts[0] = "E" + texts[0]
    texts[-1] += ("m" * job.mtp) + "L"
    job.add("--pipeline-model-parallel-layout", "|".join(texts))


def draw_uneven_stages(job):
    """Draws a first or last stage, or both, with another number of layers."""
    rng = job.rng
    ends = rng.choice((("first",), ("last",), ("first", "last")) if job.pp > 2 else
                      (("first",), ("last",)))
    middle = job.pp - len(ends)
    job.layers = middle * job.vpp * rng.randint(1, 2)
    for end in ends:
        layers = job.vpp * rng.randint(1, 3)
        job.layers += layers
        job.add(f"--decoder-{end}-pipeline-num-layers", layers)


def draw_counted_ends(job):
    """Counts the embedding or the loss, or both, as a layer."""
    counted = 0
    for end in ("embedding", "loss"):
        counted += job.maybe(.7, f"--account-for-{end}-in-pipeline-split")
    job.layers = job.pp * job.vpp * job.rng.randint(1 if not counted else 2, 3) - counted


def draw_layers(job):
    rng = job.rng
    can_predict = job.cp == 1 and not job.is_fsdp and job.is_set("rope") and \
        job.has("--mtp-num-layers")
    if can_predict and job.chance(.15) and job.hidden % job.tp == 0:
        job.mtp = rng.choice((1, 1, 2))
    is_named = False
    if job.pp > 1 and job.chance(.2) and job.has("--pipeline-model-parallel-layout") and \
            (job.release >= 15 or not job.mtp):
        is_named = True
        draw_pipeline_layout(job)
    elif job.pp > 1 and job.chance(.25):
        draw_uneven_stages(job)
    elif job.pp > 1 and job.chance(.2):
        draw_counted_ends(job)
    else:
        job.each = rng.randint(1, 3)
        job.layers = job.pp * job.vpp * job.each
    job.add("--num-layers", job.layers)
    if job.mtp:
        job.add("--mtp-num-layers", job.mtp)
    if job.vpp > 1 and not is_named:
        add_chunks(job)
    if job.pp > 2:
        job.maybe(.15, "--no-overlap-p2p-communication")


def add_chunks(job):
    each = job.layers // job.pp // job.vpp
    is_even = job.layers == each * job.pp * job.vpp and \
        not any("pipeline-num-layers" in each for each in map(str, job.arguments))
    if is_even and (job.release < 11 or job.chance(.4)):
        job.add("--num-layers-per-virtual-pipeline-stage", each)
    elif not job.add("--num-virtual-stages-per-pipeline-rank", job.vpp):
        job.vpp = 1


def draw_recomputation(job):
    rng = job.rng
    kind = rng.choice(("none", "none", "none", "uniform", "block", "selective", "modules"))
    if kind in ("uniform", "block") and job.mtp and job.release in (15, 18):
        # These releases fail to recompute MTP.
        return
    if kind in ("uniform", "block"):
        job.add("--recompute-granularity", "full")
        job.add("--recompute-method", kind)
        # `uniform` fails unless the number divides the layers of each chunk.
        job.add("--recompute-num-layers", rng.choice(
            (1, 2) if kind == "block" else divisors(job.each)) if not job.mtp else 1)
        if job.tp > 1 and not job.is_sequence_parallel and not job.has_experts:
            job.maybe(.3, "--distribute-saved-activations")
    elif kind != "none":
        has_dense = not job.has_experts or job.is_set("--moe-layer-freq")
        job.add("--recompute-granularity", "selective")
        modules = ["core_attn"] + ["moe", "layernorm"] * job.has_experts + \
            ["mlp"] * (job.is_set("--disable-bias-linear") and has_dense) + \
            ["mla_up_proj"] * job.is_set("--multi-latent-attention")
        if kind == "modules":
            count = min(len(modules), rng.randint(1, 2))
            job.add("--recompute-modules", *rng.sample(modules, count))


def draw_fsdp(job):
    job.add("--use-megatron-fsdp")
    strategies = ["optim_grads_params"] + ["optim", "optim_grads"] * (job.release > 15)
    job.add("--data-parallel-sharding-strategy", job.rng.choice(strategies))
    job.add("--use-distributed-optimizer")
    job.add("--ckpt-format", "fsdp_dtensor")


def draw_data_parallelism(job):
    if job.is_fsdp:
        draw_fsdp(job)
        return
    is_overlapped = job.maybe(.4, "--overlap-grad-reduce")
    if job.maybe(.5, "--use-distributed-optimizer"):
        job.maybe(.1, "--ddp-pad-buckets-for-high-nccl-busbw")
        if is_overlapped:
            job.maybe(.6, "--overlap-param-gather")
            if job.dp % 2 == 0 and not job.has_experts:
                job.maybe(.2, "--num-distributed-optimizer-instances", 2)
    if is_overlapped and not job.maybe(.3, "--ddp-bucket-size", job.rng.choice(
            (5000, 20000, 60000))):
        job.maybe(.15, "--ddp-num-buckets", job.rng.choice((2, 3)))
    if job.is_set("--bf16"):
        job.maybe(.25, "--grad-reduce-in-bf16")
    can_average = job.release > 12 or not job.has_experts
    if not job.maybe(.1, "--calculate-per-token-loss") and can_average:
        job.maybe(.1, "--ddp-average-in-collective")


def draw_megatron(rng, release, is_large):
    """Draws a job."""
    job = Draw(rng, release)
    job.is_large = is_large
    if is_large:
        draw_large_mesh(job)
    else:
        draw_mesh(job)
    add_mesh(job)
    heads = draw_sizes(job)
    draw_attention(job, heads)
    draw_model(job)
    # The token dispatcher needs sequence parallelism.
    job.is_sequence_parallel |= job.tp > 1 and job.has_experts
    if job.is_sequence_parallel:
        job.add("--sequence-parallel")
    draw_layers(job)
    if job.has_experts:
        draw_experts(job)
    # With this order and pp, groups of experts must have the size of the other groups.
    if job.pp > 1 and job.tp * job.cp == job.etp * job.ep:
        job.maybe(.1, "--use-tp-pp-dp-mapping")
    draw_recomputation(job)
    draw_data_parallelism(job)
    if not job.is_set("--multi-latent-attention"):
        job.maybe(.1, "--attention-output-gate")
    if job.vpp > 1 and job.is_set("--overlap-param-gather"):
        if job.maybe(.2, "--overlap-param-gather-with-optimizer-step"):
            job.add("--ckpt-format", "torch")
    return job
