"""`precedes watch`: rows are judged as they come, and once more at their end, as `precedes verify` judges them."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa

from precedes.core.diagnostics import PrecedesError
from precedes.engines.scan.partials import Report
from precedes.engines.scan.standings import Standing, standings
from precedes.jobs.verify import Question, verify
from precedes.logic.plan import Plan
from precedes.traces import Notice, Notices, TraceOptions, batches_of
from precedes.traces.arrow import arrow, pc
from precedes.traces.formats.registry import JSON_LINES
from precedes.traces.reader import read_table
from precedes.traces.schema import schema_of
from precedes.traces.sources import STANDARD_INPUT, TraceSource

BLOCK: Final = 1 << 20
"""Bytes that are read at a time, at most."""

REST: Final = 4
"""For each second of judging so many are not, so that most of the time is left to whoever writes the rows."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an execution has come to that was something else before; `witness` is a JSON object."""

    execution: str
    predicate: str
    standing: Standing
    witness: str | None
    reasons: str | None


@dataclass(slots=True)
class OpenExecutions:
    """The rows of executions that go on, and what was told of each. An execution that violates everything is settled:
    its rows are given up.
    """

    plan: Plan
    options: TraceOptions
    _rows: list[pa.Table] = field(default_factory=list)
    _told: dict[tuple[str, str], Standing] = field(default_factory=dict)
    _settled: set[str] = field(default_factory=set)
    _lines: int = 0

    def add(self, text: bytes) -> list[Change]:
        """Take in whole lines; what changes by them. PrecedesError for what cannot be read."""
        came = self._read(text)
        touched = _names(came) - self._settled
        if not touched:
            return []
        self._rows.append(came)
        rows = arrow.concat_tables(self._rows)
        options = replace(self.options, complete=False)
        changes: list[Change] = []
        for batch in batches_of([rows.filter(_is_in(touched, rows))], options, Notices()):
            changes += self._changes(standings(batch, self.plan))
        settled = {name for name in touched if self._is_settled(name)}
        self._settled |= settled
        self._rows = [rows.filter(pc.invert(_is_in(settled, rows)))] if settled else [rows]
        return changes

    def _read(self, text: bytes) -> pa.Table:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.jsonl"
            path.write_bytes(text)
            source = TraceSource(str(path), JSON_LINES, named="<stdin>").asked(self.options.attributes)
            tables = [schema_of(self.options.attributes).empty_table(), *read_table(source, Notices())]
            table = arrow.concat_tables(tables)
        place = table.schema.get_field_index("row")
        later = pc.add(table["row"], self._lines)
        self._lines += text.count(b"\n")
        return cast("pa.Table", table.set_column(place, "row", later))

    def _changes(self, rows: pa.Table) -> Iterator[Change]:
        for row in rows.to_pylist():
            change = Change(**{**row, "standing": Standing(row["standing"])})
            key = change.execution, change.predicate
            if self._told.get(key) is not change.standing:
                self._told[key] = change.standing
                yield change

    def _is_settled(self, execution: str) -> bool:
        return all(self._told.get((execution, name)) is Standing.VIOLATED for name in self.plan.names)


def _names(rows: pa.Table) -> set[str]:
    """The executions of some rows."""
    return set(cast("list[str]", rows["execution"].to_pylist()))


def _is_in(names: set[str], rows: pa.Table) -> Any:
    """Which rows are of some executions."""
    return pc.is_in(rows["execution"], value_set=arrow.array(sorted(names), arrow.string()))


def watch(
    stream: BinaryIO, question: Question, tell: Callable[[Sequence[Change]], None], every: float
) -> tuple[Report, tuple[Notice, ...]]:
    """Judge lines as they come, at most once in `every` seconds, and `tell` what changes; at the end of the stream, the
    report of `precedes verify` on all of them. PrecedesError as there.
    """
    plan = question.plan()
    options = replace(question.options(), attributes=plan.attributes, parted=plan.parted)
    executions = OpenExecutions(plan, options)
    with tempfile.TemporaryFile() as all_lines:

        def judged(text: bytes) -> None:
            all_lines.write(text)
            if changes := executions.add(text):
                tell(changes)

        def report() -> tuple[Report, tuple[Notice, ...]]:
            all_lines.seek(0)
            with _standard_input(all_lines):
                return verify(replace(question, traces=(STANDARD_INPUT,)), lambda _executions, _events: None)

        try:
            for text in _lines_of(stream, every):
                judged(text)
        except PrecedesError:
            # It names the rows as they stand in the whole.
            report()
            raise
        return report()


def _lines_of(stream: BinaryIO, every: float) -> Iterator[bytes]:
    """The bytes of a stream in pieces of whole lines: the first at once, then one in `every` seconds, more seldom if
    the reader takes long.
    """
    came: Queue[bytes] = Queue()
    Thread(target=_read, args=(stream, came), daemon=True).start()
    text, pause, last = b"", every, 0.0
    ended = False
    while not ended:
        block = came.get()
        while block:
            text += block
            left = last + pause - time.monotonic()
            if left <= 0 and b"\n" in text:
                break
            try:
                block = came.get(timeout=left if left > 0 else None)
            except Empty:
                break
        ended = not block
        end = len(text) if ended else text.rfind(b"\n") + 1
        if end:
            begun = time.monotonic()
            yield text[:end]
            last = time.monotonic()
            text, pause = text[end:], max(every, REST * (last - begun))


def _read(stream: BinaryIO, into: Queue[bytes]) -> None:
    """Put blocks as they come, and an empty one at the end."""
    while block := os.read(stream.fileno(), BLOCK):
        into.put(block)
    into.put(b"")


@contextmanager
def _standard_input(lines: Any) -> Iterator[None]:
    """Standard input is a file within."""
    before, sys.stdin = sys.stdin, io.TextIOWrapper(lines)
    try:
        yield
    finally:
        sys.stdin.detach()
        sys.stdin = before
