"""What a tuned kernel is, and how one runs: compiled by numba where that pays, else as plain Python.

A kernel judges the executions `first` to `last` of a batch, one after another, and writes a value and the
places that show a violation for each. It is written in the subset of Python that numba compiles, so that it
runs either way; a batch is handed over by the names of the kernel's parameters. Kernels release the GIL.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.core.columns import MISSING_TIME, Batch
from precedes.core.execution import EventKind

PLAIN_EVENTS: Final = 20_000
"""Below this many events a batch is judged without numba: loading it takes longer than the work."""

PLAIN_STEPS: Final = 10 * PLAIN_EVENTS
"""And below this many events times entities, the cost of vector time."""

DEFERRED: Final = -2
"""A kernel's value for an execution that it leaves to the compiled formula."""

PLACES: Final = 4
"""The columns of what shows a violation: two local entities, two local messages, -1 where there is none."""

_LETTERS: Final = {
    "entity_offsets": "l",
    "message_offsets": "l",
    "sender": "i",
    "send_logged": "b",
    "send_position": "i",
    "send_time": "l",
    "to_all": "b",
    "destination_offsets": "l",
    "destinations": "i",
    "sent_offsets": "l",
    "sent": "i",
    "delivered_offsets": "l",
    "delivered": "i",
    "delivered_time": "l",
    "repeated": "b",
    "faulty": "b",
    "unsure_stops": "b",
    "history_doubt": "i",
    "order_doubt": "i",
    "edge_offsets": "l",
    "edge_earlier": "l",
    "event_offsets": "l",
    "event_kind": "c",
    "event_message": "i",
    "interleaved": "b",
    "delta": "n",
    "epsilon": "n",
    "delivery": "n",
    "complete": "t",
}
"""The columns that kernels read, by the letters of `machine_code`."""


_NO_EDGES: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function `f(first, last, COLUMN..., values, places)`; the helpers that it calls, callees first."""

    function: Callable[..., None]
    helpers: tuple[Callable[..., Any], ...] = field(default=())

    @property
    def defers(self) -> bool:
        """Whether it leaves some executions to the compiled formula."""
        functions = (self.function, *self.helpers)
        return any("DEFERRED" in function.__code__.co_names for function in functions)

    def run(
        self, batch: Batch, jit: bool | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The values (E) and the places (E x `PLACES`). `jit` None: by the size of the batch."""
        values = np.zeros(batch.executions, np.int32)
        places = np.full((batch.executions, PLACES), -1, np.int32)
        compiled = _large(batch) if jit is None else jit
        function = self._machine_code() if compiled else self.function
        columns = [_column(batch, name) for name in parameters(self.function)]
        if not compiled:  # Python goes through lists faster than through arrays
            columns = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
        function(0, batch.executions, *columns, values, places)
        return values, places

    def _machine_code(self) -> Callable[..., Any]:
        columns = "".join(_LETTERS[name] for name in parameters(self.function))
        return machine_code(self.function, f"v:nn{columns}IM", self.helpers)


def _large(batch: Batch) -> bool:
    events = np.diff(batch.event_offsets[batch.entity_offsets])
    steps = int((events * np.diff(batch.entity_offsets)).sum())
    return len(batch.event_kind) >= PLAIN_EVENTS or steps >= PLAIN_STEPS


@cache
def parameters(function: Callable[..., None]) -> tuple[str, ...]:
    """The columns and scalars that a kernel reads."""
    return tuple(inspect.signature(function).parameters)[2:-2]


def delivery_index(batch: Batch) -> int:
    """The number that `event_kind` has for what counts as delivery."""
    return list(EventKind).index(batch.delivery)


def _column(batch: Batch, name: str) -> Any:
    if name == "delivery":
        return delivery_index(batch)
    if name == "interleaved" and batch.interleaved is None:
        return np.ones(int(batch.entity_offsets[-1]), np.bool_)
    if name == "history_doubt" and batch.history_doubt is None:
        return np.zeros(int(batch.entity_offsets[-1]), np.int32)
    if name == "order_doubt" and batch.order_doubt is None:
        return np.zeros(batch.executions, np.int32)
    if name in ("edge_offsets", "edge_earlier"):
        return (
            _NO_EDGES if batch.clock_edges is None else getattr(batch.clock_edges, name.removeprefix("edge_"))
        )
    if name == "delta":
        return MISSING_TIME if batch.delta is None else batch.delta
    if name in ("epsilon", "complete"):
        return getattr(batch, name)
    return np.ascontiguousarray(getattr(batch, name))


@cache
def machine_code(
    function: Callable[..., Any], signature: str, helpers: tuple[Callable[..., Any], ...] = ()
) -> Callable[..., Any]:
    """The function as machine code, kept beside its source. `helpers`: the functions that it calls, callees first.

    Signatures are the letters of the result, a colon, and those of the parameters: i, l, u, b, c are arrays of
    int32, int64, uint32, booleans and int8, in capitals where they are written and perhaps read-only where not;
    M is a matrix of int32; n is a number, t a truth value and v nothing.
    """
    import numba
    from numba.core import types
    from numba.extending import register_jitable

    for helper in helpers:
        register_jitable(helper)
    numbers = {"i": types.int32, "l": types.int64, "u": types.uint32, "b": types.boolean, "c": types.int8}
    others = {"n": types.int64, "t": types.boolean, "v": types.void, "M": types.Array(types.int32, 2, "C")}

    def typed(letter: str) -> Any:
        return others.get(letter) or types.Array(numbers[letter.lower()], 1, "C", readonly=letter.islower())

    result, parameters = signature.split(":")
    wanted = others[result](*map(typed, parameters))
    try:
        compiled: Callable[..., Any] = numba.njit(wanted, nogil=True, cache=True)(function)
    except RuntimeError:
        # numba has nowhere to keep a cache: code in an archive, a home that cannot be written.
        compiled = numba.njit(wanted, nogil=True)(function)
    return compiled
