# SPDX-License-Identifier: Apache-2.0
"""usage: check_stubs.py STUBS JOB.fore...

Compares the fields that a stub declares with those of the documents of jobs. Fields
marked with `# ?` may be absent; each is in some document, and the others in all. Fields
with the name of a method are items only, and not declared."""

import ast
import pathlib
import sys

import foretrace

# Beside the plain documents: what options add.
ASKED = [("params", {}), ("memory", {}), ("flops", {}), ("flops", {"time": "100 s"}),
         ("volume", {}), ("time", {"changes": True}), ("time", {}), ("plan", {})]


class Stubs:
    def __init__(self, path):
        text = pathlib.Path(path).read_text(encoding="utf-8")
        lines = text.splitlines()
        self.classes = {
            node.name: {
                field.target.id: (ast.unparse(field.annotation),
                                  lines[field.lineno - 1].endswith("# ?"))
                for field in node.body}
            for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
        self.seen, self.problems = set(), set()

    def check(self, name, record):
        declared = self.classes[name]
        for field in record.keys() - declared.keys() - set(dir(foretrace.Record)):
            self.problems.add(f"{name}.{field} is not declared")
        for field, (kind, may_lack) in declared.items():
            if field in record:
                self.seen.add((name, field))
                self.check_value(f"{name}.{field}", kind, record[field])
            elif not may_lack:
                self.problems.add(f"{name}.{field} is absent")

    def check_value(self, place, kind, value):
        if kind.startswith("tuple["):
            if not isinstance(value, tuple):
                self.problems.add(f"{place} is no tuple")
                return
            for element in value:
                self.check_value(place, kind[len("tuple["):-len(", ...]")], element)
        elif kind in self.classes:
            self.check(kind, value)
        elif type(value).__name__ != kind:
            self.problems.add(f"{place} is {type(value).__name__}, not {kind}")

    def fields(self):
        return {(name, field) for name, of in self.classes.items() for field in of}


def documents(job):
    for name, options in ASKED:
        try:
            yield job.params if name == "params" else getattr(job, name)(**options)
        except foretrace.Error as error:
            if error.diagnostics[-1].id not in ("time-no-cluster", "time-no-estimate", "serve-backend"):
                raise


stubs = Stubs(sys.argv[1])
for path in sys.argv[2:]:
    for document in documents(foretrace.compile(path)):
        stubs.check(type(document).__name__, document)
problems = sorted(stubs.problems) + sorted(
    f"{name}.{field} is in no document" for name, field in stubs.fields() - stubs.seen)
print(*problems, f"{len(stubs.fields())} fields, {len(problems)} problems", sep="\n")
