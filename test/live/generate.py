#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws random legal jobs that frameworks can run on a CPU.

  generate.py SEED COUNT [--kind megatron|small|dense|worlds|torch]

Prints a table for run.sh with the release, name, number of ranks, logged ranks, and
arguments of each job. Jobs of Megatron-LM alternate between its releases and use only
options of their release. `small` are jobs of up to 4 ranks without dropout and FSDP, `dense`
those of them without experts, latent attention, multi-token prediction and context
parallelism. `worlds` are jobs of 64 to 1,024 ranks, a few of which run in a fake process
group; `torch` are jobs of DDP, FSDP and DeepSpeed (torch_jobs.py).
"""

import argparse
import random

from draw import RELEASES, divisors
from draw_megatron import draw_megatron

COLUMNS = ("version", "layout", "world", "ranks", "arguments")


def logged_ranks(job):
    """Draws a rank of the first, a middle and the last stage. Each is the first rank of its
    tp group; the others would wait for its data."""
    each = job.world // job.pp
    stages = sorted({0, job.pp // 2, job.pp - 1})
    step = job.tp * job.cp
    return ",".join(str(stage * each + job.rng.randrange(each // step) * step)
                    for stage in stages)


def is_dense(job):
    return not (job.has_experts or job.mtp or job.cp > 1
                or job.is_set("--multi-latent-attention"))


def draw_small(rng, release, kind):
    """Draws a job that a few ranks run, whose memory is compared."""
    while True:
        job = draw_megatron(rng, release, False)
        if job.world <= 4 and not job.is_fsdp and (kind == "small" or is_dense(job)):
            job.add("--attention-dropout", 0)
            job.add("--hidden-dropout", 0)
            return job


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


parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
parser.add_argument("seed", type=int)
parser.add_argument("count", type=int)
parser.add_argument("--kind", choices=("megatron", "small", "dense", "worlds", "torch"),
                    default="megatron")
args = parser.parse_args()
print("\t".join(COLUMNS))
versions = [version for version, release in RELEASES.items()
            if args.kind != "worlds" or release >= 16]
for index in range(args.count):
    rng = random.Random(f"{args.kind} {args.seed} {index}")
    name = f"{args.kind[0]}{args.seed}-{index:03}"
    if args.kind == "torch":
        world, arguments = draw_torch(rng)
        print("torch", name, world, "all", arguments, sep="\t")
        continue
    version = versions[index % len(versions)]
    is_large = args.kind == "worlds"
    release = RELEASES[version]
    job = draw_small(rng, release, args.kind) if args.kind in ("small", "dense") else \
        draw_megatron(rng, release, is_large)
    print(version, name, job.world, logged_ranks(job) if is_large else "all",
          " ".join(map(str, job.arguments)), sep="\t")
