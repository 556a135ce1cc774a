"""Executions in the order in which they happened, and which of them violate what: since when something is violated.

An execution stands where its first recorded time is. Executions without one stand behind those, by their names, in
which numbers count as numbers: `run-9` comes before `run-10`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from precedes.core.columns import MISSING_TIME, Int64, Names
from precedes.core.verdict import FALSE
from precedes.engines.columnar.batch_scan import Scan

READ: Final = frozenset({"entity_offsets", "event_offsets", "event_time"})
"""The columns that tell where executions stand."""

_UNDATED: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """Where an execution stands among others."""

    start: int
    words: tuple[str | int, ...]
    execution: str

    @classmethod
    def of(cls, start: int, execution: str) -> Moment:
        """Where the execution of a name stands, whose first recorded time is `start` or `MISSING_TIME`."""
        # Python makes no number of thousands of digits; more than these count as further numbers.
        parts = re.split(r"([0-9]{1,18})", execution)
        words = tuple(int(part) if place % 2 else part for place, part in enumerate(parts))
        return cls(_UNDATED if start == MISSING_TIME else start, words, execution)

    @property
    def time(self) -> int | None:
        """Its first recorded time, in nanoseconds."""
        return None if self.start == _UNDATED else self.start


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """All executions of a scan (E), and which of them violate which of the names that are watched.

    names       E  as recorded
    starts      E  the first recorded time in nanoseconds, `MISSING_TIME` where there is none
    violations  of each name, the numbers of the executions that violate it, ascending
    """

    names: Names
    starts: Int64
    violations: dict[str, npt.NDArray[np.int64]] = field(repr=False)

    def moment(self, x: int) -> Moment:
        """Where execution `x` stands."""
        return Moment.of(int(self.starts[x]), str(self.names[x]))

    def first(self, some: npt.NDArray[np.int64]) -> int | None:
        """The number of the first of some executions."""
        if not len(some):
            return None
        starts = self._keys(some)
        # Only those with the earliest time are compared by name; where none has a time, these are all.
        earliest: list[int] = some[starts == starts.min()].tolist()
        return min(earliest, key=self.moment)

    def before(self, x: int) -> int:
        """How many executions stand before execution `x`."""
        starts, own = self._keys(np.arange(len(self.starts))), self.moment(x)
        equal = np.flatnonzero(starts == own.start).tolist()
        return int((starts < own.start).sum()) + sum(self.moment(other) < own for other in equal)

    def _keys(self, some: npt.NDArray[np.int64]) -> Int64:
        starts = self.starts[some]
        keys: Int64 = np.where(starts == MISSING_TIME, _UNDATED, starts)
        return keys


def timeline_of(result: Scan, watched: Sequence[str]) -> Timeline:
    """The executions of a scan."""
    source = result.source
    columns = source.columns(READ)
    bounds = columns.event_offsets[columns.entity_offsets]
    times = np.where(columns.event_time == MISSING_TIME, _UNDATED, columns.event_time)
    starts = np.full(source.executions, _UNDATED, np.int64)
    some = np.flatnonzero(np.diff(bounds) > 0)
    if len(some):
        # Between those that have events, there is none.
        starts[some] = np.minimum.reduceat(times, bounds[some])
    return Timeline(
        source.names(np.arange(source.executions)),
        np.where(starts == _UNDATED, MISSING_TIME, starts),
        {name: np.flatnonzero(result.values[:, result.names.index(name)] == FALSE) for name in watched},
    )


def together(parts: Sequence[Timeline]) -> Timeline | None:
    """All executions of several scans; None of none."""
    if not parts:
        return None
    offsets = np.cumsum([0, *(len(part.names) for part in parts)])
    return Timeline(
        np.concatenate([part.names for part in parts]),
        np.concatenate([part.starts for part in parts]),
        {
            name: np.concatenate(
                [part.violations[name] + offset for part, offset in zip(parts, offsets, strict=False)]
            )
            for name in parts[0].violations
        },
    )
