#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The words of tables and of the grammar, as a dictionary of libFuzzer.
"""usage: make_dictionary.py FILE... > DICTIONARY"""
import re
import sys

WORD = {".def": r'"([\w.:/-]{2,})"', ".g4": r"""'([^'"\\\s]+)'"""}


def words_of(path):
    suffix = path[path.rindex("."):]
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("//"):
                yield from re.findall(WORD[suffix], line)


numbers = {str(n) for b in (31, 32, 40, 63, 64) for n in (2**b - 1, 2**b)}
words = numbers.union(*map(words_of, sys.argv[1:]))
for word in sorted(words):
    print(f'"{word}"')
