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

from precedes.columns import MISSING_TIME, Batch
from precedes.execution import EventKind

PLAIN_EVENTS: Final = 20_000
"""Below this many events a batch is judged without numba: loading it takes longer than the work."""

PLAIN_STEPS: Final = 10 * PLAIN_EVENTS
"""And below this many events times entities, the cost of vector time."""

DEFERRED: Final = -2
"""A kernel's value for an execution that it leaves to the compiled formula."""

PLACES: Final = 4
"""The columns of what shows a violation: two local entities, two local messages, -1 where there is none."""

_TYPES: Final = {
    "entity_offsets": "int64",
    "message_offsets": "int64",
    "sender": "int32",
    "send_logged": "boolean",
    "send_position": "int32",
    "send_time": "int64",
    "to_all": "boolean",
    "destination_offsets": "int64",
    "destinations": "int32",
    "sent_offsets": "int64",
    "sent": "int32",
    "delivered_offsets": "int64",
    "delivered": "int32",
    "delivered_time": "int64",
    "repeated": "boolean",
    "event_offsets": "int64",
    "event_kind": "int8",
    "event_message": "int32",
    "interleaved": "boolean",
}
"""The element types of the columns that kernels read."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function `f(first, last, COLUMN..., values, places)`; the helpers that it calls, callees first."""

    function: Callable[..., None]
    helpers: tuple[Callable[..., Any], ...] = field(default=())

    @property
    def defers(self) -> bool:
        """Whether it leaves some executions to the compiled formula."""
        return "DEFERRED" in self.function.__code__.co_names

    def run(
        self, batch: Batch, jit: bool | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The values (E) and the places (E x `PLACES`). `jit` None: by the size of the batch."""
        values = np.zeros(batch.executions, np.int32)
        places = np.full((batch.executions, PLACES), -1, np.int32)
        compiled = _large(batch) if jit is None else jit
        function = _compiled(self) if compiled else self.function
        columns = [_column(batch, name) for name in parameters(self.function)]
        if not compiled:  # Python goes through lists faster than through arrays
            columns = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
        function(0, batch.executions, *columns, values, places)
        return values, places


def _large(batch: Batch) -> bool:
    events = np.diff(batch.event_offsets[batch.entity_offsets])
    steps = int((events * np.diff(batch.entity_offsets)).sum())
    return len(batch.event_kind) >= PLAIN_EVENTS or steps >= PLAIN_STEPS


def parameters(function: Callable[..., None]) -> list[str]:
    """The columns and scalars that a kernel reads."""
    return list(inspect.signature(function).parameters)[2:-2]


def delivery_index(batch: Batch) -> int:
    """The number that `event_kind` has for what counts as delivery."""
    return list(EventKind).index(batch.delivery)


def _column(batch: Batch, name: str) -> Any:
    if name == "delivery":
        return delivery_index(batch)
    if name == "interleaved" and batch.interleaved is None:
        return np.ones(int(batch.entity_offsets[-1]), np.bool_)
    if name == "delta":
        return MISSING_TIME if batch.delta is None else batch.delta
    if name in ("epsilon", "complete"):
        return getattr(batch, name)
    return np.ascontiguousarray(getattr(batch, name))


@cache
def _compiled(kernel: Kernel) -> Callable[..., None]:
    """The kernel as machine code, kept beside its source: one signature, for arrays that may be read-only."""
    import numba
    from numba.core import types
    from numba.extending import register_jitable

    for helper in kernel.helpers:
        register_jitable(helper)

    def column(name: str) -> Any:
        if name in ("delta", "epsilon", "delivery"):
            return types.int64
        if name == "complete":
            return types.boolean
        return types.Array(getattr(types, _TYPES[name]), 1, "C", readonly=True)

    signature = types.void(
        types.int64,
        types.int64,
        *(column(name) for name in parameters(kernel.function)),
        types.Array(types.int32, 1, "C"),
        types.Array(types.int32, 2, "C"),
    )
    try:
        compiled: Callable[..., None] = numba.njit(signature, nogil=True, cache=True)(kernel.function)
    except (
        RuntimeError
    ):  # numba has nowhere to keep a cache: code in an archive, a home that cannot be written
        compiled = numba.njit(signature, nogil=True)(kernel.function)
    return compiled
