"""Where a scan has its executions from: a batch in memory, or a reader that has only some columns in memory.

A source answers every question about its executions, and it alone decides what is read for the answer. Nobody asks a
source what it has in memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol, Self, assert_never

import numpy as np
import numpy.typing as npt

from precedes.core.columns import Attributes, Batch, Bool, Int32, Int64, Names
from precedes.core.execution import Execution
from precedes.core.transposition import execution_of
from precedes.engines.columnar.kernel_columns import Columns, ColumnTable, column_of
from precedes.engines.columnar.kernels.kernel import PLAIN_EVENTS
from precedes.logic.plan import Asked

WHOLE_EXECUTION_LIMIT: Final = 5_000
"""Events up to which a whole execution is replayed where the messages of a witness alone do not show the violation."""

Sort = Literal["entity", "message", "group", "view"]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What shows a violation: an execution reduced to the messages of the witness, and all of it where small."""

    cut: Execution
    whole: Execution | None


@dataclass(frozen=True, slots=True)
class RowGroupSlice:
    """The rows `start` to `stop` of a row group of a columnar file, which are one execution. Picklable."""

    path: str
    group: int
    start: int
    stop: int


class ExecutionSource(Protocol):
    """Executions to be judged, by their numbers from 0."""

    @property
    def executions(self) -> int:
        """How many there are."""

    @property
    def complete(self) -> bool:
        """False: what was not recorded may yet have happened."""

    @property
    def contradictions(self) -> Mapping[int, str]:
        """Of executions whose rows contradict each other, what contradicts what."""

    @property
    def attributes(self) -> Attributes:
        """What messages carry, of what was asked for."""

    @property
    def by_machine(self) -> bool:
        """Whether machine code pays, however little is asked of it."""

    def as_recorded(self) -> Self:
        """The same executions if no row is missing."""

    def surely(self, asked: Asked) -> Bool:
        """The executions (E) of which it is known beforehand that something holds."""

    def columns(self, reads: Collection[str]) -> Columns:
        """The columns that are read, of all executions."""

    def numbers(self, sort: Sort, name: str) -> Int32:
        """Of each execution, the local number of the entity, message, group or view that has a name, or -1."""

    def names(self, executions: npt.NDArray[np.intp]) -> Names:
        """The names of some executions."""

    def first(self, executions: npt.NDArray[np.intp], limit: int) -> list[tuple[str, int]]:
        """The first `limit` of some executions by name, each with its number; these are given in ascending order."""

    def ids(self, x: int) -> tuple[Sequence[str], Sequence[str]]:
        """The names of the entities and of the messages of an execution, by their local numbers."""

    def whole(self, executions: Sequence[int]) -> Iterator[tuple[Batch, Mapping[int, int]]]:
        """Some executions, which are given in ascending order, in batches; each with the numbers that they have there.

        The local numbers of entities and messages are the same there.
        """

    def evidence(self, x: int, messages: Collection[int]) -> Excerpt | RowGroupSlice:
        """What shows a violation by some messages of an execution, or where that can be read once it is wanted."""


class BatchSource:
    """The executions of a batch."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._table = ColumnTable(lambda name: column_of(batch, name), batch)

    @property
    def executions(self) -> int:
        return self._batch.executions

    @property
    def complete(self) -> bool:
        return self._batch.complete

    @property
    def contradictions(self) -> Mapping[int, str]:
        return self._batch.contradictions

    @property
    def attributes(self) -> Attributes:
        return self._batch.attributes

    @property
    def by_machine(self) -> bool:
        return len(self._batch.event_kind) >= PLAIN_EVENTS

    def as_recorded(self) -> BatchSource:
        return BatchSource(replace(self._batch, complete=True))

    def surely(self, asked: Asked) -> Bool:  # noqa: ARG002 - nothing is known
        return np.zeros(self.executions, np.bool_)

    def columns(self, reads: Collection[str]) -> Columns:
        return self._table.columns(reads)

    def numbers(self, sort: Sort, name: str) -> Int32:
        return numbers_of(self._batch, sort, name)

    def names(self, executions: npt.NDArray[np.intp]) -> Names:
        return self._batch.names[executions]

    def first(self, executions: npt.NDArray[np.intp], limit: int) -> list[tuple[str, int]]:
        names = map(str, self._batch.names[executions].tolist())
        return heapq.nsmallest(limit, zip(names, executions.tolist(), strict=True))

    def ids(self, x: int) -> tuple[Sequence[str], Sequence[str]]:
        batch = self._batch
        return (
            batch.entity_names[batch.entity_offsets[x] : batch.entity_offsets[x + 1]].tolist(),
            batch.message_names[batch.message_offsets[x] : batch.message_offsets[x + 1]].tolist(),
        )

    def whole(self, executions: Sequence[int]) -> Iterator[tuple[Batch, Mapping[int, int]]]:
        if executions:
            yield self._batch, {x: x for x in executions}

    def evidence(self, x: int, messages: Collection[int]) -> Excerpt:
        (found,) = excerpts_of(self._batch, x, [messages])
        return found


def excerpts_of(batch: Batch, x: int, parts: Sequence[Collection[int]]) -> list[Excerpt]:
    """The excerpts of execution x of a batch for some messages each."""
    first, last = batch.entity_offsets[x], batch.entity_offsets[x + 1]
    events = int(batch.event_offsets[last] - batch.event_offsets[first])
    whole = execution_of(batch, x) if events <= WHOLE_EXECUTION_LIMIT else None
    return [Excerpt(execution_of(batch, x, messages), whole) for messages in parts]


def numbers_of(batch: Batch, sort: Sort, name: str) -> Int32:
    """Of each execution of a batch, the local number of the entity, message, group or view that has a name, or -1."""
    match sort:
        case "entity":
            return _numbered(batch.entity_names, batch.entity_offsets, name)
        case "message":
            return _numbered(batch.message_names, batch.message_offsets, name)
        case "group" | "view":
            named = batch.groups if sort == "group" else batch.views
            if named is None:
                return np.full(batch.executions, -1, np.int32)
            return _numbered(named.names, named.offsets, name)
        case _:
            assert_never(sort)


def _numbered(names: Names, offsets: Int64, wanted: str) -> Int32:
    numbers = np.full(len(offsets) - 1, -1, np.int32)
    places = np.flatnonzero(names == wanted)
    executions = np.searchsorted(offsets, places, side="right") - 1
    numbers[executions] = places - offsets[executions]
    return numbers
