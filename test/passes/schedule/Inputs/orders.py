# SPDX-License-Identifier: Apache-2.0
"""usage: orders.py SEED COUNT

Interleaved schedules of `job.fore`, step by step and message by message, against a model
of Megatron-LM's schedules.py that lists its table of steps instead of
computing with it. Shapes that a release refuses must be refused."""

import pathlib
import re

import tool

ROW = re.compile(r"rank:\d+:((?:forward|backward)_step|(?:send|recv)_\w+)"
                 r"\(.*?chunk_id=(\d+)")
OLD, NEW = ("0.7", "0.8", "0.9"), ("0.10", "0.12", "0.19")


def refusal(pp, m, group, version):
    """The slug of what is wrong with a job, or None."""
    if version in OLD:
        if group != pp:
            return "megatron-too-old"
        return "ga-indivisible" if m % pp else None
    if not pp <= group <= m:
        return "micro-batch-group"
    return "last-group" if 0 < m % group < pp else None


def table(v, m, group):
    """(micro-batch, chunk) of every forward step."""
    return [(i, chunk) for first in range(0, m, group) for chunk in range(v)
            for i in range(first, min(first + group, m))]


def warmup(pp, v, m, group, version, stage):
    if version in OLD and m == pp:
        return m * v
    return min((pp - stage - 1) * 2 + (v - 1) * group, m * v)


def rows(pp, v, m, group, version, stage):
    """What a stage logs, as (operation, chunk)."""
    steps = table(v, m, group)
    total, first, last = len(steps), stage == 0, stage == pp - 1
    ahead = warmup(pp, v, m, group, version, stage)
    out = []

    def chunk(k, forward):
        return steps[k][1] if forward else v - 1 - steps[k][1]

    def send(k, forward):
        end = (last, v - 1) if forward else (first, 0)
        if end != (True, chunk(k, forward)):
            out.append(("send_forward" if forward else "send_backward",
                        chunk(k, forward)))

    def receive(k, forward):
        """After step k, what step k + 1 of the stage needs; the stage at the
        other end gets what the model's round trip brings."""
        name = "recv_forward" if forward else "recv_backward"
        if k + 1 >= total:
            return
        if not (first if forward else last):
            out.append((name, chunk(k + 1, forward)))
        elif k >= pp - 1:
            came = chunk(k - (pp - 1), forward) + (1 if forward else -1)
            if 0 <= came < v:
                out.append((name, came))

    if not first:
        out.append(("recv_forward", 0))
    for k in range(ahead):
        out.append(("forward_step", chunk(k, True)))
        send(k, True)
        receive(k, True)
        if k + 1 == ahead < total and not last:
            out.append(("recv_backward", v - 1))
    for k in range(total - ahead):
        out.append(("forward_step", chunk(ahead + k, True)))
        out.append(("backward_step", chunk(k, False)))
        send(ahead + k, True)
        send(k, False)
        receive(ahead + k, True)
        receive(k, False)
    if ahead == total and not last:
        out.append(("recv_backward", v - 1))
    for k in range(total - ahead, total):
        out.append(("backward_step", chunk(k, False)))
        send(k, False)
        receive(k, False)
    return out


def unmet(stages, pp):
    """The first stage whose messages are not received in the order sent."""
    for stage, out in enumerate(stages):
        for verb, to, step in ("forward", (stage + 1) % pp, stage + 1 == pp), (
                "backward", (stage - 1) % pp, -(stage == 0)):
            sent = [c + step for op, c in out if op == "send_" + verb]
            got = [c for op, c in stages[to] if op == "recv_" + verb]
            if sent != got:
                return stage
    return None


def check(case):
    draw = case.draw
    pp, v = draw.choice((2, 3, 4, 5, 8)), draw.randint(2, 4)
    group = draw.choice((pp, pp, pp + 1, 2 * pp - 1, 2 * pp))
    version = draw.choice(OLD + NEW + NEW)
    m = draw.choice((pp, group, 2 * group, 2 * group + pp, draw.randint(1, 4 * pp)))
    run = tool.attempt("compile", "job.fore", "-o", case.stem + "/", "--quiet", *tool.defined(
        {"pp": pp, "vpp": v, "m": m, "group": group, "parallel.megatron": f'"{version}"'}))
    what = f"pp {pp}, vpp {v}, ga {m}, group {group}, {version}"
    if slug := refusal(pp, m, group, version):
        assert f"[{slug}]" in run.stderr, f"{what}: not {slug}"
        return "refused"
    assert run.returncode == 0, f"{what}: {run.stderr}"
    stages = []
    for stage in range(pp):
        text = pathlib.Path(case.stem, f"rank{stage}.txt").read_text(encoding="utf-8")
        stages.append([(op, int(chunk)) for op, chunk in ROW.findall(text)])
        expected = rows(pp, v, m, group, version, stage)
        assert stages[stage] == expected, (
            f"{what}: stage {stage}\n  expected {expected}\n  got      {stages[stage]}")
    assert unmet(stages, pp) is None, f"{what}: stage {unmet(stages, pp)} is not heard"
    return "followed"


tool.cases(check)
