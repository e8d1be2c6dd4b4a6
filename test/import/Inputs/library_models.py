# SPDX-License-Identifier: Apache-2.0
"""Imports the configurations of library_configs.json, which are named after models of the
library, and prints the parameters and the active ones of each; fails if the model of the
library, without its vision tower, has others, or if a key is not understood."""

import json
import pathlib

import tool

CONFIGS = pathlib.Path(__file__).parent / "library_configs.json"
LOST = ("import-unknown-key", "import-not-modelled", "import-differs", "import-other-type")


def figures(text):
    """Parameters and active parameters of the model of a job, but for a vision tower."""
    of = tool.figures("params", "-", input=text)
    tower = of.get(("parts", "vision tower", "published"), 0)
    return of["", "", "published"] - tower, of["", "", "activated"] - tower


for title, config in json.loads(CONFIGS.read_text(encoding="utf-8")).items():
    pathlib.Path("config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    done = tool.attempt("import", "hf", "config.json", "-o", "-")
    assert not done.returncode and not any(slug in done.stderr for slug in LOST), (
        title, done.stderr)
    imported, library = figures(done.stdout), figures(f'import "models/{title}.fore"\n')
    print(title, *imported)
    assert imported == library, f"{title}: the model of the library has {library}"
