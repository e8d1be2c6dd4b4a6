# SPDX-License-Identifier: Apache-2.0
"""usage: uneven_experts.py SEED COUNT

Compares jobs with uneven routing with what their tokens do, one by one: each rank has as
many, of which an expert gets its share, and all of a rank's experts work on what they get.

A token and its probability go to the rank of each of its experts, and results come back; their
gradients take the opposite way (Megatron-LM, transformer/moe/token_dispatcher.py,
MoEAlltoAllTokenDispatcher). For each token that it gets, a rank saves the inputs of both
projections, the input of the activation function and the probability, and computes three
products, each of them three times (transformer/moe/experts.py, TEGroupedMLP;
fusions/fused_bias_swiglu.py, weighted_bias_swiglu_impl).
"""
import pathlib

import tool


def measure(case, text):
    case.write(text)
    return tool.plan(case.job), tool.figures("volume", case.job)


def check(case):
    choose = case.draw
    ep, local = choose.choice([2, 4, 8]), choose.randint(1, 3)
    tp, topk = choose.choice([1, 2]), choose.randint(1, 4)
    experts, hidden, ffn = ep * local, 64 * choose.randint(1, 8), 64 * choose.randint(1, 8)
    gather = choose.random() < 0.2
    # Each expert's share of the tokens of a rank is a whole number of them.
    counts = [choose.choice([0, 1, 1, 2, 3, 9]) for _ in range(experts)]
    counts[choose.randrange(experts)] += 1
    topk = min(topk, sum(counts) // max(counts))  # no expert gets more than all tokens
    own = sum(counts) * topk * choose.randint(1, 40)  # slots of the tokens of a rank
    layers, batches = choose.randint(1, 3), choose.randint(1, 3)
    lines = [counts, [0] * experts] if choose.random() < 0.5 else [[c * 5 for c in counts]]
    tokens = case.write("".join(",".join(map(str, l)) + "\n" for l in lines), ".csv")
    text = f"""model m {{ vocab = 512  hidden = {hidden}  norm = rmsnorm
  attention mha {{ heads = 4 }}
  block e {{ experts = {experts}  topk = {topk}  dispatcher = {'allgather' if gather else 'alltoall'}
    ffn {{ intermediate = {ffn}  activation = swiglu }} }}
  layers = {layers} * e }}
train {{ sequence = {own // topk * tp}  micro_batch = 1  %s }}
parallel {{ world = {ep * tp}  ep = {ep}  etp = 1  tp = {tp}  sequence_parallel = {tool.word(tp > 1)}  ga = {batches} }}
"""
    even, even_volume = measure(case, text % "")
    uneven, volume = measure(case, text % f'routing = file("{pathlib.Path(tokens).name}")')
    # Tokens of each rank for the experts of each rank; ranks of ep are every rank of tp, too.
    sent = [[sum(own * counts[to * local + e] // sum(counts) for e in range(local))
             for to in range(ep)] for _ in range(ep)]
    got = [sum(row[to] for row in sent) for to in range(ep)]
    assert sum(got) == own * ep
    more = max(got) - own
    saved = 2 * hidden + 6 * ffn + 2
    assert uneven["blocks"][1]["kept"] - even["blocks"][1]["kept"] == more * saved, text
    work = uneven["blocks"][1]["flops"] - even["blocks"][1]["flops"]
    assert work == more * 3 * 6 * hidden * ffn, text
    assert uneven["flops_of_all_ranks"] == even["flops_of_all_ranks"], text
    # Results come back without their probabilities.
    back, there = 2 * hidden, 2 * hidden + 2
    assert gather == all(table != "exchanges" for table, _, _ in volume), text
    for rank in range(0 if gather else ep):
        out = sum(sent[rank][to] for to in range(ep) if to != rank)
        into = sum(sent[by][rank] for by in range(ep) if by != rank)
        # Forward to the experts and back, backward to the experts and back.
        expected = {"load": got[rank] * 1000000 // own,
                    "sent": layers * batches * (out * (there + back) + into * (back + there)),
                    "received": layers * batches * (into * (there + back) + out * (back + there))}
        for key, value in expected.items():
            found = volume["exchanges", f"0 {rank}", key]
            assert abs(found - value) <= max(8, value // 100000), (key, rank, found, value, text)
    for table, row, figure in even_volume:
        if table != "exchanges":
            assert volume[table, row, figure] == even_volume[table, row, figure], (table, row, text)


tool.cases(check)
