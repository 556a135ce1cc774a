"""How many executions `precedes conform` judges in a second.

    python -m benchmarks.conforming [EXECUTIONS]

The executions are those that CMD makes in a simulation, of three entities and 25 events or so. A row is a whole
command, in one process and on Spark with two workers, or, with `search`, a search for every execution, without direct
runs first: a call in this process, of the first few. The results are written to build/conforming.json.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import precedes
from benchmarks.measuring import PRECEDES, keep_rows, once
from precedes.core.garbage_collection import paused
from precedes.protocol import catalog
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.verdicts import Conforms

RESULT: Final = Path("build/conforming.json")
EXECUTIONS: Final = 1_000_000
SEARCHED: Final = 2_000
"""Executions that are searched for one by one."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way to judge: how many executions, seconds by the clock and of the processor, peak MiB of a process. Of Spark
    the processor is that of the JVM and the workers, too.
    """

    way: str
    executions: int
    seconds: float
    processor: float
    peak_mib: float | None
    load: float


def trace(executions: int) -> Path:
    """The trace, made once."""
    path = Path(f"build/cmd-{executions}.parquet")
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        precedes.simulate("cmd", path, executions=executions, messages=13)
    return path


def measured(path: Path, executions: int) -> Iterator[Row]:
    """Each way once."""
    yield searched(path)
    for way, words in {"in one process": (), "Spark local[2]": ("--master", "local[2]")}.items():
        # Every execution conforms: another exit code is a mistake.
        ended = once([PRECEDES, "conform", "cmd", str(path), *words], codes=(0,), watched=True)
        yield Row(way, executions, ended.seconds, ended.processor, ended.peak_mib, os.getloadavg()[0])


def searched(path: Path) -> Row:
    """Every execution by a search."""
    executions = list(islice(precedes.read(path), SEARCHED))
    judge = Judge(catalog.models("cmd")[0])
    judge.direct_runs.possible = False
    seconds, processor = time.perf_counter(), time.process_time()
    with paused():
        conforming = sum(isinstance(judge.judge(execution)[0], Conforms) for execution in executions)
    seconds, processor = time.perf_counter() - seconds, time.process_time() - processor
    if conforming != len(executions):
        raise RuntimeError(f"{len(executions) - conforming} of {len(executions)} do not conform")
    return Row("search", len(executions), seconds, processor, None, os.getloadavg()[0])


def main() -> None:
    """Measure every row, print it and keep it."""
    executions = int(sys.argv[1]) if len(sys.argv) > 1 else EXECUTIONS
    path = trace(executions)
    rows = []
    for row in measured(path, executions):
        rows.append(row)
        print(
            f"{row.way:16} {row.executions:>9,} executions {row.seconds:8.1f} s"
            f"  {row.processor:8.1f} s of the processor  {row.executions / row.processor:8,.0f}/s"
            f"  load {row.load:.1f}",
            flush=True,
        )
    keep_rows(rows, RESULT)


if __name__ == "__main__":
    main()
