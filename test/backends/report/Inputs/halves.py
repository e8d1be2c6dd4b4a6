# SPDX-License-Identifier: Apache-2.0
"""usage: halves.py PAGE SVG

Holds the boxes of the schedule that a report draws in headless Chromium against those
of SVG, the picture of `foretrace plan --schedule`: as many of each colour, with steps
that overlap in halves.
"""
import collections
import pathlib
import re
import sys

from browser import opened
from pages import BOXES


def boxes_of(svg):
    """The number of boxes by colour and whether they are halves."""
    colours = dict(re.findall(r"\.(\w\d) \{ fill: (#\w+) \}", svg))
    return collections.Counter(
        (colours[name], height != "26") for name, height in
        re.findall(r'<rect class="(\w\d)"[^>]* height="(\d+)"><title>', svg))


def hexadecimal(fill):
    """`#56b4e9` of `rgb(86, 180, 233)`."""
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", fill))


page, svg = map(pathlib.Path, sys.argv[1:3])
with opened(page) as browser:
    drawn = browser.evaluate(
        BOXES + ".filter(({isStep}) => isStep)"
        ".map(({fill, height}) => [fill, height < 18])")
shown = collections.Counter(
    (hexadecimal(fill), is_half) for fill, is_half in drawn)
wanted = boxes_of(svg.read_text(encoding="utf-8"))
if shown != wanted:
    sys.exit(f"the page draws {shown}, the picture {wanted}")
print(sum(n for (_, is_half), n in shown.items() if is_half), "halves alike")
