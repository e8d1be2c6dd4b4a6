"""usage: from_megatron.py PAGE

Compiles the job that each row of the page's tables stands for, and looks up its keys in
the spec.
"""
import pathlib
import re
import sys

import tool

ROW = re.compile(r"^\| (.*?) \| `([^`]*)` \|$", re.M)
KEY = re.compile(r"(\w+) = ([\w.]+)(?= |$)")
EXPERTS = "block moe { experts = 8  topk = 2 }  layers = 4 * moe"
# What a row is completed with where it does not say it.
REST = {
    "model": {"vocab": "32000", "hidden": "2048", "layers": "4",
              "attention": "attention mha { heads = 16 }"},
    "train": {"sequence": "4096", "micro_batch": "1", "global_batch": "64"},
    "parallel": {"world": "8"},
}


def section(name, text):
    """The section with the text of a row in it, and what that leaves out."""
    if "attention" in text and "heads = " not in text.replace("kv_heads", ""):
        text = re.sub(r"(attention \w+ \{)", r"\1 heads = 16 ", text)
    rest = [value if " " in value else f"{key} = {value}"
            for key, value in REST[name].items()
            if not re.search(rf"\b{key}\b", text)]
    title = "model m" if name == "model" else name
    return f"{title} {{ {text} {' '.join(rest)} }}\n"


def check(name, text):
    """Compiles the job of a row, and looks its keys up in the spec."""
    texts = {"model": EXPERTS if re.search(r"\bep =", text) else "",
             "parallel": "zero = 1" if "precision_aware" in text
                         else "tp = 2" if "distribute_" in text else "", name: text}
    spec = tool.ir("-", "--level=spec", input="".join(
        section(other, texts.get(other, "")) for other in REST))
    for key, value in KEY.findall(text):
        assert key == "layers" or re.search(
            rf'(?m)^ +{key} = "?{value}"?( derived)?$', spec), f"`{key} = {value}` of {text}"


page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
count = 0
for name in REST:
    table = page[page.index(f"in `{name}` |"):].split("\n\n")[0]
    for _, text in ROW.findall(table):
        check(name, text)
        count += 1
print(count, "rows")
