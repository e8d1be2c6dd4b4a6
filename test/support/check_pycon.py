# SPDX-License-Identifier: Apache-2.0
"""usage: check_pycon.py FILE.md...

Runs the `pycon` blocks of each page in one interpreter, as a notebook does, in an empty
folder with the files of its blocks with `file=NAME`."""

import doctest
import os
import pathlib
import sys
import tempfile

import snippets


def blanks(text):
    return "\n" * text.count("\n")


def session(page, folder):
    """The examples, each in the line of the page where it is."""
    text, source, end = page.read_text(encoding="utf-8"), "", 0
    for match in snippets.FENCE.finditer(text):
        snippet = snippets.Snippet(page, text, match)
        if name := snippet.mark("file"):
            pathlib.Path(folder, name).write_text(snippet.body, encoding="utf-8")
        if snippet.language == "pycon":
            source += blanks(text[end:match.start(4)]) + snippet.body
            end = match.end(4)
    return doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), 0)


runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
for path in [pathlib.Path(page).resolve() for page in sys.argv[1:]]:
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        runner.run(session(path, scratch))
print(f"{runner.tries} examples, {runner.failures} failures")
sys.exit(runner.failures != 0)
