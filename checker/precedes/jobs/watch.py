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
from threading import TIMEOUT_MAX, Thread
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa

from precedes.core.diagnostics import PrecedesError
from precedes.engines.scan.partials import Report
from precedes.engines.scan.standings import Standing, standings
from precedes.jobs.verify import Question, verify
from precedes.language.quoting import shown
from precedes.logic.plan import Plan
from precedes.traces import Notice, Notices, TraceOptions, batches_of
from precedes.traces.arrow import arrow, pc
from precedes.traces.formats.registry import JSON_LINES
from precedes.traces.problems import unreadable
from precedes.traces.reader import read_table
from precedes.traces.schema import schema_of
from precedes.traces.sources import STANDARD_INPUT, TraceSource

BLOCK: Final = 1 << 20
"""Bytes that are read at a time, at most."""

_STANDARD_INPUT: Final = "<stdin>"
"""How messages call it."""

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
    its rows are given up, but for the places of its events.
    """

    plan: Plan
    options: TraceOptions
    _rows: list[pa.Table] = field(default_factory=list)
    _told: dict[tuple[str, str], Standing] = field(default_factory=dict)
    _violating: set[str] = field(default_factory=set)
    _settled: set[str] = field(default_factory=set)
    _given_up: list[pa.Table] = field(default_factory=list)
    _lines: int = 0

    def add(self, text: bytes) -> list[Change]:
        """Take in whole lines; what changes by them. PrecedesError for what cannot be read, and for a row by which
        something that was told for good may not be so (T029).
        """
        came = self._read(text)
        self._refuse_late(came)
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
        self._rows = [rows]
        if settled:
            given_up = _is_in(settled, rows)
            self._given_up.append(_first_places(rows.filter(given_up)))
            self._rows = [rows.filter(pc.invert(given_up))]
        return changes

    def _refuse_late(self, came: pa.Table) -> None:
        """Raise PrecedesError (T029) for a row that stands before all those of its event that were judged, where
        something was told for good. A completion has no such row: the first delivery of a message that was recorded is
        the first.
        """
        told = _names(came) & self._violating
        if not told:
            return
        judged = [_first_places(rows.filter(_is_in(told, rows))) for rows in self._rows]
        judged += [places.filter(_is_in(told, places)) for places in self._given_up]
        events = _first_places(came.filter(_is_in(told, came)))
        both = events.join(arrow.concat_tables(judged), _EVENT, join_type="inner", right_suffix="_before")
        late = both.filter(pc.less(both["seq"], both["seq_before"])).sort_by("row").to_pylist()
        if late:
            row = late[0]
            entity, about, execution = (shown(row[name]) for name in ("entity", "about", "execution"))
            before = f"the row of entity {entity} about {about} with `seq` {row['seq_before']}"
            raise unreadable(
                "T029",
                f"this row stands before {before}, by which execution {execution} was judged",
                _STANDARD_INPUT,
                "pipe the rows of an entity in their order; `precedes verify` reads them in any order",
                row["row"],
            )

    def _read(self, text: bytes) -> pa.Table:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.jsonl"
            path.write_bytes(text)
            source = TraceSource(str(path), JSON_LINES, named=_STANDARD_INPUT).asked(self.options.attributes)
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
                if change.standing is Standing.VIOLATED:
                    self._violating.add(change.execution)
                yield change

    def _is_settled(self, execution: str) -> bool:
        return all(self._told.get((execution, name)) is Standing.VIOLATED for name in self.plan.names)


_EVENT: Final = ["execution", "entity", "event", "about"]
"""What rows of one event about a message, or of one about a view, have in common."""


def _first_places(rows: pa.Table) -> pa.Table:
    """The least `seq` of each event about a message or a view, and its row."""
    rows = rows.append_column("about", pc.coalesce(rows["message"], rows["view"]))
    rows = rows.filter(pc.and_(pc.is_valid(rows["seq"]), pc.is_valid(rows["about"])))
    in_order = rows.select([*_EVENT, "seq", "row"]).sort_by("seq")
    first = in_order.group_by(_EVENT, use_threads=False).aggregate([("seq", "first"), ("row", "first")])
    return first.rename_columns([*_EVENT, "seq", "row"])


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
                block = came.get(timeout=min(left, TIMEOUT_MAX) if left > 0 else None)
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
