# SPDX-License-Identifier: Apache-2.0
"""Sweeps: many jobs in columns."""

from __future__ import annotations

import dataclasses
import os
from typing import (
    TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Optional, Tuple, Union)

from . import _native
from ._diagnostics import Diagnostic, check
from ._job import Job, Overrides, StrPath, compile, overriding, source, word

if TYPE_CHECKING:
    import numpy


@dataclasses.dataclass(frozen=True)
class Rejection:
    """Points that are rejected for the same reason.

    ``id`` is that of the first error that the compiler reports, and ``key`` the key
    whose value is wrong or the condition that failed; it may be empty. ``example`` is
    the first such point.
    """

    id: str
    key: str
    count: int
    example: int


class Sweep(Mapping[str, "numpy.ndarray[Any, Any]"]):
    """The accepted points of a sweep, in columns of NumPy, by ascending ``point``.

    Columns are ``point``, the keys of axes, and metrics in the units of ``units``. A
    metric that some points lack is a masked array; one that all lack is left out. An
    axis of numbers without a unit is a column of integers, one of ``true`` and
    ``false`` and a metric with the unit ``flag`` are columns of booleans, and any other
    axis is one of strings.
    """

    def __init__(self, held: Any, found: dict[str, Any],
                 diagnostics: Tuple[Diagnostic, ...],
                 compiled_by: Callable[[Mapping[str, str]], Job]) -> None:
        self._held = held
        self._compiled_by = compiled_by
        #: How many points the sweep has, and how many are accepted, kept or not.
        self.points: int = found["points"]
        self.accepted: int = found["accepted"]
        #: Reasons for rejections, the most frequent first.
        self.rejected: Tuple[Rejection, ...] = tuple(
            Rejection(*row) for row in found["rejected"])
        #: The best of all accepted points, if the sweep has a goal.
        self.best: Optional[int] = found["best"]
        #: Warnings.
        self.diagnostics = diagnostics
        self._ids: "numpy.ndarray[Any, Any]" = found["ids"]
        self._axes = {name: axis for name, *axis in found["axes"]}
        self._metrics = {name: values for name, _, values in found["columns"]}
        #: The unit of each metric: count, bytes, flops, ns, millionths or flag.
        self.units: dict[str, str] = {name: unit for name, unit, _ in found["columns"]}

    def _positions(self, stride: int, size: int) -> Any:
        return (self._ids // stride) % size

    def __getitem__(self, name: str) -> "numpy.ndarray[Any, Any]":
        import numpy

        if name == "point":
            return self._ids
        if name in self._axes:
            stride, texts, numbers = self._axes[name]
            of_axis = numpy.array(
                [text == "true" for text in texts] if _are_booleans(texts)
                else texts if numbers is None else numbers)
            return numpy.take(of_axis, self._positions(stride, len(texts)))
        values: "numpy.ndarray[Any, Any]" = self._metrics[name]
        missing = values == _native.no_value
        if self.units[name] == "flag":
            values = values == 1
        return numpy.ma.masked_array(values, missing) if missing.any() else values

    def __iter__(self) -> Iterator[str]:
        yield "point"
        yield from self._axes
        yield from self._metrics

    def __len__(self) -> int:
        return 1 + len(self._axes) + len(self._metrics)

    def frame(self) -> Any:
        """Returns the columns as a DataFrame of pandas, or of polars if there is no
        pandas. Axes of words are categories in pandas, and missing values are NA."""
        try:
            import pandas
        except ImportError:
            import polars

            return polars.DataFrame({
                name: _listed(column) for name, column in self.items()})
        return pandas.DataFrame(
            {name: self._series(pandas, name) for name in self}, copy=False)

    def _series(self, pandas: Any, name: str) -> Any:
        if (name in self._axes and self._axes[name][2] is None
                and not _are_booleans(self._axes[name][1])):
            stride, texts, _ = self._axes[name]
            return pandas.Categorical.from_codes(
                self._positions(stride, len(texts)), texts)
        column = self[name]
        if not hasattr(column, "mask"):
            return column
        of_kind = (pandas.arrays.BooleanArray if column.dtype == bool
                   else pandas.arrays.IntegerArray)
        return of_kind(column.data, column.mask)

    def overrides(self, point: int) -> dict[str, str]:
        """Returns the values of the axes at a point, for ``compile``."""
        if not 0 <= point < self.points:
            raise IndexError(f"there are {self.points} points, from 0")
        return dict(text.split("=", 1) for text in self._held.overrides(point))

    def compile(self, point: int) -> Job:
        """Compiles the job of a point. Raises Error if the point is rejected."""
        return self._compiled_by(self.overrides(point))

    def __repr__(self) -> str:
        return (f"<Sweep: {self.points} points, {self.accepted} accepted, "
                f"{len(self._ids)} kept>")

    def _repr_html_(self) -> Optional[str]:
        try:
            return self.frame()._repr_html_()
        except ImportError:
            return None


def _are_booleans(texts: Iterable[str]) -> bool:
    return set(texts) <= {"true", "false"}


def _listed(column: Any) -> Any:
    return column.tolist() if hasattr(column, "mask") else column


def _values(values: Any) -> str:
    """The values of an axis: a text as the command line takes it, or each value."""
    if isinstance(values, str):
        return values
    return ",".join(map(word, values))


def _texts(texts: Union[str, Iterable[str]]) -> Iterable[str]:
    return (texts,) if isinstance(texts, str) else texts


def sweep(path: Optional[StrPath] = None, overrides: Optional[Overrides] = None, *,
          text: Optional[str] = None, include: Iterable[StrPath] = (), pool: str = "",
          axes: Union[StrPath, Mapping[str, Any]] = {},
          where: Union[str, Iterable[str]] = (), metrics: Mapping[str, str] = {},
          minimize: Optional[str] = None, maximize: Optional[str] = None,
          keep: Optional[str] = None, fits: Optional[str] = None,
          columns: Optional[Iterable[str]] = None, threads: int = 0) -> Sweep:
    """Judges and measures every combination of the values of axes, as
    ``foretrace sweep``.

    ``axes`` has the values of each key, as a list or as a text such as
    ``"powers(1, 64)"``, or is the path of a TOML file. Axes of the job's ``sweep``
    section count, too. ``where`` are conditions, ``metrics`` more numbers to measure;
    ``minimize``, ``maximize``, ``keep`` and ``fits`` are those of docs/sweeps.md.
    ``columns`` are the metrics to return, all by default, and ``pool`` that of ``compile``. Needs NumPy. Raises Error if no point
    can be read, ValueError for a wrong argument.
    """
    import numpy  # noqa: F401: at once, not when all points are done

    at = source(path, text)
    folders = [os.fspath(folder) for folder in include]
    entries: list[tuple[str, str]] = []
    if isinstance(axes, Mapping):
        entries += [("sweep", f"{key}={_values(values)}")
                    for key, values in axes.items()]
        axes = ""
    entries += [("metric", f"{name}={value}") for name, value in metrics.items()]
    entries += [("where", condition) for condition in _texts(where)]
    for flag, value in (("minimize", minimize), ("maximize", maximize), ("keep", keep),
                        ("fits", fits)):
        if value is not None:
            entries.append((flag, value))
    held = _native.Sweep(
        at, text, overriding(overrides), folders, pool, entries, os.fspath(axes),
        None if columns is None else list(columns), threads)
    diagnostics = check(held.run())

    def compiled_by(values: Mapping[str, str]) -> Job:
        return compile(path, {**(overrides or {}), **values}, text=text,
                       include=folders, pool=pool)

    return Sweep(held, held.take(), diagnostics, compiled_by)
