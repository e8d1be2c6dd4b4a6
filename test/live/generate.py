#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws random legal jobs that frameworks can run on a CPU.

  generate.py SEED COUNT [--kind megatron|worlds|torch]

Prints a table for run.sh with the release, name, number of ranks, logged ranks, and
arguments of each job. Jobs of Megatron-LM alternate between its releases and use only
options of their release. `worlds` are jobs of 64 to 1,024 ranks, a few of which run in a
fake process group; `torch` are jobs of DDP, FSDP and DeepSpeed (torch_jobs.py).
"""

import argparse
import random

RELEASES = {"core_v0.10.0": 10, "core_v0.11.0": 11, "core_v0.12.0": 12, "core_v0.13.1": 13,
            "core_v0.15.3": 15, "core_v0.16.1": 16, "core_v0.17.1": 17, "core_v0.18.2": 18,
            "core_v0.19.0": 19}
# First release with an option. Other options are older than 0.10.
SINCE = {
    "--account-for-embedding-in-pipeline-split": 11, "--account-for-loss-in-pipeline-split": 11,
    "--attention-output-gate": 16,
    "--cross-entropy-fusion-impl": 12, "--ddp-num-buckets": 12, "--grad-reduce-in-bf16": 12,
    "--ddp-pad-buckets-for-high-nccl-busbw": 12, "--moe-router-dtype": 12,
    "--moe-router-enable-expert-bias": 11, "--moe-router-group-topk": 11,
    "--moe-router-score-function": 11, "--moe-router-topk-scaling-factor": 11,
    "--moe-shared-expert-gate": 16, "--mtp-num-layers": 12, "--num-experts": 11,
    "--num-virtual-stages-per-pipeline-rank": 11, "--pipeline-model-parallel-layout": 13,
    "--recompute-modules": 12, "--rope-type": 15, "--use-megatron-fsdp": 15}
# Arguments that a run on a CPU needs. It has two iterations.
ALWAYS = """--distributed-backend gloo --transformer-impl local --tokenizer-type NullTokenizer
--dataloader-type external --train-iters 2 --lr 1e-4 --eval-iters 0 --eval-interval 1000
--log-interval 1 --distributed-timeout-minutes 3 --no-masked-softmax-fusion
--no-gradient-accumulation-fusion --no-persist-layer-norm --no-bias-dropout-fusion
--no-bias-gelu-fusion --no-bias-swiglu-fusion --no-rope-fusion""".split()
COLUMNS = ("version", "layout", "world", "ranks", "arguments")


class Draw:
    """A job of Megatron-LM while it is drawn."""

    def __init__(self, rng, release):
        self.rng, self.release = rng, release
        self.arguments = list(ALWAYS)
        self.tp = self.cp = self.pp = self.vpp = self.dp = self.ep = self.etp = 1
        self.is_sequence_parallel = self.has_experts = self.is_fsdp = False
        self.hidden = self.sequence = self.micro_batch = self.layers = self.mtp = 0
        # Layers of each chunk, if they are known to be equal.
        self.each = 1
        self.is_large = False

    def chance(self, probability):
        return self.rng.random() < probability

    def has(self, option):
        return SINCE.get(option, 0) <= self.release

    def add(self, option, *values):
        """Adds an option, and returns whether the release has it."""
        if self.has(option):
            self.arguments += [option, *map(str, values)]
        return self.has(option)

    def maybe(self, probability, option, *values):
        return self.chance(probability) and self.add(option, *values)

    def is_set(self, option):
        return option in self.arguments

    @property
    def world(self):
        return self.tp * self.cp * self.pp * self.dp


def divisors(number):
    return [each for each in range(1, number + 1) if number % each == 0]


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


def logged_ranks(job):
    """Draws a rank of the first, a middle and the last stage. Each is the first rank of its
    tp group; the others would wait for its data."""
    each = job.world // job.pp
    stages = sorted({0, job.pp // 2, job.pp - 1})
    step = job.tp * job.cp
    return ",".join(str(stage * each + job.rng.randrange(each // step) * step)
                    for stage in stages)


def draw_torch(rng):
    kind = rng.choice(("ddp", "fsdp1", "fsdp2", "fsdp2", "ds0", "ds1", "ds2", "ds3", "ds3"))
    words = [kind]
    if kind.startswith("ds") or rng.random() < .7:
        words.append("bf16")
    choices = {"ddp": ("bucket",),
               "fsdp1": ("gradop", "hsdp") + ("fp32red",) * ("bf16" in words),
               "fsdp2": ("noreshard", "hsdp", "ac"), "ds1": ("overlap",),
               "ds2": ("overlap", "rsfalse"), "ds3": ("nopersist", "overlap")}
    if rng.random() < .6 and kind in choices:
        words.append(rng.choice(choices[kind]))
    world = rng.choice((2, 3, 4, 4, 6, 8))
    if "hsdp" in words:
        world = rng.choice((4, 6, 8))
    heads = rng.choice((2, 4, 6))
    sizes = {"hidden": heads * rng.choice((10, 14, 16)), "heads": heads,
             "kv_heads": rng.choice(divisors(heads)), "layers": rng.randint(1, 5),
             "ffn": rng.choice((50, 100, 171)), "vocab": rng.randint(90, 300),
             "sequence": rng.choice((16, 24, 33)), "micro_batch": rng.randint(1, 3),
             "tied": rng.choice((0, 0, 1))}
    if kind == "ds3" and "nopersist" not in words:
        sizes["persistence"] = rng.choice((100, 2000, 100000))
    name = "-".join(words + [f"w{world}", f"ga{rng.randint(1, 3)}"])
    return world, " ".join([name, *(f"{key}={value}" for key, value in sizes.items())])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--kind", choices=("megatron", "worlds", "torch"), default="megatron")
    args = parser.parse_args()
    print("\t".join(COLUMNS))
    versions = [version for version, release in RELEASES.items()
                if args.kind == "megatron" or release >= 16]
    for index in range(args.count):
        rng = random.Random(f"{args.kind} {args.seed} {index}")
        name = f"{args.kind[0]}{args.seed}-{index:03}"
        if args.kind == "torch":
            world, arguments = draw_torch(rng)
            print("torch", name, world, "all", arguments, sep="\t")
            continue
        version = versions[index % len(versions)]
        is_large = args.kind == "worlds"
        job = draw_megatron(rng, RELEASES[version], is_large)
        print(version, name, job.world, logged_ranks(job) if is_large else "all",
              " ".join(map(str, job.arguments)), sep="\t")


if __name__ == "__main__":
    main()
