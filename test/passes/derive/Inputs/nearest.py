# SPDX-License-Identifier: Apache-2.0
"""usage: nearest.py SEED COUNT

Compiles random jobs, applies with -D all that the notes of errors offer, and
holds the result against what is promised: the error is gone, a job with one
error is legal, and so is one with several that the first offers for all are
applied to. Of a job with one error small keys are also searched for a nearer
legal value."""

import json
import re

import tool

PATHS = {"kv_heads": "model.attention", "global_batch": "train",
         "sequence": "train"}
SEARCHED = {"tp", "pp", "vpp", "ep", "etp", "kv_heads"}


def write_job(rng):
    """The text of a job that is often wrong, and its values."""
    pick = rng.choice
    job = {
        "tp": pick([1, 2, 3, 4, 8]), "pp": pick([1, 2, 3, 4, 6]),
        "vpp": pick([1, 1, 1, 2, 4]), "cp": pick([1, 1, 2]),
        "kv_heads": pick([2, 3, 4, 8]), "ep": 1, "etp": 1,
        "sequence": pick([64, 96, 100]), "world": 0, "global_batch": 0}
    job["world"] = (job["tp"] * job["cp"] * job["pp"] * pick([1, 2, 4, 6])
                    + pick([0, 0, 0, 0, 1, 4]))
    job["global_batch"] = pick([24, 48, 50, 64])
    block, keys = "", ""
    if rng.random() < 0.5:
        job["ep"], job["etp"] = pick([1, 2, 3, 4]), pick([1, 2])
        block = (f"block moe {{ experts = {pick([6, 8, 12])}  topk = 2"
                 f"  ffn {{ intermediate = {pick([48, 64])} }} }}")
        keys = f"ep = {job['ep']}  etp = {job['etp']}"
    if rng.random() < 0.1:
        keys += f"  first_stage_layers = {pick([1, 2, 3])}"
    if rng.random() < 0.1:
        keys += f"  layout = {pick([3, 4, 8])} * [2]"
    if rng.random() < 0.1:
        keys += "  partition = balanced"
    text = f"""
model m {{
  vocab = 512  hidden = 96
  attention gqa {{ heads = {pick([8, 12, 16])}  head_dim = 8
    kv_heads = {job['kv_heads']} }}
  ffn {{ intermediate = {pick([96, 100, 384])} }}
  {block}
  layers = {pick([2, 8, 10, 12, 14, 30])}
}}
train {{ sequence = {job['sequence']}  micro_batch = {pick([1, 1, 2])}
  global_batch = {job['global_batch']} }}
parallel {{ world = {job['world']}  tp = {job['tp']}  cp = {job['cp']}
  pp = {job['pp']}  vpp = {job['vpp']}
  sequence_parallel = {pick(['true', 'true', 'false'])}  {keys} }}
"""
    return text, job


def errors_of(job, changes):
    """The errors of the job with (key, value) changed."""
    given = [f"-D{PATHS.get(key, 'parallel')}.{key}={value}"
             for key, value in changes]
    done = tool.attempt("compile", job, "--emit=ir", "-o", "/dev/null", "--quiet",
                        "--diagnostics=json", *given)
    found = [json.loads(line) for line in done.stderr.splitlines()]
    errors = [d for d in found if d["severity"] == "error"]
    assert done.returncode == (1 if errors else 0), done
    return errors


def offers(error):
    """The changes that the notes of an error offer, each a list of (key, value),
    and whether it is one of a key's nearest values."""
    for note in error["notes"]:
        if note["slug"] == "nearest-legal":
            key, values = re.fullmatch(
                r"nearest legal values of `(\w+)`: (.*)",
                note["message"]).groups()
            for value in values.split(" or "):
                yield [(key, int(value))], True
        elif note["slug"] == "fits-with":
            for way in note["message"].split("; or with "):
                yield re.findall(r"`(\w+) = ([^`]*)`", way), False


def is_gone(error, before, after):
    """Whether `error` is gone; with the same slug twice, one of them."""
    def count(errors):
        return sum(e["slug"] == error["slug"] for e in errors)
    return count(after) < count(before)


def check_together(job, before):
    """The first offers for all errors make the job legal; whether that says
    something, as each has one and no two are of one key."""
    firsts = [next((change for change, _ in offers(error)), []) for error in before]
    changes = [pair for change in firsts for pair in change]
    if not all(firsts) or len({key for key, _ in changes}) != len(changes):
        return False
    after = errors_of(job, changes)
    assert not after, f"{changes} together leave {after}"
    return True


def check(case):
    """A word for each offer that holds, and one if several hold together."""
    text, values = write_job(case.draw)
    job = case.write(text)
    before, held = errors_of(job, []), []
    for error in before:
        for change, is_nearest in offers(error):
            after = errors_of(job, change)
            assert is_gone(error, before, after) and not (len(before) == 1 and after), (
                f"{error['message']}: {change} leaves {after}")
            held.append("offers")
            key, value = change[0]
            if is_nearest and key in SEARCHED and len(before) == 1:
                now = values[key]
                for nearer in range(min(now, value) + 1, max(now, value)):
                    assert errors_of(job, [(key, nearer)]), (
                        f"{error['message']}: {key} = {nearer} is nearer than {value}")
    return held + ["together"] * (len(before) > 1 and check_together(job, before))


tool.cases(check)
