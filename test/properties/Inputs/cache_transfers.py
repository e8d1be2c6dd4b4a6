# SPDX-License-Identifier: Apache-2.0
"""usage: cache_transfers.py SEED COUNT

Compares what moves between random pairs of engines that prefill and decode the requests of a job
with closed forms: a rank that decodes gets what it holds from the ranks that vLLM's connector
reads (distributed/kv_transfer/kv_connector/v1/nixl/tp_mapping.py, compute_tp_mapping), one of
those with the same key heads, latent tokens from one rank, a state from the ranks that have a
part of it.
"""
import collections

import tool


def parts(total, ranks, rank):
    """Returns the units of `total` that a rank has, and which ranks have the same ones: with more
    ranks than units, consecutive ranks share one."""
    if ranks <= total:
        each = total // ranks
        return range(rank * each, (rank + 1) * each)
    return range(rank * total // ranks, rank * total // ranks + 1)


def readers(units, senders, receivers, rank):
    """Returns the units that a rank gets, by the rank it reads them from."""
    found = collections.Counter()
    if receivers >= senders:
        found[rank * senders // receivers] = len(parts(units, receivers, rank))
        return found
    ratio = senders // receivers
    seen = set()
    for sender in range(rank * ratio, (rank + 1) * ratio):
        for unit in parts(units, senders, sender):
            if unit not in seen:
                seen.add(unit)
                found[sender] += 1
    return found


def draw_layer(choose, width):
    """Returns the text of attention, its layers' caches as (units over tp, or none if each rank
    has all; bytes of a unit; tokens at most, none of a state), and the largest tp."""
    kind = choose.choice(["gqa", "gqa", "mla", "mamba"])
    if kind == "mla":
        lora, rope = 32 * choose.randint(1, 4), 8 * choose.randint(1, 3)
        return (f"mla {{ heads = 16 q_lora = 0 kv_lora = {lora} rope_dim = {rope} nope_dim = 16 v_dim = 16 }}",
                [(None, width * (lora + rope), 0)])
    if kind == "mamba":
        state = choose.choice([4, 16])
        # Each of 64 channels has a state, and three tokens of its convolution.
        return (f"mamba1 {{ inner = 64 state = {state} dt_rank = 8 }}",
                [(64, 2 * 3 + 4 * state, None)])
    kv, dim = choose.choice([1, 2, 4, 8, 16]), 8 * choose.randint(1, 4)
    window = choose.choice([0, 0, choose.randint(1, 300)])
    return (f"gqa {{ heads = 16 kv_heads = {kv} head_dim = {dim} window = {window} }}",
            [(kv, 2 * width * dim, window)])


def stages_of(layers, pp, rank):
    """Returns the layers of a stage."""
    return range(rank * layers // pp, (rank + 1) * layers // pp)


def ranks_of(text, count):
    """Returns the ranks of `0,2,...,6`."""
    first, *rest = (int(word) for word in text.replace("...,", "").split(","))
    step = rest[0] - first if rest else 0
    return [first + step * index for index in range(count)]


def span(text):
    """Returns the stages of `1-3`."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def check(case):
    choose = case.draw
    fp8 = choose.random() < 0.3
    kinds = [draw_layer(choose, 1 if fp8 else 2) for _ in range(choose.randint(1, 2))]
    repeats = 4 * choose.randint(1, 2)
    layers = [cache for _ in range(repeats) for _, cache in kinds]
    sides = [(choose.choice([1, 2, 4, 8, 16]), choose.choice([1, 2, 4])) for _ in range(2)]
    request = choose.randint(2, 900)
    prefix = choose.randint(0, request)
    caches = choose.random() < 0.8
    blocks = " ".join(f"block b{index} {{ attention {text} ffn dense {{ intermediate = 256 }} }}"
                      for index, (text, _) in enumerate(kinds))
    case.write(f"""model m {{ vocab = 512 hidden = 64 norm = rmsnorm {blocks}
  layers = {repeats} * ({' + '.join(f'b{index}' for index in range(len(kinds)))}) }}
requests {{ input = {request} output = 8 prefix = {prefix} }}
""" + "\n".join(f"""serve {name} {{ kv_precision = {'fp8' if fp8 else 'bf16'}
  {'' if caches or name == 'prefill' else 'prefix_caching = false'}
  parallel {{ world = {tp * pp} tp = {tp} pp = {pp} }} }}"""
                for name, (tp, pp) in zip(("prefill", "decode"), sides)))
    (senders, from_stages), (receivers, to_stages) = sides
    tokens = request - (min(prefix, request - 1) if caches else 0)

    expected = collections.Counter()
    for sender in range(from_stages):
        for receiver in range(to_stages):
            common = set(stages_of(len(layers), from_stages, sender)) & set(stages_of(len(layers), to_stages, receiver))
            for units, width, limit in (cache for layer in common for cache in layers[layer]):
                kept = 1 if limit is None else min(limit or tokens, tokens)
                for rank in range(receivers):
                    got = ({rank * senders // receivers: 1} if units is None
                           else readers(units, senders, receivers, rank))
                    for source, count in got.items():
                        expected[sender, source, receiver, rank] += count * width * kept

    for pool in ("prefill", "decode"):
        found, named = collections.Counter(), {}
        for row in tool.table("volume", case.job, "--pool", pool):
            if row["table"] == "transfers":
                found[row["row"], row["figure"]] = row["value"]
            elif row["figure"].startswith("transfer"):
                named[row["figure"]] = int(row["value"])
        moved = collections.Counter()
        for name in {name for name, _ in found}:
            pairs, size = int(found[name, "pairs"]), int(found[name, "bytes"])
            sent, source, got, rank = name.split()
            times = pairs // len(span(sent))
            for stage, other in zip(span(sent), span(got)):
                for first, second in zip(ranks_of(source, times), ranks_of(rank, times)):
                    moved[stage, first, other, second] += size
        assert moved == expected, (moved, expected, case.text())
        assert named == {"transfer_tokens": tokens, "transfer": sum(expected.values())}, (named, case.text())


tool.cases(check)
