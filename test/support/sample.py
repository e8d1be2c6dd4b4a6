# SPDX-License-Identifier: Apache-2.0
"""How lit finds a sample of the tests."""

import pathlib
import re
import zlib

import lit.formats

# Folders of which a sample has all tests: readers of what others wrote, and programs that
# live long. Other folders have many tests of the same code with other numbers.
WHOLE = {"compiler", "convert", "explore", "frontend", "fuzz", "lang", "lsp", "validate"}
# What holds code and pages together, to which the guides add.
GUARDS = {"layering.test", "coverage-diagnostics.test", "docs/keys.test", "docs/links.test"}


def added(folder):
    """Returns the tests that guides.py has added to a copy, of which a sample has each."""
    path = pathlib.Path(folder, "added.txt")
    return set(re.findall("^test/(.*)$", path.read_text("utf-8"), re.M) if path.exists() else ())


class Sample(lit.formats.ShTest):
    """Tests of shells, of which one in N is found; which one, its name and the seed decide."""

    def __init__(self, every, seed, always):
        super().__init__(execute_external=False)
        self.every, self.seed, self.always = every, seed, GUARDS | always

    def getTestsInDirectory(self, suite, path, lit_config, config):
        for test in super().getTestsInDirectory(suite, path, lit_config, config):
            name = "/".join(test.path_in_suite)
            if (test.path_in_suite[0] in WHOLE or name in self.always
                    or (zlib.crc32(name.encode()) + self.seed) % self.every == 0):
                yield test
