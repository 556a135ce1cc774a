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


@dataclass(frozen=True, slots=True)
class Ended:
    """A process: its seconds, those of the processor, and its peak memory in MiB; of several that are watched, that of
    the largest.
    """

    seconds: float
    processor: float
    peak_mib: float


Run = Callable[[], tuple[float, float | None]]
"""One run: the seconds that it took, and its peak memory in MiB where it is a process."""


def side_by_side(ours: Run, theirs: Run, times: int) -> tuple[Measured, Measured]:
    """Both in turns, so that what else the machine does meets both; the first turn is not counted."""
    turns = [(ours(), theirs()) for _ in range(times + 1)][1:]
    return _medians([one for one, _ in turns]), _medians([other for _, other in turns])


def alone(run: Run, times: int) -> Measured:
    """One thing by itself, the first run not counted."""
    return _medians([run() for _ in range(times + 1)][1:])


def calling(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> Run:
    """A call in this process, by a clock: `time.process_time` is that of the processor, all threads together."""

    def run() -> tuple[float, None]:
        start = clock()
        action()
        return clock() - start, None

    return run


def processor_of_all() -> float:
    """Seconds of the processor of this process and of all that it started, those that have ended among them."""
    return sum(map(int, _of_all(slice(11, 15)))) / os.sysconf("SC_CLK_TCK")


def resident_of_all() -> float:
    """MiB that this process and all that it started have in memory now; what they share counts for each."""
    return sum(map(int, _of_all(slice(21, 22)))) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _of_all(fields: slice) -> list[str]:
    """Fields of /proc/PID/stat, the state being the first, of this process and all below it."""
    held: dict[int, list[str]] = {}
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the program, in parentheses, may have blanks.
            told = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        number = int(path.parent.name)
        children.setdefault(int(told[1]), []).append(number)
        held[number] = told[fields]
    found: list[str] = []
    rest = [os.getpid()]
    while rest:
        number = rest.pop()
        found += held.get(number, ())
        rest.extend(children.get(number, ()))
    return found


def process(arguments: Sequence[str], codes: tuple[int, ...] = (0,)) -> Run:
    """A whole process, which must end with one of the codes."""

    def run() -> tuple[float, float]:
        ended = once(arguments, codes)
        return ended.seconds, ended.peak_mib

    return run


def _medians(runs: Sequence[tuple[float, float | None]]) -> Measured:
    seconds = tuple(seconds for seconds, _ in runs)
    peaks = [peak for _, peak in runs if peak is not None]
    return Measured(statistics.median(seconds), seconds, os.getloadavg()[0], max(peaks, default=None))


_LAUNCHER = """
import os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(child.pid, 0)
passed = time.perf_counter() - start
print(passed, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime)
"""
"""A small process that starts the measured one: what a process has as peak memory begins with its parent's."""

_WATCHER = """
import os, subprocess, sys, time
tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
family, used, peak = {child.pid}, {}, 0
while child.poll() is None:
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(name) in family or int(fields[1]) in family:
            family.add(int(name))
            used[name] = int(fields[11]) + int(fields[12])
            peak = max(peak, int(fields[21]) * page)
    time.sleep(0.2)
passed = time.perf_counter() - start
print(passed, peak / 2**20, child.returncode, sum(used.values()) / tick)
"""
"""The same, which looks five times a second at what all processes have used that come from the measured one: those of
Spark outlive their parents, and nobody is told at their end."""


def once(arguments: Sequence[str], codes: tuple[int, ...] = (0, 1), *, watched: bool = False) -> Ended:
    """Run a process, which must end with one of the codes. `watched`: the processor and the memory are those of all
    processes that come from it.
    """
    # As users have it: modules are compiled once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    launched = [sys.executable, "-S", "-c", _WATCHER if watched else _LAUNCHER, *arguments]
    said = subprocess.run(launched, env=environment, capture_output=True, text=True, check=True).stdout
    seconds, peak, code, processor = said.split()
    if int(code) not in codes:
        raise RuntimeError(f"{' '.join(arguments)} ended with {code}")
    return Ended(float(seconds), float(processor), float(peak))
