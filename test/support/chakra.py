# SPDX-License-Identifier: Apache-2.0
"""usage: chakra.py FILE...

Prints Chakra execution traces, a node a line. Reads the wire format of protocol
buffers by itself, so that it shares nothing with what wrote them.
"""
import json
import pathlib
import sys

KINDS = {4: "compute", 5: "send", 6: "receive", 7: "collective"}
COLLECTIVES = {0: "all_reduce", 2: "all_gather", 6: "all_to_all",
               7: "reduce_scatter"}


VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
# Fields of AttributeProto: integers by their bits, and those that are not written as
# varints.
INTEGERS = {7: 32, 9: 64, 11: 32, 13: 64, 15: 32, 17: 64, 19: 32, 21: 64, 23: 32,
            25: 64, 27: 64}
SIGNED, ZIGZAG = (7, 9, 23, 25), (15, 17)
FIXED = {19: FIXED32, 23: FIXED32, 21: FIXED64, 25: FIXED64}
TEXT, RAW, REAL = 29, 31, (3, 5)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & (1 << 64) - 1, at
        if shift == 70:
            raise ValueError("more than ten bytes")


def fields(data):
    """(number, wire type, value) of a message; submessages and strings are bytes.
    An IndexError or ValueError if it is none."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if not 0 < number < 1 << 29:
            raise ValueError("no number of a field")
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire == BYTES:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        else:
            raise ValueError("a type that fields don't have")
        if at > len(data):
            raise IndexError("truncated")
        yield number, wire, value


def numbers(wire, value):
    """Repeated integers, packed or not."""
    if wire == VARINT:
        return [value]
    at, out = 0, []
    while wire == BYTES and at < len(value):
        number, at = varint(value, at)
        out.append(number)
    return out


def integer(number, value):
    """What the field with this number says by its bits."""
    bits = INTEGERS[number]
    value &= (1 << bits) - 1
    if number in ZIGZAG:
        return value >> 1 ^ -(value & 1)
    return value - (1 << bits) if number in SIGNED and value >> bits - 1 else value


def attribute(data):
    """(name, value) of an attribute; the value is an integer, a text, or something
    that no attribute has that is read."""
    name, value = "", None
    for number, wire, of in fields(data):
        if number in (1, 2, TEXT) and wire == BYTES:
            of = of.decode()
        if number == 1 and wire == BYTES:
            name = of
        elif number in INTEGERS and wire == FIXED.get(number, VARINT):
            value = integer(number, of)
        elif number == TEXT and wire == BYTES:
            value = of
        elif number == RAW and wire == BYTES:
            value = of.decode("latin-1")
        elif number in REAL or number > 3 and wire == BYTES:
            value = number, of
    return name, value


class Node:
    """As protocol buffers read it: what the schema doesn't know is `unknown`."""

    def __init__(self, data):
        self.id = self.duration = self.type = 0
        self.name, self.unknown = "", []
        self.control, self.data, self.attributes = [], [], {}
        for field, wire, value in fields(data):
            if (field, wire) == (1, VARINT):
                self.id = value
            elif (field, wire) == (2, BYTES):
                self.name = value.decode()
            elif (field, wire) == (3, VARINT):
                self.type = value & (1 << 32) - 1
            elif field == 4:
                self.control += numbers(wire, value)
            elif field == 5:
                self.data += numbers(wire, value)
            elif (field, wire) == (7, VARINT):
                self.duration = value
            elif (field, wire) == (10, BYTES):
                self.attributes.setdefault(*attribute(value))
            else:
                self.unknown.append(field)

    @property
    def kind(self):
        return KINDS.get(self.type)

    def __str__(self):
        out = "%d %s %s" % (self.id, self.kind, self.name)
        for name, deps in (("control", self.control), ("data", self.data)):
            if deps:
                out += " %s(%s)" % (name, ",".join(map(str, deps)))
        if self.duration:
            out += " %d us" % self.duration
        for name, value in self.attributes.items():
            if name == "comm_type":
                value = COLLECTIVES[value]
            if name != "is_cpu_op":
                out += " %s=%s" % (name, value)
        return out


def metadata(data):
    """(version, attributes) of a GlobalMetadata."""
    version, attributes = "", {}
    for number, wire, value in fields(data):
        if wire != BYTES or number not in (1, 2):
            raise ValueError("no metadata")
        if number == 1:
            version = value.decode()
        else:
            attributes.setdefault(*attribute(value))
    return version, attributes


def messages(data):
    """The messages of a file, each after its length."""
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        if at + size > len(data):
            raise IndexError("truncated")
        yield data[at:at + size]
        at += size


def read(path):
    """(metadata, nodes) of a trace that we wrote."""
    with open(path, "rb") as file:
        first, *rest = messages(file.read())
    nodes = list(map(Node, rest))
    assert all(node.kind and not node.unknown for node in nodes)
    return metadata(first), nodes


def read_set(folder):
    """(members of groups by name, nodes of each rank) of the traces of a folder."""
    groups, = pathlib.Path(folder).glob("*.groups.json")
    traces = {int(path.name.split(".")[-2]): path
              for path in pathlib.Path(folder).glob("*.et")}
    return (json.loads(groups.read_text("utf-8")),
            [read(traces[rank])[1] for rank in range(len(traces))])


if __name__ == "__main__":
    for path in sys.argv[1:]:
        (version, attributes), nodes = read(path)
        print("%s: schema %s" % (path.rsplit("/", 1)[-1], version))
        for name, value in attributes.items():
            print("%s: %s" % (name, value))
        for node in nodes:
            print(node)
