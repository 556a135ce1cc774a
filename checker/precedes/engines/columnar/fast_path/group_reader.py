"""Whole batches of chosen executions of a row group of a columnar file, and their names, read when they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from precedes.core.columns import NOBODY, NOT_RECORDED, Batch, Int32, Int64, Names
from precedes.core.execution import ACKNOWLEDGEMENT_CODES, UNKNOWN_NAME, view_number
from precedes.core.transposition import execution_of
from precedes.engines.columnar.execution_source import Excerpt, RowGroupSlice, excerpts_of
from precedes.traces import Notices, TraceOptions, assemble
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.layout.columnar_file import ColumnarFile, damaged
from precedes.traces.options import GroupMembers
from precedes.traces.schema import TO_GROUP
from precedes.traces.stated_groups import united

LARGE: Final = 20_000
"""Rows above which an execution is read alone, and cut to the messages in question before it is assembled."""

HUGE: Final = 1_000_000
"""Rows above which a row group is read column by column where only some of its rows are needed."""


class GroupReader:
    """Reads executions of a row group, by a file handle of its own.

    The rows of execution x are `starts[x]:stops[x]` of the row group; `messages` are the numbers of all rows of the
    group, where these are at hand.
    """

    def __init__(
        self,
        file: ColumnarFile,
        number: int,
        options: TraceOptions,
        spans: tuple[Int64, Int64],
        messages: Int32 | None = None,
    ) -> None:
        self._file = file.again
        self._source = file.layout.source
        self._number = number
        self._options = options
        self._starts, self._stops = spans
        self._messages = messages
        self._rows: pa.Table | None = None
        self._ids: pa.Table | None = None
        self._executions: Names | None = None
        self._all: Batch | None = None
        group = file.layout.groups[number]
        self.rows = group.rows
        self.clocked = group.clocked
        self.viewed = group.viewed
        self._stated = group.grouped
        self._to_groups = group.to_groups

    def has(self, name: str) -> bool:
        """Whether there is anything in a column of groups."""
        if name.startswith("to_"):
            return self._to_groups
        return self._stated or self._to_groups or bool(self._options.groups)

    def every(self) -> Batch:
        """All executions."""
        if self._all is None:
            self._all = self._together(range(len(self._starts)))
        return self._all

    def whole(self, executions: Sequence[int]) -> Iterator[tuple[Batch, Mapping[int, int]]]:
        """Some executions in batches, as of a source: the small ones together, each large one alone."""
        small = [x for x in executions if not self._large(x)]
        if small:
            # Executions of a row group are in the order of their names, and so they are in a batch.
            yield self._together(small), {x: k for k, x in enumerate(small)}
        for x in executions:
            if self._large(x):
                yield self._together([x]), {x: 0}

    def excerpts(
        self, wanted: Mapping[int, Sequence[Collection[int]]]
    ) -> Iterator[tuple[int, list[Excerpt]]]:
        """The excerpts of executions for some messages each, in any order of the executions."""
        # Whether a clock counts its event is seen from all events.
        apart = [] if self.clocked else [x for x in sorted(wanted) if self._large(x)]
        for batch, found in self.whole([x for x in sorted(wanted) if x not in apart]):
            for x, there in found.items():
                self._check(batch, there, max((m for part in wanted[x] for m in part), default=NOBODY))
                yield x, excerpts_of(batch, there, wanted[x])
        for x in apart:
            yield x, self._cuts(x, wanted[x])

    def slice(self, x: int) -> RowGroupSlice:
        """Where execution x is."""
        return RowGroupSlice(self._source.path, self._number, *self._span(x))

    def ids(self, x: int) -> tuple[Sequence[str], Sequence[str]]:
        """The names of the entities and of the messages of execution x."""
        if self._ids is None:
            self._ids = self._read(
                lambda file: file.names(self._number, ["entity", "message", "dest", "sender"])
            )
        start, stop = self._span(x)
        part = self._ids.slice(start, stop - start)
        messages = set(_distinct(part["message"]))
        return _entities(part.column), sorted(messages - {None})

    def names(self) -> Names:
        """The names of the executions."""
        if self._executions is None:
            self._executions = self._column("execution").take(arrow.array(self._starts)).to_numpy()
        return self._executions

    def view_numbers(self, view: Int32, offsets: Int64) -> Int64:
        """The numbers that the ids of views are, `NOT_RECORDED` where one is none.

        `view` has the local view that each row installs, `offsets` where those of each execution are among all.
        """
        installing = np.flatnonzero(view != NOBODY)
        rows = places(self._starts, self._stops)[installing]
        execution = np.repeat(np.arange(len(self._starts)), self._stops - self._starts)[installing]
        of_rows = self._read(lambda file: file.view_ids(self._number))
        numbers = np.full(int(offsets[-1]), NOT_RECORDED, np.int64)
        numbers[offsets[execution] + view[installing]] = numbers_of_views(of_rows)[rows]
        return numbers

    def _together(self, executions: Sequence[int]) -> Batch:
        chosen = np.asarray(executions, np.int64)
        return self._assembled(places(self._starts[chosen], self._stops[chosen]), self._options)

    def _cuts(self, x: int, parts: Sequence[Collection[int]]) -> list[Excerpt]:
        """The excerpts of a large execution, of which only the rows of these messages are assembled."""
        start, stop = self._span(x)
        if self._messages is None:
            self._messages = self._column("message_number").to_numpy()
        numbers = self._messages[start:stop]
        kept = sorted({m for part in parts for m in part})
        chosen = np.flatnonzero((numbers == NOBODY) | np.isin(numbers, kept)) + start
        if not len(chosen) or pc.index(self._part("entity", x), UNKNOWN_NAME).as_py() >= 0:
            # An entity that is called `?` may have no row in the cut: then senders of that name would be unknown.
            return excerpts_of(self._together([x]), 0, parts)
        whole = replace(self._options, cluster=self._cluster(x), groups=self._groups(x))
        assembled = self._assembled(chosen, whole)
        self._check(assembled, 0, len(kept) - 1)
        kinds = self._column("event_number").to_numpy()[start:stop]
        cut = replace(assembled, acknowledging=np.array([np.isin(kinds, ACKNOWLEDGEMENT_CODES).any()]))
        return [Excerpt(execution_of(cut, 0, [kept.index(m) for m in part]), None) for part in parts]

    def _check(self, batch: Batch, x: int, last: int) -> None:
        """Raise PrecedesError (T005) if an execution has no message `last`: its names and its numbers disagree."""
        if last >= batch.message_offsets[x + 1] - batch.message_offsets[x]:
            raise damaged(self._source)

    def _span(self, x: int) -> tuple[int, int]:
        return int(self._starts[x]), int(self._stops[x])

    def _large(self, x: int) -> bool:
        start, stop = self._span(x)
        return stop - start > LARGE

    def _cluster(self, x: int) -> tuple[str, ...]:
        """The names of the entities of execution x, read column by column."""
        return tuple(_entities(lambda name: self._part(name, x)))

    def _part(self, name: str, x: int) -> Column:
        """A column of execution x."""
        start, stop = self._span(x)
        return self._column(name).slice(start, stop - start)

    def _groups(self, x: int) -> GroupMembers:
        """The groups of execution x, read column by column."""
        if not self._stated:
            return self._options.groups
        start, stop = self._span(x)
        rows = self._read(lambda file: file.names(self._number, ["entity", "group"])).slice(
            start, stop - start
        )
        stated = rows.filter(pc.is_valid(rows["group"]))
        # All rows of an entity in a regular row group state the same.
        codes = stated["entity"].combine_chunks().dictionary_encode().indices.to_numpy()
        first = np.unique(codes, return_index=True)[1]
        members = [
            ((group, (row["entity"],)),)
            for row in stated.take(arrow.array(first)).to_pylist()
            for group in row["group"]
        ]
        return united(self._options.groups, *members)

    def _assembled(self, chosen: Int64, options: TraceOptions) -> Batch:
        unheard = Notices()

        def canonical(file: ColumnarFile) -> pa.Table:
            if file.layout.groups[self._number].rows > HUGE:
                return file.canonical(self._number, file.rows(self._number, chosen), unheard, chosen)
            if self._rows is None:
                self._rows = file.rows(self._number)
            return file.canonical(self._number, self._rows.take(arrow.array(chosen)), unheard, chosen)

        return assemble(self._read(canonical), options, unheard)

    def _column(self, name: str) -> Column:
        return self._read(lambda file: file.names(self._number, [name]))[name]

    def _read(self, read: Callable[[ColumnarFile], pa.Table]) -> pa.Table:
        file = self._file()
        try:
            return read(file)
        finally:
            file.close()


def numbers_of_views(ids: Column) -> Int64:
    """The number that each id of a view is, `NOT_RECORDED` where there is none. Ids have a dictionary."""
    known = [
        NOT_RECORDED if number is None else number for number in map(view_number, ids.dictionary.to_pylist())
    ]
    lookup = np.array([*known, NOT_RECORDED], np.int64)
    numbers: Int64 = lookup[ids.indices.fill_null(arrow.scalar(-1, ids.indices.type)).to_numpy()]
    return numbers


def places(starts: Int64, stops: Int64) -> Int64:
    """The numbers of some stretches of rows, one after the other."""
    lengths = stops - starts
    before = np.cumsum(lengths) - lengths
    numbers: Int64 = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return numbers


def _entities(column: Callable[[str], Column]) -> list[str]:
    """The names of the entities in the columns of an execution. `?` is one if it has rows; as a sender, it is nobody
    else.
    """
    senders = set(_distinct(column("sender"))) - {UNKNOWN_NAME}
    found = {*_distinct(column("entity")), *senders, *_named(column("dest"))}
    return sorted(found - {None})


def _named(dest: Column) -> list[Any]:
    """The entities that destinations name."""
    return [
        name
        for name in _distinct(pc.list_flatten(dest))
        if name is not None and not name.startswith(TO_GROUP)
    ]


def _distinct(column: Column) -> list[Any]:
    """The values of a column; what is short is made distinct by who asks."""
    values: list[Any] = (column.unique() if len(column) > LARGE else column).to_pylist()
    return values
