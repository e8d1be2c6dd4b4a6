# SPDX-License-Identifier: Apache-2.0
"""usage: mutate_schedules.py SEED COUNT

Changes random slots of random schedules, and compares what the verifier says
with schedule_text.py. Prints how many there were, and each disagreement.
"""
import re

import schedule_text
import tool

JOB = """
model m { vocab = 128  hidden = 8  attention mha { heads = 1 }  layers = %d }
train { sequence = 8  micro_batch = 1  global_batch = %d }
parallel { world = %d  pp = %d  vpp = %d  schedule = %s  %s }
"""


def random_job(draw):
    kind = draw.choice([
        "none", "gpipe", "one_f_one_b", "interleaved", "looped_bfs",
        "interleaved_1f1b", "zb_h1", "interleaved_zb", "zbv", "dualpipe",
        "dualpipe_v"])
    p = 1 if kind == "none" else draw.choice([2, 3, 4, 7, 8])
    v, keys = 1, ""
    if kind in ("interleaved", "looped_bfs", "interleaved_1f1b",
                "interleaved_zb"):
        v = draw.choice([2, 3, 6])
    if kind in ("zbv", "dualpipe_v"):
        v = 2
    if kind == "dualpipe":
        p = draw.choice([2, 4, 6, 8, 10])
    m = draw.choice([p, 2 * p, 3 * p, 5 * p])
    if kind.startswith("dualpipe"):
        m = 2 * p + 2 * draw.choice([0, 1, 2, 13])
    if kind == "interleaved":
        group = draw.choice([p, p + 1])
        m = group + draw.choice([0, p, p + 1, 9 * p + 2])
        keys = "micro_batch_group = %d" % group
    return JOB % (p * v, m, p, p, v, kind, keys)


def shift(line, which, by):
    """A slot with another micro-batch or chunk."""
    numbers, begin, end = schedule_text.find_arguments(line)
    if which == len(numbers):
        numbers.append("0")
    numbers[which] = "%s %s 1" % (numbers[which], by)
    return line[:begin + 1] + ", ".join(numbers) + line[end:]


def mutate(section, draw):
    """Changes one thing; says what."""
    lines = section.lines
    at = draw.choice(section.slots())
    line = lines[at]
    is_message = "send_" in line or "recv_" in line
    how = draw.choice(["drop", "swap", "duplicate", "batch", "chunk", "move",
                       "join", "kind", "peer", "tag", "count"])
    if how in ("peer", "tag") and not is_message:
        how = "drop"
    if how in ("batch", "chunk") and "(" not in line:
        how = "duplicate"
    if how == "drop":
        del lines[at]
    elif how == "swap":
        other = at + 1 if at + 1 in section.slots() else at - 1
        lines[at], lines[other] = lines[other], lines[at]
        if not all(line.startswith("      ")
                   for line in (lines[at], lines[other])):
            lines[at], lines[other] = lines[other], lines[at]
    elif how == "duplicate":
        lines.insert(at, line)
    elif how in ("batch", "chunk"):
        lines[at] = shift(line, int(how == "chunk"), draw.choice("+-"))
    elif how == "move":
        del lines[at]
        lines.insert(draw.choice(section.slots()), line)
    elif how == "join":
        word = line.split()[0]
        lines[at] = (line.replace(word + " ", "", 1)
                     if word in ("with", "overlapped")
                     else "      with " + line.strip())
    elif how == "kind":
        pairs = [("send_forward", "recv_forward"), ("forward_step",
                 "backward_step"), ("backward_input", "backward_step"),
                 ("send_backward", "recv_backward"),
                 ("backward_weight", "backward_input")]
        for one, other in pairs:
            if re.search(r"\b%s\b" % one, line):
                lines[at] = line.replace(one, other)
                break
    elif how == "peer":
        word = "to" if "send_" in line else "from"
        lines[at] = line + " %s((s + %d) mod p)" % (word, draw.choice([0, 2]))
    elif how == "tag":
        lines[at] = line + " tag(%d)" % draw.choice([1, 999])
    else:
        loop = draw.choice(section.loops())
        lines[loop] = re.sub(r"< (.*) (\w+) {", r"< \1 %s 1 \2 {"
                             % draw.choice("+-"), lines[loop])
    return how


def check(case):
    """`legal`, or nothing."""
    text = ""
    while not text:  # some groups are refused
        text = tool.attempt("compile", case.write(random_job(case.draw)), "--emit=ir",
                            "--stdout", "--quiet").stdout
    before, section, behind = schedule_text.split(text)
    changes = []
    if case.draw.random() < 0.95:
        changes.append(mutate(section, case.draw))
    expected = schedule_text.is_legal(schedule_text.Schedule(section))
    changed = case.write("\n".join(before + section.lines + behind), ".ftir")
    done = tool.attempt("opt", changed)
    assert done.returncode == (0 if expected else 1) and (changes or expected), (
        "\n".join([f"{changes}: legal is {expected}, exit code {done.returncode}",
                   done.stderr, *section.lines]))
    return "legal" if expected else None


tool.cases(check, "schedules")
