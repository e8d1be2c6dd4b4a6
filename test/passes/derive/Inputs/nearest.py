# SPDX-License-Identifier: Apache-2.0
#
# Compiles random jobs, applies with -D all that the notes of errors offer, and
# holds the result against what is promised: the error is gone, a job with one
# error is legal, and so is one with several that the first offers for all are
# applied to. Of a job with one error small keys are also searched for a nearer
# legal value.
"""usage: nearest.py FORETRACE SEED JOBS"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

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


def errors_of(tool, path, changes):
    """The errors of the job with (key, value) changed."""
    given = [f"-D{PATHS.get(key, 'parallel')}.{key}={value}"
             for key, value in changes]
    process = subprocess.run(
        [tool, "compile", path, "--emit=ir", "-o", "/dev/null", "--quiet",
         "--diagnostics=json", *given], check=False, capture_output=True,
        text=True)
    found = [json.loads(line) for line in process.stderr.splitlines()]
    errors = [d for d in found if d["severity"] == "error"]
    assert process.returncode == (1 if errors else 0), process
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


def check_together(tool, path, before):
    """The first offers for all errors make the job legal; whether that says
    something, as each has one and no two are of one key."""
    firsts = [next((change for change, _ in offers(error)), []) for error in before]
    changes = [pair for change in firsts for pair in change]
    if not all(firsts) or len({key for key, _ in changes}) != len(changes):
        return False
    if after := errors_of(tool, path, changes):
        sys.exit(f"{changes} together leave {after}\n" +
                 pathlib.Path(path).read_text(encoding="utf-8"))
    return True


def check_job(tool, path, job):
    """Number of offers that hold; exits at the first that does not."""
    before = errors_of(tool, path, [])
    held = 0
    for error in before:
        for change, is_nearest in offers(error):
            after = errors_of(tool, path, change)
            if not is_gone(error, before, after) or (
                    len(before) == 1 and after):
                sys.exit(f"{error['message']}: {change} leaves {after}\n" +
                         pathlib.Path(path).read_text(encoding="utf-8"))
            held += 1
            key, value = change[0]
            if is_nearest and key in SEARCHED and len(before) == 1:
                now = job[key]
                for nearer in range(min(now, value) + 1, max(now, value)):
                    if not errors_of(tool, path, [(key, nearer)]):
                        sys.exit(f"{error['message']}: {key} = {nearer} is "
                                 f"nearer than {value}")
    return held, len(before) > 1 and check_together(tool, path, before)


def main():
    tool, rng, jobs = sys.argv[1], random.Random(sys.argv[2]), int(sys.argv[3])
    held = together = 0
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/job.fore"
        for _ in range(jobs):
            text, job = write_job(rng)
            pathlib.Path(path).write_text(text, encoding="utf-8")
            some, is_joint = check_job(tool, path, job)
            held += some
            together += is_joint
    print(f"{jobs} jobs, {held} offers hold, in {together} jobs together")


if __name__ == "__main__":
    main()
