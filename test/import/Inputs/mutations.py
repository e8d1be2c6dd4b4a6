# SPDX-License-Identifier: Apache-2.0
"""usage: mutations.py FOLDER SEED COUNT

Damages the inputs in FOLDER: keys are dropped, misspelt, get values of other types, texts
are truncated or replaced by garbage. Each is imported, or there is a message at a place of the
input, and nothing is written; never does the program crash or hang.
"""
import pathlib
import random
import re
import sys

import tool

# Files, and by which importers they are read.
FORMS = {"config.json": "hf", "run.sh": "megatron", "model_config.yaml": "megatron",
         "job.toml": "torchtitan", "config_registry.py": "torchtitan", "ds_config.json": "deepspeed",
         "command.txt": "aicb"}
WORDS = ["-1", "0", "1e9", "9223372036854775807", "null", '"many"', "[]", "[1, 2", "{}", "true",
         "NaN", "$", "${", "$((", "'", '"', "\\", "\x00", "é", "--", "((", "[[", "`", "\n\n"]


def damage(text, chance):
    """One to three changes of a text."""
    for _ in range(chance.randint(1, 3)):
        words = [match.span() for match in re.finditer(r"[\w.-]+", text)]
        kind = chance.randrange(6)
        if kind == 0 or not words:  # truncated
            text = text[:chance.randrange(len(text) + 1)]
        elif kind == 1:  # garbage
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(WORDS) + text[at:]
        else:
            begin, end = chance.choice(words)
            if kind == 2:  # dropped
                text = text[:begin] + text[end:]
            elif kind == 3:  # misspelt
                at = chance.randrange(begin, end)
                text = text[:at] + text[at + 1:]
            else:  # another type
                text = text[:begin] + chance.choice(WORDS) + text[end:]
    return text


inputs, chance, count = pathlib.Path(sys.argv[1]), random.Random(int(sys.argv[2])), int(sys.argv[3])
refused = imported = 0
with tool.scratch() as folder:
    out = folder / "out.fore"
    for name, form in FORMS.items():
        text = (inputs / name).read_text("utf-8").rstrip("\n")
        for number in range(count):
            damaged = damage(text, chance)
            if number == 0:
                damaged = "".join(chance.choice("{[\"'$(\\a1\n:- ") for _ in range(1 << 20))
            (folder / name).write_bytes(damaged.encode("utf-8", "surrogateescape"))
            out.unlink(missing_ok=True)
            done = tool.attempt("import", form, folder / name, "-o", out,
                                errors="replace", timeout=20)
            if done.returncode == 0 and out.exists():
                imported += 1
            elif done.returncode != 1 or out.exists() or "error: " not in done.stderr:
                print(f"{form} {number}: status {done.returncode}\n{damaged[:400]}\n"
                      f"{done.stderr[:400]}")
            else:
                refused += 1
print(f"{imported + refused} inputs, {imported} imported")
