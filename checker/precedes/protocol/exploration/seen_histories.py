"""The histories that properties see: what an entity's past tells, or, where a protocol rearranges what it received, its
RL as the state says it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration.distinct_rows import longer
from precedes.protocol.exploration.histories import Entry, with_receipts
from precedes.protocol.exploration.interned_values import Interned
from precedes.protocol.exploration.transition_table import TransitionTable

Int32 = npt.NDArray[np.int32]


class SeenHistories:
    """The histories of one exploration by their numbers; there are more of them as it goes on."""

    def __init__(self, table: TransitionTable) -> None:
        self.table = table
        self.rearranges = False
        """Whether a state was seen whose RL is not what deliveries say."""
        self._rearranged, self._entries = Interned(), Interned()
        self._courses: list[tuple[int, int]] = [(0, 0)]
        """The events of what was rearranged, as courses ..."""
        self._ends: list[int] = []
        """... and with which of them each history ends."""
        self._numbers = np.full(0, -1, np.int32)
        """Where a protocol may rearrange: the history of each local state."""

    def __getitem__(self, number: int) -> tuple[Entry, ...]:
        if self.table.may_rearrange:
            found: tuple[Entry, ...] = self._rearranged.values[number]
            return found
        return self.table.history(number)

    @property
    def entries(self) -> Sequence[Entry]:
        """The events of histories by their numbers."""
        return self._entries.values if self.table.may_rearrange else self.table.events.values

    @property
    def courses(self) -> tuple[Int32, Int32]:
        """Pasts and courses, as in `compiled_tables`, from which the histories can be read; a past for each history."""
        arrays = self.table.matrices.arrays
        if not self.table.may_rearrange:
            return arrays["pasts"], arrays["courses"]
        pasts = np.zeros((len(self._ends), c.PAST_FIELDS), np.int32)
        pasts[:, c.REST], pasts[:, c.CRASH] = self._ends, -1
        return pasts, np.array(self._courses, np.int32)

    def of(self, locals_: Int32) -> Int32:
        """The numbers of the histories of some local states."""
        if not self.table.may_rearrange:
            found: Int32 = self.table.matrices.arrays["locals"][locals_, c.PAST]
            return found
        count = int(self.table.matrices.sizes[c.LOCALS])
        if len(self._numbers) < count:
            known = len(self._numbers)
            self._numbers = longer(self._numbers, count, known)
            self._numbers[known:] = -1
        distinct = np.unique(locals_)
        for local in distinct[self._numbers[distinct] < 0].tolist():
            self._numbers[local] = self._number(local)
        return self._numbers[locals_]

    def kept(self) -> Int32:
        """The numbers of the histories of local states, where a protocol may rearrange what it received."""
        return self._numbers

    def take_up(self, numbers: Int32) -> None:
        """Give histories the numbers that they had."""
        self._numbers = numbers.copy()
        known, first = np.unique(numbers, return_index=True)
        for local in first[known >= 0].tolist():
            self._number(local)

    def _number(self, local: int) -> int:
        """The number of the history of a local state, where a protocol may rearrange what it received."""
        log = self._told(local)
        number = self._rearranged.number(log)
        if number == len(self._ends):
            course = 0
            for entry in log:
                self._courses.append((course, self._entries.number(entry)))
                course = len(self._courses) - 1
            self._ends.append(course)
        return number

    def _told(self, local: int) -> tuple[Entry, ...]:
        table = self.table
        number, past, _ = table.matrices.arrays["locals"][local].tolist()
        inner = table.inner_state(number)
        state = table.states.values[inner.state]
        receipts = None if state is None else table.protocol.receipt_log(state)
        if receipts is None:
            return table.history(past)
        self.rearranges = True
        return with_receipts(table.history(past), receipts)
