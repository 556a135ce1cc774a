"""The states of a search and the steps between them, as arrays: what may recur, and what is owed in a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration.found_states import FoundStates
from precedes.protocol.exploration.recurring_steps import KINDS, NOWHERE, recurring_steps

AT_ONCE: Final = 1 << 18
"""Steps that are written in one call."""

Int32: TypeAlias = npt.NDArray[np.int32]
Int64: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StepGraph:
    """The steps of each state: those of state k are `targets` and `labels` from `starts[k]` to `starts[k + 1]`.

    Attributes:
        starts: One more than there are states.
        targets: The state after each step; `NOWHERE` where no loop comes back from there, or it was not found.
        labels: What kind of step it is, who takes it, and its cause: see `recurring_steps`.
    """

    starts: Int64
    targets: Int32
    labels: Int32

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.starts) - 1

    @property
    def sources(self) -> Int32:
        """The state before each step."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.starts))

    @property
    def kinds(self) -> Int32:
        """The kind of each step."""
        found: Int32 = self.labels % KINDS
        return found

    def steps_of(self, state: int) -> list[tuple[int, int]]:
        """The steps of a state: where each leads, and its label."""
        part = slice(int(self.starts[state]), int(self.starts[state + 1]))
        return list(zip(self.targets[part].tolist(), self.labels[part].tolist(), strict=True))


def step_graph(states: FoundStates) -> StepGraph:
    """The steps between the states that a search found. A handler is called for what the search did not come to."""
    table, count = states.table, states.count
    targets, labels = np.empty(AT_ONCE, np.int32), np.empty(AT_ONCE, np.int32)
    starts: list[Int64] = [np.zeros(1, np.int64)]
    parts: list[tuple[Int32, Int32]] = []
    first, total = 0, 0
    while first < count:
        ends = np.empty(min(count - first, AT_ONCE) + 1, np.int32)
        ends[0] = first
        table.code(recurring_steps)(table.matrices.tables(), states.rows, states.slots, targets, labels, ends)
        done = int(ends[0]) - first
        made = int(ends[done]) if done else 0
        parts.append((targets[:made].copy(), labels[:made].copy()))
        starts.append(ends[1 : done + 1].astype(np.int64) + total)
        total += made
        first += done
        if table.matrices.sizes[c.BLOCKED]:
            table.answer()
        elif not done:
            targets, labels = np.empty(2 * len(targets), np.int32), np.empty(2 * len(labels), np.int32)
    found = np.concatenate([part for part, _ in parts])
    # A search that stops at a depth forgets the states beyond it.
    found[found >= count] = NOWHERE
    return StepGraph(
        np.concatenate(starts),
        found,
        np.concatenate([part for _, part in parts]),
    )
