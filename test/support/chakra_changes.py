# SPDX-License-Identifier: Apache-2.0
"""Random changes of the fields of a set of Chakra traces."""
import json

import chakra
from encode_chakra import message, varint

ID, NAME, TYPE, CONTROL, DATA, DURATION, ATTRIBUTE = 1, 2, 3, 4, 5, 7, 10
NUMBERS = [0, 1, 2, 3, 7, 10, 499999999, 500000000, (1 << 31) - 1, 1 << 31,
           1 << 32, 1 << 54, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
TEXTS = ["", "0", "1", "10", "11", "12", "99", "-1", "x", "1x", " 1", "010"]


def join(fields):
    """The bytes of a message."""
    out = b""
    for number, wire, value in fields:
        out += varint(number << 3 | wire)
        if wire == chakra.BYTES:
            out += varint(len(value)) + value
        elif wire == chakra.VARINT:
            out += varint(value)
        else:
            out += value.to_bytes(4 if wire == chakra.FIXED32 else 8, "little")
    return out


def other_number(value, rng):
    return rng.choice([value + 1, max(value - 1, 0), 2 * value,
                       rng.choice(NUMBERS)])


# --- of a node; each takes its fields and may change them -------------------


def change_number(fields, rng, number, wanted=other_number):
    old = next((of for n, _, of in fields if n == number), 0)
    fields[:] = [f for f in fields if f[0] != number]
    fields.append((number, chakra.VARINT, wanted(old, rng)))


def change_type(fields, rng):
    change_number(fields, rng, TYPE, lambda _, rng: rng.randrange(10))


def change_dependences(fields, rng):
    number = rng.choice([CONTROL, DATA])
    own = next((of for n, _, of in fields if n == ID), 0)
    ids = [i for n, w, of in fields if n == number
           for i in chakra.numbers(w, of)]
    if ids and rng.random() < .6:
        ids.pop(rng.randrange(len(ids)))
    if rng.random() < .6:
        ids.append(rng.choice([own, own + 1, max(own - 1, 0),
                               rng.randrange(own + 8), 1 << 40]))
    fields[:] = [f for f in fields if f[0] != number]
    if ids:
        fields.append((number, chakra.BYTES, b"".join(map(varint, ids))))


def change_attribute(fields, rng):
    at = [i for i, f in enumerate(fields) if f[0] == ATTRIBUTE]
    if not at:
        return
    i = rng.choice(at)
    name, of = list(chakra.fields(fields[i][2]))
    how = rng.choice(["drop", "twice", "move", "name", "form"] + ["value"] * 6)
    if how == "drop":
        fields.pop(i)
    elif how == "twice":
        fields.append(fields[i])
    elif how == "move":
        fields.insert(0, fields.pop(i))
    else:
        if how == "name":
            name = chakra.attribute(fields[rng.choice(at)][2])[0]
            name = (1, chakra.BYTES, name.encode())
        elif how == "form":
            of = rng.choice([(3, chakra.FIXED64, 0), (7, chakra.VARINT, 1),
                             (29, chakra.BYTES, b"1"), (17, chakra.VARINT, 3),
                             (31, chakra.BYTES, b"1"), (13, chakra.VARINT, 1)])
        elif of[1] == chakra.BYTES:
            of = of[0], of[1], rng.choice(TEXTS).encode()
        else:
            bits = 32 if of[1] == chakra.FIXED32 else 64
            of = of[0], of[1], other_number(of[2], rng) % (1 << bits)
        fields[i] = ATTRIBUTE, chakra.BYTES, join([name, of])


def swap_fields(fields, rng):
    i = rng.randrange(len(fields))
    fields.append(fields.pop(i))


def add_unknown(fields, rng):
    fields.append((rng.choice([6, 11, 99]), chakra.VARINT, 5))


def rename(fields, rng):
    fields[:] = [f for f in fields if f[0] != NAME]
    fields.append((NAME, chakra.BYTES, rng.choice([b"", b"x", b"\xff"])))


NODE_CHANGES = [change_type, swap_fields, add_unknown, rename,
                lambda f, r: change_number(f, r, ID),
                lambda f, r: change_number(f, r, DURATION)] + [
                    change_dependences] * 3 + [change_attribute] * 8


# --- of a set; each takes files by name and returns those that change --------


def nodes_of(data):
    return list(chakra.messages(data))


def some_trace(files, rng):
    return rng.choice(sorted(name for name in files if name.endswith(".et")))


def whole(parts):
    return b"".join(map(message, parts))


def change_node(files, rng):
    name = some_trace(files, rng)
    parts = nodes_of(files[name])
    i = rng.randrange(1, len(parts))
    fields = list(chakra.fields(parts[i]))
    rng.choice(NODE_CHANGES)(fields, rng)
    parts[i] = join(fields)
    return {name: whole(parts)}


def change_list(files, rng):
    """Drops, doubles, or moves a node, or the metadata."""
    name = some_trace(files, rng)
    parts = nodes_of(files[name])
    i = rng.randrange(len(parts))
    part = parts[i] if rng.random() < .3 else parts.pop(i)
    if rng.random() < .6:
        parts.insert(rng.randrange(len(parts) + 1), part)
    return {name: whole(parts)}


def swap_ids(files, rng):
    """Two nodes of a rank, and all that need them, change their ids."""
    name = some_trace(files, rng)
    parts = nodes_of(files[name])
    i, j = rng.sample(range(len(parts) - 1), 2)
    ids = {i: j, j: i}
    if rng.random() < .3:
        ids = {k: k + 5 for k in range(len(parts))}
    for at in range(1, len(parts)):
        fields = [
            (n, w, ids.get(of, of)) if n == ID else
            (n, chakra.BYTES, b"".join(varint(ids.get(k, k))
                                       for k in chakra.numbers(w, of)))
            if n in (CONTROL, DATA) else (n, w, of)
            for n, w, of in chakra.fields(parts[at])]
        parts[at] = join(fields)
    return {name: whole(parts)}


def change_all_ranks(files, rng):
    """The same number of the same name everywhere, so that ends agree."""
    name = rng.choice(["comm_size", "comm_tag", "num_ops", "tensor_size"])
    by, out = rng.choice([1, 4, 1 << 20]), {}
    for path in files:
        if not path.endswith(".et"):
            continue
        parts = nodes_of(files[path])
        for at in range(1, len(parts)):
            fields = list(chakra.fields(parts[at]))
            for i, (number, _, of) in enumerate(fields):
                if number == ATTRIBUTE and chakra.attribute(of)[0] == name:
                    key, (n, w, value) = chakra.fields(of)
                    fields[i] = ATTRIBUTE, chakra.BYTES, join(
                        [key, (n, w, value + by)])
            parts[at] = join(fields)
        out[path] = whole(parts)
    return out


def change_files(files, rng):
    one, other = some_trace(files, rng), some_trace(files, rng)
    last = max(files, key=lambda n: (n.endswith(".et"), int(n.split(".")[-2])
                                     if n.endswith(".et") else 0))
    return rng.choice([{one: None}, {last: None}, {one: b""},
                       {one: files[other]},
                       {one: files[other], other: files[one]}])


def change_groups(files, rng):
    path, = (name for name in files if name.endswith(".json"))
    groups = json.loads(files[path])
    names = sorted(groups) or ["1"]
    name, other = rng.choice(names), rng.choice(names)
    members = groups.setdefault(name, [0, 1])
    how = rng.randrange(8)
    if how == 0:
        del groups[name]
    elif how == 1:
        members.append(rng.choice([-1, 0, 1, 5, 99, 1.5, "1", True, None]))
    elif how == 2:
        members.pop(rng.randrange(len(members)))
    elif how == 3:
        groups[name], groups[other] = groups.get(other, [0]), members
    elif how == 4:
        members.reverse()
    elif how == 5:
        groups[rng.choice(["0", "x", "-1", "99", "1x", ""])] = members
    elif how == 6:
        groups[name] = rng.choice([None, 1, {}, [], [[0, 1]]])
    return {path: json.dumps(groups).encode() if how < 7 else
            rng.choice([None, b"", b"[]", b"{", b"{} x"])}


def change(files, rng):
    how = rng.choice([change_node] * 9 + [change_list] * 3 + [
        swap_ids, swap_ids, change_groups, change_groups, change_files,
        change_all_ranks])
    return how.__name__, how(files, rng)
