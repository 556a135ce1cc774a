"""The columns of a batch as machine code takes them: one tuple, whose annotations are also its types.

See `precedes.core.columns.Batch` for what is in them. A kernel and a generated function name what they read; what they
do not read is empty, for some columns are found only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt

from precedes.core.clock_order import Clocks
from precedes.core.columns import MISSING_TIME, Batch, own_if_counted
from precedes.core.execution import EVENT_CODES
from precedes.engines.columnar.native import element_type, names_used, read_only

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Int8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]


class Columns(NamedTuple):
    """What machine code can read of a batch.

    edge_offsets, edge_earlier  which events recorded clocks put before each event, beyond its rows; without events
    where they put none
    event_own                   the count that an event's own clock has for it, 0 where the clock does not count it
    delta                       `MISSING_TIME` where none is given
    delivery                    the number in `event_kind` of what counts as delivery
    """

    entity_offsets: Int64
    message_offsets: Int64
    unknown: Int32
    order_doubt: Int32
    sender: Int32
    send_logged: Bool
    send_position: Int32
    send_time: Int64
    to_all: Bool
    destination_offsets: Int64
    destinations: Int32
    sent_offsets: Int64
    sent: Int32
    delivered_offsets: Int64
    delivered: Int32
    delivered_time: Int64
    repeated: Bool
    interleaved: Bool
    history_doubt: Int32
    faulty: Bool
    unsure_stops: Bool
    event_offsets: Int64
    event_kind: Int8
    event_message: Int32
    event_time: Int64
    event_own: Int64
    edge_offsets: Int64
    edge_earlier: Int64
    clock_recorded: Bool
    clock_offsets: Int64
    clock_entities: Int32
    clock_counts: Int64
    delta: int
    epsilon: int
    delivery: int
    complete: bool


NUMBERS: Final = frozenset({"delta", "epsilon", "delivery", "complete"})
"""What there is once for a batch."""

ALWAYS: Final = frozenset({"entity_offsets", "message_offsets"})
"""What everything reads."""


def columns_of(batch: Batch, reads: Collection[str]) -> Columns:
    """The columns of a batch that are read, as arrays."""
    nothing = _nothing()
    wanted = ALWAYS.union(reads)
    found = {
        name: np.asarray(_column(batch, name), nothing[name].dtype) for name in nothing if name in wanted
    }
    return columns_from(batch, found)


def columns_from(batch: Batch, found: Mapping[str, npt.NDArray[Any]]) -> Columns:
    """Some columns, made of those of a batch, with the numbers of the batch."""
    return Columns(
        **(_nothing() | {name: read_only(column) for name, column in found.items()}),
        delta=MISSING_TIME if batch.delta is None else batch.delta,
        epsilon=batch.epsilon,
        delivery=EVENT_CODES[batch.delivery],
        complete=batch.complete,
    )


def columns_read(function: Callable[..., Any]) -> frozenset[str]:
    """The columns that a function and its helpers read."""
    return names_used(function).intersection(Columns._fields) - NUMBERS


def listed(columns: Columns) -> Columns:
    """The same as lists: Python goes through these faster than through arrays."""
    lists: Any = (column.tolist() if isinstance(column, np.ndarray) else column for column in columns)
    return Columns(*lists)


@cache
def _nothing() -> dict[str, npt.NDArray[Any]]:
    """Every column without entries."""
    return {
        name: read_only(np.zeros(0, element_type(hint)))
        for name, hint in get_type_hints(Columns).items()
        if hint not in (int, bool)
    }


def _column(batch: Batch, name: str) -> Any:
    match name:
        case "interleaved" | "history_doubt":
            found = getattr(batch, name)
            fill = 1 if name == "interleaved" else 0
            return np.full(int(batch.entity_offsets[-1]), fill) if found is None else found
        case "order_doubt":
            return np.zeros(batch.executions) if batch.order_doubt is None else batch.order_doubt
        case "edge_offsets" | "edge_earlier":
            edges = batch.clock_edges
            return np.zeros(0) if edges is None else getattr(edges, name.removeprefix("edge_"))
        case "event_own":
            return own_if_counted(batch)
        case "clock_recorded" | "clock_offsets" | "clock_entities" | "clock_counts":
            clocks = batch.clocks or _no_clocks(len(batch.event_kind))
            return getattr(clocks, name.removeprefix("clock_"))
        case _:
            return getattr(batch, name)


def _no_clocks(events: int) -> Clocks:
    nothing = np.zeros(0, np.int64)
    return Clocks(
        np.zeros(events, np.bool_),
        np.zeros(events, np.bool_),
        np.zeros(events + 1, np.int64),
        nothing.astype(np.int32),
        nothing,
    )
