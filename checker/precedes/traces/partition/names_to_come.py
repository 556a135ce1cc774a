"""What is known of the executions that a trace has before its rows are read: which of them have rows to come.

Who knows that need not wait for the end of the trace: an execution is whole as soon as none of its rows is to come.
Either names ascend, but for some that stand among later ones, and it is enough to know the lowest name to come; or rows
of an execution stand together, but for some, and it is known of each where its last one may be.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from precedes.core.columns import Bool, Int64, Names
from precedes.traces.arrow import Column, arrow, pc
from precedes.traces.partition.shuffle import hashes

MOST_NAMES: Final = 1 << 22
"""Executions of which it is kept where their last rows are, 16 bytes for each."""


class Unnamed(Exception):
    """It is not known which executions rows belong to before they are read."""


@dataclass(frozen=True, slots=True)
class NamedRows:
    """So many rows that follow each other, and the names of their executions, each once, in any order."""

    rows: int
    names: Column


class NamesToCome(Protocol):
    """What is known of a trace."""

    def whole(self, names: Names, rows: int) -> Bool:
        """Which of some executions, by their names in order, have no row after the first `rows` of the trace; others
        may have some.
        """


@dataclass(frozen=True, slots=True)
class LowestNames:
    """`names[k]` is not after the name of any row from `starts[k]` on, which counts all rows of the trace from 0. Both
    ascend.
    """

    starts: Sequence[int]
    names: Sequence[str]

    def whole(self, names: Names, rows: int) -> Bool:
        """As `NamesToCome` says."""
        lowest = self.names[bisect_right(self.starts, rows) - 1]
        found: Bool = np.arange(len(names)) < bisect_left(names, lowest)
        return found


def lowest_names(parts: Iterable[NamedRows], budget: int) -> LowestNames | None:
    """The lowest names that come in a trace of these rows, one part after the other.

    None where there are no rows, and where more than `budget` rows may have to wait for later ones: then no further
    part is asked for.
    """
    starts, first = [0], []
    lasts: list[str] = []
    rows: list[int] = []
    for part in parts:
        found = pc.min_max(part.names).as_py()
        # Earlier rows whose executions may go on here, or come after what is here.
        if sum(rows[bisect_left(lasts, found["min"]) :]) > budget:
            return None
        place = bisect_right(lasts, found["max"])
        lasts.insert(place, found["max"])
        rows.insert(place, part.rows)
        first.append(found["min"])
        starts.append(starts[-1] + part.rows)
    lowest = list(accumulate(reversed(first), min))
    return LowestNames(starts[:-1], lowest[::-1]) if first else None


@dataclass(frozen=True, slots=True)
class LastPlaces:
    """After how many rows of a trace all rows of its executions have come: `ends`, by the hashes of their names, which
    ascend. Of two names with one hash it is what is true of both.
    """

    hashes: npt.NDArray[np.uint64]
    ends: Int64

    def whole(self, names: Names, rows: int) -> Bool:
        """As `NamesToCome` says."""
        found = hashes(arrow.array(names, arrow.string()))
        place = np.minimum(np.searchsorted(self.hashes, found), len(self.hashes) - 1)
        whole: Bool = (self.hashes[place] != found) | (self.ends[place] <= rows)
        return whole


def last_places(parts: Iterable[NamedRows]) -> LastPlaces | None:
    """Where the last rows of executions may be in a trace of these rows, one part after the other.

    None where there are no rows, where there are more than `MOST_NAMES`, and where most executions of a part have rows
    in the part before, too: then rows do not stand together, and no further part is asked for.
    """
    found: list[npt.NDArray[np.uint64]] = []
    rows: list[int] = []
    for part in parts:
        here = np.sort(hashes(part.names.cast(arrow.string())))
        again = found and 2 * np.isin(here, found[-1]).sum() > len(here)
        if again or sum(map(len, found)) + len(here) > MOST_NAMES:
            return None
        found.append(here)
        rows.append(part.rows)
    if not found:
        return None
    every = np.concatenate(found)
    ends = np.repeat(np.cumsum(rows), list(map(len, found)))
    order = np.argsort(every, kind="stable")
    every, ends = every[order], ends[order]
    last = np.append(every[1:] != every[:-1], True)
    return LastPlaces(every[last], ends[last])
