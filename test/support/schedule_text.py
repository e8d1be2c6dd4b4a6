# SPDX-License-Identifier: Apache-2.0
"""Reads the `schedule` section of the IR's text form as docs/ir.md describes it,
unfolds it and runs its stages against each other: a second opinion on what the
verifier says.
"""
import collections
import re

HEADER = re.compile(r"^schedule (\w+) (\w+) (\w+) stages\((\d+)\) "
                    r"chunks\((\d+)\) micro_batches\((\d+)\) group\((\d+)\)")
SLOT = re.compile(r"^(?:(with|overlapped) )?(\w+)(?:\((.*?)\))?"
                  r"(?: (?:to|from)\((.*?)\))?(?: tag\((.*)\))?$")


class Section:
    """The lines of a section, which may be edited, and what they mean."""

    def __init__(self, lines):
        self.lines = list(lines)

    def slots(self):
        """Indices of the lines that are slots."""
        return [index for index, line in enumerate(self.lines)
                if line.startswith("      ")]

    def loops(self):
        return [index for index, line in enumerate(self.lines)
                if line.startswith("    for ")]


def split(text):
    """The text before, the section, the text behind."""
    lines = text.split("\n")
    first = next(index for index, line in enumerate(lines)
                 if line.startswith("schedule "))
    last = lines.index("}", first)
    return lines[:first], Section(lines[first:last + 1]), lines[last + 1:]


def arguments(text):
    """`a, min(b, c)` is two."""
    depth, parts = 0, [""]
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def find_arguments(line):
    """The arguments of a slot's first parentheses, and where these end."""
    begin = line.index("(")
    depth = 0
    for index in range(begin, len(line)):
        depth += (line[index] == "(") - (line[index] == ")")
        if depth == 0:
            return arguments(line[begin + 1:index]), begin, index
    raise ValueError(line)


class Schedule:
    def __init__(self, section):
        self.kind, self.placement, self.transport, *sizes = HEADER.match(
            section.lines[0]).groups()
        self.p, self.v, self.m, self.g = map(int, sizes)
        self.lets = {}
        self.programs = []
        for line in section.lines[1:]:
            self.read(line)

    def read(self, line):
        words = line.split()
        if words[:1] == ["let"]:
            self.lets[words[1]] = line.split("=", 1)[1].strip()
        elif words[:1] == ["program"]:
            first, _, last = words[1].partition("..")
            self.programs.append((int(first), int(last or first), []))
        elif words[:1] == ["for"]:
            count = line.split("<", 1)[1].rsplit(None, 2)[0]
            self.programs[-1][2].append((self.compile(count), []))
        elif line.startswith("      "):
            self.programs[-1][2][-1][1].append(self.slot(line.strip()))

    def compile(self, text):
        while True:
            plain = re.sub(r"\b(%s)\b" % "|".join(self.lets or ["-"]),
                           lambda name: "(%s)" % self.lets[name[1]], text)
            if plain == text:
                break
            text = plain
        return compile(text.replace("/", "//").replace(" mod ", " % ").strip(),
                       "schedule", "eval")

    def slot(self, line):
        start = "after"
        for word in ("with", "overlapped"):
            if line.startswith(word + " "):
                start, line = word, line[len(word) + 1:]
        kind = re.match(r"\w+", line)[0]
        numbers, peer, tag = None, None, None
        if "(" in line:
            numbers, _, end = find_arguments(line)
            numbers = [self.compile(text) for text in numbers]
            rest = line[end + 1:]
            while rest.strip():
                word = rest.split("(")[0].strip()
                (text,), _, end = find_arguments(rest)
                if word == "tag":
                    tag = self.compile(text)
                else:
                    peer = self.compile(text)
                rest = rest[end + 1:]
        return start, kind, numbers, peer, tag

    def parts(self):
        return self.p if self.placement == "bidirectional" else self.p * self.v

    def part(self, stage, chunk):
        if self.placement == "loop":
            return chunk * self.p + stage
        return stage if chunk == 0 else self.parts() - 1 - stage

    def stage(self, part, chunk):
        """Of a part, next to one that is chunk `chunk` of its stage."""
        if self.placement == "loop":
            return part % self.p
        if self.placement == "v":
            return min(part, self.parts() - 1 - part)
        return part if chunk == 0 else self.p - 1 - part

    def unfold(self, stage):
        """(starts with the one before, kind, micro-batch, chunk, peer, tag)"""
        loops = next(loops for first, last, loops in self.programs
                     if first <= stage <= last)
        values = {"s": stage, "p": self.p, "v": self.v, "m": self.m,
                  "g": self.g, "min": min, "max": max}
        actions, begun = [], None
        for count, slots in loops:
            for index in range(eval(count, values)):
                values["i"] = index
                for start, kind, numbers, peer, tag in slots:
                    if start == "after":
                        begun = None
                    action = self.action(stage, kind, numbers, peer, tag,
                                         values)
                    if not action:
                        continue
                    is_message = kind.startswith(("send", "recv"))
                    joins = start != "after" and begun == is_message
                    actions.append((joins,) + action)
                    begun = is_message
        return actions

    def action(self, stage, kind, numbers, peer, tag, values):
        if numbers is None:
            return kind, 0, 0, None, None
        batch = eval(numbers[0], values)
        chunk = eval(numbers[1], values) if len(numbers) > 1 else 0
        if not (0 <= batch < self.m and 0 <= chunk < self.v):
            return None
        if not kind.startswith(("send", "recv")):
            return kind, batch, chunk, None, None
        is_next = kind in ("send_forward", "recv_backward")
        part = self.part(stage, chunk)
        other = part + (1 if is_next else -1)
        if not 0 <= other < self.parts():
            return None
        there = self.stage(other, chunk)
        if there == stage:
            return None
        lower = min(part, other)
        usual = 2 * (lower * self.m + batch) + kind.endswith("backward")
        return (kind, batch, chunk,
                there if peer is None else eval(peer, values),
                usual if tag is None else eval(tag, values))


