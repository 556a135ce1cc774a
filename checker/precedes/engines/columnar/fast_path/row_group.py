"""A laid-out row group as a batch: its integers only, the names and everything else read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.core.columns import NOBODY, Batch, Int32, Int64, Names, Place, Rows, execution_of
from precedes.core.execution import EVENT_CODES, Execution
from precedes.engines.columnar.fast_path.coded_rows import rows_of
from precedes.engines.columnar.fast_path.column_kernels import Filled, Starts, fill, measure
from precedes.engines.columnar.fast_path.group_attributes import attributes_of_group
from precedes.engines.columnar.native import machine_code
from precedes.traces import Notices, Order, TraceOptions, assemble
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.layout.columnar_file import Coded, LaidOut, damaged

Array = npt.NDArray[Any]


def batch_of_group(file: LaidOut, number: int, options: TraceOptions, *, time: bool) -> Batch:
    """The executions of a regular row group, with times where these are wanted.

    The batch has `rows`: what it leaves out is read from the file when somebody asks. `options.cluster` must be
    empty, for it changes the numbers of entities. Raises PrecedesError for a damaged file (T005).
    """
    coded = file.coded(number, time=time)
    spans = spans_of(coded)
    batch = batch_of_rows(file, coded, options, Rest(file, number, options, *spans, coded.message))
    attributes = attributes_of_group(file, number, coded, batch.message_offsets, options)
    return replace(batch, attributes=attributes)


def spans_of(coded: Coded) -> tuple[Int64, Int64]:
    """Where the rows of each execution begin and end."""
    starts = np.append(0, np.flatnonzero(np.diff(coded.execution)) + 1)
    return starts, np.append(starts[1:], len(coded.execution))


def batch_of_rows(file: LaidOut, coded: Coded, options: TraceOptions, rest: Rest) -> Batch:
    """The executions of some rows of a row group; `rest` knows the rest of them."""
    delivery = EVENT_CODES[options.delivery]
    size = coded.executions
    rows, starts = rows_of(coded), Starts(*(np.zeros(size + 1, np.int64) for _ in range(3)))
    totals = np.zeros(3, np.int64)
    if not machine_code(measure)(rows, delivery, starts, totals):
        raise damaged(file.layout.source)
    filled = _room(starts, totals, len(coded.event), time=coded.time is not None)
    firsts = machine_code(fill)(rows, starts, delivery, filled)
    if firsts < 0:
        raise damaged(file.layout.source)
    made: dict[str, Any] = {name: getattr(filled, name) for name in _FILLED}
    for name in ("delivered", "delivered_time", "repeated"):
        made[name] = made[name][:firsts]
    return Batch(
        names=rest.execution_names(),
        unknown=np.zeros(size, np.int32),
        contradictions={},
        entity_offsets=starts.entity,
        entity_names=_Unread.names(int(starts.entity[-1])),
        message_offsets=starts.message,
        message_names=_Unread.names(int(starts.message[-1])),
        **made,
        event_message=coded.message,
        event_time=rows.time,
        delta=options.delta,
        epsilon=options.epsilon,
        complete=options.complete,
        delivery=options.delivery,
        by_clocks=options.order is not Order.ROWS,
        rows=rest,
    )


def _room(starts: Starts, totals: Int64, events: int, *, time: bool) -> Filled:
    """The columns of a batch with so many entries, and with times or without."""
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
"""What of this is in a batch."""

LARGE: Final = 20_000
"""Rows above which an execution is cut to the messages in question before it is assembled."""

HUGE: Final = 1_000_000
"""Rows above which a row group is read column by column where only some of its rows are needed."""


class Rest(Rows):
    """The rows behind a batch, read when they are first asked for, by a file handle of their own.

    The rows of execution x of the batch are `starts[x]:stops[x]` of the row group; `messages` are the numbers of all
    rows of the group, where these are at hand.
    """

    def __init__(
        self,
        file: LaidOut,
        number: int,
        options: TraceOptions,
        starts: Int64,
        stops: Int64,
        messages: Int32 | None = None,
    ) -> None:
        self._file = file.again
        self._path = file.layout.source.path
        self._number = number
        self._clocked = file.layout.groups[number].clocked
        self._options = options
        self._starts = starts
        self._stops = stops
        self._messages = messages
        self._whole: pa.Table | None = None
        self._ids: pa.Table | None = None
        self._executions: Names | None = None
        self._all: Batch | None = None
        self._ahead: dict[int, tuple[Batch, int]] = {}
        self._read_before: dict[int, tuple[Batch, int]] = {}

    def one(self, x: int) -> tuple[Batch, int]:
        if x not in self._read_before:
            self._read_before = {**self._ahead, **self._together([x])}
        return self._read_before[x]

    def place(self, x: int) -> Place:
        return Place(self._path, self._number, *self._span(x))

    def ahead(self, executions: Collection[int]) -> None:
        """Read some executions together, for which `one` is asked next; large ones are left."""
        chosen = sorted(x for x in set(executions) if not self._large(x))
        self._ahead = self._together(chosen) if chosen else {}
        self._read_before = self._ahead

    def _together(self, chosen: Sequence[int]) -> dict[int, tuple[Batch, int]]:
        # Executions of a row group are in the order of their names, and so they are in a batch.
        batch = self._assembled(self._places(chosen), self._options)
        return {x: (batch, k) for k, x in enumerate(chosen)}

    def cut(self, x: int, messages: Collection[int]) -> Batch | None:
        # Whether a clock counts its event is seen from all events.
        if not self._large(x) or self._clocked:
            return None
        start, stop = self._span(x)
        if self._messages is None:
            self._messages = self._column("message_number").to_numpy()
        numbers = self._messages[start:stop]
        chosen = np.flatnonzero((numbers == NOBODY) | np.isin(numbers, list(messages))) + start
        if not len(chosen):
            return None
        return self._assembled(chosen, replace(self._options, cluster=self._cluster(x)))

    def executions(self, x: int, parts: Sequence[Collection[int]]) -> Iterator[Execution]:
        """Execution number x without other messages than some, as `execution_of` gives it, once for each part."""
        kept = sorted({m for part in parts for m in part})
        cut = self.cut(x, kept)
        for part in parts:
            if cut is None:
                yield execution_of(*self.one(x), part)
            else:
                yield execution_of(cut, 0, [kept.index(m) for m in part])

    def _span(self, x: int) -> tuple[int, int]:
        return int(self._starts[x]), int(self._stops[x])

    def _places(self, executions: Sequence[int]) -> Int64:
        chosen = np.asarray(executions)
        return places(self._starts[chosen], self._stops[chosen])

    def _large(self, x: int) -> bool:
        start, stop = self._span(x)
        return stop - start > LARGE

    def every(self) -> Batch:
        if self._all is None:
            self._all = self._assembled(self._places(range(len(self._starts))), self._options)
        return self._all

    def ids(self, x: int) -> tuple[Sequence[str], Sequence[str]]:
        if self._ids is None:
            self._ids = self._read(
                lambda file: file.names(self._number, ["entity", "message", "dest", "sender"])
            )
        start, stop = self._span(x)
        part = self._ids.slice(start, stop - start)
        named = [part["entity"], part["sender"], pc.list_flatten(part["dest"])]
        entities: set[Any] = {name for column in named for name in _distinct(column)}
        messages = set(_distinct(part["message"]))
        return sorted(entities - {None}), sorted(messages - {None})

    def _cluster(self, x: int) -> tuple[str, ...]:
        """The names of the entities of execution number x, read column by column."""
        start, stop = self._span(x)
        found: set[Any] = set()
        for name in ("entity", "sender", "dest"):
            part = self._column(name).slice(start, stop - start)
            found |= set(_distinct(pc.list_flatten(part) if name == "dest" else part))
        return tuple(sorted(found - {None}))

    def execution_names(self) -> Names:
        """The names of the executions, read when one of them is asked for."""
        return cast("Names", _Unread(len(self._starts), self._names))

    def _names(self) -> Names:
        if self._executions is None:
            self._executions = self._column("execution").take(arrow.array(self._starts)).to_numpy()
        return self._executions

    def _assembled(self, chosen: Int64, options: TraceOptions) -> Batch:
        unheard = Notices()

        def canonical(file: LaidOut) -> pa.Table:
            if file.layout.groups[self._number].rows > HUGE:
                return file.canonical(self._number, file.rows(self._number, chosen), unheard, chosen)
            if self._whole is None:
                self._whole = file.rows(self._number)
            return file.canonical(self._number, self._whole.take(arrow.array(chosen)), unheard, chosen)

        return assemble(self._read(canonical), options, unheard)

    def _column(self, name: str) -> Column:
        return self._read(lambda file: file.names(self._number, [name]))[name]

    def _read(self, read: Callable[[LaidOut], pa.Table]) -> pa.Table:
        file = self._file()
        try:
            return read(file)
        finally:
            file.close()


def places(starts: Int64, stops: Int64) -> Int64:
    """The numbers of some stretches of rows, one after the other."""
    lengths = stops - starts
    before = np.cumsum(lengths) - lengths
    numbers: Int64 = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return numbers


def _distinct(column: Column) -> list[Any]:
    """The values of a column; what is short is made distinct by who asks."""
    values: list[Any] = (column.unique() if len(column) > LARGE else column).to_pylist()
    return values


class _Unread:
    """An array of names that is read when one of them is asked for."""

    def __init__(self, size: int, read: Callable[[], Names]) -> None:
        self._size = size
        self._read = read

    @classmethod
    def names(cls, size: int) -> Names:
        """Names that are not to be asked for this way: see `Rows.ids`."""

        def refuse() -> Names:
            raise AssertionError("names of a laid-out batch are asked for by execution")

        return cast("Names", cls(size, refuse))

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, places: Any) -> Any:
        return self._read()[places]
