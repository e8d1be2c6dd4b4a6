# SPDX-License-Identifier: Apache-2.0
"""usage: chakra.py FILE...

Prints Chakra execution traces, a node a line. Reads the wire format of protocol
buffers by itself, so that it shares nothing with what wrote them.
"""
import struct
import sys

KINDS = {4: "compute", 5: "send", 6: "receive", 7: "collective"}
COLLECTIVES = {0: "all_reduce", 2: "all_gather", 6: "all_to_all",
               7: "reduce_scatter"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of a message; submessages and strings are bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "truncated"
        else:
            assert key & 7 == 5, "a type of field that traces don't have"
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        yield key >> 3, value


def numbers(data):
    at, out = 0, []
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


class Node:
    def __init__(self, data):
        self.id = self.duration = 0
        self.control, self.data, self.attributes = [], [], {}
        for field, value in fields(data):
            if field == 1:
                self.id = value
            elif field == 2:
                self.name = value.decode()
            elif field == 3:
                self.kind = KINDS[value]
            elif field == 4:
                self.control += numbers(value)
            elif field == 5:
                self.data += numbers(value)
            elif field == 7:
                self.duration = value
            else:
                assert field == 10, "a field of nodes that traces don't have"
                (_, name), (kind, of) = fields(value)
                self.attributes[name.decode()] = (
                    of.decode() if kind == 29 else of)

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


def read(path):
    """(version, nodes) of a trace."""
    with open(path, "rb") as file:
        data = file.read()
    at, messages = 0, []
    while at < len(data):
        size, at = varint(data, at)
        messages.append(data[at:at + size])
        assert len(messages[-1]) == size, "truncated"
        at += size
    return dict(fields(messages[0]))[1].decode(), map(Node, messages[1:])


if __name__ == "__main__":
    for path in sys.argv[1:]:
        version, nodes = read(path)
        print("%s: schema %s" % (path.rsplit("/", 1)[-1], version))
        for node in nodes:
            print(node)
