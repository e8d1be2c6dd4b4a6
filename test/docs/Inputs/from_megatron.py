"""usage: from_megatron.py PAGE

Compiles the job that each row of the page's tables stands for, and looks up its keys in
the spec.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

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


def check(name, text, folder):
    """What is wrong with a row."""
    texts = {"model": EXPERTS if re.search(r"\bep =", text) else "",
             "parallel": "zero = 1" if "precision_aware" in text
                         else "tp = 2" if "distribute_" in text else "", name: text}
    job = folder / "job.fore"
    job.write_text("".join(section(other, texts.get(other, ""))
                           for other in REST), encoding="utf-8")
    done = subprocess.run(
        ["foretrace", "compile", job, "--emit=ir", "--level=spec", "--stdout",
         "--quiet"], check=False, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    if done.returncode:
        return done.stdout
    for key, value in KEY.findall(text):
        if not re.search(rf'(?m)^ +{key} = "?{value}"?( derived)?$', done.stdout) and \
                key != "layers":
            return f"`{key} = {value}` is not in the spec\n"
    return ""


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in REST:
            table = page[page.index(f"in `{name}` |"):].split("\n\n")[0]
            for flags, text in ROW.findall(table):
                count += 1
                if wrong := check(name, text, pathlib.Path(folder)):
                    sys.exit(f"{flags}: {wrong}")
    print(count, "rows")


if __name__ == "__main__":
    main()
