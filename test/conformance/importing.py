# SPDX-License-Identifier: Apache-2.0
"""Shared by the modules of imported cases."""
import json
import os
import re
import subprocess


def find_folders(root):
    """Folders of `root` that hold a case, in order."""
    return [os.path.join(root, name) for name in sorted(os.listdir(root))
            if os.path.exists(os.path.join(root, name, "expected.json"))]


def expected(folder):
    with open(os.path.join(folder, "expected.json")) as file:
        return json.load(file)


class Refused(Exception):
    """The import ended with an error; the text has it."""


class Imported:
    """The job that an import wrote, and its messages."""

    def __init__(self, foretrace, temp, name, *words):
        self.path = os.path.join(temp, name + ".fore")
        done = subprocess.run([foretrace, "import", *words, "-o", self.path],
                              capture_output=True, text=True)
        if done.returncode:
            raise Refused(done.stderr)
        self.messages = done.stderr
        with open(self.path) as file:
            self.text = file.read()
        self.params = re.findall(r"^param (\w+)$", self.text, re.M)

    def warns(self, pattern):
        """Whether a warning or a comment of the job says it."""
        said = re.findall(r"warning: .*|note: .*", self.messages)
        said += re.findall(r"//.*", self.text)
        return any(re.search(pattern, line) for line in said)


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
