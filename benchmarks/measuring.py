"""Taking times: medians, whole processes with their peak memory, the load of the machine beside every number."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

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


def middle(turns: Sequence[Ended]) -> Ended:
    """What several turns of one process come to: medians of the times, and the largest peak."""
    return Ended(
        statistics.median(one.seconds for one in turns),
        statistics.median(one.processor for one in turns),
        max(one.peak_mib for one in turns),
    )


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


@dataclass(frozen=True, slots=True)
class Process:
    """What /proc/PID/stat says: times in ticks. `used` is the processor's time, and `of_ended` the part of it that
    children have used whose end the process was told.
    """

    parent: int
    began: int
    used: int
    of_ended: int = 0
    pages: int = 0


class Family:
    """A process and all that come from it, those that have ended among them."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._seen: dict[int, Process] = {}
        self._lost = 0

    def used(self, processes: Mapping[int, Process]) -> int:
        """Ticks that the family has used, of all processes that there are now.

        The time of a process that has ended is its parent's, if that was told, and else nobody's. Then what it had used
        at the last look is kept, so that the sum never falls.
        """
        here = {
            number
            for number, process in self._seen.items()
            if number in processes and processes[number].began == process.began
        }
        ended: Counter[int | None] = Counter()
        for number, process in self._seen.items():
            if number not in here:
                ended[self._above(process.parent, here)] += process.used
        for above, used in ended.items():
            told = 0 if above is None else processes[above].of_ended - self._seen[above].of_ended
            self._lost += max(0, used - told)
        # A process whose parent has ended has another one.
        self._seen = below(processes, [self._number, *here])
        return self._lost + sum(process.used for process in self._seen.values())

    def _above(self, number: int, here: Set[int]) -> int | None:
        """The nearest parent that is still there."""
        while number not in here:
            if number not in self._seen:
                return None
            number = self._seen[number].parent
        return number


def below(processes: Mapping[int, Process], numbers: Sequence[int]) -> dict[int, Process]:
    """The processes of these numbers and all that come from them."""
    children: dict[int, list[int]] = {}
    for number, process in processes.items():
        children.setdefault(process.parent, []).append(number)
    found: dict[int, Process] = {}
    rest = list(numbers)
    while rest:
        number = rest.pop()
        if number in processes and number not in found:
            found[number] = processes[number]
            rest.extend(children.get(number, ()))
    return found


def keep_rows(rows: Sequence[object], path: Path) -> None:
    """Write rows, which are dataclasses, as `benchmarks.page` reads them."""
    path.parent.mkdir(exist_ok=True)
    document = {"rows": [asdict(cast("Any", row)) for row in rows]}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def processor_of_all() -> float:
    """Seconds of the processor of this process and of all that it started, those that have ended among them."""
    return _OWN.used(processes()) / os.sysconf("SC_CLK_TCK")


def resident_of_all() -> float:
    """MiB that this process and all that it started have in memory now; what they share counts for each."""
    pages = sum(process.pages for process in below(processes(), [os.getpid()]).values())
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


_OWN: Final = Family(os.getpid())


def processes() -> dict[int, Process]:
    """All processes that there are, by number."""
    found: dict[int, Process] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the program, in parentheses, may have blanks. The state is the first field after it.
            told = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        times = list(map(int, told[11:15]))
        found[int(path.parent.name)] = Process(
            parent=int(told[1]),
            began=int(told[19]),
            used=sum(times),
            of_ended=sum(times[2:]),
            pages=int(told[21]),
        )
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
child = subprocess.Popen(sys.argv[2:], stdout=open(sys.argv[1], "wb"))
_, status, used = os.wait4(child.pid, 0)
passed = time.perf_counter() - start
print(passed, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime)
"""
"""A small process that starts the measured one: what a process has as peak memory begins with its parent's."""

_WATCHER = """
import os, subprocess, sys, time
tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
start = time.perf_counter()
child = subprocess.Popen(sys.argv[2:], stdout=open(sys.argv[1], "wb"))
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


def once(
    arguments: Sequence[str],
    codes: tuple[int, ...] = (0, 1),
    *,
    watched: bool = False,
    said: Path = Path(os.devnull),
) -> Ended:
    """Run a process, which must end with one of the codes. `watched`: the processor and the memory are those of all
    processes that come from it. `said`: the file that gets what it prints.
    """
    # As users have it: modules are compiled once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    launched = [sys.executable, "-S", "-c", _WATCHER if watched else _LAUNCHER, str(said), *arguments]
    told = subprocess.run(launched, env=environment, capture_output=True, text=True, check=True).stdout
    seconds, peak, code, processor = told.split()
    if int(code) not in codes:
        raise RuntimeError(f"{' '.join(arguments)} ended with {code}")
    return Ended(float(seconds), float(processor), float(peak))
