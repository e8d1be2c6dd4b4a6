# SPDX-License-Identifier: Apache-2.0
"""Draws the options of mixtures of experts of Megatron-LM."""

from draw import divisors


def draw_routing(job, experts, topk):
    rng = job.rng
    losses = ["aux_loss", "aux_loss", "none"] + ["seq_aux_loss"] * (job.release >= 11) \
        + ["global_aux_loss"] * (job.release >= 15)
    job.add("--moe-router-load-balancing-type", rng.choice(losses))
    job.add("--moe-aux-loss-coeff", 1e-2)
    job.maybe(.2, "--moe-z-loss-coeff", 1e-3)
    job.maybe(.25, "--moe-router-dtype", "fp32")
    if job.maybe(.3, "--moe-router-score-function", "sigmoid"):
        job.maybe(.6, "--moe-router-enable-expert-bias")
    elif topk == 1 or job.chance(.2):
        job.add("--moe-router-pre-softmax")
    if job.has("--moe-router-group-topk") and experts % 4 == 0 and topk % 2 == 0 and \
            job.chance(.2):
        job.add("--moe-router-num-groups", 4 if experts > 4 else 2)
        job.add("--moe-router-group-topk", 2)
    job.maybe(.2, "--moe-router-topk-scaling-factor", 1.5)


def draw_capacity(job, factors, is_even):
    """Draws padding to a capacity, dropped tokens, or (with equal shares) neither."""
    kind = job.rng.choice(("padded", "dropped", "all", "all", "all") if is_even else
                          ("padded",))
    if kind != "all":
        job.add("--moe-expert-capacity-factor", job.rng.choice(factors))
        job.maybe(.3, "--moe-token-drop-policy", "position")
    if kind == "padded":
        job.add("--moe-pad-expert-input-to-capacity")


def draw_experts(job):
    rng = job.rng
    has_biases = not job.is_set("--disable-bias-linear")
    ranks = job.tp * job.cp * job.dp
    # Each rank of etp adds the bias before the sum.
    job.etp = 1 if has_biases else rng.choice((1, job.tp))
    # Up to 0.15, ep > 1 is rejected in fp16.
    can_split = job.release > 15 or not job.is_set("--fp16")
    job.ep = rng.choice([each for each in divisors(ranks // job.etp)
                         if each <= (64 if can_split else 1)])
    experts = job.ep * rng.choice((1, 2, 3) if job.ep > 1 else (2, 4))
    # Up to 0.12, etp < tp fails with topk = 1.
    topk = rng.randint(1 if job.release > 12 or job.etp == job.tp else 2, min(4, experts))
    tokens = job.sequence * job.micro_batch // job.tp // job.cp
    job.add("--num-experts", experts)
    job.add("--moe-router-topk", topk)
    job.add("--expert-model-parallel-size", job.ep)
    job.add("--expert-tensor-parallel-size", job.etp)
    if job.release > 11:
        job.maybe(.5, "--moe-ffn-hidden-size", job.etp * rng.choice((20, 32)))
    draw_routing(job, experts, topk)
    # Up to 0.12, `allgather` fails with etp < tp.
    can_gather = not job.is_large and (job.release > 12 or job.etp == job.tp)
    dispatcher = "alltoall" if job.chance(.75) or not can_gather else "allgather"
    job.add("--moe-token-dispatcher-type", dispatcher)
    if dispatcher == "alltoall":
        # An expert cannot have more tokens than there are.
        factors = [each for each in (0.5, 1.0, 1.5) if each * topk <= experts]
        draw_capacity(job, factors, tokens * topk % experts == 0 and not job.is_large)
    if not has_biases and job.maybe(.3, "--moe-shared-expert-intermediate-size", 16 * job.tp):
        job.maybe(.3, "--moe-shared-expert-gate")
        if dispatcher == "alltoall":
            job.maybe(.4, "--moe-shared-expert-overlap")
    if job.layers > 1 and job.chance(.4):
        first = rng.randint(1, job.layers - 1)
        job.add("--moe-layer-freq", rng.choice((
            2, f"([0]*{first}+[1]*{job.layers - first})")))
