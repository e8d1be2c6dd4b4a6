# SPDX-License-Identifier: Apache-2.0
"""Random changes of the lines of a GOAL schedule, and whether LogGOPSim and htsim
take a schedule for what another one is, or run it to its end."""
import re

import goal


def grammar(text):
    """A pattern in which a blank is some blanks and `~` any number of them."""
    return re.compile(text.replace(" ", "[ \t]+").replace("~", "[ \t]*"), re.A)


# What txt2bin takes for an operation; what may be left out is 0.
OPERATION = grammar(
    r"(?:([A-Za-z]\w*)~:~)?(?:(calc)~(\d+)(?:~cpu~(\d+))?"
    r"|(send|recv)~(\d+)~b~(to|from)~(-1|\d+)(?:~tag~(-1|\d+))?"
    r"(?:~cpu~(\d+))?(?:~nic~(\d+))?)")
ORDER = grammar(r"([A-Za-z]\w*) i?requires~([A-Za-z]\w*)")
# Another statement may follow in the same line.
OPEN = grammar(r"num_ranks~(\d+)(?!\d)|rank~(\d+)~{|}")


class Illegal(Exception):
    """What a simulator refuses, or takes for something else."""


def need(condition, what):
    if not condition:
        raise Illegal(what)


def canonical(text, is_in_rank, number):
    """A line as we write it."""
    if match := OPEN.fullmatch(text):
        if match[1]:
            return "num_ranks %d" % int(match[1])
        if match[2]:
            return "rank %d {" % int(match[2])
        if is_in_rank:
            return text
    if match := is_in_rank and ORDER.fullmatch(text):
        # What may begin with another may begin after it, too.
        return "%s requires %s" % match.groups()
    match = is_in_rank and OPERATION.fullmatch(text)
    if not match or (match[5], match[7]) not in (
            (None, None), ("send", "to"), ("recv", "from")):
        raise Illegal(text)
    label = match[1] or "unlabelled_%d" % number
    if match[2]:
        return "%s: calc %d cpu %d" % (label, int(match[3]), int(match[4] or 0))
    return "%s: %s %db %s %d tag %d cpu %d nic %d" % (
        label, match[5], int(match[6]), match[7], *(
            int(match[i] or 0) for i in range(8, 12)))


def read(data):
    """The lines that say something."""
    try:
        text = data.decode("ascii").rstrip(" \t")
    except UnicodeDecodeError as error:
        raise Illegal("no text") from error
    text = re.sub(r"\r?\n", "\n", text + "\n")
    text = re.sub(r"^/\*.*?\*/", "", text, flags=re.M | re.S)
    text = re.sub("^(%s)(?!\n)" % OPEN.pattern, "\\1\n", text, flags=re.M)
    if re.search(r"^[ \t]+(?=[^ \t\n}])", text, re.M):
        raise Illegal("unexpected blank at the start of a statement")
    out, is_in_rank = [], False
    for number, line in enumerate(text.split("\n")):
        if line.strip(" \t") and not line.startswith("//"):
            line = canonical(line.strip(" \t"), is_in_rank, number)
            is_in_rank = (is_in_rank or line.endswith("{")) and line != "}"
            out.append(line)
    return out


def runs(lines):
    try:
        return not any(goal.Run(goal.parse(lines), 0.02, 500, is_eager).problem()
                       for is_eager in (True, False))
    except AssertionError:
        return False


def communication(lines):
    return sorted(" ".join(line.split()[1:7]) for line in lines
                  if " tag " in line)


def harmless(before, after):
    (old,), (new,) = before.values(), after.values()
    if new is None:
        return None
    try:
        old, new = read(old), read(new)
    except Illegal:
        return None
    if old == new:
        return "the same is read"
    if not runs(new):
        return None
    if communication(old) == communication(new):
        return "the same communication, all come to their ends"
    return "other communication on all its ranks, all come to their ends"


# --- changes ------------------------------------------------------------------

NUMBERS = ["0", "1", "2", "3", "7", "255", "256", "2147483647", "2147483648",
           "4294967295", "18446744073709551616", "-1", "1.5", "x", ""]
WORDS = ["calc", "send", "recv", "to", "from", "tag", "cpu", "nic", "requires",
         "irequires", "b", "rank", "num_ranks", "t0", "t1", "t2", ":", "{", "}"]


def replaced(line, pattern, wanted, rng):
    """With another text for one match of the pattern."""
    matches = list(re.finditer(pattern, line))
    if not matches:
        return line
    at = rng.choice(matches)
    return line[:at.start()] + wanted(at[0]) + line[at.end():]


def change_number(lines, i, rng):
    lines[i] = replaced(lines[i], r"(?<![\w])\d+", lambda old: rng.choice(
        [str(int(old) + 1), str(max(int(old) - 1, 0)), rng.choice(NUMBERS)]), rng)


def change_word(lines, i, rng):
    lines[i] = replaced(lines[i], r"[a-z]\w*|[:{}]",
                        lambda _: rng.choice(WORDS), rng)


def change_label(lines, i, rng):
    lines[i] = replaced(lines[i], r"\bt\d+\w*", lambda _: rng.choice(
        re.findall(r"\bt\d+\w*", " ".join(lines[max(i - 9, 0):i + 9]))), rng)


def change_everywhere(lines, i, rng):
    """A number behind a word, so that both ends agree."""
    word, by = rng.choice([("tag ", 5), ("cpu ", 1), ("send ", 8), ("calc ", 1)])
    pattern = "(send |recv )" if word == "send " else "(%s)" % word
    lines[:] = [re.sub(pattern + r"(\d+)", lambda m: m[1] + str(int(m[2]) + by), l)
                for l in lines]


def drop(lines, i, rng):
    del lines[i]


def double(lines, i, rng):
    lines.insert(rng.choice([i, rng.randrange(len(lines))]), lines[i])


def swap(lines, i, rng):
    j = rng.choice([min(i + 1, len(lines) - 1), rng.randrange(len(lines))])
    lines[i], lines[j] = lines[j], lines[i]


def swap_messages(lines, i, rng):
    """Two receives, or two sends, change places but for their labels."""
    word = rng.choice(["send", "recv"])
    at = [k for k, l in enumerate(lines) if ": %s " % word in l]
    if len(at) > 1:
        j, k = sorted(rng.sample(at, 2))
        (a, one), (b, other) = (lines[x].split(": ") for x in (j, k))
        lines[j], lines[k] = a + ": " + other, b + ": " + one


def blank(lines, i, rng):
    lines[i] = rng.choice([
        " " + lines[i], lines[i] + rng.choice(" \t"), "\n" + lines[i],
        "// x\n" + lines[i], lines[i] + "\r", lines[i] + " // x", "/* x */",
        replaced(lines[i], " ", lambda _: rng.choice(["  ", "\t", ""]), rng)])


def change(files, rng):
    (name, data), = files.items()
    lines = data.decode().split("\n")
    how = rng.choice([change_number] * 4 + [change_label] * 3 + [
        change_word, change_everywhere, drop, drop, double, swap, swap,
        swap_messages, swap_messages, blank])
    how(lines, rng.randrange(len(lines)), rng)
    return how.__name__, {name: "\n".join(lines).encode()}
