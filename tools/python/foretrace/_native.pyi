# SPDX-License-Identifier: Apache-2.0
from typing import Any, Optional

# Diagnostics as lines of JSON, the same as text if there are errors, a wrong argument,
# and a failure without a diagnostic.
_Outcome = tuple[str, str, str, str]

no_value: int
version: str

class Job:
    def __init__(self, path: str, text: Optional[str], overrides: list[str],
                 include: list[str], is_model: bool, pool: str) -> None: ...
    def compile(self) -> _Outcome: ...
    def emit(self, backends: list[str], options: list[str], reads_job: bool,
             max_output: int) -> tuple[list[tuple[str, bytes]], _Outcome]: ...
    def write(self, backends: list[str], options: list[str], max_output: int,
              folder: str) -> tuple[list[str], _Outcome]: ...
    def explain(self, op: str, parameter: str, memory: bool, messages: bool, work: bool,
                backend: str, rank: Optional[int], row: Optional[int],
                node: Optional[int], stage: Optional[int], figure: Optional[str]
                ) -> tuple[str, str, _Outcome]: ...

class Sweep:
    def __init__(self, path: str, text: Optional[str], overrides: list[str],
                 include: list[str], pool: str, entries: list[tuple[str, str]], axes: str,
                 columns: Optional[list[str]], threads: int) -> None: ...
    def run(self) -> _Outcome: ...
    def take(self) -> dict[str, Any]: ...
    def overrides(self, point: int) -> list[str]: ...
