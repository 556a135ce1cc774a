"""Rows of small integers, each once, and found again by a hash table over the rows themselves: nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.native.compiled_functions import Int32Out, MatrixOut, machine_code
from precedes.native.prefetching import prefetch
from precedes.protocol.exploration.compiled_tables import hashed, may_be, noted

FEW: Final = 1024
"""Room for so many rows in the beginning."""
AHEAD: Final = 8
"""Rows between the one that is looked up and one whose slot is asked for."""


def row_code(rows: MatrixOut, number: int) -> int:
    """The hash of a row."""
    code = 0
    for place in range(rows.shape[1]):
        code = hashed(code, int(rows[number, place]))
    return hashed(code, 0)


def found_or_placed(rows: MatrixOut, slots: Int32Out, number: int) -> int:
    """The number of the row that equals row `number`; this one, which is then in the table, where there is none."""
    found, slot = sought(rows, slots, rows, number)
    if found < 0:
        slots[slot] = noted(row_code(rows, number), number, len(slots) - 1)
        return number
    return found


def sought(rows: MatrixOut, slots: Int32Out, others: MatrixOut, number: int) -> tuple[int, int]:
    """The number of the row that equals row `number` of others, -1 where there is none; and the slot where the search
    ended.
    """
    mask = len(slots) - 1
    code = row_code(others, number)
    slot = code & mask
    while slots[slot] >= 0:
        if may_be(int(slots[slot]), code, mask):
            found = int(slots[slot]) & mask
            same = True
            for place in range(rows.shape[1]):
                same = same and rows[found, place] == others[number, place]
            if same:
                return found, slot
        slot = (slot + 1) & mask
    return -1, slot


def place_rows(rows: MatrixOut, slots: Int32Out, count: int) -> None:
    """Write the slots of all rows anew."""
    for number in range(count):
        put_in_slot(slots, row_code(rows, number), number)


def is_roomy(slots: Int32Out, rows: int) -> bool:
    """Whether slots are enough for so many rows: three quarters of them may be taken."""
    return 4 * rows <= 3 * len(slots)


def add_rows(
    rows: MatrixOut, slots: Int32Out, count: int, more: MatrixOut, numbers: Int32Out, new: Int32Out
) -> int:
    """Add those rows that are not there yet, and write the number of each, and the places of those that are new. How
    many there are then.
    """
    known, mask = count, len(slots) - 1
    for k in range(len(more)):
        if k + AHEAD < len(more):
            prefetch(slots, row_code(more, k + AHEAD) & mask)
        for place in range(rows.shape[1]):
            rows[count, place] = more[k, place]
        numbers[k] = found_or_placed(rows, slots, count)
        if numbers[k] == count:
            new[count - known] = k
            count += 1
    return count


def put_in_slot(slots: Int32Out, code: int, number: int) -> None:
    """Let a number be found by its hash."""
    mask = len(slots) - 1
    slot = code & mask
    while slots[slot] >= 0:
        slot = (slot + 1) & mask
    slots[slot] = noted(code, number, mask)


class Code:
    """Runs functions as plain Python in the beginning, and as machine code when there is much to do: to load that takes
    longer than a small search.
    """

    def __init__(self) -> None:
        self.by_machine = False

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as it is to be run now."""
        return machine_code(function) if self.by_machine else function


class DistinctRows:
    """Rows of one width, each once, in the order in which they came.

    `reserve`: how many there may be, where that is known. What is not used of the room takes no memory, and rows that
    never move are never there twice.
    """

    def __init__(self, width: int, code: Code, reserve: int = 0) -> None:
        self.rows = np.empty((max(FEW, reserve), width), np.int32)
        self.slots = np.full(2 * FEW, -1, np.int32)
        self.count = 0
        self._code = code

    def make_room(self, more: int) -> None:
        """Have room for so many more rows, and one to compare them with."""
        needed = self.count + more + 1
        if needed > len(self.rows):
            self.rows = longer(self.rows, needed + needed // 2, self.count)
        if not is_roomy(self.slots, needed):
            # The old ones are never there beside the new ones.
            del self.slots
            self.slots = np.full(1 << (needed + needed // 2).bit_length(), -1, np.int32)
            self._code(place_rows)(self.rows, self.slots, self.count)

    def take_up(self, rows: npt.NDArray[np.int32]) -> None:
        """Have these rows, each of which is there once, instead of those that are there."""
        self.count = 0
        self.make_room(len(rows))
        self.rows[: len(rows)], self.count = rows, len(rows)
        self.slots[:] = -1
        self._code(place_rows)(self.rows, self.slots, self.count)

    def add(self, more: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
        """Add those rows that are not there yet. Their places among those given."""
        return self.numbered(more)[1]

    def numbered(self, more: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp]]:
        """Add those rows that are not there yet. The number of each row, and the places of those that were added."""
        self.make_room(len(more))
        numbers, new = np.empty((2, len(more)), np.int32)
        known = self.count
        self.count = int(self._code(add_rows)(self.rows, self.slots, known, more, numbers, new))
        return numbers, new[: self.count - known].astype(np.intp)


def longer(array: npt.NDArray[np.int32], capacity: int, used: int) -> npt.NDArray[np.int32]:
    """A copy with room for more rows. What is not used yet takes no memory."""
    copy = np.empty((capacity, *array.shape[1:]), np.int32)
    copy[:used] = array[:used]
    return copy
