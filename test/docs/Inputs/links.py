"""usage: links.py SOURCE_ROOT

Checks that links within the documentation lead to files and headings that exist.
"""

import pathlib
import re
import sys

import tool

FENCE = re.compile(r"^ *```.*?^ *```", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchor(heading):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


root = pathlib.Path(sys.argv[1]).resolve()
pages = {path: FENCE.sub("", path.read_text(encoding="utf-8"))
         for path in [root / "README.md", *sorted(root.glob("docs/**/*.md"))]}
anchors = {path: set(map(anchor, re.findall(r"^#+ (.*)", text, re.M)))
           for path, text in pages.items()}
links = [(path, link) for path, text in pages.items()
         for link in LINK.findall(text) if "://" not in link]
broken = []
for path, link in links:
    file, _, heading = link.partition("#")
    target = (path.parent / file).resolve() if file else path
    if not target.exists() or heading and heading not in anchors[target]:
        broken.append(f"{path.relative_to(root)}: {link}")
tool.report(broken, f"{len(links)} links, {len(broken)} broken")
