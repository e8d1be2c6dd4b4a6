# SPDX-License-Identifier: Apache-2.0
"""What mutations.py changes in a trace, kind by kind."""

import re

FUSED = {("send_forward", "recv_backward"), ("send_backward", "recv_forward")}
SLACK = 1.0  # ms that clocks may differ, see docs/check.md

ROW = re.compile(r"rank:(\d+):(\w+)\(stage_id=(\d+),batch_id=(\d+)")
CALL = re.compile(r"'[^']*'")
TIMES = re.compile(r"duration=([\d.]+).*?[,]timestamp=([\d.]+)")


def span(text):
    """(begin, end) of a row without its calls, or of a call."""
    duration, end = TIMES.search(text).groups()
    return float(end) - float(duration), float(end)


def is_fused(above, row):
    names = tuple(ROW.match(r).group(2) for r in (above, row))
    return names in FUSED and all("=steady" in r for r in (above, row))


def times_hold(rows):
    """Whether rows follow each other, and calls within them."""
    last = -1e300
    for number, row in enumerate(rows):
        head, _, calls = row.partition(",sub_operations=")
        if head.endswith("timestamp=0") and "mg_state=None" in head:
            continue  # of a scaling run, which makes up some rows
        begin, end = span(head)
        if number and is_fused(rows[number - 1], row):
            if TIMES.search(head).groups() != TIMES.search(
                    rows[number - 1].partition(",sub_")[0]).groups():
                return False
        elif begin < max(last, 0) - SLACK:
            return False
        last, done = end, begin
        for call in CALL.findall(calls):
            first, until = span(call)
            if (first < done - SLACK or until > end + SLACK
                    or until - first > end - begin + SLACK):
                return False
            done = until
    return True


# --- Mutations of a row: (row, rng) -> another row, or None --------------------

def replaced(pattern, new):
    """Replaces the first match."""
    return lambda row, _: re.sub(pattern, new, row, count=1)


def numbered(pattern, change):
    """Changes the number that the first match captures."""
    def mutate(row, rng):
        match = re.search(pattern, row)
        return match and (row[:match.start(1)] + change(match.group(1), rng)
                          + row[match.end(1):])
    return mutate


def in_call(mutate):
    """The same, of one of the calls."""
    def mutate_call(row, rng):
        calls = list(CALL.finditer(row))
        rng.shuffle(calls)
        for call in calls:
            changed = mutate(call.group(), rng)
            if changed and changed != call.group():
                return row[:call.start()] + changed + row[call.end():]
        return None
    return mutate_call


def with_calls(change):
    """Changes the list of calls."""
    def mutate(row, rng):
        calls = change(CALL.findall(row), rng)
        return calls and (row[:row.index("sub_operations=")]
                          + "sub_operations=[" + ", ".join(calls) + "])")
    return mutate


def repeat_call(calls, rng):
    at = rng.randrange(len(calls)) if calls else 0
    return calls[:at + 1] + calls[at:]


def drop_call(calls, rng):
    at = rng.randrange(len(calls)) if len(calls) > 1 else 0
    return calls[:at] + calls[at + 1:]


def swap_calls(calls, rng):
    if len(calls) < 2:
        return None
    at = rng.randrange(len(calls) - 1)
    calls[at], calls[at + 1] = calls[at + 1], calls[at]
    return calls


def digit(text, rng):
    """Another digit at some place; no zero before others."""
    at = rng.randrange(len(text))
    least = 1 if at == 0 and len(text) > 1 else 0
    new = rng.choice([d for d in range(least, 10) if str(d) != text[at]])
    return text[:at] + str(new) + text[at + 1:]


def moved(by):
    return lambda text, _: f"{float(text) + by:.2f}"


def no_field(row, rng):
    """Without one of the fields of the row that there must be."""
    head, _, calls = row.partition(",sub_operations=")
    keys = ["batch_id", "mg_state", "duration", "description", "group_kind",
            "input__shape", "input__dtype", "timestamp"]
    key = rng.choice(keys)
    return re.sub(rf",{key}=.*?(?=,[a-z_]+=|$)", "", head,
                  count=1) + ",sub_operations=" + calls


