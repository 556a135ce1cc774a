"""What a tuned kernel is, and how one runs: compiled by numba where that pays, else as plain Python.

A kernel judges the executions `first` to `last` of a batch, one after another, and writes a value and the
places that show a violation for each. It is written in the subset of Python that numba compiles, so that it
runs either way. Kernels release the GIL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.core.columns import Batch
from precedes.engines.columnar.kernel_columns import Columns, columns_of, listed
from precedes.engines.columnar.native import Int32Out, MatrixOut, machine_code, names_used

PLAIN_EVENTS: Final = 20_000
"""Below this many events a batch is judged without numba: loading it takes longer than the work."""

PLAIN_STEPS: Final = 10 * PLAIN_EVENTS
"""And below this many events times entities, the cost of vector time."""

PLACES: Final = 4
"""The columns of what shows a violation: two local entities, two local messages, -1 where there is none."""

Judge = Callable[[int, int, Columns, Int32Out, MatrixOut], None]


class Span(NamedTuple):
    """Where an execution is in the columns: its entities are `begin` to `end`, its messages `base` to `stop`."""

    begin: int
    end: int
    base: int
    stop: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function `f(first, last, columns, values, places)`, and the columns that it reads."""

    function: Judge
    reads: tuple[str, ...]

    @property
    def defers(self) -> bool:
        """Whether it leaves some executions to the compiled formula."""
        return "DEFERRED" in names_used(self.function)

    def run(
        self, batch: Batch, jit: bool | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The values (E) and the places (E x `PLACES`). `jit` None: by the size of the batch."""
        return self.judged(columns_of(batch, self.reads), is_large(batch) if jit is None else jit)

    def judged(self, columns: Columns, compiled: bool) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The same of columns that have what it reads."""
        executions = len(columns.entity_offsets) - 1
        values = np.zeros(executions, np.int32)
        places = np.full((executions, PLACES), -1, np.int32)
        self.judge((0, executions), columns, compiled, values, places)
        return values, places

    def judge(
        self,
        some: tuple[int, int],
        columns: Columns,
        compiled: bool,
        values: npt.NDArray[np.int32],
        places: npt.NDArray[np.int32],
    ) -> None:
        """Write the same for some executions, from the first one up to the last one."""
        if compiled:
            machine_code(self.function)(*some, columns, values, places)
        else:
            self.function(*some, listed(columns), values, places)


def is_large(batch: Batch) -> bool:
    """Whether to load numba for a batch."""
    events = np.diff(batch.event_offsets[batch.entity_offsets])
    steps = int((events * np.diff(batch.entity_offsets)).sum())
    return len(batch.event_kind) >= PLAIN_EVENTS or steps >= PLAIN_STEPS


def span_of(x: int, columns: Columns) -> Span:
    """Where execution x is."""
    return Span(
        columns.entity_offsets[x],
        columns.entity_offsets[x + 1],
        columns.message_offsets[x],
        columns.message_offsets[x + 1],
    )


def most_entries(first: int, last: int, offsets: npt.NDArray[np.int64]) -> int:
    """The most entries that an item from `first` to `last` has."""
    most = 0
    for x in range(first, last):
        most = max(most, offsets[x + 1] - offsets[x])
    return most
