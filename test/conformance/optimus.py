# SPDX-License-Identifier: Apache-2.0
"""Compares partition plans with those of Optimus-Prime, value by value."""
import glob
import json
import os

import importing
import tool

# What a case says of itself and not of the plan.
NOT_COMPARED = {"name", "config", "confidence"}


def to_fore(case, sequence):
    """The job, with the plan as output."""
    c = case["config"]
    tp, dp = case.get("tp", 1), case.get("dp", 1)
    return f"""model m {{
  vocab = {c["V"]}  hidden = {c["H"]}  norm = rmsnorm  positions = rope  tied = {tool.word(c["tied"])}
  attention gqa {{ heads = {c["heads"]}  kv_heads = {c["kv"]}  head_dim = {c["hd"]} }}
  ffn {{ intermediate = {c["I"]}  activation = swiglu }}
  layers = {c["L"]}
}}
train {{ sequence = {sequence}  micro_batch = {case["mbs"]}
  global_batch = {case["mbs"] * case["num_microbatches"] * dp} }}
parallel {{ world = {tp * dp * case["pp"]}  tp = {tp}  pp = {case["pp"]}
  partition = {"module_count" if tp == 1 else "block_tp"} }}
emit optimus {{ format = json  transformers = "4.46" }}
"""


def find_folders(root):
    """Every case is a file; they stand in one folder or below it."""
    return [folder for folder, _, files in sorted(os.walk(root))
            if any(name.endswith(".json") for name in files)]


def normal(key):
    """Cases name the ranks' table after its tp and dp."""
    return "stage2rank" if key.startswith("stage2rank") else key


def difference(expected, got, place=""):
    """Where two values differ, or None. Only what is expected is looked at; the
    order of objects counts."""
    if isinstance(expected, dict) and isinstance(got, dict):
        keys = [normal(key) for key in expected]
        if [key for key in got if key in keys] != keys and place:
            return "%s: keys %s, expected %s" % (place, list(got), keys)
        for key, value in expected.items():
            problem = (difference(value, got[normal(key)], place + "/" + key)
                       if normal(key) in got else place + "/" + key +
                       " is missing")
            if problem:
                return problem
        return None
    if isinstance(expected, list) and isinstance(got, list) and (
            len(expected) == len(got)):
        for index, (a, b) in enumerate(zip(expected, got)):
            problem = difference(a, b, "%s/%d" % (place, index))
            if problem:
                return problem
        return None
    if expected != got:
        return "%s: %s, expected %s" % (place, got, expected)
    return None


PAYLOAD = "fwd_payload_bytes_per_microbatch_fp32"


def compare(case):
    """What is wrong with the plan of a case."""
    sequences = sorted({int(length) for boundary in case.get("boundaries", [])
                        for length in boundary.get(PAYLOAD, {})} or {128})
    for sequence in sequences:
        plan = json.loads(tool.run("compile", "-", "-o", "-", "--quiet",
                                   input=to_fore(case, sequence)))
        expected = json.loads(json.dumps(
            {key: value for key, value in case.items()
             if key not in NOT_COMPARED}))
        for boundary in expected.get("boundaries", []):
            if PAYLOAD in boundary:
                boundary[PAYLOAD] = {str(sequence):
                                     boundary[PAYLOAD][str(sequence)]}
        if problem := difference(expected, plan):
            yield problem


def run_folder(folder):
    """(file, what is wrong or None) for each case of the folder."""
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path) as file:
            yield path, importing.verdict(compare, json.load(file))
