# SPDX-License-Identifier: Apache-2.0
#
# Interleaved schedules, step by step and message by message, against a model
# of Megatron-LM's schedules.py that lists its table of steps instead of
# computing with it. Shapes that a release refuses must be refused.
"""usage: orders.py FORETRACE FOLDER"""

import pathlib
import random
import re
import subprocess
import sys

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


def compile_job(foretrace, folder, pp, v, m, group, version):
    return subprocess.run(
        [foretrace, "compile", folder / "job.fore", "-o", f"{folder}/",
         "--quiet", "-D", f"pp={pp}", "-D", f"vpp={v}", "-D",
         f"m={m}", "-D", f"group={group}", "-D",
         f'parallel.megatron="{version}"'],
        check=False, stderr=subprocess.PIPE, text=True)


def problem(foretrace, folder, pp, v, m, group, version):
    """What is wrong with a job, or None."""
    run = compile_job(foretrace, folder, pp, v, m, group, version)
    slug = refusal(pp, m, group, version)
    if slug:
        return None if f"[{slug}]" in run.stderr else f"not {slug}"
    if run.returncode:
        return run.stderr
    stages = []
    for stage in range(pp):
        text = (folder / f"rank{stage}.txt").read_text(encoding="utf-8")
        got = [(op, int(chunk)) for op, chunk in ROW.findall(text)]
        expected = rows(pp, v, m, group, version, stage)
        if got != expected:
            return f"stage {stage}\n  expected {expected}\n  got      {got}"
        stages.append(got)
    stage = unmet(stages, pp)
    return None if stage is None else f"stage {stage} is not heard"


def main():
    foretrace, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    random.seed(1)
    refused = followed = 0
    for _ in range(160):
        pp, v = random.choice((2, 3, 4, 5, 8)), random.randint(2, 4)
        group = random.choice((pp, pp, pp + 1, 2 * pp - 1, 2 * pp))
        version = random.choice(OLD + NEW + NEW)
        m = random.choice((pp, group, 2 * group, 2 * group + pp,
                           random.randint(1, 4 * pp)))
        wrong = problem(foretrace, folder, pp, v, m, group, version)
        if wrong:
            print(f"pp {pp}, vpp {v}, ga {m}, group {group}, {version}: "
                  f"{wrong}")
            return 1
        if refusal(pp, m, group, version):
            refused += 1
        else:
            followed += 1
    print(f"{followed} followed, {refused} refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
