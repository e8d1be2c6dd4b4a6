# SPDX-License-Identifier: Apache-2.0
"""Compiles descriptions of LLM training jobs.

    import foretrace

    job = foretrace.compile("job.fore", {"parallel.tp": 4})
    job.memory().peak
    job.emit("simai")

docs/python.md is the guide.
"""

from . import _native
from ._diagnostics import Diagnostic, Error, FixIt
from ._documents import Flops, Memory, Params, Plan, Time, Volume
from ._job import Explanation, Job, Model, compile, compile_model
from ._record import Record
from ._sweep import Rejection, Sweep, sweep

__version__: str = _native.version

__all__ = [
    "Diagnostic", "Error", "Explanation", "FixIt", "Flops", "Job", "Memory", "Model",
    "Params", "Plan", "Record", "Rejection", "Sweep", "Time", "Volume", "compile",
    "compile_model", "sweep",
]
