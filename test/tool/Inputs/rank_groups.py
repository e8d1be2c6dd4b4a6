# SPDX-License-Identifier: Apache-2.0
"""usage: rank_groups.py SEED COUNT

Communicator groups of random variants of `random.fore` against a model of Megatron-LM's
parallel_state.py: two hyper-rectangles of ranks, one for the model and one
for its experts. Sizes that a release refuses must be refused."""

import collections
import itertools
import json

import tool

RELEASES = ("0.7", "0.9", "0.10", "0.11", "0.15", "0.19")
# Our group: whether of experts, and its axes.
GROUPS = {
    "tp": (False, "tp"), "cp": (False, "cp"), "dp": (False, "dp"),
    "dp-cp": (False, "dp-cp"), "pp": (False, "pp"),
    "tp-cp": (False, "tp-cp"), "tp-dp-cp": (False, "tp-dp-cp"),
    "mp": (False, "tp-pp"), "etp": (True, "tp"), "ep": (True, "ep"),
    "etp-ep": (True, "tp-ep"), "edp": (True, "dp"),
}


def rank_groups(sizes, order, token):
    """The ranks that differ along the axes of `token` only, numbered so that
    the first axis of `order` varies fastest."""
    axes = order.split("-")
    places = [dict(zip(reversed(axes), place)) for place in itertools.product(
        *(range(sizes[axis]) for axis in reversed(axes)))]
    found = collections.OrderedDict()
    for rank, place in enumerate(places):
        others = tuple(place[a] for a in axes if a not in token.split("-"))
        found.setdefault(others, []).append(rank)
    return sorted(found.values())


def job(draw, world):
    """Random sizes that divide the ranks."""
    def divisor(n):
        return draw.choice([d for d in range(1, n + 1) if n % d == 0])
    j = {"pp": min(divisor(world), 4)}
    stage = world // j["pp"]
    j["tp"] = divisor(stage)
    j["cp"] = divisor(stage // j["tp"])
    j["dp"] = stage // j["tp"] // j["cp"]
    j["experts"] = draw.random() < 0.7
    j["pp_last"] = draw.random() < 0.5
    # Ranks are folded for experts even if there are none.
    j["etp"], j["ep"] = draw.choice((j["tp"], divisor(stage))), 1
    if j["experts"]:
        j["ep"] = divisor(stage // j["etp"])
    elif j["pp_last"] or j["pp"] == 1:
        j["etp"] = j["tp"]
    elif draw.random() < 0.5:
        j["etp"] = j["tp"] * j["cp"]
    j["edp"] = stage // j["etp"] // j["ep"]
    j["release"] = draw.choice(RELEASES + RELEASES[-3:])
    return j


def refusal(j):
    """The slug of what a release has against the sizes, or None."""
    release = int(j["release"].split(".")[1])
    if release < 10 and (j["etp"] != j["tp"] or j["ep"] > 1 and j["cp"] > 1):
        return "megatron-too-old"  # no etp; other groups of experts, or none
    if j["pp_last"]:
        return None
    if release < 11:  # the order is tp-pp-dp
        if j["ep"] > 1 or j["cp"] > 1:
            return "megatron-too-old"
    elif j["pp"] > 1 and j["edp"] != j["dp"]:
        return "rank-order-experts"
    if generators(j)[0]("pp") != generators(j)[1]("pp"):
        return "rank-order-experts"
    return None


def generators(j):
    """Both ways to number ranks, as functions of the axes of a group."""
    order = "tp-cp-ep-dp-pp" if j["pp_last"] else "tp-cp-ep-pp-dp"
    model = dict(tp=j["tp"], cp=j["cp"], ep=1, dp=j["dp"], pp=j["pp"])
    experts = dict(tp=j["etp"], cp=1, ep=j["ep"], dp=j["edp"], pp=j["pp"])
    return [lambda token, sizes=sizes: rank_groups(sizes, order, token)
            for sizes in (model, experts)]


def check(case):
    j = job(case.draw, case.draw.choice((8, 16, 24, 32, 48, 64)))
    world = j["pp"] * j["tp"] * j["cp"] * j["dp"]
    keys = {"world": world, "rank_order": "tp_cp_ep_dp_pp" if j["pp_last"] else "tp_cp_ep_pp_dp",
            "megatron": f'"{j["release"]}"', "sequence_parallel": tool.word(j["tp"] > 1),
            **{key: j[key] for key in ("tp", "cp", "pp", "ep")}}
    if j["experts"] or j["etp"] != j["tp"]:
        keys["etp"] = j["etp"]
    run = tool.attempt("groups", "random.fore", "--format=json",
                       *tool.defined({"parallel." + key: value for key, value in keys.items()}),
                       *([] if j["experts"] else ["-Dexperts=false"]))
    if slug := refusal(j):
        assert f"[{slug}]" in run.stderr, f"{j}: not {slug}"
        return "refused"
    assert run.returncode == 0, f"{j}: {run.stderr}"
    got = collections.defaultdict(list)
    for row in map(json.loads, run.stdout.splitlines()):
        got[row["group"]].append(row["ranks"])
    model, experts = generators(j)
    for name, (of_experts, token) in GROUPS.items():
        if j["experts"] or not of_experts:
            expected = (experts if of_experts else model)(token)
            shown = sorted(got[name]) or [[rank] for rank in range(world)]
            assert shown == expected, f"{j}: {name}\n  expected {expected}\n  got      {shown}"
    return "met"


tool.cases(check)
