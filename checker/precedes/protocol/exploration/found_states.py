"""The states that a search found: rows of small integers, each with the state from which it was found first."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration import search_steps
from precedes.protocol.exploration.distinct_rows import FEW, DistinctRows, longer
from precedes.protocol.exploration.search_steps import States
from precedes.protocol.exploration.state_space import State
from precedes.protocol.exploration.transition_table import TransitionTable

CHUNK: Final = 512
"""States that are expanded at once in the beginning ..."""
MOST: Final = 1 << 14
"""... and later, as long as that takes less than `AWHILE`."""
AWHILE: Final = 0.5
"""Seconds."""
PLAIN: Final = 1_000
"""Below so many states a search runs without numba."""

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


class FoundStates:
    """The states of a search, and its steps."""

    def __init__(self, table: TransitionTable, mode: int, reserve: int = 0) -> None:
        """`reserve`: how many states there may be, where that is known."""
        self.table = table
        self._mode = mode
        self._states = DistinctRows(table.entities + 1, table.code, reserve)
        self._parents = np.empty(len(self._states.rows), np.int32)
        self._depths = np.zeros(0, np.int32)
        self._stack = np.zeros(0, np.int32)
        self._broken = np.full(0, -1, np.int32)
        self._order, self._found = np.zeros(MOST, np.int32), np.zeros(MOST, np.int32)
        self._told: set[int] = set()
        self._most = MOST
        self.waiting = 0
        self.deepest = 0

    @property
    def rows(self) -> Int32:
        """The states, one in a row; there is room for more of them."""
        return self._states.rows

    @property
    def slots(self) -> Int32:
        """Where the states are found by their hashes, as in `DistinctRows`."""
        return self._states.slots

    @property
    def count(self) -> int:
        """How many there are."""
        return self._states.count

    @property
    def transitions(self) -> int:
        """How many transitions were followed."""
        return int(self.table.matrices.sizes[c.FOLLOWED])

    @property
    def chunk(self) -> int:
        """How many states to expand at once."""
        return max(CHUNK, min(self._most, self.count // 16 // CHUNK * CHUNK))

    def state(self, number: int) -> State:
        """A state."""
        return tuple(self.rows[number].tolist())

    def way(self, number: int) -> list[int]:
        """The numbers of the states on the way to one, from the beginning."""
        way = [number]
        while self._parents[way[-1]] >= 0:
            way.append(int(self._parents[way[-1]]))
        return way[::-1]

    def add_beginning(self, state: State) -> None:
        """Add a state in which behaviors begin."""
        self._states.add(np.array([state], np.int32))
        self._make_room(0)
        self._parents[: self.count] = -1

    def parents(self, first: int, last: int) -> Int32:
        """The states from which some states were found first, -1 for beginnings."""
        return self._parents[first:last]

    def begin_layer(self) -> None:
        """Let what is found from now on be of the next layer of a search breadth first."""
        self.table.matrices.sizes[c.LAYER] = self.count

    def forget(self, count: int) -> None:
        """Keep only the first states; the search is over."""
        self._states.count = count

    def expand(self, first: int, last: int) -> tuple[Int64, Int32]:
        """Expand the states from `first` to `last`: their numbers, and what was found out about them; of fewer where
        there is no more room.
        """
        begin, started = first, time.monotonic()
        found = np.empty(last - first, np.int32)
        while first < last and not self.table.matrices.full:
            stop = self._run(search_steps.BREADTH, first, last)
            found[first - begin : stop - begin] = self._found[: stop - first]
            self._end()
            first = stop
        took = time.monotonic() - started
        self._most = min(MOST, max(CHUNK, self._most // 2 if took > AWHILE else 2 * self._most))
        return np.arange(begin, first), found[: first - begin]

    def wait(self) -> None:
        """Let all states wait to be expanded, the last one first."""
        self._depths = np.zeros(len(self.rows), np.int32)
        self._stack = np.zeros(len(self.rows), np.int32)
        self._stack[: self.count] = np.arange(self.count)
        self.waiting = self.count

    def expand_last(self, most: int) -> tuple[Int64, Int32]:
        """Expand the states that were found last, at most so many."""
        self.waiting = self._run(search_steps.DEPTH, self.waiting, most)
        count = int(self.table.matrices.sizes[c.EXPANDED])
        self._end()
        numbers = self._order[:count].astype(np.int64)
        if count:
            self.deepest = max(self.deepest, int(self._depths[numbers].max()))
        return numbers, self._found[:count].copy()

    def begin_walks(self) -> None:
        """Let walks begin where behaviors do."""
        self._order, self._found = np.zeros(CHUNK, np.int32), np.zeros(CHUNK, np.int32)
        self._beginnings = self.count
        self._stack = np.zeros(2 * search_steps.WALKS + 1, np.int32)
        self._stack[: search_steps.WALKS] = np.arange(search_steps.WALKS) % self.count

    def walk(self, farthest: int) -> tuple[Int64, Int32]:
        """Let walks make moves at random: the numbers of the states that were expanded, and what was found out."""
        self._run(search_steps.WALK, self._beginnings, farthest)
        count = int(self.table.matrices.sizes[c.EXPANDED])
        self._end()
        return self._order[:count].astype(np.int64), self._found[:count].copy()

    def kept(self) -> dict[str, npt.NDArray[Any]]:
        """The states of a search breadth first, and what steps broke."""
        return {
            "rows": self.rows[: self.count],
            "parents": self._parents[: self.count],
            "broken": self._broken,
        }

    def take_up(self, kept: Mapping[str, npt.NDArray[Any]]) -> None:
        """Have the states of a search that was kept. What steps broke has been told."""
        self._states.take_up(kept["rows"])
        self._parents = longer(kept["parents"], len(self.rows), self.count)
        self._broken = kept["broken"].copy()
        self._told = set(np.flatnonzero(self._broken >= 0).tolist())

    def broken(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """What steps broke since this was asked: the state before, and the invariants."""
        new = [step for step in np.flatnonzero(self._broken >= 0).tolist() if step not in self._told]
        self._told.update(new)
        for step in sorted(new, key=self._broken.__getitem__):
            yield int(self._broken[step]), self.table.failing[step]

    def _run(self, what: int, one: int, other: int) -> int:
        table = self.table
        table.code.by_machine = table.code.by_machine or self.count > PLAIN
        steps = len(table.matrices.arrays["steps"]) if table.of_step else 0
        if steps > len(self._broken):
            self._broken = np.concatenate((self._broken, np.full(steps - len(self._broken), -1, np.int32)))
        table.matrices.sizes[c.STATES] = self.count
        states = States(
            self._states.rows,
            self._states.slots,
            self._parents,
            self._depths,
            self._order,
            self._found,
            self._broken,
            self._stack,
        )
        tables = table.matrices.tables()
        return int(table.code(search_steps.run)(tables, states, what, one, other, self._mode))

    def _end(self) -> None:
        sizes = self.table.matrices.sizes
        self._states.count = int(sizes[c.STATES])
        if sizes[c.BLOCKED] & c.CROWDED:
            # For the successors of two states: those of one wait while the other is expanded.
            self._make_room(2 * len(self.table.matrices.arrays["out"]))
        if sizes[c.BLOCKED]:
            self.table.answer()

    def _make_room(self, more: int) -> None:
        self._states.make_room(more)
        for name in ("_parents", "_depths", "_stack"):
            array = getattr(self, name)
            if FEW <= len(array) < len(self.rows):
                setattr(self, name, longer(array, len(self.rows), len(array)))
