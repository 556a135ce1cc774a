"""A laid-out row group as a batch: its integers only, the names and everything else read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.columns import MISSING_TIME, NOBODY, Batch, Int32, Int64, Names, Rows
from precedes.engines.columnar.kernels_layout import fill, highest, measure
from precedes.traces import Notices, TraceOptions, assemble
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.layout import Coded, LaidOut, damaged
from precedes.traces.schema import EVENT_CODES

Array = npt.NDArray[Any]


def batch_of_group(file: LaidOut, number: int, options: TraceOptions, *, time: bool) -> Batch:
    """The executions of a regular row group, with times where these are wanted.

    The batch has `rows`: what it leaves out is read from the file when somebody asks. `options.cluster` must be
    empty, for it changes the numbers of entities. Raises PrecedesError for a damaged file (T005).
    """
    coded = file.coded(number, time=time)
    delivery = EVENT_CODES[options.delivery]
    size = coded.executions
    row_offsets, entity_offsets, message_offsets = (np.zeros(size + 1, np.int64) for _ in range(3))
    totals = np.zeros(3, np.int64)
    listed_offsets, listed = _listed(coded)
    named = _NOTHING if coded.sender is None else coded.sender
    times = _NO_TIME if coded.time is None else coded.time
    fits = _compiled(measure, _MEASURE)(
        size, coded.execution, coded.entity, coded.event, coded.message, coded.dest, named, listed_offsets,
        listed, delivery, row_offsets, entity_offsets, message_offsets, totals,
    )  # fmt: skip
    if not fits:
        raise damaged(file.layout.source)
    entities, messages = int(entity_offsets[-1]), int(message_offsets[-1])
    sends, deliveries, destinations = totals.tolist()
    made: dict[str, Array] = {
        "sender": np.empty(messages, np.int32),
        "send_logged": np.empty(messages, np.bool_),
        "send_position": np.empty(messages, np.int32),
        "send_time": np.empty(messages if time else 0, np.int64),
        "to_all": np.zeros(messages, np.bool_),
        "destination_offsets": np.empty(messages + 1, np.int64),
        "destinations": np.empty(destinations, np.int32),
        "sent_offsets": np.empty(entities + 1, np.int64),
        "sent": np.empty(sends, np.int32),
        "delivered_offsets": np.empty(entities + 1, np.int64),
        "delivered": np.empty(deliveries, np.int32),
        "delivered_time": np.empty(deliveries if time else 0, np.int64),
        "repeated": np.zeros(deliveries, np.bool_),
        "event_offsets": np.empty(entities + 1, np.int64),
        "event_kind": np.empty(len(coded.event), np.int8),
    }
    firsts = _compiled(fill, _FILL)(
        size, coded.entity, coded.event, coded.message, coded.dest, named, listed_offsets, listed, times,
        delivery, MISSING_TIME, row_offsets, entity_offsets, message_offsets, *made.values(),
        np.empty(messages, np.int64), np.empty(messages, np.int64),
    )  # fmt: skip
    if firsts < 0:
        raise damaged(file.layout.source)
    for name in ("delivered", "delivered_time", "repeated"):
        made[name] = made[name][:firsts]
    rest = _Rest(file, number, options, row_offsets, coded.message)
    return Batch(
        names=rest.execution_names(),
        unknown=np.zeros(size, np.int32),
        contradictions={},
        entity_offsets=entity_offsets,
        entity_names=_Unread.names(entities),
        message_offsets=message_offsets,
        message_names=_Unread.names(messages),
        **cast("dict[str, Any]", made),
        event_message=coded.message,
        event_time=times,
        delta=options.delta,
        epsilon=options.epsilon,
        complete=options.complete,
        delivery=options.delivery,
        rows=rest,
    )


LARGE: Final = 20_000
"""Rows above which an execution is cut to the messages in question before it is assembled."""

_NOTHING: Final = np.zeros(0, np.int32)
_NO_TIME: Final = np.zeros(0, np.int64)


def _listed(coded: Coded) -> tuple[Int64, Array]:
    if coded.listed is None:
        return _NO_TIME, _NOTHING
    return coded.listed.offsets, coded.listed.values.to_numpy()


class _Rest(Rows):
    """The rows behind a batch, read when they are first asked for, by a file handle of their own."""

    def __init__(
        self, file: LaidOut, number: int, options: TraceOptions, row_offsets: Int64, messages: Int32
    ) -> None:
        self._file = file.again
        self._number = number
        self._options = options
        self._offsets = row_offsets
        self._messages = messages
        self._whole: pa.Table | None = None
        self._ids: pa.Table | None = None
        self._executions: Names | None = None
        self._all: Batch | None = None
        self._read_before: dict[int, tuple[Batch, int]] = {}

    def one(self, x: int) -> tuple[Batch, int]:
        if x not in self._read_before:
            self.ahead((x,))
        return self._read_before[x]

    def ahead(self, executions: Collection[int]) -> None:
        # Executions of a row group are in the order of their names, and so they are in a batch.
        chosen = sorted(x for x in set(executions) if len(executions) == 1 or not self._large(x))
        if chosen:
            batch = self._assembled(
                np.concatenate([np.arange(*self._span(x)) for x in chosen]), self._options
            )
            self._read_before = {x: (batch, k) for k, x in enumerate(chosen)}

    def cut(self, x: int, messages: Collection[int]) -> Batch | None:
        if not self._large(x):
            return None
        start, stop = self._span(x)
        numbers = self._messages[start:stop]
        places = np.flatnonzero((numbers == NOBODY) | np.isin(numbers, list(messages))) + start
        if not len(places):
            return None
        return self._assembled(places, replace(self._options, cluster=tuple(self.ids(x)[0])))

    def _span(self, x: int) -> tuple[int, int]:
        return int(self._offsets[x]), int(self._offsets[x + 1])

    def _large(self, x: int) -> bool:
        start, stop = self._span(x)
        return stop - start > LARGE

    def every(self) -> Batch:
        if self._all is None:
            self._all = self._assembled(None, self._options)
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

    def execution_names(self) -> Names:
        """The names of the executions, read when one of them is asked for."""
        return cast("Names", _Unread(len(self._offsets) - 1, self._names))

    def _names(self) -> Names:
        if self._executions is None:
            column = self._read(lambda file: file.names(self._number, ["execution"]))["execution"]
            self._executions = column.take(arrow.array(self._offsets[:-1])).to_numpy()
        return self._executions

    def _assembled(self, places: Int64 | None, options: TraceOptions) -> Batch:
        unheard = Notices()

        def canonical(file: LaidOut) -> pa.Table:
            if self._whole is None:
                self._whole = file.rows(self._number)
            return file.canonical(self._number, self._whole, unheard, places)

        return assemble(self._read(canonical), options, unheard)

    def _read(self, read: Callable[[LaidOut], pa.Table]) -> pa.Table:
        file = self._file()
        try:
            return read(file)
        finally:
            file.close()


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


@cache
def _compiled(function: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """The function as machine code, for arrays that may be read-only where they are only read."""
    import numba
    from numba.core import types

    def column(letter: str) -> Any:
        if letter == "n":
            return types.int64
        kinds = {"i": types.int32, "l": types.int64, "b": types.boolean, "c": types.int8}
        return types.Array(kinds[letter.lower()], 1, "C", readonly=letter.islower())

    numba.extending.register_jitable(highest)
    result, arguments = signature.split(":")
    typed = {"b": types.boolean, "n": types.int64}[result](*map(column, arguments))
    try:
        compiled: Callable[..., Any] = numba.njit(typed, nogil=True, cache=True)(function)
    except RuntimeError:  # no place for a cache, as in `kernels`
        compiled = numba.njit(typed, nogil=True)(function)
    return compiled


_MEASURE: Final = "b:niiiililinLLLL"
_FILL: Final = "n:niiilililnnlllIBILBLILILILBLCLL"
"""The types of results and parameters: i, l, b, c are arrays of int32, int64, booleans and int8, in capitals where
they are written; n is a number.
"""