def is_legal(schedule):
    """Whether every stage can do what it does, alone and with the others."""
    try:
        stages = [schedule.unfold(stage) for stage in range(schedule.p)]
    except ZeroDivisionError:
        return False
    return (all(is_possible(schedule, stage, actions)
                for stage, actions in enumerate(stages))
            and all_meet(list(stage_programs(schedule, stages))))


def work(schedule, stage):
    """All that a stage must do before its step: (kind, chunk, micro-batch)."""
    every = set()
    for chunk in range(schedule.v):
        kinds = ["forward_step", "backward_input", "backward_weight"]
        for step, messages in ((1, ("send_forward", "recv_backward")),
                               (-1, ("recv_forward", "send_backward"))):
            other = schedule.part(stage, chunk) + step
            if 0 <= other < schedule.parts() and schedule.stage(other, chunk) != stage:
                kinds += messages
        every |= {(kind, chunk, batch) for kind in kinds for batch in range(schedule.m)
                  if schedule.placement != "bidirectional"
                  or (batch < schedule.m // 2) == (chunk == 0)}
    return every


def needs(schedule, stage, kind, chunk, batch):
    """What the stage must have done before it."""
    def arrived(step, made, received):
        other = schedule.part(stage, chunk) + step
        if not 0 <= other < schedule.parts():
            return set()
        if schedule.stage(other, chunk) != stage:
            return {(received, chunk, batch)}
        own = next(c for c in range(schedule.v) if schedule.part(stage, c) == other)
        return {(made, own, batch)}

    if kind == "forward_step":
        return arrived(-1, kind, "recv_forward")
    if kind == "backward_input":
        return {("forward_step", chunk, batch)} | arrived(1, kind, "recv_backward")
    made = {"send_forward": "forward_step", "send_backward": "backward_input",
            "backward_weight": "backward_input"}
    return {(made[kind], chunk, batch)} if kind in made else set()


def is_possible(schedule, stage, actions):
    """What a stage needs is there, and all that it should do is done once."""
    every, done = work(schedule, stage), set()
    ends = [("reduce_gradients", 0, 0), ("step", 0, 0)]
    for _, action, batch, chunk, peer, _ in actions:
        halves = ("backward_input", "backward_weight")
        for kind in halves if action == "backward_step" else (action,):
            key = kind, chunk, batch
            if key in ends:
                before = every | set(ends[:ends.index(key)])
            elif key in every:
                before = needs(schedule, stage, *key)
            else:
                return False
            step = 1 if kind in ("send_forward", "recv_backward") else -1
            is_elsewhere = peer is not None and peer != schedule.stage(
                schedule.part(stage, chunk) + step, chunk)
            if key in done or is_elsewhere or not before <= done:
                return False
            done.add(key)
    return done == every | set(ends)


def stage_programs(schedule, stages):
    """Calls of each stage, as `all_meet` takes them: messages with both ends."""
    for stage, actions in enumerate(stages):
        calls = []
        for joins, kind, batch, chunk, peer, tag in actions:
            if not joins:
                calls.append([])
            if peer is not None:
                part = schedule.part(stage, chunk)
                if kind in ("recv_forward", "send_backward"):
                    part -= 1
                ends = ((stage, peer) if kind.startswith("send")
                        else (peer, stage))
                message = ends + (tag, kind.endswith("forward"), batch, part)
                calls[-1].append((message, message, 2, kind.startswith("recv")
                                  or schedule.transport == "combined"))
        yield calls


def all_meet(programs):
    """Returns whether all programs end, and only the same things meet. Programs are lists
    of calls, and these of (key, what, number of programs that take part, whether it is
    waited for); the n-th ones of a key meet."""
    counts = [collections.Counter() for _ in programs]
    at, entered = [0] * len(programs), [-1] * len(programs)
    waits, come, moved = [[] for _ in programs], {}, True
    while moved:
        moved = False
        for number, calls in enumerate(programs):
            while at[number] < len(calls):
                if entered[number] < at[number]:
                    entered[number], moved, waits[number] = at[number], True, []
                    for key, what, expected, is_awaited in calls[at[number]]:
                        counts[number][key] += 1
                        meeting = come.setdefault((key, counts[number][key]),
                                                  (what, expected, set()))
                        if meeting[0] != what:
                            return False
                        meeting[2].add(number)
                        waits[number] += [meeting] * is_awaited
                if any(len(there) < expected for _, expected, there in waits[number]):
                    break
                at[number] += 1
                moved = True
    return (all(at[number] == len(calls) for number, calls in enumerate(programs))
            and all(len(there) == expected for _, expected, there in come.values()))
