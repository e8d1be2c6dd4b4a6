# SPDX-License-Identifier: Apache-2.0
"""usage: check_python.py SEED COUNT

Asks the Python module and the command line for all that both know of random jobs, legal
or not. Documents, explanations, files and diagnostics are the same."""

import json
import pathlib

import foretrace as module
import tool
import unfold_ranks

OVERRIDES = [{}, {}, {}, {"parallel.tp": 3}, {"train.sequence": 1001},
             {"train.recompute": "full"}, {"parallel.zero": 2},
             {"parallel.sequence_parallel": True, "train.micro_batch": 2}]
ANALYSES = ["memory", "flops", "volume", "time"]
QUERIES = ["memory", "messages", "work"]


def command_line(*arguments):
    """What is printed, and the diagnostics."""
    done = tool.attempt(*arguments, "--quiet", "--diagnostics=json")
    return done.stdout, [simple(json.loads(line)) for line in done.stderr.splitlines()]


def simple(fields):
    """What a diagnostic and its notes say, and where."""
    end = fields.get("end") or {}
    return (fields["severity"], fields["message"], fields["slug"], fields.get("file"),
            fields.get("line"), fields.get("column"), end.get("line"),
            end.get("column"), tuple(map(simple, fields.get("notes", ()))))


def simple_object(d):
    return (d.severity, d.message, d.id, d.file, d.line, d.column, d.end_line,
            d.end_column, tuple(map(simple_object, d.notes)))


class Comparison:
    def __init__(self, path, overrides):
        self.path, self.overrides = path, overrides
        self.words = [path] + [f"-D{key}={module._job.word(value)}"
                               for key, value in overrides.items()]
        self.problems = []

    def compare(self, what, expected, ask, compile=module.compile):
        """`ask` answers as the command line does, or raises what it reports."""
        printed, reported = expected
        try:
            job = compile(self.path, self.overrides)
            answer, found = ask(job), job.diagnostics
        except module.Error as error:
            answer, found = None, error.diagnostics
        found = list(map(simple_object, found))
        failed = any(d[0] == "error" for d in reported)
        if failed and found != reported and not set(reported) <= set(found):
            self.problems.append(f"{what}: {found} instead of {reported}")
        elif not failed and not set(reported) <= set(found):
            self.problems.append(f"{what}: {found} lacks some of {reported}")
        elif not failed and answer != printed():
            self.problems.append(f"{what}: {answer} instead of {printed()}")

    def ask(self, *arguments, read=json.loads):
        text, reported = command_line(*arguments)
        return lambda: read(text), reported

    def analyses(self):
        for name in ANALYSES:
            self.compare(name, self.ask(name, *self.words, "--format=json"),
                         lambda job: getattr(job, name)().to_dict())
        self.compare(
            "plan", self.ask("compile", *self.words, "--emit=json", "-o", "-"),
            lambda job: job.plan().to_dict())
        # It needs only the model, whatever the rest of the job is.
        self.compare("params", self.ask("params", *self.words, "--format=json"),
                     lambda job: job.params.to_dict(), module.compile_model)

    def explanations(self):
        for name in QUERIES:
            expected = self.ask("explain", *self.words, f"--{name}", "--format=json",
                                read=lambda text: list(map(json.loads, text.splitlines())))
            self.compare(f"explain {name}", expected, lambda job: [
                s.to_dict() for s in job.explain(**{name: True}).subjects])

    def files(self, folder):
        """Tables in memory and on disk are those of the command line."""
        ours = pathlib.Path(folder + ".module")
        _, reported = command_line("compile", *self.words, "--emit=simai", "-o", folder + "/")

        def emit(job):
            job.emit("simai", to=ours)
            return job.emit("simai"), contents(ours)
        self.compare("emit", (lambda: (contents(folder),) * 2, reported), emit)


def contents(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


def check(case):
    job = unfold_ranks.random_ranks(case)
    nodes = -(-job.ranks // 8)
    case.write('import "clusters/h100.toml" as pod\n' + case.text()
               + f"cluster : pod {{ nodes = {nodes} }}\n")
    asked = Comparison(case.job, case.draw.choice(OVERRIDES))
    asked.analyses()
    asked.explanations()
    asked.files(case.job + ".files")
    assert not asked.problems, "\n".join(asked.problems)


tool.cases(check)
