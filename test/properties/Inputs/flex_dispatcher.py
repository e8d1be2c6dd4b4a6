# SPDX-License-Identifier: Apache-2.0
"""usage: flex_dispatcher.py SEED COUNT

Compares messages of `dispatcher = flex` in random jobs with an enumeration of all choices of
experts that a token can have: first some groups, then experts of these (Megatron-LM,
transformer/moe/moe_utils.py, group_limited_topk, with scores that are all alike).

A rank gets one copy of a token, with fp32 weights of all its experts; what its experts make
of it comes back as one sum without weights. Gradients take the opposite way, those of weights
only with those of tokens (fused_a2a.py, FusedDispatch and FusedCombine). A copy for another
NVLink domain, of one or several nodes, goes to the rank in the same position there, which
sends it on to the others (DeepEP, HybridEP).
"""
import fractions
import itertools

import tool


def choices(experts, topk, groups, group_topk):
    of_group = experts // groups
    for chosen in itertools.combinations(range(groups), group_topk):
        pool = [g * of_group + e for g in chosen for e in range(of_group)]
        yield from itertools.combinations(pool, topk)


def check(case):
    choose = case.draw
    on_node, nodes = choose.choice([1, 2, 4]), choose.choice([1, 2, 4])
    ep = on_node * nodes
    if ep == 1:
        return None
    on_domain = on_node * choose.choice([n for n in (1, 2, 4) if nodes % n == 0])
    domains = ep // on_domain
    experts = ep * choose.choice([n for n in (1, 2, 3) if ep * n <= 12] or [1])
    groups = choose.choice([g for g in range(1, experts + 1) if experts % g == 0 and
                            (g % ep == 0 or ep % g == 0) and (g % domains == 0 or domains % g == 0)])
    group_topk = choose.randint(1, groups)
    topk = choose.randint(1, min(3, experts // groups * group_topk))
    hidden, layers, tokens = 64 * choose.randint(1, 4), choose.randint(1, 2), 64 * choose.randint(4, 16)
    text = f"""import "clusters/h100.toml" as pod
model m {{ vocab = 512  hidden = {hidden}
  attention mha {{ heads = 4 }}
  block e {{ experts = {experts}  topk = {topk}  router_groups = {groups}  router_group_topk = {group_topk}
    dispatcher = flex  ffn {{ intermediate = 128  activation = swiglu }} }}
  layers = {layers} * e }}
train {{ sequence = {tokens}  micro_batch = 1 }}
parallel {{ world = {ep}  ep = {ep} }}
cluster : pod {{ nodes = {nodes}  devices_per_node = {on_node}
  tiers {{ nvlink {{ devices = {on_domain} }}  leaf {{ devices = {8 * ep} }} }} }}
"""
    found = tool.figures("volume", case.write(text))
    # Sums over all choices and senders: copies, hops, and those that leave a node.
    copies = hops = across = count = 0
    for chosen in choices(experts, topk, groups, group_topk):
        ranks = {e // (experts // ep) for e in chosen}
        for sender in range(ep):
            count += 1
            copies += len(ranks)
            here = sender // on_domain
            first = {d: d * on_domain + sender % on_domain for d in range(domains)}
            taken = {(sender, first[r // on_domain]) for r in ranks if r // on_domain != here}
            taken |= {(first[r // on_domain], r) for r in ranks if r != first[r // on_domain]}
            hops += len(taken)
            across += sum(a // on_node != b // on_node for a, b in taken)
    mean = fractions.Fraction
    exchanged = -(-tokens * copies // count)  # copies of the tokens of a rank
    weights = 4 * topk
    bytes_ = (2 * hidden * 4 + weights * 2) * layers * ep
    expected = {"message": exchanged * bytes_,
                "cross_node": mean(across, count) * tokens * bytes_,
                "sent": mean(hops, count) * tokens * bytes_}
    for key, value in expected.items():
        got = found["groups", "ep", key]
        # Copies are rounded up to whole ones.
        assert abs(got - value) <= 2 * bytes_ + abs(value) / 50000, (key, got, float(value), text)
    of_tiers = sum(v for (table, row, figure), v in found.items()
                   if table == "tier_groups" and row.endswith(" ep") and figure == "sent")
    assert of_tiers == found["groups", "ep", "sent"], text
    return "with messages"


tool.cases(check)
