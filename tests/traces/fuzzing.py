"""Reads made traces in processes that may die, and says what became of them.

    python -m tests.traces.fuzzing --count 1000000

A trace is refused with a message that has a code, or its rows are those that somebody else finds in its files, and it
is judged. Whatever else happens is a failure, which is shown with its number; `--first NUMBER --count 1 --keep FOLDER`
makes its files again. A process is forked from one that has imported everything, and reads some traces one after the
other. If it dies, the first one that it has not told of is to blame, and another process goes on after it.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest.mock import patch

import pyarrow as pa

from precedes.api.events import tables_of
from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.execution import EventKind
from precedes.engines.scan import local
from precedes.engines.spark.data_source import reader_of
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import Plan, plan
from precedes.traces import Notices, TraceOptions
from precedes.traces.formats import csv as csv_format
from precedes.traces.formats import json_lines
from precedes.traces.reader import read_table
from precedes.traces.sources import TraceSource, source_of
from tests.traces.made_files import (
    KINDS,
    LOG,
    PROGRAMS,
    UNREADABLE,
    File,
    Made,
    expected,
    good_columnar,
    made,
)

SECONDS: Final = 20
"""That one trace may take."""
MEGABYTES: Final = 2048
"""That a process may take beside what it begins with."""
AT_ONCE: Final = 100
"""Traces of one process."""
NAMES: Final = ("fifo_delivery", "causal_delivery", "TO")
ROWS: Final = "rows"
_SPARK: Final = 5
"""Every so many traces, one is read as workers of Spark read it, too."""
_SHOWN: Final = 50
_MEMORY: Final = "/dev/shm" if Path("/dev/shm").is_dir() else None
EVENTS: Final = tuple(kind.value for kind in EventKind)


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of the trace of a number: `code` of its first message, or `ROWS`. `failure`: what must not be."""

    number: int
    kind: str
    code: str
    failure: str = ""
    seconds: float = 0.0
    megabytes: int = 0


@dataclass(slots=True)
class Summary:
    """What became of many traces."""

    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    failures: list[Reading] = field(default_factory=list)
    slowest: float = 0.0
    megabytes: int = 0

    def add(self, reading: Reading) -> None:
        """Count one more."""
        self.kinds[reading.kind] += 1
        self.codes[reading.code] += 1
        self.slowest = max(self.slowest, reading.seconds)
        self.megabytes = max(self.megabytes, reading.megabytes)
        if reading.failure:
            self.failures.append(reading)

    def text(self, seconds: float) -> str:
        """All of it, in lines."""
        count = self.kinds.total()
        return "\n".join(
            [
                f"{count:,} traces, {count / seconds:,.0f} in a second; the slowest took {self.slowest:.2f} s",
                f"largest process: {self.megabytes:,} MB",
                *(f"  {kind:24}{number:9,}" for kind, number in sorted(self.kinds.items())),
                "what they came to:",
                *(f"  {code:24}{number:9,}" for code, number in sorted(self.codes.items())),
                f"failures: {len(self.failures):,}",
                *(f"  {one.number} ({one.kind}): {one.failure}" for one in self.failures[:_SHOWN]),
            ]
        )


def question() -> Plan:
    """What is asked of every trace."""
    library = standard_library()
    return plan([requirement(name, library) for name in NAMES])


# ---- in the process that may die


def read(trace: Made, folder: Path, asked: Plan, *, spark: bool = False) -> str:
    """Read and judge a trace; with `spark`, a worker's reader reads it, too. Returns what it came to; raises
    AssertionError for rows that are not there.
    """
    if trace.events is not None:
        return _read_events(trace.events)
    try:
        sources = [*_sources(trace, folder)]
        rows = 0
        for source in sources if trace.log is not None else ():
            for table in read_table(source.asked(trace.attributes), Notices()):
                table.validate(full=True)
                rows += len(table)
        for file, source in zip(trace.files, sources, strict=False):
            asking = replace(source, every=True) if trace.every else source.asked(trace.attributes)
            if source.path.endswith(".parquet"):
                _compare_coded(asking)
            sys.stdin = cast("Any", SimpleNamespace(buffer=io.BytesIO(file.data)))
            tables = list(read_table(asking, Notices()))
            _compare(file, tables)
            rows += sum(map(len, tables))
        if spark and all(source.path != "-" for source in sources):
            _compare_on_spark(trace, folder, [source.path for source in sources], rows)
        if trace.judged:
            local.verify(sources, asked, TraceOptions(), Notices(), 3)
    except PrecedesError as error:
        return _told(error.diagnostics, "T" if trace.log is None else "TU")
    return ROWS


