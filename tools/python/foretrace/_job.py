# SPDX-License-Identifier: Apache-2.0
"""Jobs: compiling them, and what they are asked."""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import (
    Any, Callable, Iterable, Mapping, Optional, Tuple, TypeVar, Union, overload)

from . import _native
from ._diagnostics import Diagnostic, check
from ._documents import Flops, Memory, Params, Plan, Time, Volume
from ._record import Record

StrPath = Union[str, "os.PathLike[str]"]
Overrides = Mapping[str, Any]
Document = TypeVar("Document", bound=Record)

#: Bytes of the files of a call, unless it says more.
MAX_OUTPUT = 64 << 30
MAX_OUTPUT_IN_MEMORY = 2 << 30


#: Texts that options take without quotes: a name, or a number with a unit.
_BARE = re.compile(r"[A-Za-z_]\w*|[\d.]+ *[A-Za-z/]*")


def word(value: Any) -> str:
    """A value as ``-D`` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(word, value)) + "]"
    return str(value)


def overriding(overrides: Optional[Overrides]) -> list[str]:
    return [f"{name}={word(value)}" for name, value in (overrides or {}).items()]


def _quoted(value: Any) -> str:
    """A value as an option of an ``emit`` block takes it."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(
            f'"{v}"' if isinstance(v, str) else word(v) for v in value) + "]"
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        is_bare = text.startswith('"') or _BARE.fullmatch(text)
        return text if is_bare else f'"{text}"'
    return word(value)


def _options(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_quoted(value)}" for name, value in options.items()]


def source(path: Optional[StrPath], text: Optional[str]) -> str:
    """The path of a job; one that is a text alone has a name all the same."""
    if path is None and text is None:
        raise TypeError("expected the path of a job, or text=...")
    return "job.fore" if path is None else os.fspath(path)


class Explanation:
    """How numbers are derived. ``print`` shows a tree; ``subjects`` has the same as
    records: what, pass, rule, file, line, column, figures."""

    def __init__(self, subjects: Tuple[Record, ...], text: str) -> None:
        self.subjects = subjects
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Explanation of {len(self.subjects)} subjects; print it>"


class Model:
    """A compiled model. Its methods may be called by several threads."""

    def __init__(self, path: str, text: Optional[str], overrides: list[str],
                 include: list[str], pool: str = "") -> None:
        self._path = path
        self._native = _native.Job(path, text, overrides, include, self._is_model, pool)
        self._diagnostics: dict[Diagnostic, None] = {}
        self._check(self._native.compile())

    _is_model = True

    def _check(self, outcome: Tuple[str, str, str, str]) -> None:
        self._diagnostics.update(dict.fromkeys(check(outcome)))

    def _answer(self, backend: str, options: Mapping[str, Any]) -> str:
        files, outcome = self._native.emit(
            [backend], _options(options), False, MAX_OUTPUT_IN_MEMORY)
        self._check(outcome)
        if len(files) != 1:
            raise ValueError(f"`{backend}` writes {len(files)} files; use emit")
        return files[0][1].decode()

    def _document(self, kind: Callable[[Mapping[str, Any]], Document], backend: str,
                  options: Mapping[str, Any]) -> Document:
        return kind(json.loads(self._answer(backend, {**options, "format": "json"})))

    @property
    def diagnostics(self) -> Tuple[Diagnostic, ...]:
        """Warnings of all calls so far, each once. Errors are exceptions."""
        return tuple(self._diagnostics)

    @property
    def params(self) -> Params:
        """Numbers of parameters, as ``foretrace params`` counts them."""
        return self._document(Params, "params", {})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._path!r}>"


