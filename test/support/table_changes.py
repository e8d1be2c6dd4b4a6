# SPDX-License-Identifier: Apache-2.0
"""Random changes of the words of a workload table, and whether SimAI takes what is
changed for a table.
"""
import re

from goal_changes import Illegal, need

KEYS = {"model_parallel_NPU_group:": 1, "ep:": 1, "pp:": 1, "vpp:": 1, "ga:": 1,
        "all_gpus:": 1, "checkpoints:": 0, "checkpoint_initiates:": 0,
        "pp_comm:": 0}
NEEDED = list(KEYS)[:6]
POLICIES = {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER"}
COMMS = ["ALLREDUCE", "ALLTOALL", "ALLGATHER", "REDUCESCATTER",
         "ALLREDUCEALLTOALL"]
LIMIT = 1 << 31


def number(word, limit=LIMIT, least=0):
    need(re.fullmatch(r"\d+", word, re.A) and least <= int(word) < limit, word)
    return int(word)


def header(words):
    need(words and words[0] in POLICIES, "the policy")
    keys, at = {}, 1
    while at < len(words):
        word = words[at]
        if word == "pp_comm":  # as adapted tables have it
            word = "pp_comm:"
        if not word[0].isdigit():
            need(word in KEYS and word not in keys and at + 1 < len(words), word)
            value = words[at + 1]
            if word == "pp_comm:":
                value = value[:-2] if value.endswith(".0") else value
            keys[word] = number(value, LIMIT, KEYS[word])
            at += 1
            if word.startswith("checkpoint") and keys[word]:
                # Which layer it is follows; of several the first is read.
                need(keys[word] == 1 and at + 1 < len(words), word)
                number(words[at + 1])
                at += 1
        at += 1
    need(all(key in keys for key in NEEDED), "a key is missing")
    tp, ep, pp = (keys[k] for k in NEEDED[:3])
    need(keys["all_gpus:"] % (tp * pp) == 0, "a group")
    dp = keys["all_gpus:"] // (tp * pp)
    need(dp % ep == 0, "a group of experts")
    need((pp == 1) == (keys.get("pp_comm:", 0) == 0), "pp_comm")
    return tp, ep, dp


def cell(time, comm, size, column, mesh):
    tp, ep, dp = mesh
    number(time)
    size = number(size, 1 << 64)
    if comm == "NONE":
        need(size == 0, "bytes of nothing")
        return int(time), comm, size
    match = re.fullmatch("(%s)(_EP|_DP_EP)?" % "|".join(COMMS), comm)
    need(match and size > 0, comm)
    is_last = column == 2
    need(match[2] in (None, "_DP_EP" if is_last else "_EP"), comm)
    group = ((dp // ep if match[2] else dp) if is_last
             else ep if match[2] else tp)
    if size >= 1 << 20:
        need(group > 1, "a group of one")
    elif size > 1:
        need(group <= 128 and group & group - 1 == 0, "a message for free")
    return int(time), comm, size


def read(data):
    """Header, rows."""
    text = data.decode("latin-1")
    lines = [re.findall(r"[^ \t\r\v\f]+", line) for line in text.split("\n")]
    need(len(lines) > 1 and len(lines[1]) == 1, "no number of rows")
    mesh, count = header(lines[0]), number(lines[1][0])
    rows = []
    for words in filter(None, lines[2:]):
        need(len(words) == 12 and words[0][0] != "#"
             and not words[0].startswith("//"), "no row")
        number(words[1].removeprefix("-"), 1 << 64)
        cells = [cell(*words[2 + 3 * i:5 + 3 * i], i, mesh) for i in range(3)]
        rows.append((words[0], words[1], cells, number(words[11])))
    need(len(rows) == count, "another number of rows")
    return lines[0], rows


def harmless(before, after):
    (old,), (new,) = before.values(), after.values()
    try:
        new = read(new)
    except Illegal:
        return None
    old = read(old)
    if old == new:
        return "the same is read"
    if len(old[1]) == len(new[1]):
        return "other words and numbers that a table may have"
    return "other rows that a table may have"


# --- changes ------------------------------------------------------------------

WORDS = ["0", "1", "-1", "3", "1048576", "2147483647", "2147483648", "1e6", "1.0",
         "18446744073709551616", "x", "NONE", "ALLREDUCE", "allreduce", "#",
         "ALLREDUCE_EP", "ALLGATHER_DP_EP", "ALLTOALL_TP", "BROADCAST", "ep:",
         "pp_comm:", "vpp:", "cp:", "DATA", "MICRO", "HYBRID_TRANSFORMER", "a b"]


def change(files, rng):
    (name, data), = files.items()
    lines = data.decode().split("\n")
    i = rng.choice([0, 1] + [rng.randrange(len(lines))] * 6)
    words = re.split(r"(\s+|[:,])", lines[i])
    at = rng.randrange(0, len(words), 2)
    how = rng.choice(["word", "word", "number", "number", "drop word", "add word",
                      "swap words", "drop line", "double line", "swap lines"])
    if how == "word":
        words[at] = rng.choice(WORDS)
    elif how == "number" and words[at].isdigit():
        words[at] = str(rng.choice([int(words[at]) + 1, 2 * int(words[at]),
                                    max(int(words[at]) - 1, 0)]))
    elif how == "drop word":
        del words[at:at + 2]
    elif how == "add word":
        words[at:at] = [rng.choice(WORDS), rng.choice(["\t", " ", "  "])]
    elif how == "swap words":
        other = rng.randrange(0, len(words), 2)
        words[at], words[other] = words[other], words[at]
    lines[i] = "".join(words)
    if how == "drop line":
        del lines[i]
    elif how == "double line":
        lines.insert(rng.randrange(len(lines)), lines[i])
    elif how == "swap lines":
        j = rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
    return how, {name: "\n".join(lines).encode()}