def _compare_coded(source: TraceSource) -> None:
    """Read a file with ids as dictionaries, where it has them so. AssertionError unless that finds the same rows, or
    tells the same mistake.
    """
    found: list[object] = []
    for coded in (False, True):
        try:
            tables = list(read_table(replace(source, coded=coded), Notices()))
        except PrecedesError as error:
            found.append(_told(error.diagnostics))
            continue
        for table in tables:
            table.validate(full=True)
        found.append([row for table in tables for row in table.to_pylist()])
    assert found[0] == found[1], "with ids as dictionaries, other rows are read, or another mistake is told"


def _compare_on_spark(trace: Made, folder: Path, paths: list[str], rows: int) -> None:
    """Read files as workers of Spark read them, every column. AssertionError unless that finds as many rows, or tells
    a mistake: a column that was not asked for may have one.
    """
    options = {"paths": json.dumps(paths)}
    if trace.log is not None:
        log = trace.log.reading(folder)
        if trace.log.mapping is not None:
            options["mapping"] = log.settings["file"]
        elif log.word is not None:
            options |= {"from": log.word} | {f"set.{name}": value for name, value in log.settings.items()}
    try:
        reader = reader_of(options)
        found = sum(len(batch) for part in reader.partitions() for batch in reader.read(part))
    except PrecedesError as error:
        _told(error.diagnostics, "TU")
    else:
        assert found == rows, f"{found} rows on Spark, and {rows} here"


def _read_events(events: Any) -> str:
    """As `precedes.verify` reads what is no path."""
    try:
        for table in tables_of(events, Notices()):
            table.validate(full=True)
    except PrecedesError as error:
        # What Arrow does not hand on is no trace.
        return _told(error.diagnostics, "TU")
    return ROWS


def _sources(trace: Made, folder: Path) -> Iterator[TraceSource]:
    for order, file in enumerate(trace.files):
        yield (
            source_of("-", order)
            if file.name == "-"
            else source_of(_written(folder, file.name, file.data), order)
        )
    if trace.log is None:
        return
    reading = trace.log.reading(folder)
    written = {name: _written(folder, name, data) for name, data in trace.log.files.items()}
    for order, name in enumerate(name for name in written if name != trace.log.mapping):
        yield source_of(written[name], order, reading)


def _written(folder: Path, name: str, data: bytes) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def _compare(file: File, tables: list[pa.Table]) -> None:
    for table in tables:
        table.validate(full=True)
    try:
        there = expected(file)
    except UNREADABLE as error:
        raise AssertionError(f"read, and {type(error).__name__} elsewhere: {error}") from error
    if there is None:
        return
    found = [
        (row["execution"], row["entity"], EVENTS[row["event"]], row["message"])
        for table in tables
        for row in table.select(["execution", "entity", "event", "message"]).to_pylist()
    ]
    assert found == there, f"{len(found)} rows, and {len(there)} elsewhere, or others"


def _told(diagnostics: tuple[Diagnostic, ...], allowed: str = "T") -> str:
    first = diagnostics[0]
    assert first.code[0] in allowed, f"{first.code} {first.message}"
    assert first.code[0] == "U" or first.path is not None, f"{first.code} names no file"
    return first.code


def _one(number: int, kind: str | None, folder: Path, asked: Plan) -> Reading:
    began = time.monotonic()
    trace = made(number, kind)
    code, failure = "", ""
    json_lines.SLICE_BYTES = (2 << 20, 200, 2 << 20, 2 << 20, 1)[number % 5]
    json_lines.BLOCK_BYTES = csv_format.BLOCK_BYTES = (32 << 20, 1000, 32 << 20, 32 << 20, 50)[
        number // 5 % 5
    ]
    try:
        code = read(trace, folder, asked, spark=number % _SPARK == 0)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the failure that is looked for
        code, failure = type(error).__name__, f"{type(error).__name__}: {str(error)[:300]}"
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Reading(number, trace.kind, code, failure, time.monotonic() - began, held)


