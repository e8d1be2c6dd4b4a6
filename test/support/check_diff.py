# SPDX-License-Identifier: Apache-2.0
"""usage: check_diff.py FORETRACE SEED COUNT

Two random jobs differ in just what `foretrace plan` says of their stages
differently, and the other way round in the same, for the same keys. What each
number is by differs between the jobs."""
import json
import os
import random
import subprocess
import each_job
from job import text_of
from random_jobs import random_job

COLUMNS = ("parameters", "weights", "gradients", "optimizer", "activations", "peak",
           "flops")


def stages_of(foretrace, path):
    """What `plan` says, by stage and figure."""
    run = subprocess.run([foretrace, "plan", path, "--format=json"],
                         check=True, capture_output=True, text=True)
    figures = {}
    for row in json.loads(run.stdout)["stages"]:
        first, last = row["stages"]
        for stage in range(first, last + 1):
            for name in COLUMNS:
                figures[stage, name] = row[name]
    return figures


def diff(foretrace, before, after):
    run = subprocess.run([foretrace, "diff", before, after, "--format=json"],
                         check=False, capture_output=True, text=True)
    found = json.loads(run.stdout)
    assert run.returncode == (0 if found["same"] else 4), run
    return found


def changed_stages(found):
    """The figures of single stages, before and after."""
    changed = {}
    for figure in found["figures"]:
        if figure["answer"] != "summary" or figure["table"] != "stages":
            continue
        if figure["figure"] not in COLUMNS:
            continue
        first, last = figure["stages"]
        for stage in range(first, last + 1):
            changed[stage, figure["figure"]] = (figure["before"],
                                                figure["after"])
    return changed


def name_of(figure):
    return (figure["answer"], figure["table"], *figure.get("stages", ()),
            *figure["row"], figure["figure"])


def check(foretrace, paths):
    there, back = diff(foretrace, *paths), diff(foretrace, *paths[::-1])
    before, after = (stages_of(foretrace, path) for path in paths)
    expected = {name: (before.get(name), after.get(name))
                for name in {**before, **after}
                if before.get(name) != after.get(name)}
    assert changed_stages(there) == expected, (changed_stages(there), expected)
    assert {n: v[::-1] for n, v in changed_stages(back).items()} == expected
    keys = {key["key"] for key in there["keys"]}
    assert keys == {key["key"] for key in back["keys"]}
    mirrored = {name_of(figure): sorted(figure["by"])
                for figure in back["figures"]}
    for figure in there["figures"]:
        name = name_of(figure)
        assert sorted(figure["by"]) == mirrored[name], (figure, mirrored[name])
        assert set(figure["by"]) <= keys, figure
        assert figure["by"], figure
    assert diff(foretrace, paths[0], paths[0])["same"]


def one(foretrace, folder, seed):
    """What is wrong, or None."""
    paths = []
    for number in range(2):
        rng = random.Random(f"{seed}.{number}")
        paths.append(os.path.join(folder, f"{seed}.{number}.fore"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text_of(random_job(rng)))
    try:
        check(foretrace, paths)
    except (AssertionError, KeyError, ValueError,
            subprocess.CalledProcessError) as problem:
        return f"seed {seed}: {problem!r}"
    return None


if __name__ == "__main__":
    each_job.main(one)
