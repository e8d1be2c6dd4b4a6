# SPDX-License-Identifier: Apache-2.0
"""usage: sarif.py FILE.sarif

Reads a SARIF log as a viewer does, by the rules of the standard, 2.1.0, and
prints what it shows. A line for each rule, result, related location and replacement."""

import json
import pathlib
import re
import sys

URI = re.compile(r"(file:///)?[\w.~/-]*(%[0-9A-F]{2}[\w.~/-]*)*$", re.A)


def text_of(message):
    assert set(message) == {"text"}, message
    return message["text"]


def region_of(region):
    """`3:5-9`, or `3` without columns; lines and columns count from 1."""
    line = region["startLine"]
    assert line >= 1
    if "startColumn" not in region:
        return str(line)
    start = (line, region["startColumn"])
    end = (region.get("endLine", line), region["endColumn"])
    assert 1 <= start[1] and start <= end, region
    return f"{line}:{start[1]}-" + (
        f"{end[0]}:{end[1]}" if end[0] != line else str(end[1]))


def uri_of(artifact):
    assert URI.match(artifact["uri"]), artifact
    return pathlib.PurePosixPath(artifact["uri"]).name


def place_of(location):
    """`job.fore:3:5-9`, and what it is called where it is no file's."""
    words = [place["fullyQualifiedName"]
             for place in location.get("logicalLocations", [])]
    if "physicalLocation" in location:
        physical = location["physicalLocation"]
        region = physical.get("region")
        words.insert(0, uri_of(physical["artifactLocation"])
                     + (":" + region_of(region) if region else ""))
    return " ".join(words)


def replacements_of(result):
    for fix in result.get("fixes", []):
        for change in fix["artifactChanges"]:
            for one in change["replacements"]:
                yield (uri_of(change["artifactLocation"]),
                       region_of(one["deletedRegion"]),
                       text_of(one["insertedContent"]))


log = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
assert log["version"] == "2.1.0"
run, = log["runs"]
assert run["columnKind"] == "unicodeCodePoints"
driver = run["tool"]["driver"]
print(driver["name"], driver["version"])
for rule in driver["rules"]:
    short = rule.get("shortDescription", {"text": "-"})["text"]
    print("rule", rule["id"], rule["defaultConfiguration"]["level"], short)
    assert "help" not in rule or rule["help"]["text"].startswith(
        short.split(" ")[0])
for result in run["results"]:
    assert result["level"] in ("error", "warning", "note")
    rule = driver["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"]
    places = [place_of(place) for place in result.get("locations", [])]
    print(result["level"], rule["id"], "at", " ".join(places) or "-")
    print("  " + text_of(result["message"]).replace("\n", "\n  "))
    for related in result.get("relatedLocations", []):
        print("  see", place_of(related) + ":", text_of(related["message"]))
    for uri, region, text in replacements_of(result):
        print(f"  fix {uri}:{region} {json.dumps(text)}")
    if "properties" in result:
        print("  with", json.dumps(result["properties"]))
