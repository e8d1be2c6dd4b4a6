# SPDX-License-Identifier: Apache-2.0
"""usage: action.py SOURCE_ROOT REPOSITORY FOLDER [INPUT=VALUE...]

Runs the steps of tools/package/github-action/action.yml in FOLDER as a runner of GitHub
does. REPOSITORY is the folder with the releases of its version v1.2.3.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml


def main():
    root, repository, folder = (pathlib.Path(name).resolve() for name in sys.argv[1:4])
    home = root / "tools/package/github-action"
    action = yaml.safe_load((home / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: each["default"] for name, each in action["inputs"].items()}
    given = dict(word.split("=", 1) for word in sys.argv[4:])
    if unknown := given.keys() - inputs:
        sys.exit(f"no input {unknown}")
    context = {f"inputs.{name}": value for name, value in {**inputs, **given}.items()}
    context |= {"github.server_url": f"file://{repository.parent}",
                "github.action_repository": repository.name,
                "github.action_ref": "v1.2.3"}

    def evaluated(text):
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: context[match[1]], text)

    assert action["runs"]["using"] == "composite"
    with tempfile.TemporaryDirectory() as temporary:
        added = pathlib.Path(temporary, "path")
        added.touch()
        for step in action["runs"]["steps"]:
            if condition := re.fullmatch(r"(\S+) == '(.*)'", step.get("if", "")):
                if context[condition[1]] != condition[2]:
                    continue
            else:
                assert "if" not in step
            assert step["shell"] == "bash"
            path = [*added.read_text().split(), "/usr/bin", "/bin"]
            environment = {name: evaluated(value) for name, value in step.get("env", {}).items()}
            environment |= {"PATH": os.pathsep.join(path), "GITHUB_PATH": str(added),
                            "RUNNER_TEMP": temporary, "GITHUB_ACTION_PATH": str(home)}
            script = pathlib.Path(temporary, "script.sh")
            script.write_text(evaluated(step["run"]), encoding="utf-8")
            status = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=folder,
                env=environment, check=False).returncode
            if status:
                sys.exit(f"{step['name']}: exit status {status}")


main()
