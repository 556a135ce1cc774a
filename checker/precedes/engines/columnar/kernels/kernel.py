"""What a tuned kernel is, and how one runs: compiled by numba where that pays, else as plain Python.

A kernel judges the executions `first` to `last` of some columns, one after another, and writes a value and the
places that show a violation for each. It is written in the subset of Python that numba compiles, so that it
runs either way. Kernels release the GIL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns, listed
from precedes.engines.columnar.native import Int32Out, MatrixOut, machine_code, names_used

PLAIN_EVENTS: Final = 20_000
"""Below this many events executions are judged without numba: loading it takes longer than the work."""

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
        self, columns: Columns, jit: bool | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The values (E) and the places (E x `PLACES`). `jit` None: by how many events there are."""
        values = np.zeros(columns.executions, np.int32)
        places = np.full((columns.executions, PLACES), -1, np.int32)
        compiled = is_large(columns) if jit is None else jit
        self.judge((0, columns.executions), columns, compiled, values, places)
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


def is_large(columns: Columns) -> bool:
    """Whether to load numba for these columns."""
    events = np.diff(columns.event_offsets[columns.entity_offsets])
    steps = int((events * np.diff(columns.entity_offsets)).sum())
    return columns.events >= PLAIN_EVENTS or steps >= PLAIN_STEPS


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