def _work(numbers: range, kind: str | None, folder: Path, asked: Plan, out: int) -> None:
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = now + (MEGABYTES << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in numbers:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        os.write(out, json.dumps(asdict(_one(number, kind, folder, asked))).encode() + b"\n")
    signal.setitimer(signal.ITIMER_REAL, 0)


# ---- in the process that forks


def readings(numbers: range, kind: str | None, asked: Plan) -> Iterator[Reading]:
    """What becomes of the traces of some numbers, in processes that may die."""
    first = numbers.start
    while first < numbers.stop:
        batch = range(first, min(numbers.stop, first + AT_ONCE))
        with tempfile.TemporaryDirectory(prefix="precedes-fuzzing-") as folder:
            told, ended = _forked(batch, kind, Path(folder), asked)
        yield from told
        first += len(told)
        if ended and len(told) < len(batch):
            yield Reading(first, kind or made(first).kind, "died", ended)
            first += 1


def _forked(batch: range, kind: str | None, folder: Path, asked: Plan) -> tuple[list[Reading], str]:
    """What one process tells, and how it ended; "" for an end in good order."""
    come, go = os.pipe()
    errors = folder / "errors.txt"
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(come)
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            _work(batch, kind, folder, asked, go)
            code = 0
        finally:
            os._exit(code)
    os.close(go)
    with os.fdopen(come) as lines:
        told = [Reading(**json.loads(line)) for line in lines if line.endswith("\n")]
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status == 0:
        return told, ""
    how = signal.Signals(-status).name if status < 0 else f"exit code {status}"
    said = errors.read_text(errors="replace").strip()[-300:] if errors.exists() else ""
    return told, f"{how} {said}"


def together(shares: list[range], kind: str | None, asked: Plan) -> Iterator[Reading]:
    """What becomes of shares of numbers, each read by a process of its own, which forks others."""
    pipes = [_worker(share, kind, asked) for share in shares]
    with ThreadPoolExecutor(len(pipes)) as pool:
        heard: SimpleQueue[Reading | None] = SimpleQueue()
        for pipe in pipes:
            pool.submit(_hear, pipe, heard)
        open_pipes = len(pipes)
        while open_pipes:
            reading = heard.get()
            if reading is None:
                open_pipes -= 1
            else:
                yield reading


def _worker(share: range, kind: str | None, asked: Plan) -> int:
    come, go = os.pipe()
    if os.fork() == 0:
        code = 1
        try:
            os.close(come)
            for reading in readings(share, kind, asked):
                os.write(go, json.dumps(asdict(reading)).encode() + b"\n")
            code = 0
        except BaseException:  # noqa: BLE001 - a process that was forked shows its own mistakes
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(go)
    return come


def _hear(pipe: int, heard: SimpleQueue[Reading | None]) -> None:
    with os.fdopen(pipe) as lines:
        for line in lines:
            heard.put(Reading(**json.loads(line)))
    heard.put(None)


def prepared() -> Plan:
    """Everything imported, compiled and opened once, so that no process after this one need do it."""
    asked = question()
    tempfile.tempdir = _MEMORY
    local.PLAIN_EVENTS = 0  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.parquet")
        path.write_bytes(good_columnar())
        local.verify([source_of(str(path))], asked, TraceOptions(), Notices(), 3)
        for kind in (*KINDS, *PROGRAMS, LOG):
            for number in range(3):
                with patch.object(sys, "stdin"):
                    _one(number, kind, Path(folder), asked)
    gc.freeze()
    return asked


def keep(numbers: range, kind: str | None, folder: Path) -> None:
    """Write the files of some numbers."""
    for number in numbers:
        trace = made(number, kind)
        files = {file.name.replace("-", "stdin.jsonl"): file.data for file in trace.files}
        for name, data in (files if trace.log is None else trace.log.files).items():
            _written(folder, f"{number}.{name}", data)


def parts(given: argparse.Namespace, began: float) -> Iterator[tuple[str | None, list[range]]]:
    """The kinds and the shares of numbers that are read one after the other."""
    if given.again:
        for kind, number in given.again:
            yield kind, [range(int(number), int(number) + 1)]
        return
    share = -(-given.count // given.workers)
    for start in count(given.first, given.count):
        numbers = range(start, start + given.count)
        yield given.kind, [numbers[k : k + share] for k in range(0, given.count, share)]
        if given.minutes is None or time.monotonic() - began > given.minutes * 60:
            return


def main() -> int:
    """Read the traces of some numbers; 1 if there is a failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--first", type=int, default=0, help="the first number")
    parser.add_argument("--count", type=int, default=1000, help="how many numbers")
    parser.add_argument("--kind", choices=[*KINDS, *PROGRAMS, LOG], help="traces of one kind only")
    parser.add_argument(
        "--again",
        nargs=2,
        action="append",
        metavar=("KIND", "NUMBER"),
        help="one trace; repeatable; no others are read",
    )
    parser.add_argument("--workers", type=int, default=1, help="processes at a time")
    parser.add_argument("--minutes", type=float, help="go on with the next numbers for so long")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the files instead of reading them")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.count)
    if given.keep is not None:
        keep(numbers, given.kind, given.keep)
        return 0
    asked = prepared()
    summary = Summary()
    began = time.monotonic()
    for kind, shares in parts(given, began):
        for reading in together(shares, kind, asked):
            summary.add(reading)
            if reading.failure:
                sys.stderr.write(f"{reading.number} ({reading.kind}): {reading.failure}\n")
    sys.stdout.write(summary.text(time.monotonic() - began) + "\n")
    return 1 if summary.failures else 0


if __name__ == "__main__":
    sys.exit(main())