def field_twice(row, rng):
    """One of its fields again, behind it, with another value."""
    fields = [m for m in re.finditer(
        r"\b(stage_id|batch_id|mg_state|duration|group_kind|input__dtype"
        r"|timestamp|func_name|group|comm_func)=(\w[\w.]*)",
        row.partition(",sub_operations=")[0])]
    field = rng.choice(fields) if fields else None
    return field and (row[:field.end()] + f",{field.group(1)}=9"
                      + row[field.end():])


FOREIGN = ("'trace_src_func=barrier,duration=0.1,timestamp=1.0,"
           "group=dp,comm_func=barrier'")
DURATION, TIMESTAMP = r"duration=([\d.]+)", r",timestamp=([\d.]+)"
SIZE = r"input__shape=\[(?:\d+, )*?(\d+)"
TOO_MANY = "18446744073709551685"  # 69 and 2^64

OF_ROW = {
    "stage": numbered(r"stage_id=(\d+)", digit),
    "batch": numbered(r"batch_id=(\d+)", digit),
    "rank": numbered(r"rank:(\d+)", digit),
    "operation": replaced(r":(\w+)\(", r":other_\1("),
    "state": replaced(r"mg_state=\w+", "mg_state=elsewhere"),
    "description": replaced("description=", "description=no "),
    "group": replaced(r"group_kind=\w+", "group_kind=cp"),
    "shape": numbered(r"group_kind=\w+," + SIZE, digit),
    "no shape": replaced(r"(group_kind=\w+,input__shape=)\[[^]]*\]", r"\1None"),
    "dimension": replaced(r"(group_kind=\w+,input__shape=\[)", r"\g<1>1, "),
    "dtype": replaced(r"(input__shape=[^=]*,input__dtype=)torch\.\w+",
                      r"\1torch.float64"),
    "size with zeros": numbered(SIZE, lambda n, _: "0" + n),
    "size beyond 2^64": numbered(SIZE, lambda n, _: TOO_MANY),
    "negative size": numbered(SIZE, lambda n, _: "-" + n),
    "batch with zeros": numbered(r"batch_id=(\d+)", lambda n, _: "0" + n),
    "stage beyond 2^64": numbered(r"stage_id=(\d+)", lambda n, _: TOO_MANY),
    "no field": no_field,
    "field twice": field_twice,
    "negative duration": numbered(DURATION, lambda n, _: "-1" + n),
    "negative timestamp": numbered(TIMESTAMP, lambda n, _: "-1" + n),
    "absurd duration": numbered(DURATION, lambda n, _: "1e308"),
    "infinite duration": numbered(DURATION, lambda n, _: "inf"),
    "no number": numbered(DURATION, lambda n, _: "nan"),
    "duration with zeros": numbered(DURATION, lambda n, _: "0" + n),
    "decimal comma": numbered(DURATION, lambda n, _: "1,5"),
    "timestamp with commas": numbered(TIMESTAMP, lambda n, _: "3,370,621"),
    "cut": lambda row, _: row[:len(row) // 2],
    "quote": replaced("'", ""),
    "bracket": replaced(r"\]\)$", ")"),
    "garbage": lambda row, _: "\x7f\x01 no row at all",
    "no calls": replaced(r"sub_operations=\[.+\]\)", "sub_operations=[])"),
    "fewer calls": with_calls(drop_call),
    "more calls": with_calls(repeat_call),
    "order of calls": with_calls(swap_calls),
    "foreign call": with_calls(lambda calls, _: calls + [FOREIGN]),
    "first foreign call": with_calls(lambda calls, _: [FOREIGN] + calls),
    "call function": in_call(replaced(r"trace_src_func=\w+",
                                      "trace_src_func=other")),
    "call name": in_call(replaced(r"func_name=\w+", "func_name=other")),
    "no call name": in_call(replaced(r",func_name=\w+", "")),
    "call group": in_call(replaced(r",group=\w+", ",group=pp")),
    "call kind": in_call(replaced(r"comm_func=\w+", "comm_func=scatter")),
    "call dtype": in_call(replaced(r"torch\.\w+", "torch.int8")),
    "call shape": in_call(numbered(SIZE, digit)),
    "call last size": in_call(numbered(r"input__shape=\[[^]]*?(\d+)\]",
                                       digit)),
    "no call shape": in_call(replaced(r",input__shape=\[[^]]*\]", "")),
    "call field twice": in_call(field_twice),
    "negative call duration": in_call(numbered(DURATION, lambda n, _: "-1.5")),
    "call decimal comma": in_call(numbered(DURATION, lambda n, _: "1,5")),
    "call later": in_call(numbered(TIMESTAMP, moved(1e5))),
    "call earlier": in_call(numbered(TIMESTAMP, moved(-1e5))),
    "call longer": in_call(numbered(DURATION, moved(1e5))),
}
# Those of a time, which is seen only if it contradicts another one.
OF_TIME = {
    "later": numbered(TIMESTAMP, moved(700)),
    "earlier": numbered(TIMESTAMP, moved(-700)),
    "longer": numbered(DURATION, moved(700)),
    "digit of duration": numbered(r"duration=(\d+)", digit),
    "digit of timestamp": numbered(r",timestamp=\d+?(\d{1,4})\.", digit),
    "digit of call time": in_call(numbered(r",timestamp=\d+?(\d{1,3})\.",
                                           digit)),
}


# --- Mutations of a trace: rows -> (rows, lines any of which is exact) --------

def shifted(rows, by):
    """The rows that much later."""
    return [re.sub(r"(timestamp=)([\d.]+)", lambda m: m.group(1) + (
        m.group(2) if float(m.group(2)) == 0
        else f"{float(m.group(2)) + by:.2f}"), row) for row in rows]


def delete(rows, at, _):
    return rows[:at] + rows[at + 1:], [at + 1]


def duplicate(rows, at, _):
    return rows[:at + 1] + rows[at:], [at + 1, at + 2]


def swap(rows, at, _):
    if at + 1 == len(rows):
        return None
    return (rows[:at] + [rows[at + 1], rows[at]] + rows[at + 2:],
            [at + 1, at + 2])


def move(rows, at, rng):
    """A row elsewhere: it is too early, or too late, or lacks where it was."""
    to = rng.randrange(len(rows))
    if abs(to - at) < 2:
        return None
    rest = rows[:at] + rows[at + 1:]
    return rest[:to] + [rows[at]] + rest[to:], [to + 1, at + 1, at + 2]


def end(rows, at, _):
    return (rows[:at], [at + 1]) if at else None


def rank_of_all(rows, at, rng, ranks):
    mine = ROW.match(rows[0]).group(1)
    other = rng.choice(sorted(ranks - {mine}))
    return [row.replace(f"rank:{mine}:", f"rank:{other}:", 1)
            for row in rows], [1]


def iteration_more(rows, at, _):
    later = max(span(row)[1] for row in rows)
    return rows + shifted(rows, later), [len(rows) + 1]


def iteration_less(rows, at, _):
    ends = [n for n, row in enumerate(rows, 1) if ":optimizer_step(" in row]
    return (rows[:ends[-2]], [ends[-2] + 1]) if len(ends) > 1 else None


OF_TRACE = {"row deleted": delete, "row twice": duplicate, "rows swapped": swap,
            "row moved": move, "end lost": end, "rank of all": rank_of_all,
            "iteration more": iteration_more, "iteration less": iteration_less}

# What no plan knows, and why. None of it may be reported.
INVISIBLE = {
    "other clock": lambda rows: shifted(rows, 1e6),  # clocks have no zero
    "unknown field": lambda rows: [row.replace(
        ",input__shape=", ",cmd_uid=7,input__shape=", 1) for row in rows],
    "ends of lines": lambda rows: [row + "\r" for row in rows],
    "blank lines": lambda rows: [row + "\n" for row in rows],
}
