"""The matrices that the compiled tables of an exploration are made of. They grow as they are filled."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from precedes.protocol.exploration import compiled_tables as c
from precedes.protocol.exploration.distinct_rows import Code, longer

ROOM: Final = 1024
"""Rows of a matrix in the beginning."""
AT_ONCE: Final = 1 << 16
"""So much is asked for at once."""


class Matrices:
    """The matrices of the compiled tables, and how many rows of each are used by what handlers said."""

    def __init__(self, setting: list[int], entities: int, *, faulty: bool, renamings: int) -> None:
        widths = {
            "locals": c.LOCAL_FIELDS,
            "steps": c.STEP_FIELDS,
            "answers": c.ANSWER_FIELDS,
            "flights": c.FLIGHT_FIELDS,
            "cut": entities,
            "emissions": 2,
            "groups": 3,
            "sent": 0,
            "others": 0,
            "renamings": 2 * entities,
            "composed": renamings,
            "renamed_locals": renamings if renamings > 1 else 0,
            "renamed_flights": renamings if renamings > 1 else 0,
            "inboxes": 2,
            "in_flight": 0,
            "components": c.COMPONENT_FIELDS,
            "faults": 10 if faulty else 0,
            "transitions": c.TRANSITION_FIELDS,
            "renamed": renamings if renamings > 1 else 0,
            "scratch": 0,
            "offers": 5,
            "plans": 5,
            "out": entities + 1,
            "via": 2,
        }
        flat = ("sent", "others", "in_flight", "scratch")
        self.arrays = {
            name: np.zeros(ROOM if name in flat else (ROOM, width), np.int32)
            for name, width in widths.items()
        }
        self.used = dict.fromkeys(self.arrays, 0)
        self.sizes = np.zeros(c.SIZES, np.int64)
        self.sizes[c.INBOXES] = 1
        self.arrays |= {
            "setting": np.array(setting, np.int32),
            "row": np.zeros(entities + 1, np.int32),
            "asked": np.zeros((AT_ONCE, 3), np.int32),
            "inbox_slots": np.full(2 * ROOM, -1, np.int32),
            "component_slots": np.full(2 * ROOM, -1, np.int32),
        }

    def tables(self) -> c.Tables:
        """The matrices as the compiled functions take them."""
        arrays = self.arrays
        return c.Tables(
            **{name: arrays[name] for name in c.Tables._fields if name != "sizes"}, sizes=self.sizes
        )

    def add(self, name: str, values: Any) -> int:
        """Add a row. Its number."""
        number, array = self.used[name], self.arrays[name]
        if number == len(array):
            array = self.arrays[name] = longer(array, 2 * number, number)
        array[number] = values
        self.used[name] = number + 1
        return number

    def make_room(self, code: Code) -> None:
        """Double what is at least half full of what compiled functions fill."""
        filled = {
            "inboxes": c.INBOXES,
            "in_flight": c.IN_FLIGHT,
            "components": c.COMPONENTS,
            "faults": c.COMPONENTS,
            "renamed": c.COMPONENTS,
            "transitions": c.TRANSITIONS,
            "offers": c.OFFERS,
            "plans": c.PLANS,
            "out": c.OUT,
            "via": c.OUT,
        }
        grown = [name for name, size in filled.items() if 2 * self.sizes[size] >= len(self.arrays[name])]
        for name in grown or ("scratch",):
            array = self.arrays[name]
            used = int(self.sizes[filled[name]]) if name in filled else len(array)
            self.arrays[name] = longer(array, 2 * len(array), used)
        if "inboxes" in grown:
            self.arrays["inbox_slots"] = np.full(2 * len(self.arrays["inboxes"]), -1, np.int32)
            code(c.place_inboxes)(self.tables())
        if "components" in grown:
            self.arrays["component_slots"] = np.full(2 * len(self.arrays["components"]), -1, np.int32)
            code(c.place_components)(self.tables())
