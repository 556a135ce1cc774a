"""The matrices that the compiled tables of an exploration are made of. They grow as they are filled."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration import search_steps
from precedes.protocol.exploration.distinct_rows import Code, is_roomy, longer

ROOM: Final = 3 << 8
"""Rows of a matrix in the beginning. Of slots there are four for three rows."""
MOST_ROWS: Final = 3 << 29
"""Rows of the largest matrix. Some of twice as many would have numbers that 32 bits cannot hold."""
AT_ONCE: Final = 1 << 16
"""So much is asked for at once."""

FLAT: Final = frozenset({"sent", "others", "logged", "events", "in_flight", "scratch"})
"""Those that are one row of numbers."""

FILLED: Final = {
    "inboxes": c.INBOXES,
    "in_flight": c.IN_FLIGHT,
    "components": c.COMPONENTS,
    "faults": c.COMPONENTS,
    "renamed": c.COMPONENTS,
    "transitions": c.TRANSITIONS,
    "courses": c.COURSES,
    "pasts": c.PASTS,
    "locals": c.LOCALS,
}
"""What compiled functions fill and a search keeps, with the size that counts its rows ..."""
SCRATCH: Final = {"offers": c.OFFERS, "plans": c.PLANS, "out": c.OUT, "via": c.OUT}
"""... and what they fill anew for each state."""

HASHED: Final[dict[str, tuple[str, int]]] = {
    "inboxes": ("inbox_slots", search_steps.INBOXES),
    "components": ("component_slots", search_steps.COMPONENTS),
    "courses": ("course_slots", search_steps.COURSES),
    "pasts": ("past_slots", search_steps.PASTS),
    "locals": ("local_slots", search_steps.LOCALS),
}
"""The matrices whose rows are found again: by which slots, and what writes these."""


class Matrices:
    """The matrices of the compiled tables, and how many rows of each are used by what handlers said."""

    def __init__(
        self, setting: list[int], entities: int, inner: list[int], *, faulty: bool, renamings: int
    ) -> None:
        """`inner`: the last numbers of every new inner state, few where there is no time, no timer and no fault."""
        is_simple = c.PENDING + len(inner) == c.FEW_INNER_FIELDS
        widths = {
            "inners": c.PENDING + len(inner),
            "steps": c.STEP_FIELDS,
            "answers": c.ANSWER_FIELDS,
            "flights": c.FLIGHT_FIELDS,
            "cut": entities,
            "emissions": 2,
            "groups": 3,
            "sent": 0,
            "others": 0,
            "additions": 3,
            "logged": 0,
            "events": 0,
            "renamings": 2 * entities,
            "composed": renamings,
            "members": renamings,
            "renamed_inners": 2,
            "renamed_flights": renamings if renamings > 1 else 0,
            "renamed_events": renamings if renamings > 1 else 0,
            "courses": c.COURSE_FIELDS,
            "pasts": c.PAST_FIELDS,
            "locals": c.LOCAL_FIELDS,
            "inboxes": 2,
            "in_flight": 0,
            "components": c.FEW_COMPONENT_FIELDS if is_simple else c.COMPONENT_FIELDS,
            "faults": 2 * c.FAULT_KINDS if faulty else 0,
            "transitions": c.TRANSITION_FIELDS,
            "renamed": renamings if renamings > 1 else 0,
            "scratch": 0,
            "offers": 5,
            "plans": 5,
            "out": entities + 1,
            "via": 2,
        }
        self.arrays = {
            name: np.zeros(ROOM if name in FLAT else (ROOM, width), np.int32)
            for name, width in widths.items()
        }
        self._written = dict.fromkeys(self.arrays, 0)
        self._put: dict[str, tuple[list[int], list[int]]] = {}
        """Rows with numbers of their own that are not in the matrices yet: the numbers, and one row after the other."""
        self._last = {"inners": inner}
        """The last numbers of every new row, where these are always the same."""
        self.full = False
        """Whether a matrix has as many rows as it can have."""
        self.sizes = np.zeros(c.SIZES, np.int64)
        self.sizes[c.INBOXES] = self.sizes[c.COURSES] = 1
        self._new: dict[str, list[int]] = {name: [] for name in widths}
        self._wide = {
            name: 1 if name in FLAT else width - len(self._last.get(name, ()))
            for name, width in widths.items()
        }
        """How many numbers of a new row are added."""
        self.arrays |= {
            "setting": np.array(setting, np.int32),
            "row": np.zeros(entities + 1, np.int32),
            "asked": np.zeros((AT_ONCE, 3), np.int32),
        }
        self.arrays |= {
            slots: np.full(ROOM // 3 * 4, -1, np.int32)
            for slots in ("answer_slots", *(slots for slots, _ in HASHED.values()))
        }

    def tables(self) -> c.Tables:
        """The matrices as the compiled functions take them."""
        self.write()
        arrays = self.arrays
        return c.Tables(
            **{name: arrays[name] for name in c.Tables._fields if name != "sizes"}, sizes=self.sizes
        )

    def run(self, code: Code, what: int, one: int = 0, other: int = 0, mode: int = 0) -> int:
        """Do what `search_steps.run` does, where that needs no states."""
        return int(code(search_steps.run)(self.tables(), search_steps.NO_STATES, what, one, other, mode))

    def count(self, name: str) -> int:
        """How many rows handlers have filled, those that are not written yet among them."""
        return self._written[name] + len(self._new[name]) // self._wide[name]

    def fresh(self, name: str) -> list[int]:
        """The rows that are not in a matrix yet, one after the other, but for their last numbers where these are always
        the same. What is added here is added to the matrix.
        """
        return self._new[name]

    def add(self, name: str, *values: int) -> int:
        """Add a row. Its number."""
        number = self.count(name)
        self._new[name] += values
        return number

    def extend(self, name: str, values: list[int]) -> None:
        """Add rows, one after the other."""
        self._new[name] += values

    def place_answers(self, code: Code, first: int) -> None:
        """Let answers be found, from this one on."""
        last = self.count("answers")
        if not is_roomy(self.arrays["answer_slots"], last):
            self.arrays["answer_slots"], first = np.full(2 << last.bit_length(), -1, np.int32), 0
        if last > first:
            self.run(code, search_steps.ANSWERS, first, last)

    def put(self, name: str, number: int, row: list[int]) -> None:
        """Write a row that has a number of its own."""
        numbers, rows = self._put.setdefault(name, ([], []))
        numbers.append(number)
        rows += row

    def write(self) -> None:
        """Write what was added into the matrices."""
        for name, (numbers, values) in self._put.items():
            array, most = self.arrays[name], max(numbers)
            if most >= len(array):
                array = self.arrays[name] = longer(array, 2 * (most + 1), len(array))
            array[numbers] = np.array(values, np.int32).reshape(len(numbers), -1)
        self._put.clear()
        for name, new in self._new.items():
            if new:
                array, used = self.arrays[name], self.count(name)
                if used > len(array):
                    capacity = 1 << (used - 1).bit_length()
                    array = self.arrays[name] = longer(array, capacity, self._written[name])
                last, width = self._last.get(name, []), self._wide[name]
                added = array[self._written[name] : used].reshape(-1, width + len(last))
                added[:, :width] = np.array(new, np.int32).reshape(-1, width)
                added[:, width:] = last
                self._written[name] = used
                new.clear()

    def make_room(self, code: Code) -> None:
        """Double what is at least half full of what compiled functions fill. `full` where that would be too large.

        MemoryError where more room is wanted even so.
        """
        if self.full:
            raise MemoryError(f"a table of the search has more than {MOST_ROWS:,} rows")
        filled = FILLED | SCRATCH
        grown = [name for name, size in filled.items() if 2 * self.sizes[size] >= len(self.arrays[name])]
        if any(2 * len(self.arrays[name]) > MOST_ROWS for name in grown):
            self.full = True
            return
        for name in grown or ("scratch",):
            array = self.arrays[name]
            used = int(self.sizes[filled[name]]) if name in filled else len(array)
            self.arrays[name] = longer(array, 2 * len(array), used)
        self._place(code, grown)

    def _place(self, code: Code, names: Collection[str]) -> None:
        """Write the slots of matrices anew."""
        for name in HASHED.keys() & names:
            slots, place = HASHED[name]
            # The old ones are never there beside the new ones.
            del self.arrays[slots]
            self.arrays[slots] = np.full(len(self.arrays[name]) // 3 * 4, -1, np.int32)
            self.run(code, place)

    # ---- a search that is kept ----

    def said(self) -> str:
        """A digest of what handlers said, in numbers."""
        self.write()
        digest = hashlib.sha256()
        for name in sorted(self._new.keys() - FILLED.keys() - SCRATCH.keys() - {"scratch"}):
            digest.update(self.arrays[name][: self._written[name]].tobytes())
        return digest.hexdigest()

    def kept(self) -> dict[str, npt.NDArray[Any]]:
        """What compiled functions found."""
        filled = {name: self.arrays[name][: int(self.sizes[size])] for name, size in FILLED.items()}
        return {"sizes": self.sizes, **filled}

    def take_up(self, code: Code, kept: Mapping[str, npt.NDArray[Any]]) -> None:
        """Have what compiled functions found when a search was kept."""
        self.sizes[:] = kept["sizes"]
        self.sizes[[c.ASKED, c.BLOCKED, *SCRATCH.values()]] = 0
        for name in FILLED:
            array = kept[name]
            capacity = max(ROOM, 3 << (len(array) // 2).bit_length())
            self.arrays[name] = longer(array, capacity, len(array))
        self._place(code, FILLED.keys())
