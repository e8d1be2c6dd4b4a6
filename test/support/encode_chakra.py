# SPDX-License-Identifier: Apache-2.0
#
# Writes Chakra traces from short texts, with a small encoder of protocol
# buffers, so that tests show what their inputs hold.
"""usage: encode_chakra.py TEXT FOLDER

In the text, `rank 0` begins the file FOLDER/t.0.et and each other line is a
node: its type and id, `after 0 1` for dependences, then what its fields and
attributes are:

  comp 0 us=5
  all_reduce 1 after 0 comm_size=1024 pg_name='1'
  send 2 after 0 comm_dst=1 comm_size=8 comm_tag=3

A value is an integer, a `'string'`, a float with a point, or true and false.
`-name` leaves out an attribute that a node has by default, `no metadata` the
first message, `raw 0a05` is bytes as they are, and `groups {...}` the file
FOLDER/t.json.
"""

import ast
import pathlib
import struct
import sys

NODE_TYPES = ["invalid", "metadata", "mem_load", "mem_store", "comp", "send",
              "recv", "coll"]
COMM_TYPES = ["all_reduce", "reduce", "all_gather", "gather", "scatter",
              "broadcast", "all_to_all", "reduce_scatter",
              "reduce_scatter_block", "barrier"]
VARINT, FIXED64, BYTES = 0, 1, 2


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A field whose wire type follows from its value."""
    if isinstance(value, float):
        return varint(number << 3 | FIXED64) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def attribute(name, value):
    """AttributeProto: double_val, int64_val, bool_val or string_val."""
    numbers = {float: 3, int: 9, bool: 27, str: 29}
    return field(1, name) + field(numbers[type(value)], value)


def message(body):
    """What stands in a file: a length, then the message."""
    return varint(len(body)) + body


def node(kind, ident, deps, micros, attributes):
    """A Node; `attributes` is a list of pairs."""
    body = field(1, ident) + field(2, f"n{ident}") + field(3, kind)
    body += b"".join(field(4, dep) for dep in deps)
    if micros:
        body += field(7, micros)
    return body + b"".join(field(10, attribute(*a)) for a in attributes)


def parse_value(text):
    if text in ("true", "false"):
        return text == "true"
    return ast.literal_eval(text)


def parse_node(words):
    """The bytes of the Node that a line of the text describes."""
    kind, ident = words[0], int(words[1])
    given, deps, absent, micros = [], [], set(), 0
    for word in words[2:]:
        if word.isdigit():
            deps.append(int(word))
        elif word.startswith("us="):
            micros = int(word[3:])
        elif word.startswith("-"):
            absent.add(word[1:])
        elif "=" in word:
            name, value = word.split("=", 1)
            given.append((name, parse_value(value)))
    defaults = {}
    if kind in COMM_TYPES:
        defaults = {"comm_type": COMM_TYPES.index(kind), "comm_size": 1024}
        kind = "coll"
    elif kind in ("send", "recv"):
        defaults = {"comm_size": 1024, "comm_tag": 1}
    elif kind == "comp" and "us" not in absent:
        micros = micros or 5
    names = {name for name, _ in given} | absent
    attributes = [(n, v) for n, v in defaults.items() if n not in names]
    number = NODE_TYPES.index(kind) if kind in NODE_TYPES else int(kind)
    return node(number, ident, deps, micros, attributes + given)


def encode(lines):
    """Yields (name of file, bytes) of a text."""
    name, data = None, b""
    for line in lines:
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "groups":
            yield "t.json", line.split(None, 1)[1].encode()
        elif words[0] == "rank":
            if name:
                yield name, data
            name, data = f"t.{words[1]}.et", message(field(1, "1.0.0"))
        elif words[0] == "no":
            data = b""
        elif words[0] == "raw":
            data += bytes.fromhex(words[1])
        else:
            data += message(parse_node(words))
    if name:
        yield name, data


def main():
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("t.*"):
        old.unlink()
    with open(sys.argv[1], encoding="utf-8") as text:
        for name, data in encode(text):
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
