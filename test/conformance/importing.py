# SPDX-License-Identifier: Apache-2.0
"""Shared by the modules of imported cases."""
import itertools
import json
import os
import re

import spec
import tool


MARKER = "expected.json"


def expected(folder):
    with open(os.path.join(folder, MARKER)) as file:
        return json.load(file)


class Imported:
    """The job that an import wrote, and its messages; tool.Failed if it is refused."""

    def __init__(self, form, *words):
        done = tool.attempt("import", form, *words, "-o", "-")
        if done.returncode:
            raise tool.Failed(done.stderr)
        self.messages, self.text = done.stderr, done.stdout
        self.params = re.findall(r"^param (\w+)$", self.text, re.M)

    def spec(self, *options):
        """The spec of the job with options."""
        return spec.of_text(self.text, *options)

    def warns(self, pattern):
        """Whether a warning or a comment of the job says it."""
        said = re.findall(r"warning: .*|note: .*", self.messages)
        said += re.findall(r"//.*", self.text)
        return any(re.search(pattern, line) for line in said)


def section_with(layers, part, key):
    """The first section of a layer that has the key; else an empty one."""
    return next((layer[part] for layer in layers if key in layer[part]), {})


def named(section, words):
    """Values of a section, each by its key or by another name: `seq=sequence micro_batch`."""
    pairs = (word.partition("=") for word in words.split())
    return {name: section[key or name] for name, _, key in pairs}


def runs(items):
    """`[count, item]` for each run of equal items."""
    return [[len(list(group)), item] for item, group in itertools.groupby(items)]


def differences(facts, found):
    """A line for each of `facts` that `found` lacks or that has another value
    there; a value of None is not known from the input."""
    wrong = []
    for name, want in facts.items():
        if name not in found:
            wrong.append("unknown fact %s" % name)
        elif want is not None and found[name] != want:
            wrong.append("%s: expected %r, got %r" % (name, want, found[name]))
    return wrong


def not_asked(case, job):
    """A line for each question of the case that the job does not ask."""
    return ["does not ask for %s" % item for item in case["ask"]
            if item.split(":")[0] not in job.params]


def verdict(case, *arguments):
    """What is wrong as `case` finds it, or None; a failure of the program is wrong, too."""
    try:
        return "\n  ".join(case(*arguments)) or None
    except tool.Failed as error:
        return str(error).strip()
