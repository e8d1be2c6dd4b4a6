# SPDX-License-Identifier: Apache-2.0
"""The complete spec of a job, with all derived keys, as nested dicts."""
import re

import tool

NEEDED = {"train": "train { sequence = 128  micro_batch = 1 }\n",
          "parallel": "parallel { world = 1 }\n"}


def value_of(text):
    """A value of the text form: an integer, a truth, or a text."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text.strip('"'))


def parse(text):
    """The spec of the text form. A section is a dict; with a name, as `block moe`
    and `ffn experts`, the dict has the name as `kind`, and blocks are in `blocks`."""
    root = {}
    open_sections = [root]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            words = line[:-1].split()
            section = {"kind": words[1] if len(words) > 1 else ""}
            if words[0] == "block":
                open_sections[-1].setdefault("blocks", {})[words[1]] = section
            else:
                open_sections[-1][words[0]] = section
            open_sections.append(section)
        elif line == "}":
            open_sections.pop()
        elif " = " in line:
            key, value = line.split(" = ", 1)
            value = re.sub(r" (default|derived)$", "", value)
            open_sections[-1][key] = value_of(value)
    return root["spec"]


def expand(pattern):
    """The blocks of `(embedding + 2 * dense) + 3 * (dense + moe)`, one after the other."""
    lists = re.sub(r"[A-Za-z_][\w.-]*", lambda name: f"[{name[0]!r}]", pattern.replace("()", "[]"))
    return eval(lists, {})  # pylint: disable=eval-used


def of_text(text, *words):
    """The spec of a job, whose text may lack `train` and `parallel`."""
    missing = "".join(needed for section, needed in NEEDED.items()
                      if not re.search(r"^%s\b" % section, text, re.M))
    made = parse(tool.ir("-", "--level=spec", *words, input=text + missing))
    model = made["model"]
    pattern = str(model["layers"])
    blocks = model.get("blocks") or {"layer": model}
    if pattern.isdigit():
        model["all_layers"] = [next(iter(blocks.values()))] * int(pattern)
    else:
        model["all_layers"] = [blocks[name] for name in expand(pattern)]
    return made
