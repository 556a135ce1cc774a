"""The executions of a regular row group: their integers in memory, the names and everything else read on request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.core.columns import (
    NO_ATTRIBUTES,
    NOBODY,
    Attributes,
    Batch,
    Bool,
    Int32,
    Int64,
    Names,
    offsets_of,
)
from precedes.core.execution import EVENT_CODES
from precedes.engines.columnar.execution_source import RowGroupSlice, Sort, numbers_of
from precedes.engines.columnar.fast_path.coded_rows import rows_of
from precedes.engines.columnar.fast_path.column_kernels import Filled, Starts, fill, measure
from precedes.engines.columnar.fast_path.group_attributes import Recorded, recorded_in
from precedes.engines.columnar.fast_path.group_reader import GroupReader
from precedes.engines.columnar.kernel_columns import (
    Columns,
    ColumnTable,
    column_of,
    faulty,
    no_clocks,
    no_groups,
    no_views,
)
from precedes.engines.columnar.kernels.kernel import PLAIN_EVENTS
from precedes.engines.columnar.positions import claimed_of
from precedes.logic.plan import Asked
from precedes.native.compiled_functions import machine_code
from precedes.traces import TraceOptions
from precedes.traces.layout.columnar_file import MOST_BITS, Coded, ColumnarFile, damaged

Array = npt.NDArray[Any]

NOTHING_KNOWN: Final[Mapping[Asked, Bool]] = {}

TIMES: Final = frozenset({"send_time", "delivered_time", "event_time", "made_time"})
"""The columns that are made only if somebody reads one of them."""

VIEWS: Final = frozenset(
    {
        "event_view",
        "view_offsets",
        "view_member_offsets",
        "view_members",
        "view_numbers",
        "view_of_event",
        "installed_offsets",
        "installed_views",
        "installed_again",
        "installed_unknown",
    }
)
"""The same, of views: who installs which is enough for all of these."""


@dataclass(frozen=True)
class _ViewMembers:
    """Who is in each view, of so many entities at most, from the rows that install views."""

    view: Int32
    bits: Int64
    entities: int
    row_offsets: Int64
    view_offsets: Int64

    @cached_property
    def columns(self) -> dict[str, Array]:
        """The columns of the members of views."""
        installing = np.flatnonzero(self.view != NOBODY)
        first = np.repeat(self.view_offsets[:-1], np.diff(self.row_offsets))
        bits = np.zeros(int(self.view_offsets[-1]), np.int64)
        bits[first[installing] + self.view[installing]] = self.bits[installing]
        of, entity = np.nonzero(bits[:, None] >> np.arange(self.entities) & 1)
        return {
            "view_member_offsets": offsets_of(np.bincount(of, minlength=len(bits))),
            "view_members": entity.astype(np.int32),
        }


@dataclass(frozen=True, slots=True)
class _Unmade:
    """The columns that were not made. It knows nothing of the row group: what two objects hold of each other stays in
    memory until Python looks for such circles, and here that is a whole row group.
    """

    _made: Mapping[str, Array]
    _reader: GroupReader
    _attributes: Attributes
    _members: _ViewMembers | None

    def column(self, name: str) -> Array:
        """A column that was not made: what a regular row group says of it, else it is read."""
        executions = len(self._made["message_offsets"]) - 1
        entities, messages = int(self._made["entity_offsets"][-1]), int(self._made["message_offsets"][-1])
        match name:
            case "unknown" | "order_doubt":
                return np.zeros(executions, np.int32)
            case "history_doubt":
                return np.zeros(entities, np.int32)
            case "interleaved":
                return np.ones(entities, np.bool_)
            case "unsure_stops":
                return np.zeros(entities, np.bool_)
            case "acknowledging":
                return np.zeros(executions, np.bool_)
            case (
                "to_group_offsets"
                | "to_groups"
                | "group_offsets"
                | "group_member_offsets"
                | "group_members"
                | "named_group_offsets"
                | "named_groups"
            ) if not self._reader.has(name):
                return no_groups(name, executions, messages)
            case "event_view" | "view_offsets" | "view_member_offsets" | "view_members" | "view_numbers" if (
                not self._reader.viewed
            ):
                return no_views(name, executions, len(self._made["event_kind"]))
            case "view_member_offsets" | "view_members" if self._members is not None:
                return self._members.columns[name]
            case "claimed_position":
                return claimed_of(self._attributes, messages)
            case "faulty":
                return faulty(self._made["event_offsets"], self._made["event_kind"])
            case "edge_offsets" | "edge_earlier":
                return np.zeros(0, np.int64)
            case "view_numbers" if "event_view" in self._made:
                return self._reader.view_numbers(self._made["event_view"], self._made["view_offsets"])
            case "clock_recorded" | "clock_offsets" | "clock_entities" | "clock_counts" if (
                not self._reader.clocked
            ):
                return no_clocks(name, len(self._made["event_kind"]))
            case "event_own" if not self._reader.clocked:
                return np.zeros(len(self._made["event_kind"]), np.int64)
            case _:
                column: Array = column_of(self._reader.every(), name)
                return column


class RowGroup:
    """Executions of a regular row group: a source whose `made` columns are in memory, and that reads all others."""

    def __init__(
        self,
        made: Mapping[str, Array],
        reader: GroupReader,
        options: TraceOptions,
        attributes: Attributes = NO_ATTRIBUTES,
        members: _ViewMembers | None = None,
        surely: Mapping[Asked, Bool] = NOTHING_KNOWN,
    ) -> None:
        self._surely = surely
        self._attributes = attributes
        self._made = made
        self._members = members
        self._table = ColumnTable(_Unmade(made, reader, attributes, members).column, options, dict(made))
        self._reader = reader
        self._options = options

    @property
    def executions(self) -> int:
        return len(self._made["message_offsets"]) - 1

    @property
    def complete(self) -> bool:
        return self._options.complete

    @property
    def contradictions(self) -> Mapping[int, str]:
        return {}

    @property
    def by_machine(self) -> bool:
        # LLVM is there, because the columns were made by machine code. But a kernel of which no machine code is kept
        # takes seconds to compile, and a small file is not worth that. Of a large one the screen may leave few rows of
        # each row group, and many of all together.
        return self._reader.rows >= PLAIN_EVENTS

    def as_recorded(self) -> RowGroup:
        options = replace(self._options, complete=True)
        return RowGroup(self._made, self._reader, options, self._attributes, self._members, self._surely)

    def carrying(self, recorded: Recorded, coded: Coded) -> RowGroup:
        """The same executions, whose messages and events carry what is recorded in their rows, which are `coded`."""
        attributes = recorded.attributes(coded, self._made["message_offsets"])
        return RowGroup(self._made, self._reader, self._options, attributes, self._members, self._surely)

    def satisfying(self, surely: Mapping[Asked, Bool]) -> RowGroup:
        """The same executions, of which (E) it is known where something holds."""
        return RowGroup(self._made, self._reader, self._options, self._attributes, self._members, surely)

    def surely(self, asked: Asked) -> Bool:
        known = self._surely.get(asked)
        return np.zeros(self.executions, np.bool_) if known is None else known

    @property
    def attributes(self) -> Attributes:
        return self._attributes

    def columns(self, reads: Collection[str]) -> Columns:
        return self._table.columns(reads)

    def numbers(self, sort: Sort, name: str) -> Int32:
        return numbers_of(self._reader.every(), sort, name)

    def names(self, executions: npt.NDArray[np.intp]) -> Names:
        return self._reader.names()[executions]

    def first(self, executions: npt.NDArray[np.intp], limit: int) -> list[tuple[str, int]]:
        # They are in the order of their names, which are slow to come by.
        chosen = executions[:limit]
        if not len(chosen):
            return []
        return list(zip(map(str, self.names(chosen).tolist()), chosen.tolist(), strict=True))

    def ids(self, x: int) -> tuple[Sequence[str], Sequence[str]]:
        return self._reader.ids(x)

    def whole(self, executions: Sequence[int]) -> Iterator[tuple[Batch, Mapping[int, int]]]:
        for batch, found in self._reader.whole(executions):
            yield replace(batch, complete=self.complete), found

    def evidence(self, x: int, messages: Collection[int]) -> RowGroupSlice:  # noqa: ARG002 - it is read later
        return self._reader.slice(x)


def row_group(file: ColumnarFile, number: int, options: TraceOptions, reads: Collection[str]) -> RowGroup:
    """The executions of a regular row group, of which some columns will be read.

    `options.cluster` must be empty, for it changes the numbers of entities. Raises PrecedesError for a damaged file
    (T005).
    """
    coded = file.coded(number, time=not TIMES.isdisjoint(reads), views=not VIEWS.isdisjoint(reads))
    reader = GroupReader(file, number, options, spans_of(coded), coded.message)
    group = group_of_rows(file, coded, options, reader)
    return group.carrying(recorded_in(file, number, options), coded)


def spans_of(coded: Coded) -> tuple[Int64, Int64]:
    """Where the rows of each execution begin and end."""
    starts = np.append(0, np.flatnonzero(np.diff(coded.execution)) + 1)
    return starts, np.append(starts[1:], len(coded.execution))


def group_of_rows(file: ColumnarFile, coded: Coded, options: TraceOptions, reader: GroupReader) -> RowGroup:
    """The executions of some rows of a row group, which the reader can read."""
    delivery = EVENT_CODES[options.delivery]
    rows, starts = rows_of(coded), Starts(*(np.zeros(coded.executions + 1, np.int64) for _ in range(3)))
    totals = np.zeros(3, np.int64)
    if not machine_code(measure)(rows, delivery, starts, totals):
        raise damaged(file.layout.source)
    timed = coded.time is not None
    filled = _room(starts, totals, len(coded.event), time=timed)
    firsts = machine_code(fill)(rows, starts, delivery, filled)
    if firsts < 0:
        raise damaged(file.layout.source)
    made: dict[str, Array] = {name: getattr(filled, name) for name in _FILLED}
    for name in ("delivered", "delivered_time", "repeated"):
        made[name] = made[name][:firsts]
    made |= {
        "entity_offsets": starts.entity,
        "message_offsets": starts.message,
        "event_message": coded.message,
        "event_time": rows.time,
    }
    members = None
    if coded.view is not None and coded.members is not None:
        offsets = _view_offsets(file, coded.view, starts.row)
        made |= {"event_view": coded.view, "view_offsets": offsets}
        entities = int(np.diff(starts.entity).max(initial=0))
        if entities <= MOST_BITS:
            members = _ViewMembers(coded.view, coded.members, entities, starts.row, offsets)
    made = {k: v for k, v in made.items() if timed or k not in TIMES}
    return RowGroup(made, reader, options, members=members)


def _view_offsets(file: ColumnarFile, view: Int32, row_offsets: Int64) -> Int64:
    """Where the views of each execution are among all."""
    last = np.maximum.reduceat(view, row_offsets[:-1]) if len(row_offsets) > 1 else np.zeros(0, np.int32)
    counts = last.astype(np.int64) + 1
    if (view < NOBODY).any() or (counts > np.diff(row_offsets)).any():
        raise damaged(file.layout.source)
    return offsets_of(counts)


def _room(starts: Starts, totals: Int64, events: int, *, time: bool) -> Filled:
    """Columns with so many entries, and with times or without."""
    entities, messages = int(starts.entity[-1]), int(starts.message[-1])
    sends, deliveries, destinations = totals.tolist()
    return Filled(
        sender=np.empty(messages, np.int32),
        send_logged=np.empty(messages, np.bool_),
        send_position=np.empty(messages, np.int32),
        send_time=np.empty(messages if time else 0, np.int64),
        to_all=np.zeros(messages, np.bool_),
        destination_offsets=np.empty(messages + 1, np.int64),
        destinations=np.empty(destinations, np.int32),
        sent_offsets=np.empty(entities + 1, np.int64),
        sent=np.empty(sends, np.int32),
        delivered_offsets=np.empty(entities + 1, np.int64),
        delivered=np.empty(deliveries, np.int32),
        delivered_time=np.empty(deliveries if time else 0, np.int64),
        repeated=np.zeros(deliveries, np.bool_),
        event_offsets=np.empty(entities + 1, np.int64),
        event_kind=np.empty(events, np.int8),
        send_row=np.empty(messages, np.int64),
        held=np.empty(messages, np.int64),
    )


_FILLED: Final = frozenset(Filled._fields) - {"send_row", "held"}
"""What of this is a column."""
