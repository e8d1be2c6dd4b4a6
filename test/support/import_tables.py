# SPDX-License-Identifier: Apache-2.0
"""usage: import_tables.py SOURCE_ROOT [--write]

Keeps the tables of docs/from-*.md as the pages of lang/import are, between
`<!-- import: PAGE... -->` and `<!-- end -->`."""

import pathlib
import re
import sys

import tool

SECTION = re.compile(r"^  (no_effect|not_modelled) \{(.*?)\}$", re.M | re.S)
STRING = r'"((?:[^"\\]|\\.)*)"'
# `kind = "words"`, `name = "text"`, or `kind = ["names", "text"]`.
ENTRY = re.compile(rf"([\w.]+) = (?:\[{STRING}, )?{STRING}")
TABLE = re.compile(r"(<!-- import: ([\w/ -]+) -->\n).*?(<!-- end -->)", re.S)


def fates(root, names):
    """Returns the keys of the pages: (words by reason, consequences by key)."""
    no_effect, not_modelled = {}, {}
    for name in names.split():
        path = root / "lang/import" / name
        files = sorted(path.glob("*.fore")) if path.is_dir() else [path.with_suffix(".fore")]
        for file in files:
            for section, body in SECTION.findall(file.read_text(encoding="utf-8")):
                for key, several, text in ENTRY.findall(body):
                    if section == "no_effect":
                        # Other classes may read keys that one ignores.
                        if path.is_dir() and file.stem not in ("transformer", "flags"):
                            continue
                        no_effect.setdefault(key, []).extend(text.split())
                    else:
                        for name in several.split() or [key]:
                            not_modelled[name] = text
    return no_effect, not_modelled


def table(root, names):
    """The lines between the marks of a page of the documentation."""
    no_effect, not_modelled = fates(root, names)
    dashed = names.startswith(("megatron", "serving/vllm", "serving/sglang"))

    def shown(key):
        return "`--" + key.replace("_", "-") + "`" if dashed else f"`{key}`"

    keys = {}
    for key, text in not_modelled.items():
        keys.setdefault(text, []).append(shown(key))
    lines = ["| key | without it |\n", "|---|---|\n"] if keys else []
    lines += [f"| {', '.join(words)} | {text} |\n" for text, words in keys.items()]
    lines += ["\nThese have no effect on the results; a trailing `*` stands for any ending:"
              "\n\n"]
    for reason, words in no_effect.items():
        unique = list(dict.fromkeys(words))
        label = "" if reason == "keys" else f"{reason}: "
        lines.append(f"* {label}{', '.join(shown(word) for word in unique)}\n")
    return "".join(lines)


def main():
    root, problems, count = pathlib.Path(sys.argv[1]), [], 0
    for path in sorted((root / "docs").glob("from-*.md")):
        text = path.read_text(encoding="utf-8")
        count += len(TABLE.findall(text))
        problems += tool.refresh(
            path, TABLE.sub(lambda m: m[1] + table(root, m[2]) + m[3], text), "import_tables.py")
    tool.report(problems, f"{count} tables")


if __name__ == "__main__":
    main()
