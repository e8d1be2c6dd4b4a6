# SPDX-License-Identifier: Apache-2.0
"""Results: JSON documents whose fields are attributes."""

from __future__ import annotations

import difflib
import html
from typing import Any, Dict, Iterator, Mapping


class Record(Mapping[str, Any]):
    """An object of a JSON document.

    Fields are attributes and items; a field that the document lacks raises
    AttributeError or KeyError, and ``get`` returns None. Lists are tuples, and numbers
    are exact. Records don't change, and equal dictionaries with the same fields.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        own = {name: _wrapped(value) for name, value in fields.items()}
        object.__setattr__(self, "_fields", own)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            near = difflib.get_close_matches(name, self._fields, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise AttributeError(
                f"{type(self).__name__} has no field {name!r}{hint}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} does not change")

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        wrapped = {name: _wrapped(value) for name, value in other.items()}
        return bool(self._fields == wrapped)

    __hash__ = None  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __reduce__(self) -> Any:
        return type(self), (self.to_dict(),)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.items())
        return f"{type(self).__name__}({fields})"

    def to_dict(self) -> Dict[str, Any]:
        """Returns the object as dictionaries and lists."""
        return {name: _plain(value) for name, value in self.items()}

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{_html(value)}</td></tr>"
            for name, value in self.items() if name != "schema")
        return f"<table>{rows}</table>"


def _wrapped(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Record(value)
    if isinstance(value, (list, tuple)):
        return tuple(map(_wrapped, value))
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, tuple):
        return list(map(_plain, value))
    return value


def _html(value: Any) -> str:
    """A list of objects with the same fields is a table, with a row for each."""
    if isinstance(value, Record):
        return value._repr_html_()
    if isinstance(value, bool) or not isinstance(value, (int, tuple)):
        return html.escape(str(value))
    if isinstance(value, int):
        return f"{value:,}"
    if not value or not all(isinstance(row, Record) for row in value):
        return "<br>".join(map(_html, value))
    heads = dict.fromkeys(name for row in value for name in row)
    rows = "".join(
        "<tr>" + "".join(
            f"<td>{_html(row[name]) if name in row else ''}</td>" for name in heads)
        + "</tr>" for row in value)
    return ("<table><tr>" + "".join(f"<th>{html.escape(n)}</th>" for n in heads)
            + f"</tr>{rows}</table>")
