# SPDX-License-Identifier: Apache-2.0
"""usage: check_diff.py SEED COUNT

Two random jobs differ in just what `foretrace plan` says of their stages
differently, and the other way round in the same, for the same keys. What each
number is by differs between the jobs."""
import json

import tool
from job import text_of
from random_jobs import random_job

COLUMNS = ("parameters", "weights", "gradients", "optimizer", "activations", "peak",
           "flops")


def stages_of(path):
    """What `plan` says, by stage and figure."""
    return {(stage, name): row[name]
            for row in tool.document("plan", path)["stages"]
            for stage in tool.each(row["stages"]) for name in COLUMNS}


def diff(before, after):
    """The document of a difference, whose figures are by their names."""
    run = tool.attempt("diff", before, after, "--format=json")
    found = json.loads(run.stdout)
    assert run.returncode == (0 if found["same"] else 4), run
    found["figures"] = {(of["answer"], of["table"], *of.get("stages", ()), *of["row"],
                         of["figure"]): of for of in found["figures"]}
    return found


def changed_stages(found):
    """The figures of single stages, before and after."""
    return {(stage, of["figure"]): (of["before"], of["after"])
            for of in found["figures"].values()
            if of["answer"] == "summary" and of["table"] == "stages"
            and of["figure"] in COLUMNS
            for stage in tool.each(of["stages"])}


def check_mirrored(there, back):
    """The same figures differ the other way round, by the same keys."""
    assert set(there) == set(back), set(there) ^ set(back)
    for name, figure in there.items():
        assert figure["before"] == back[name]["after"], (figure, back[name])
        assert sorted(figure["by"]) == sorted(back[name]["by"]), (figure, back[name])


def check(case):
    paths = []
    for number in range(2):
        text = text_of(random_job(case.draw))
        paths.append(case.write(text, f".{number}.fore"))
    there, back = diff(*paths), diff(*paths[::-1])
    before, after = map(stages_of, paths)
    expected = {name: (before.get(name), after.get(name))
                for name in {**before, **after}
                if before.get(name) != after.get(name)}
    assert changed_stages(there) == expected, (changed_stages(there), expected)
    check_mirrored(there["figures"], back["figures"])
    keys = {key["key"] for key in there["keys"]}
    assert keys == {key["key"] for key in back["keys"]}
    for figure in there["figures"].values():
        assert figure["by"] and set(figure["by"]) <= keys, figure
    assert diff(paths[0], paths[0])["same"]


if __name__ == "__main__":
    tool.cases(check)
