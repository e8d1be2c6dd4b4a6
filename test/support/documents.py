# SPDX-License-Identifier: Apache-2.0
"""usage: documents.py JOB: prints the schemas of all JSON documents of a job, stages that are not the
first and the last, and numbers that two of them have.

For other scripts: which document of a job gives which number of what."""
import collections
import json
import sys

import tool

# Those that need rates come last.
COMMANDS = {
    "params": ["params"], "params by stage": ["params", "--by=stage"],
    "flops": ["flops"], "memory": ["memory"], "volume": ["volume"], "plan": ["plan"],
    "schedule": ["plan", "--schedule"], "json": ["compile", "--emit=json", "-o", "-"],
    "diff": ["diff", "--with=train.precision=fp32"],
    "explain memory": ["explain", "--memory"], "explain work": ["explain", "--work"],
    "time": ["time"], "shapes": ["shapes"], "plan with times": ["plan", "--time"],
}
# Keys that say of what the other numbers of an object are.
NAMES = ("stages", "stage", "chunks", "block", "group", "tier", "part", "line", "at", "keys",
         "phase", "collective", "change", "ep_rank",
         "axis")


def ask(path, command):
    """Documents: one, or one per line."""
    word, *options = command
    if word != "compile":
        options.append("--format=json")
    run = tool.attempt(word, path, *options, "--quiet")
    assert run.returncode == 0 or (word, run.returncode) == ("diff", 4), run
    if word == "explain":
        return [json.loads(line) for line in run.stdout.splitlines()]
    return [json.loads(run.stdout)]


def problems_of_form(value, path):
    """Stages are the first and the last, as numbers, wherever they are; units are no part
    of a key."""
    if isinstance(value, list):
        for inner in value:
            yield from problems_of_form(inner, path)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if (key in ("first", "last") or key.endswith(("_bytes", "_ns", "_millionths"))
                or key == "stages" and not isinstance(inner, list)):
            yield f"{path}.{key}: {inner}"
        if key.endswith("stages") and isinstance(inner, list) and not all(
                isinstance(row, dict) for row in inner):
            if not (len(inner) == 2 and all(type(of) is int for of in inner)
                    and inner[0] <= inner[1]):
                yield f"{path}.{key}: {inner}"
        yield from problems_of_form(inner, f"{path}.{key}")


def is_name(value):
    return isinstance(value, (str, int)) or isinstance(value, list) and len(value) == 2 and all(
        type(inner) is int for inner in value)


def figures(value, of=()):
    """(of what, key, number) of an object and of the objects in it."""
    of += tuple((key, str(value[key])) for key in NAMES
                if key in value and is_name(value[key]))
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from figures(inner, of)
        elif isinstance(inner, list) and key != "actions":
            for row in inner:
                if isinstance(row, dict):
                    yield from figures(row, of)
        elif isinstance(inner, int) and key not in dict(of):
            yield of, key, int(inner)


def explained(subject):
    """Figures of a subject are called by the first word."""
    return {"stages": subject["stages"], **{
        figure["what"].split()[0]: figure["value"] for figure in subject["figures"]}}


def changed(document):
    """The job as it is before a change, as far as the change concerns it."""
    words = {"messages": "group", "blocks": "block", "groups": "group"}
    for figure in document["figures"]:
        if figure["answer"] == "summary" and figure["table"] in ("", "stages", *words):
            of = {key: figure[key] for key in ("stages",) if key in figure}
            of.update((words[figure["table"]], word) for word in figure["row"])
            yield {**of, figure["figure"]: figure["before"]}


class Numbers:
    """By what they are of, and key: which document gives which number."""

    def __init__(self):
        self.given = collections.defaultdict(lambda: collections.defaultdict(list))

    def add(self, who, of, key, value):
        self.given[of, key][value].append(who)

    def read(self, who, document):
        rows = [document]
        if who == "diff":
            rows = changed(document)
        elif who.startswith("explain"):
            rows = [explained(document)]
        elif who == "memory":
            # Its stages are those with the same numbers; elsewhere, with the same layers.
            rows = [{key: of for key, of in document.items() if key != "stages"}]
        elif who == "shapes":
            rows = []  # of single kernels
        for row in rows:
            for of, key, value in figures(row):
                self.add(who, of, key, value)

    def add_memory(self, rows):
        """Of stages with the same layers, the one with most is meant elsewhere."""
        for of in sorted({of for of, _ in self.given if [name for name, _ in of] == ["stages"]}):
            first, last = json.loads(of[0][1])
            most = collections.defaultdict(int)
            for row in rows:
                if row["stages"][0] <= last and first <= row["stages"][1]:
                    for key, value in row.items():
                        if isinstance(value, int):
                            most[key] = max(most[key], value)
            for key, value in most.items():
                self.add("memory", of, key, value)

    def problems(self):
        return [f"{of}, {key}: {dict(values)}" for (of, key), values in self.given.items()
                if len(values) > 1]

    def shared(self):
        """How many numbers two documents or more give."""
        return sum(len(set(who for by in values.values() for who in by)) > 1
                   for values in self.given.values())


def read_all(path, names):
    """Numbers of the documents of these names, and the documents."""
    numbers, documents = Numbers(), {}
    for who in names:
        documents[who] = ask(path, COMMANDS[who])
        for document in documents[who]:
            numbers.read(who, document)
    numbers.add_memory(documents["memory"][0]["stages"])
    return numbers, documents


if __name__ == "__main__":
    given, found = read_all(sys.argv[1], COMMANDS)
    for who, all_of in found.items():
        print(f"{who}: {', '.join(sorted({document['schema'] for document in all_of}))}")
    for problem in [*problems_of_form(found, ""), *given.problems()]:
        print("not of one shape:", problem)
    print(given.shared(), "of", len(given.given), "numbers are in several documents")
