#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Compares frontend/Unmodelled.def, which has the keys of other tools that a job refuses, with
# the pages of lang/import/{huggingface,megatron}: prints each name that is not modelled in one
# and has no effect in the other, or that a job refuses though a page reads it.
"""usage: fates.py SOURCE_ROOT"""

import fnmatch
import pathlib
import re
import sys

ROW = re.compile(r'^(NO_EFFECT|NOT_MODELLED|OTHERWISE)\(((?:"[^"]*"\s*)+)', re.M)
SECTION = re.compile(r"^  (no_effect|not_modelled) \{(.*?)\}$", re.M | re.S)
ENTRY = re.compile(r'([\w.]+) = "((?:[^"\\]|\\.)*)"')
FORMULA = re.compile(r'//.*|"(?:[^"\\]|\\.)*"')
# Names of other things in formulas, names that select a class, the rank of the adapters that
# Zamba 2 has, and a key of which a formula warns.
SHARED = {"architectures", "model_type", "mode", "inference", "decode", "adapter", "split",
          "lora_rank", "fine_grained_activation_offloading"}


def fates_in_jobs(root):
    text = (root / "frontend/Unmodelled.def").read_text(encoding="utf-8")
    return {name: fate for fate, row in ROW.findall(text)
            for name in "".join(re.findall(r'"([^"]*)"', row)).split()}


def fates_on_import(root):
    """Patterns without effect, keys that are not modelled, and names in formulas."""
    without_effect, lost, read = set(), set(), set()
    for folder in ("huggingface", "megatron"):
        for page in sorted((root / "lang/import" / folder).glob("*.fore")):
            text = page.read_text(encoding="utf-8")
            for section, body in SECTION.findall(text):
                for key, words in ENTRY.findall(body):
                    if section == "no_effect":
                        without_effect.update(words.split())
                    else:
                        lost.add(key)
            read.update(re.findall(r"[a-z]\w*", FORMULA.sub("", SECTION.sub("", text))))
    return without_effect, lost, read


def main():
    root = pathlib.Path(sys.argv[1])
    jobs = fates_in_jobs(root)
    without_effect, lost, read = fates_on_import(root)
    for name, fate in jobs.items():
        is_ignored = any(fnmatch.fnmatchcase(name, pattern) for pattern in without_effect)
        if fate == "NOT_MODELLED" and is_ignored and name not in lost | SHARED:
            print(f"{name}: not modelled in a job, without effect on import")
        if fate == "NO_EFFECT" and name in lost:
            print(f"{name}: without effect in a job, not modelled on import")
        if fate != "OTHERWISE" and name in read - lost - SHARED:
            print(f"{name}: refused in a job ({fate}), read on import")
    print(len(jobs), "names")


if __name__ == "__main__":
    main()
