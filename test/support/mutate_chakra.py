#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Damages a sound set of Chakra traces in random ways, and holds what
# `foretrace validate` says against a decoder of its own: what is not reported must
# still say the same to the other ranks, and be a graph.
"""usage: mutate_chakra.py FOLDER COUNT"""

import pathlib
import random
import struct
import subprocess
import sys

import encode_chakra as chakra

SET = """
groups {"1": [0, 1], "2": [2, 3]}
rank 0
comp 0
all_reduce 1 after 0 pg_name='1' comm_size=4096
send 2 after 1 comm_dst=2 comm_tag=3 comm_size=64
recv 3 after 2 comm_src=2 comm_tag=4 comm_size=32
all_gather 4 after 3 comm_size=512
rank 1
comp 0
all_reduce 1 after 0 pg_name='1' comm_size=4096
all_gather 4 after 1 comm_size=512
rank 2
recv 2 comm_src=0 comm_tag=3 comm_size=64
comp 3 after 2
send 4 after 3 comm_dst=0 comm_tag=4 comm_size=32
all_reduce 5 after 4 pg_name='2' comm_size=2048
all_gather 6 after 5 comm_size=512
rank 3
all_reduce 5 pg_name='2' comm_size=2048
all_gather 6 after 5 comm_size=512
"""
KNOWN = {"comm_type", "comm_size", "comm_tag", "comm_dst", "comm_src",
         "pg_name"}


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def fields(data):
    """Yields (number, wire type, value); an IndexError if bytes are missing."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == chakra.VARINT:
            value, at = read_varint(data, at)
        elif wire == chakra.BYTES:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[wire]
            value, at = data[at:at + size], at + size
        if at > len(data):
            raise IndexError
        yield number, wire, value


def read_attribute(data):
    """(name, value) of the integers and strings that the encoder writes."""
    name, value = b"", None
    for number, wire, field in fields(data):
        if number == 1 and wire == chakra.BYTES:
            name = field
        elif wire == chakra.VARINT and number in (7, 9, 11, 13, 27):
            value = field
        elif number == 29 and wire == chakra.BYTES:
            value = field.decode()
        elif number in (19, 23) and wire == 5:
            value = struct.unpack("<I", field)[0]
    return name.decode(errors="replace"), value


def read_node(data):
    """(id, type, dependences, what partners read)."""
    ident, kind, deps, attributes = 0, 0, [], {}
    for number, wire, field in fields(data):
        if wire == chakra.VARINT and number == 1:
            ident = field
        elif wire == chakra.VARINT and number == 3:
            kind = field
        elif number in (4, 5) and wire == chakra.VARINT:
            deps.append(field)
        elif number in (4, 5) and wire == chakra.BYTES:
            at = 0
            while at < len(field):
                dep, at = read_varint(field, at)
                deps.append(dep)
        elif number == 10 and wire == chakra.BYTES:
            name, value = read_attribute(field)
            if name in KNOWN:
                attributes.setdefault(name, value)
    # What is left out has a default, which may be stated too.
    if kind == 7 and attributes.get("pg_name") in ("", "0"):
        del attributes["pg_name"]
    return ident, kind, deps, attributes


def read_file(data):
    at, nodes = 0, []
    while at < len(data):
        size, at = read_varint(data, at)
        nodes.append(data[at:at + size])
        at += size
    return [read_node(body) for body in nodes[1:]]


def is_graph(nodes):
    """Whether ids are unique, dependences known, and nodes can be ordered."""
    left = {node[0]: set(node[2]) for node in nodes}
    if len(left) != len(nodes):
        return False
    while left:
        ready = [ident for ident, deps in left.items()
                 if not deps & left.keys()]
        if not ready:
            return False
        for ident in ready:
            del left[ident]
    known = {node[0] for node in nodes}
    return all(dep in known for node in nodes for dep in node[2])


def partner_view(nodes):
    """What other ranks see of a rank, whatever its ids are."""
    view = []
    for _, kind, _, attributes in nodes:
        own = {5: "comm_src", 6: "comm_dst"}.get(kind)
        view.append((kind, sorted((n, v) for n, v in attributes.items()
                                  if n != own and kind != 4)))
    return sorted(view, key=repr)


def mutate(data, rng):
    """One random change of the bytes of a file."""
    at = rng.randrange(len(data))
    kind = rng.randrange(5)
    if kind == 0:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) \
            + data[at + 1:]
    if kind == 1:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1:]
    if kind == 2:
        return data[:at]
    if kind == 3:
        return data[:at] + data[at + 1:]
    return data[:at] + data[at:at + rng.randrange(8)] + data[at:]


def is_harmless(before, after):
    try:
        nodes = read_file(after)
    except (IndexError, KeyError, UnicodeDecodeError):
        return False
    return is_graph(nodes) and partner_view(nodes) == partner_view(
        read_file(before))


def main():
    folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    files = dict(chakra.encode(SET.splitlines()))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    traces = sorted(name for name in files if name.endswith(".et"))
    rng = random.Random(1)
    found = missed = 0
    for turn in range(-1, count):
        name = rng.choice(traces)
        data = files[name] if turn < 0 else mutate(files[name], rng)
        (folder / name).write_bytes(data)
        run = subprocess.run(["foretrace", "validate", folder], text=True,
                             capture_output=True, check=False, timeout=60)
        is_sound = run.returncode == 0 and "warning" not in run.stdout
        if run.returncode not in (0, 1) or (turn < 0 and not is_sound):
            sys.exit(f"exit code {run.returncode}: {run.stdout}{run.stderr}")
        found += not is_sound
        if is_sound and not is_harmless(files[name], data):
            missed += 1
            print(f"{name}, change {turn}: not found")
            (folder / f"missed-{turn}.bin").write_bytes(data)
        (folder / name).write_bytes(files[name])
    print(f"{count} changes, {found} found, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
