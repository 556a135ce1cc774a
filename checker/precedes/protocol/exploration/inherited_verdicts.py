"""Formulas of which an execution need not be judged, because of what is known of the executions before and after it.

A violation that lasts is there in every state that a violating one leads to. So it is enough to judge the states that
lead to no farther one. A premise that lasts is met wherever it was met before. So how often a formula was exercised is
known without judging what comes after. Where something is found violated, or is not known, every execution is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.protocol.exploration.distinct_rows import Code, DistinctRows, longer

SAMPLE: Final = 4_000
"""So many of the states that wait are looked at, now and then, so that a violation is seen soon."""

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


class InheritedVerdicts:
    """The executions of a search breadth first, each once, and what is known of them.

    Of a state: the number of its execution. Of an execution: the first state in which it was met, whether every premise
    is known to be met in it, and whether it was judged.
    """

    def __init__(self, entities: int, code: Code, reserve: int = 0) -> None:
        """`reserve`: how many states there may be, where that is known."""
        self.seen = DistinctRows(entities, code, reserve)
        self.states = 0
        room = len(self.seen.rows)
        self._of_state, self._first = np.empty(room, np.int32), np.empty(room, np.int32)
        self._met, self._judged = np.zeros(room, np.bool_), np.zeros(room, np.bool_)

    def reached(self, logs: Int32, parents: Int32) -> tuple[Int64, int]:
        """Note new states, the histories of each, and the state from which each was found, -1 in the beginning. The new
        executions whose premises are not known to be met, and the number of those in which they are.
        """
        known = self.seen.count
        numbers, new = self.seen.numbered(logs)
        begin, self.states = self.states, self.states + len(logs)
        if self.states > len(self._of_state):
            self._of_state = longer(self._of_state, 2 * self.states, begin)
        self._of_state[begin : self.states] = numbers
        count = self.seen.count
        if count > len(self._first):
            self._first = longer(self._first, 2 * count, count - len(new))
            self._met, self._judged = (
                np.concatenate((each, np.zeros(2 * count - len(each), np.bool_)))
                for each in (self._met, self._judged)
            )
        self._first[known:count] = begin + new
        before = parents[new]
        met = (before >= 0) & self._met[self._of_state[np.maximum(before, 0)]]
        self._met[known:count] = met
        return known + np.flatnonzero(~met), int(met.sum())

    def kept(self) -> dict[str, npt.NDArray[Any]]:
        """What is known."""
        count = self.seen.count
        return {
            "seen": self.seen.rows[:count],
            "of_state": self._of_state[: self.states],
            "first": self._first[:count],
            "met": self._met[:count],
            "judged": self._judged[:count],
        }

    def take_up(self, kept: Mapping[str, npt.NDArray[Any]]) -> None:
        """Know what was known."""
        self.seen.take_up(kept["seen"])
        self.states = len(kept["of_state"])
        self._of_state, self._first = kept["of_state"], kept["first"]
        self._met, self._judged = kept["met"], kept["judged"]

    def note_met(self, executions: Int64) -> None:
        """Note executions in which every premise is met."""
        self._met[executions] = True

    def note_judged(self, executions: Int64) -> None:
        """Note executions that were judged."""
        self._judged[executions] = True

    def unjudged(self, states: Int64) -> Int64:
        """The executions of some states that were not judged, in the order in which they were met."""
        executions = np.unique(self._of_state[states]).astype(np.int64)
        return executions[~self._judged[executions]]

    def sample(self, first: int) -> Int64:
        """Executions of some of the states from this one on that were not judged."""
        return self.unjudged(np.arange(first, self.states, max(1, (self.states - first) // SAMPLE)))

    def first_states(self, executions: Int64) -> Int64:
        """The states in which executions were met first."""
        return self._first[executions].astype(np.int64)
