# SPDX-License-Identifier: Apache-2.0
"""What scripts of tests share: they run the program, read what it prints, and try many
random cases. A check has its law alone, and asserts it."""

import collections
import concurrent.futures
import contextlib
import csv
import functools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import traceback

PROGRAM = "foretrace"  # in PATH


class Failed(AssertionError):
    """The program has reported errors, which the text has."""


def attempt(*words, **options):
    """Runs the program, which may fail; the result has what it printed as text."""
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                          **options)


def run(*words, **options):
    """Returns what the program prints. A job `-` is the text `input`."""
    done = attempt(*words, **options)
    if done.returncode:
        raise Failed(done.stderr or f"{words}: exit code {done.returncode}")
    return done.stdout


def document(*words, **options):
    """Returns the JSON document that a command prints."""
    return json.loads(run(*words, "--format=json", **options))


def rows(*words, **options):
    """Returns the JSON objects that a command prints, one per line."""
    return list(map(json.loads, run(*words, "--format=json", **options).splitlines()))


def table(*words, **options):
    """Returns the rows of the table that a command prints, as dicts."""
    return list(csv.DictReader(run(*words, "--format=csv", **options).splitlines()))


def published(beside, name):
    """Returns the rows of a CSV file beside a script, as dicts; numbers are numbers, and a cell that is
    empty is None."""
    def value(text):
        for kind in (int, float, str):
            with contextlib.suppress(ValueError):
                return kind(text) if text else None
    with open(pathlib.Path(beside).with_name(name), encoding="utf-8") as file:
        return [{key: value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def figures(*words, **options):
    """Returns the integers of a table of figures by (table, row, figure)."""
    return {(row["table"], row["row"], row["figure"]): int(row["value"])
            for row in table(*words, **options) if row["value"].isdigit()}


def ir(job, *options, **others):
    """Returns the IR of a job."""
    return run("compile", job, "--emit=ir", "--stdout", "--quiet", *options, **others)


def plan(job, *options, **others):
    """Returns what `emit json` writes of a job."""
    return json.loads(run("compile", job, "--emit=json", "--stdout", "--quiet", *options,
                          **others))


def defined(values):
    """Returns the options that set keys to values."""
    return [f"-D{key}={value}" for key, value in values.items()]


def word(value):
    """Returns a value as jobs have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def keys(**values):
    """Returns keys with their values, as sections have them."""
    return "  ".join(f"{key} = {word(value)}" for key, value in values.items())


def section(head, **values):
    """Returns a section of a job, or of a layer, in one line."""
    return f"{head} {{ {keys(**values)} }}"


def with_keys(text, head, **values):
    """Returns a text with keys at the begin of the section, `train` or `block moe`."""
    return text.replace(f"{head} {{", f"{head} {{ {keys(**values)} ")


def each(bounds):
    """Returns the range of the first and the last, as documents have stages."""
    first, last = bounds
    return range(first, last + 1)


def page_data(text):
    """Returns the object that a page shows."""
    return json.loads(re.search(r'<script[^>]*"application/json"[^>]*>(.*?)</script>', text, re.S)[1])


def report(problems, summary):
    """Prints problems and a summary, and ends the script, which fails if there are problems."""
    problems = list(problems)
    print(*problems, summary, sep="\n")
    sys.exit(bool(problems))


def refresh(path, text, how):
    """Writes the text to the file if the script has the option `--write`. Yields what is wrong
    with another text: `how` says what makes it right."""
    if path.read_text("utf-8") == text:
        return
    if "--write" in sys.argv:
        path.write_text(text, "utf-8")
    else:
        yield f"{path}: {how} --write changes it"


@contextlib.contextmanager
def scratch():
    """A folder that is removed at the end."""
    with tempfile.TemporaryDirectory() as name:
        yield pathlib.Path(name)


class Case:
    """One of many random cases: its number, a source of chance, and places for its files,
    which begin with `stem`."""

    def __init__(self, folder, seed):
        self.draw = random.Random(seed)
        self.number = int(seed.rpartition(".")[2])
        self.stem = os.path.join(folder, seed)
        self.job = self.stem + ".fore"

    def write(self, text, ending=".fore"):
        """Writes a text to a file, and returns its path."""
        path = pathlib.Path(self.stem + ending)
        path.write_text(text, "utf-8")
        return str(path)

    def append(self, text):
        """Adds a text to the job."""
        with open(self.job, "a", encoding="utf-8") as file:
            file.write(text)

    def text(self):
        """Returns the text of the job."""
        path = pathlib.Path(self.job)
        return path.read_text("utf-8") if path.exists() else ""


def judge(check, folder, seed):
    """What a check returns of a case, and what is wrong with it."""
    case = Case(folder, seed)
    try:
        return check(case), None
    except Exception:  # pylint: disable=broad-exception-caught
        where = traceback.format_exc(limit=-1).strip()
        return None, f"seed {seed}: {where}\n{case.text()}"


def cases(check, noun="jobs"):
    """Runs a check of random cases as the command line SEED COUNT says. Prints those in which
    it fails, and how many cases there were; also for which it returned a word, such as `legal`,
    or several."""
    seed, count = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(functools.partial(judge, check, folder),
                             [f"{seed}.{index}" for index in range(count)]))
    problems = [problem for _, problem in done if problem]
    words = collections.Counter(
        word for of, _ in done for word in ([of] if isinstance(of, str) else of or ()))
    print(*problems, sep="\n", end="\n" * bool(problems))
    print(f"{count} {noun}", *(f"{words[word]} {word}" for word in sorted(words)),
          f"{len(problems)} disagreements", sep=", ")
