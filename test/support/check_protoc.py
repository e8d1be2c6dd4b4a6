# SPDX-License-Identifier: Apache-2.0
"""usage: check_protoc.py FILE...

Chakra traces as protoc decodes them are what chakra.py reads: nodes, dependences,
durations, attributes.
"""
import pathlib
import re
import subprocess
import sys

import chakra
from encode_chakra import field

FIELD = re.compile(r'(\w+)(?:: (.*)| \{)$')


def as_fields(path):
    """The messages of a file as fields of one: 1 the first, 2 all others."""
    with open(path, "rb") as file:
        for index, message in enumerate(chakra.messages(file.read())):
            yield field(1 if index == 0 else 2, message)


def parse(lines):
    """protoc's text: a list of (name, value or such a list)."""
    out = []
    for line in lines:
        if line.strip() == "}":
            break
        name, value = FIELD.match(line.strip()).groups()
        if value is None:
            value = parse(lines)
        elif value.startswith('"'):
            value = value[1:-1]
        else:
            value = {"true": 1, "false": 0}.get(value, value)
            value = int(value)
        out.append((name, value))
    return out


def decode(path):
    schema = pathlib.Path(__file__).with_name("chakra.proto")
    text = subprocess.run(
        ["protoc", f"--proto_path={schema.parent}", "--decode=Trace",
         schema.name], input=b"".join(as_fields(path)), capture_output=True,
        check=True).stdout.decode()
    (_, metadata), *nodes = parse(iter(text.splitlines()))
    metadata = dict(metadata)
    attribute = dict(metadata["attribute"])
    return ((metadata["version"], {attribute["name"]: attribute["text"]}),
            [node for _, node in nodes])


def of_protoc(node):
    one = dict(node)
    attributes = {}
    for name, value in node:
        if name == "attribute":
            has = dict(value)
            name = has.pop("name")
            (attributes[name],) = has.values()
    return (one.get("id", 0), one["name"], one["type"],
            [v for n, v in node if n == "control"],
            [v for n, v in node if n == "data"], one.get("duration", 0),
            attributes)


total = 0
for trace in sys.argv[1:]:
    found, decoded = decode(trace)
    expected, read = chakra.read(trace)
    assert found == expected, found
    assert list(map(of_protoc, decoded)) == [
        (n.id, n.name, n.type, n.control, n.data, n.duration, n.attributes)
        for n in read], trace
    total += len(read)
print(f"{total} nodes")
