# SPDX-License-Identifier: Apache-2.0
#
# What can be mutated in a C++ source that clang-format has formatted: binary
# operators stand between blanks, template brackets do not.
"""Finds single changes of an operator, a constant, a branch or a statement."""

import collections
import re

# Where the text of `path` from `begin` to `end` becomes `new`.
Mutant = collections.namedtuple("Mutant", "path line begin end old new kind")

SWAPPED = {
    " < ": [" <= "], " <= ": [" < "], " > ": [" >= "], " >= ": [" > "],
    " == ": [" != "], " != ": [" == "],
    " + ": [" - "], " - ": [" + "], " * ": [" + "], " / ": [" * "],
    " % ": [" / "], " += ": [" -= "], " -= ": [" += "], " *= ": [" += "],
    " && ": [" || "], " || ": [" && "], "++": ["--"],
}
RULES = [
    ("operator", re.compile("|".join(map(re.escape, SWAPPED))),
     lambda m: SWAPPED[m[0]]),
    ("constant", re.compile(r"(?<![\w.\"'])\d+(?![\w.\"'])"),
     lambda m: [str(int(m[0]) + 1)]),
    ("constant", re.compile(r"\b(true|false)\b"),
     lambda m: ["false" if m[0] == "true" else "true"]),
    ("branch", re.compile(r"\bif \((?!const |auto |[\w:<>*& ]+ = )"),
     lambda m: ["if (!", "if (false && "]),
    ("branch", re.compile(r"(?<=[(&|] )!(?=\w)|(?<=\()!(?=\w)"),
     lambda m: [""]),
    ("statement", re.compile(r"(?m)^ +[\w.>()*-]+\([^;{}]*\);$"),
     lambda m: [";"]),
    ("statement", re.compile(r"\b(continue|break);"),
     lambda m: [";" if m[0] == "break;" else "break;"]),
]
# Comments, literals and lines of the preprocessor are left as they are; and
# what only explains a bug, or says what can't happen.
HIDDEN = re.compile(
    r"//[^\n]*|R\"(\w*)\((?s:.*?)\)\1\""
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|(?m:^ *#(?:[^\n\\]|\\.|\\\n)*)"
    r"|\b(?:static_)?assert\((?:[^;])*;|\bllvm_unreachable\([^;]*;"
    r"|\btemplate <[^\n]*>|\boperator\S+")


def visible(text):
    """The text with blanks where nothing is mutated; newlines stay."""
    return HIDDEN.sub(lambda m: re.sub(r"[^\n]", "\0", m[0]), text)


def closed(text, begin):
    """The place after the parenthesis that closes the one before `begin`."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[begin], 0)
        begin += 1
    return begin


def find(path, text):
    """All mutants of a file, in order."""
    shown = visible(text)
    mutants = []
    for kind, pattern, change in RULES:
        for match in pattern.finditer(shown):
            begin, end = match.span()
            if kind == "statement" and match[0].lstrip().startswith("return"):
                continue
            for new in change(match):
                old = text[begin:end]
                stop = end
                if new.startswith("if (") and new != "if (":
                    stop = closed(shown, end)
                    inner = text[end:stop - 1]
                    old, new = text[begin:stop], f"{new}({inner}))"
                line = text.count("\n", 0, begin + len(old) - len(
                    old.lstrip())) + 1
                mutants.append(Mutant(path, line, begin, stop, old, new, kind))
    return sorted(mutants, key=lambda m: (m.begin, m.new))


def is_capacity(text, mutant):
    """Whether only what a container holds without allocation is changed."""
    line = text[text.rfind("\n", 0, mutant.begin) + 1:
                text.find("\n", mutant.end)]
    return mutant.kind == "constant" and re.search(
        rf"\bSmall\w+<(.*, )?{re.escape(mutant.old)}>", line) is not None


def apply(text, mutant):
    return text[:mutant.begin] + mutant.new + text[mutant.end:]
