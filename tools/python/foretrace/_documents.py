# SPDX-License-Identifier: Apache-2.0
"""The documents that jobs answer with; _documents.pyi has their fields."""

from ._record import Record


class Params(Record):
    __slots__ = ()


class Memory(Record):
    __slots__ = ()


class Flops(Record):
    __slots__ = ()


class Volume(Record):
    __slots__ = ()


class Time(Record):
    __slots__ = ()


class Plan(Record):
    __slots__ = ()
