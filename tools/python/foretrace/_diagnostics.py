# SPDX-License-Identifier: Apache-2.0
"""What the compiler reports, as objects."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Mapping, Optional, Tuple


@dataclasses.dataclass(frozen=True)
class FixIt:
    """A replacement of a range of the source. Lines and columns are from 1; columns
    are bytes, and the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    replacement: str


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """An error, a warning or a note, with the place that it is about.

    ``id`` is the name under which docs/diagnostics.md explains it. The place is None
    where no line is to blame. Columns are bytes, from 1; the end is exclusive.
    """

    severity: str
    message: str
    id: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    end_line: Optional[int] = None
    end_column: Optional[int] = None
    notes: Tuple[Diagnostic, ...] = ()
    fixits: Tuple[FixIt, ...] = ()

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:"
        if self.line is not None:
            place += f"{self.line}:"
        if self.column is not None:
            place += f"{self.column}:"
        return f"{place} {self.severity}: {self.message} [{self.id}]".lstrip()


class Error(Exception):
    """A job has errors, or a file can't be read or written.

    Its text is what the command line prints, with the lines and carets.
    """

    #: What was reported: the errors, and the warnings of the same call.
    diagnostics: Tuple[Diagnostic, ...]

    def __init__(self, text: str, diagnostics: Tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics

    def __reduce__(self) -> Any:
        return Error, (str(self), self.diagnostics)


def _place(fields: Mapping[str, Any]) -> dict[str, Any]:
    end = fields.get("end", {})
    return {
        "file": fields.get("file"), "line": fields.get("line"),
        "column": fields.get("column"), "end_line": end.get("line"),
        "end_column": end.get("column"),
    }


def _fixit(fields: Mapping[str, Any]) -> FixIt:
    return FixIt(**_place(fields), replacement=fields["replacement"])


def _diagnostic(fields: Mapping[str, Any]) -> Diagnostic:
    return Diagnostic(
        severity=fields["severity"], message=fields["message"], id=fields["slug"],
        notes=tuple(map(_diagnostic, fields.get("notes", ()))),
        fixits=tuple(map(_fixit, fields.get("fixits", ()))), **_place(fields))


def check(outcome: Tuple[str, str, str, str]) -> Tuple[Diagnostic, ...]:
    """Returns what a call of the extension module reported, and raises errors."""
    lines, text, misuse, failure = outcome
    found = tuple(_diagnostic(json.loads(line)) for line in lines.splitlines())
    if text:
        raise Error(text.rstrip("\n"), found)
    if misuse:
        raise ValueError(misuse)
    if failure:
        raise Error(failure, found)
    return found
