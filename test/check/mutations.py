# SPDX-License-Identifier: Apache-2.0
"""usage: mutations.py SEED COUNT [FOLDER]

Changes one thing in one trace of a run that is as planned, and sees that
`check` of the whole run names the file and the line. What no plan can know is
changed as well, and must not be reported. Runs are compiled from a small job,
or found in a folder: test/conformance says which jobs its runs are of."""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import sys

HERE = pathlib.Path(__file__).parent
sys.path += [str(HERE / "Inputs"), str(HERE.parent / "support"), str(HERE.parent / "conformance")]
import tool
from mutation_kinds import (INVISIBLE, OF_ROW, OF_TIME, OF_TRACE, ROW, is_fused,
                            shifted, times_hold)

JOB = (HERE / "Inputs/mutated.fore").read_text("utf-8")
DIALECTS = {"v1": "dialect = v1", "v2": "dialect = v2", "v2b": "dialect = v2b",
            "scaling": "dialect = v2b scaling = true"}


class Run:
    """A job and the traces of a run of it."""

    def __init__(self, job, folder):
        self.job, self.folder = job, folder
        self.rows = {path: path.read_text(encoding="utf-8").splitlines()
                     for path in sorted(folder.glob("*.txt"))}
        self.ranks = {ROW.match(rows[0]).group(1)
                      for rows in self.rows.values()}
        self.is_scaling = any("mg_state=None" in row
                              for rows in self.rows.values() for row in rows)

    def check(self):
        """Exit status, and (file, line, message) of what is reported."""
        run = tool.attempt("check", self.job, "--trace", self.folder, "--format=json",
                           "--limit=1000000")
        found = []
        for text in run.stdout.splitlines():
            line = json.loads(text)
            if line.get("severity") == "error":
                found += [(os.path.basename(path), line["line"],
                           line["message"])
                          for path in line.get("files", [line["file"]])]
        return run.returncode, found, run.stderr

    def check_changed(self, path, rows):
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        try:
            return self.check()
        finally:
            path.write_text("\n".join(self.rows[path]) + "\n",
                            encoding="utf-8")


def fill(rows, rank):
    """The rows of a plan with times, twice, and what a router sent: the ranks
    of an expert group get 128 rows together."""
    now, out = 1000.0, []
    for row in rows:
        row = row.replace("[R,", "[70," if rank % 2 == 0 else "[58,")
        head, comma, calls = row.partition(",sub_operations=")
        if not (out and is_fused(out[-1], row)):
            begin = now + 0.1
            now = begin + 2 + calls.count("duration=") * 1.5
        for number in range(calls.count("duration=")):
            calls = calls.replace("duration=None,timestamp=None",
                                  f"duration=1.25,timestamp="
                                  f"{begin + 1.5 * number + 2:.2f}", 1)
        head = head.replace("duration=None", f"duration={now - begin:.2f}")
        head = head.replace("timestamp=None", f"timestamp={now:.2f}")
        out.append(head + comma + calls)
    return out + shifted(out, 5000)


def compiled_runs(folder):
    for name, options in DIALECTS.items():
        job = folder / f"{name}.fore"
        job.write_text(JOB + "emit megatron { " + options + " }\n",
                       encoding="utf-8")
        run = folder / name
        tool.run("compile", job, "-o", f"{run}/", "--quiet")
        for path in run.glob("*.txt"):
            rows = path.read_text(encoding="utf-8").splitlines()
            path.write_text("\n".join(fill(rows, int(path.stem[4:]))) + "\n",
                            encoding="utf-8")
        yield Run(job, run)


def found_runs(folder, source):
    """Runs with a configuration; not those of several runs in one folder."""
    import megatron
    import megatron_job
    for number, path in enumerate(megatron.find_folders(source)):
        run = folder / str(number)
        shutil.copytree(path, run)
        config = json.loads((run / "config.json").read_text(encoding="utf-8"))
        ranks = [megatron.rank_of(trace) for trace in run.glob("*.txt")]
        job = pathlib.Path(megatron_job.write(config, set(ranks), run))
        if len(set(ranks)) == len(ranks):
            yield Run(job, run)


def mutate(run, kind, rng):
    """(trace, changed rows, lines that are exact; none if nobody can know)."""
    path = rng.choice(list(run.rows))
    rows = run.rows[path]
    at = rng.randrange(len(rows))
    if kind in INVISIBLE:
        return path, INVISIBLE[kind](rows), []
    if kind in OF_TRACE:
        more = [run.ranks] if kind == "rank of all" else []
        if kind == "rank of all" and len(run.ranks) == 1:
            return None
        made = OF_TRACE[kind](rows, at, rng, *more)
        if not made:
            return None
        # Each trace of a scaling run is a run of its own.
        if run.is_scaling and (kind.startswith("iteration") or (
                kind == "end lost" and ":optimizer_step(" in made[0][-1])):
            return path, made[0], []
        return path, *made
    row = (OF_ROW.get(kind) or OF_TIME[kind])(rows[at], rng)
    if not row or row == rows[at]:
        return None
    changed = rows[:at] + [row] + rows[at + 1:]
    if kind in OF_TIME and times_hold(changed):
        return path, changed, []
    return path, changed, [at + 1]


def judge(lines, path, status, found):
    """What became of a mutation. Where two rows contradict each other, and
    either may be wrong, one is named by the message on the other."""
    if not lines:
        return "invisible" if status == 0 else "false alarm"
    if status == 0:
        return "missed"
    here = [(line, text) for name, line, text in found if name == path.name]
    if any(line in lines for line, _ in here):
        return "exact"
    names = re.compile(rf"line ({'|'.join(map(str, lines))})\b")
    if any(names.search(text) for _, text in here):
        return "named"
    return "elsewhere"


def main():
    rng, count = random.Random(int(sys.argv[1])), int(sys.argv[2])
    kinds = [*OF_ROW, *OF_TIME, *OF_TRACE, *INVISIBLE]
    results, used, problems = collections.Counter(), set(), []
    with tool.scratch() as folder:
        runs = list(found_runs(folder, sys.argv[3]) if len(sys.argv) > 3
                    else compiled_runs(folder))
        for run in runs:
            status, found, errors = run.check()
            assert status == 0, (found, errors)
        for number in range(count):
            kind = kinds[number % len(kinds)]
            for _ in range(400):
                made = mutate(run := rng.choice(runs), kind, rng)
                if made:
                    break
            else:
                continue  # these runs have nothing of the kind
            path, rows, lines = made
            status, found, errors = run.check_changed(path, rows)
            result = judge(lines, path, status, found)
            results[result] += 1
            used.add(kind)
            if result in ("missed", "elsewhere", "false alarm"):
                problems.append(f"{result}: {kind} at {lines} of {run.folder.name}/"
                                f"{path.name}: {found[:3]} {errors}")
    tool.report(problems, f"{sum(results.values())} mutations of {len(used)} kinds: "
                + ", ".join(f"{results[what]} {what}" for what in (
                    "exact", "named", "elsewhere", "missed", "invisible", "false alarm")))


main()
