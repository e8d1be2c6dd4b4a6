#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Changes one thing in a trace that is as planned, and sees that `check` says
# so and names the row. Prints caught/total. Without traces of a run it makes
# some of the job's own skeleton.
"""usage: mutate.py FORETRACE JOB SEED COUNT [TRACE_FOLDER]"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROW = re.compile(r"rank:(\d+):(\w+)\(stage_id=(\d+),batch_id=(\d+)")
CALL = re.compile(r"'[^']*'")


def numbered(text, pattern, change):
    """Changes the first number of the first match."""
    match = re.search(pattern, text)
    if not match:
        return None
    value = str(change(int(match.group(1))))
    return text[:match.start(1)] + value + text[match.end(1):]


def replaced(pattern, new):
    """A mutation that replaces the first match of a row by something else."""
    def mutate(row, _):
        changed = re.sub(pattern, new, row, count=1)
        return changed if changed != row else None
    return mutate


def in_call(pattern, new):
    """As replaced, in a call of the row."""
    def mutate(row, rng):
        calls = [m for m in CALL.finditer(row) if re.search(pattern, m.group())]
        if not calls:
            return None
        match = rng.choice(calls)
        call = re.sub(pattern, new, match.group(), count=1)
        changed = row[:match.start()] + call + row[match.end():]
        return changed if changed != row else None
    return mutate


def with_calls(change):
    """A mutation of the list of calls."""
    def mutate(row, rng):
        calls = CALL.findall(row)
        changed = change(list(calls), rng)
        if changed is None or changed == calls:
            return None
        return row[:row.index("sub_operations=")] + (
            "sub_operations=[" + ", ".join(changed) + "])")
    return mutate


def drop_call(calls, rng):
    return calls and calls[:(i := rng.randrange(len(calls)))] + calls[i + 1:]


def repeat_call(calls, rng):
    if not calls:
        return None
    i = rng.randrange(len(calls))
    return calls[:i + 1] + calls[i:]


def swap_calls(calls, rng):
    """Two neighbours that do different things."""
    def kind(call):
        return re.sub(r"(duration|timestamp)=[^,]*,", "", call)
    pairs = [i for i in range(len(calls) - 1)
             if kind(calls[i]) != kind(calls[i + 1])]
    if not pairs:
        return None
    i = rng.choice(pairs)
    calls[i], calls[i + 1] = calls[i + 1], calls[i]
    return calls


FOREIGN_CALL = ("'trace_src_func=barrier,duration=0.1,timestamp=1.0,"
                "group=dp,comm_func=barrier'")

# Mutations of one row; None where there is nothing to change.
OF_ROW = {
    "stage": lambda row, _: numbered(row, r"stage_id=(\d+)", lambda n: n + 1),
    "batch": lambda row, _: numbered(row, r"batch_id=(\d+)",
                                     lambda n: n + 1000),
    "operation": replaced(r":(\w+)\(", r":other_\1("),
    "rank": lambda row, _: numbered(row, r"rank:(\d+)", lambda n: n + 1),
    "state": replaced(r"mg_state=\w+", "mg_state=elsewhere"),
    "description": replaced(r"description=", "description=no "),
    "group": replaced(r"group_kind=\w+", "group_kind=cp"),
    "no group": replaced(r"group_kind=(pp|dp|ep|tp)\b", "group_kind=None"),
    "shape": lambda row, _: numbered(row, r"group_kind=\w+,input__shape=\[(\d+)",
                                     lambda n: n + 1),
    "last dimension": lambda row, _: numbered(
        row, r"group_kind=\w+,input__shape=\[[\d, ]*?(\d+)\]", lambda n: 2 * n),
    "no shape": replaced(r"(group_kind=\w+,input__shape=)\[[^]]*\]", r"\1None"),
    "dimension": replaced(r"(group_kind=\w+,input__shape=\[)", r"\g<1>1, "),
    "dtype": replaced(r"(input__shape=[^=]*,input__dtype=)torch\.\w+",
                      r"\1torch.float64"),
    "no calls": replaced(r"sub_operations=\[.+\]\)", "sub_operations=[])"),
    "no field": replaced(r",mg_state=\w+", ""),
    "no timestamp": replaced(r"(None|\]|\w),timestamp=[\d.]+,sub", r"\1,sub"),
    "duration": replaced(r"duration=[\d.]+", "duration=nan"),
    "cut": lambda row, _: row[:len(row) // 2],
    "quote": replaced(r"'", ""),
    "bracket": replaced(r"\]\)$", ")"),
    "garbage": lambda row, _: "\x7f\x01 no row at all",
    "fewer calls": with_calls(drop_call),
    "more calls": with_calls(repeat_call),
    "order of calls": with_calls(swap_calls),
    "foreign call": with_calls(lambda calls, rng: calls + [FOREIGN_CALL]),
    "first foreign call": with_calls(lambda calls, rng: [FOREIGN_CALL] + calls),
    "call function": in_call(r"trace_src_func=\w+", "trace_src_func=other"),
    "call name": in_call(r"func_name=\w+", "func_name=other"),
    "no call name": in_call(r",func_name=\w+", ""),
    "call group": in_call(r",group=\w+", ",group=pp"),
    "call kind": in_call(r"comm_func=\w+", "comm_func=scatter"),
    "call dtype": in_call(r"input__dtype=torch\.\w+",
                          "input__dtype=torch.int8"),
    "call shape": in_call(r"(input__shape=\[[\d, ]*?)(\d+)\]", r"\g<1>7]"),
    "no call shape": in_call(r",input__shape=\[[^]]*\]", ""),
    "call time": in_call(r"timestamp=[\d.]+", "timestamp=soon"),
    "received": in_call(r"(all_to_all_single.*input__shape=\[)\d+",
                        r"\g<1>99999999"),
}
# Mutations of the order of rows.
OF_ORDER = ["drop", "repeat", "swap", "move", "end"]


def mutate(rows, kind, rng):
    """(changed rows, numbers of lines or a name that must be reported)."""
    at = rng.randrange(len(rows))
    _, op, _, batch = ROW.match(rows[at]).groups()
    name = f"`{op}` {batch}"
    if kind in OF_ROW:
        changed = OF_ROW[kind](rows[at], rng)
        return changed and (rows[:at] + [changed] + rows[at + 1:], [at + 1])
    if kind == "drop":
        return rows[:at] + rows[at + 1:], name
    if kind == "repeat":
        return rows[:at + 1] + rows[at:], [at + 2]
    if kind == "end":
        return (rows[:at], name) if at else None
    if kind == "swap" and at + 1 < len(rows):
        rows = list(rows)
        rows[at], rows[at + 1] = rows[at + 1], rows[at]
        return rows, [at + 1, at + 2]
    if kind == "move" and at > 1:
        return [rows[at]] + rows[:at] + rows[at + 1:], [1, 2, at + 1]
    return None


def check(foretrace, job, path):
    """Exit status and lines printed."""
    run = subprocess.run([foretrace, "check", job, "--trace", path],
                         check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    return run.returncode, run.stdout


def is_caught(output, wanted):
    """Whether a line or the name of a row is among what was reported."""
    if isinstance(wanted, str):
        return wanted + " " in output
    return any(re.search(rf"\.txt:{line}: ", output) for line in wanted)


def make_run(foretrace, job, folder):
    """A run as planned: all routers send as much to every rank."""
    subprocess.run([foretrace, "compile", job, "--emit=megatron", "-o",
                    f"{folder}/", "--quiet"], check=True)
    for path in folder.glob("*.txt"):
        rows = path.read_text(encoding="utf-8").splitlines()
        for number, row in enumerate(rows):
            sent = re.search(r"all_to_all_single,[^']*input__shape=\[(\d+)",
                             row)
            row = row.replace("[R,", f"[{sent.group(1) if sent else 0},")
            row = re.sub(r"duration=None", "duration=0.1", row)
            rows[number] = re.sub(r"timestamp=None",
                                  f"timestamp={1000 + number}.5", row)
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def main():
    foretrace, job = sys.argv[1:3]
    rng = random.Random(int(sys.argv[3]))
    kinds = list(OF_ROW) + OF_ORDER
    caught = total = 0
    used, files_used = set(), set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "run")
        if len(sys.argv) > 5:
            shutil.copytree(sys.argv[5], folder)
        else:
            folder.mkdir()
            make_run(foretrace, job, folder)
        status, output = check(foretrace, job, folder)
        assert status == 0, output
        files = sorted(folder.glob("*.txt"))
        changed_file = pathlib.Path(name, "changed.txt")
        while total < int(sys.argv[4]):
            kind = kinds[total % len(kinds)]
            for _ in range(400):
                path = rng.choice(files)
                rows = path.read_text(encoding="utf-8").splitlines()
                made = mutate(rows, kind, rng)
                if made:
                    break
            else:
                kinds.remove(kind)
                continue
            changed_file.write_text("\n".join(made[0]) + "\n", encoding="utf-8")
            status, output = check(foretrace, job, os.fspath(changed_file))
            total += 1
            used.add(kind)
            files_used.add(path)
            if status == 1 and is_caught(output, made[1]):
                caught += 1
            else:
                print(f"{kind}: {made[1]} of {path.name}:\n{output}")
    print(f"{caught}/{total} caught, {len(used)} kinds, "
          f"{len(files_used)} files")
    return caught != total


if __name__ == "__main__":
    sys.exit(main())
