"""Taking times: medians, whole processes with their peak memory, the load of the machine beside every number."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

PRECEDES = str(Path(sys.executable).with_name("precedes"))


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds (a median), all of them, and the peak memory of a process in MiB."""

    seconds: float
    all_seconds: tuple[float, ...]
    load: float
    peak_mib: float | None = None


def timed(action: Callable[[], object], times: int) -> Measured:
    """How long it takes, the first time not counted."""
    action()
    return medians([_seconds(action) for _ in range(times)])


def medians(seconds: Sequence[float], peak_mib: float | None = None) -> Measured:
    """The median, with the load as it is now."""
    return Measured(statistics.median(seconds), tuple(seconds), os.getloadavg()[0], peak_mib)


def process(arguments: Sequence[str], times: int, codes: tuple[int, ...] = (0,)) -> Measured:
    """How long a whole process takes, from a start with everything in the page cache, and the most memory it took."""
    runs = [_run(arguments, codes) for _ in range(times + 1)][1:]
    return medians([seconds for seconds, _ in runs], max(peak for _, peak in runs))


_LAUNCHER = """
import os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(child.pid, 0)
print(time.perf_counter() - start, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))
"""
"""A small process that starts the measured one: what a process has as peak memory begins with its parent's."""


def _run(arguments: Sequence[str], codes: tuple[int, ...]) -> tuple[float, float]:
    # As users have it: modules are compiled once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    launched = [sys.executable, "-S", "-c", _LAUNCHER, *arguments]
    said = subprocess.run(launched, env=environment, capture_output=True, text=True, check=True).stdout
    seconds, peak, code = said.split()
    if int(code) not in codes:
        raise RuntimeError(f"{' '.join(arguments)} ended with {code}")
    return float(seconds), float(peak)


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
