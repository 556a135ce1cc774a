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

from precedes.core.columns import offsets_of
from precedes.engines.columnar.kernel_columns import Columns, listed
from precedes.native.codes import DEFERRED
from precedes.native.compiled_functions import (
    Int32Out,
    MatrixOut,
    is_loaded,
    llvm_is_loaded,
    machine_code,
    names_used,
    read_only,
)

PLAIN_EVENTS: Final = 20_000
"""Below this many events executions are judged as plain Python: loading machine code takes longer than the work."""

PLAIN_STEPS: Final = 10 * PLAIN_EVENTS
"""And below this many events times entities, the cost of vector time."""

THERE_ALREADY: Final = 0.4
"""Below this part of both where LLVM has been loaded for something else, and only the kernel has not."""

PLACES: Final = 5
"""The columns of what shows a violation: two local entities, three local messages, -1 where there is none."""

Judge = Callable[[int, int, Columns, Int32Out, MatrixOut], None]


class Span(NamedTuple):
    """Where an execution is in the columns: its entities are `begin` to `end`, its messages `base` to `stop`."""

    begin: int
    end: int
    base: int
    stop: int


STOPS: Final = ("faulty", "unsure_stops")
"""What is read to tell correct receivers."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function `f(first, last, columns, values, places)`, and the columns that it reads.

    `correct_only`: it is asked of the receipt logs of correct entities, so those of faulty ones are given to it as
    empty. `bound`: the number that is asked for, of a definition that has one.
    """

    function: Judge
    reads: tuple[str, ...]
    correct_only: bool = False
    bound: int = 0

    @property
    def defers(self) -> bool:
        """Whether it leaves some executions to the compiled formula."""
        return self.correct_only or "DEFERRED" in names_used(self.function)

    def of_correct(self) -> Kernel:
        """The same asked of correct receivers only, as the nonuniform forms of definitions are."""
        return Kernel(self.function, (*self.reads, *STOPS), correct_only=True)

    def run(
        self, columns: Columns, jit: bool | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The values (E) and the places (E x `PLACES`). `jit` None: by how many events there are, and what is there."""
        values = np.zeros(columns.executions, np.int32)
        places = np.full((columns.executions, PLACES), -1, np.int32)
        compiled = is_loaded(self.function) or is_large(columns) if jit is None else jit
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
        asked = without_faulty_receivers(columns) if self.correct_only else columns
        asked = asked._replace(bound=self.bound)
        if compiled:
            machine_code(self.function)(*some, asked, values, places)
        else:
            self.function(*some, listed(asked), values, places)
        if self.correct_only:
            values[some[0] : some[1]][unsure_executions(columns)[some[0] : some[1]]] = DEFERRED


def without_faulty_receivers(columns: Columns) -> Columns:
    """The columns, with the receipt logs of faulty entities empty."""
    if not columns.faulty.any():
        return columns
    lengths = np.diff(columns.delivered_offsets)
    return columns._replace(
        delivered_offsets=read_only(offsets_of(np.where(columns.faulty, 0, lengths))),
        delivered=read_only(columns.delivered[np.repeat(~columns.faulty, lengths)]),
    )


def unsure_executions(columns: Columns) -> npt.NDArray[np.bool_]:
    """The executions (E) in which it is not known of some entity whether it is faulty."""
    unsure = np.flatnonzero(columns.unsure_stops)
    found = np.zeros(columns.executions, np.bool_)
    found[np.searchsorted(columns.entity_offsets, unsure, "right") - 1] = True
    return found


def is_large(columns: Columns) -> bool:
    """Whether to load a kernel's machine code for these columns, and LLVM where that is not there."""
    events = np.diff(columns.event_offsets[columns.entity_offsets])
    steps = int((events * np.diff(columns.entity_offsets)).sum())
    part = THERE_ALREADY if llvm_is_loaded() else 1.0
    return columns.events >= part * PLAIN_EVENTS or steps >= part * PLAIN_STEPS


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
