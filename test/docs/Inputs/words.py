"""usage: words.py SOURCE_ROOT

Checks the words of the documentation: terms of docs/glossary.md are used on other
pages, and paraphrases of terms of the field on none.
"""

import pathlib
import re
import sys

import tool

MOST_TERMS = 15
TERM = re.compile(r"^\| ([a-z][a-z -]*) \| [A-Z]", re.M)
# A paraphrase, and the term of the field.
PARAPHRASES = {
    "computed again": "recomputed",
    "what a token goes through": "active parameters",
    "stand-ins": "dummy wgrad buffers",
    "most that a rank has": "peak memory per rank",
}


root = pathlib.Path(sys.argv[1])
pages = {path: " ".join(path.read_text(encoding="utf-8").split())
         for path in [root / "README.md", *sorted(root.glob("docs/**/*.md"))]}
glossary = root / "docs/glossary.md"
terms = TERM.findall(glossary.read_text(encoding="utf-8"))
others = " ".join(text for path, text in pages.items() if path != glossary)
problems = [f"docs/glossary.md: no other page has `{term}`" for term in terms
            if not re.search(rf"\b{term}s?\b", others, re.I)]
if len(terms) > MOST_TERMS:
    problems.append(f"docs/glossary.md: {len(terms)} terms; at most "
                    f"{MOST_TERMS}")
problems += [f"{path.relative_to(root)}: `{words}`; use `{term}`"
             for path, text in pages.items()
             for words, term in PARAPHRASES.items() if words in text]
tool.report(problems, f"{len(terms)} terms")