class Job(Model):
    """A compiled job. Each analysis runs when it is asked for; passes that several
    need run once. Options are those of the subcommands: ``attention="full"``."""

    _is_model = False

    def memory(self, **options: Any) -> Memory:
        """Memory of a rank of each stage, as ``foretrace memory``; in bytes."""
        return self._document(Memory, "memory", options)

    def flops(self, **options: Any) -> Flops:
        """FLOPs of an iteration, as ``foretrace flops``."""
        return self._document(Flops, "flops", options)

    def volume(self, **options: Any) -> Volume:
        """Communication volume, as ``foretrace volume``; in bytes."""
        return self._document(Volume, "volume", options)

    def time(self, **options: Any) -> Time:
        """Estimated time of an iteration, as ``foretrace time``; in ns. The job needs
        a cluster."""
        return self._document(Time, "time", options)

    def plan(self) -> Plan:
        """The whole plan, as ``emit json`` writes it: docs/json.md."""
        return Plan(json.loads(self._answer("json", {})))

    def text(self, backend: str, **options: Any) -> str:
        """What the subcommand of this name prints: ``job.text("memory")``."""
        return self._answer(backend, options)

    def explain(self, *, op: str = "", param: str = "", memory: bool = False,
                messages: bool = False, work: bool = False, emit: str = "",
                rank: Optional[int] = None, row: Optional[int] = None,
                node: Optional[int] = None, stage: Optional[int] = None,
                figure: Optional[str] = None) -> Explanation:
        """Derives numbers down to the lines of the job, as ``foretrace explain``."""
        lines, text, outcome = self._native.explain(
            op, param, memory, messages, work, emit, rank, row, node, stage, figure)
        self._check(outcome)
        subjects = tuple(Record(json.loads(line)) for line in lines.splitlines())
        return Explanation(subjects, text)

    @overload
    def emit(self, *backends: str, to: None = None, max_output: Optional[int] = None,
             **options: Any) -> dict[str, bytes]: ...

    @overload
    def emit(self, *backends: str, to: StrPath, max_output: Optional[int] = None,
             **options: Any) -> list[pathlib.Path]: ...

    def emit(self, *backends: str, to: Optional[StrPath] = None,
             max_output: Optional[int] = None, **options: Any
             ) -> Union[dict[str, bytes], list[pathlib.Path]]:
        """Emits the blocks of the job for these backends, or all of them.

        A backend without a block gets one without options; ``options``, of one backend,
        take the place of those of its block. Without ``to`` the files are returned, by
        name. With it they are written to this folder, all or none, and their paths
        are returned. ``max_output`` limits their bytes.
        """
        if options and len(backends) != 1:
            raise TypeError("options need exactly one backend")
        if to is None:
            files, outcome = self._native.emit(
                list(backends), _options(options), True,
                MAX_OUTPUT_IN_MEMORY if max_output is None else max_output)
            self._check(outcome)
            return dict(files)
        paths, outcome = self._native.write(
            list(backends), _options(options),
            MAX_OUTPUT if max_output is None else max_output, os.fspath(to))
        self._check(outcome)
        return [pathlib.Path(path) for path in paths]


def compile(path: Optional[StrPath] = None,
            overrides: Optional[Overrides] = None, *, text: Optional[str] = None,
            include: Iterable[StrPath] = (), pool: str = "") -> Job:
    """Compiles the job at ``path``, or ``text`` as if it were in that file.

    ``overrides`` set params, and keys with their sections: ``{"parallel.tp": 4}``.
    Imports are also searched in the folders ``include``. ``pool`` names the ``serve``
    section, of several. Raises Error if the job has errors.
    """
    return Job(source(path, text), text, overriding(overrides),
               [os.fspath(folder) for folder in include], pool)


def compile_model(path: Optional[StrPath] = None,
                  overrides: Optional[Overrides] = None, *,
                  text: Optional[str] = None,
                  include: Iterable[StrPath] = ()) -> Model:
    """Compiles a job of which only the model matters: it needs neither ``train`` nor
    ``parallel``, and only its parameters can be asked for."""
    return Model(source(path, text), text, overriding(overrides),
                 [os.fspath(folder) for folder in include])
