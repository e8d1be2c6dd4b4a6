# SPDX-License-Identifier: Apache-2.0
"""usage: colour_blind.py PAGE

Colours that are in one picture can be told apart with each kind of colour
blindness: their distance in CIELAB (CIE76) is large enough as people with it see
them (Machado, Oliveira and Fernandes 2009, severity 1).
"""

import itertools
import pathlib
import re
import sys

PICTURES = {
    "timeline": ["forward", "backward", "update", "communication", "bubble"],
    "halves of backward": ["forward", "backward-input", "backward-weight",
                           "bubble"],
    "chunks": ["forward", "forward-odd", "backward", "backward-odd"],
    "time": ["compute", "communication", "host", "bubble"],
    "memory": ["weights", "backward-weight", "update", "forward", "backward",
               "update-buffers"],
    "tiers": ["tier-0", "tier-1", "tier-2"],
    "verdicts": ["good", "bad", "other"],
    "sweep": ["accent", "good", "other"],
}
SEEN = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868),
                   (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968),
                     (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779),
                   (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722),
          (0.0193, 0.1192, 0.9505))
LEAST = 9


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(hexadecimal):
    parts = [int(hexadecimal[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055)**2.4
            for part in parts]


def lab(rgb):
    x, y, z = (value / white for value, white in zip(
        times(TO_XYZ, [min(1, max(0, part)) for part in rgb]),
        (0.9505, 1, 1.089)))
    x, y, z = (value**(1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
               for value in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
light, dark = (dict(re.findall(r"--([a-z0-9-]+): (#\w{6});", part))
               for part in (text.split("@media")[0],
                            text.split("[data-theme=\"dark\"]")[1]))
for theme, colours in ("light", light), ("dark", dark):
    for picture, names in PICTURES.items():
        for kind, matrix in SEEN.items():
            seen = {name: lab(times(matrix, linear(colours[name])))
                    for name in names}
            for a, b in itertools.combinations(names, 2):
                apart = sum((p - q)**2
                            for p, q in zip(seen[a], seen[b]))**0.5
                if apart < LEAST:
                    sys.exit(f"{picture}, {theme}, {kind}: {a} and {b} are "
                             f"{apart:.1f} apart")
print(len(PICTURES), "pictures can be told apart")
