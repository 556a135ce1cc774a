"""Entities that can be exchanged: of states that differ only in the names of entities, one represents all.

Messages need no such reduction. A message is identified by its sender and its place among the sender's
messages, so it never has two names.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Any, Final

import numpy as np

from precedes.core.formula import EntityNamed, Formula, GroupNamed, MessageNamed, ViewNamed
from precedes.core.traversal import walk
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.histories import Entry
from precedes.protocol.exploration.interned_values import Placement
from precedes.protocol.exploration.orbits import InnerOrbits, Orbits, Renamings
from precedes.protocol.exploration.state_space import Space
from precedes.protocol.invariants import Invariant
from precedes.protocol.model import Protocol
from precedes.protocol.validation.local_symmetry import LocalSymmetry
from precedes.protocol.validation.symmetry_check import Exchanging, Renaming, renamed_packet, renamed_state

MOST: Final = 5
"""The largest cluster whose renamings, 120, are worth trying."""


def applies(protocol: Protocol[Any], bounds: Bounds, formulas: Iterable[Formula]) -> bool:
    """Whether entities can be exchanged: in the protocol, in who is asked to send, and in what is asked."""
    return (
        protocol.symmetric
        and bounds.script is None
        and 1 < bounds.entities <= MOST
        and not any(_names_something(formula) for formula in formulas)
    )


def _names_something(formula: Formula) -> bool:
    """A view and a group are called by their members."""
    return any(
        isinstance(node, EntityNamed | MessageNamed | GroupNamed | ViewNamed) for node in walk(formula)
    )


def compared(
    protocol: Protocol[Any], entities: int, invariants: tuple[Invariant, ...]
) -> tuple[Invariant, ...]:
    """Invariants that are asked under every renaming of the entities wherever they are asked."""
    proof = LocalSymmetry(Exchanging(protocol, entities, tuple(permutations(range(entities)))))
    return tuple(proof.compared(invariant) for invariant in invariants)


class Symmetry:
    """Gives numbers to the renamings of inner states, flights and events, so that the compiled search can choose the
    representative of a state: the least of its renamings as a row of numbers.
    """

    def __init__(self, space: Space) -> None:
        self.table = table = space.table
        self.renamings = names = space.renamings
        entities = range(space.entities)
        renamings = Renamings(names)
        self._packets = Orbits(renamings, self._packet)
        self._inners = InnerOrbits(table, renamings, Orbits(renamings, self._placement), self._state)
        arrays = table.matrices.arrays
        arrays["composed"] = np.array(renamings.composed, np.int32)
        arrays["renamings"] = np.array(
            [(*each, *(each.index(k) for k in entities)) for each in names], np.int32
        )
        exchanging = Exchanging(table.protocol, space.entities, names, every=table.check_purity)
        exchanging.beginning()
        self._proof = LocalSymmetry(exchanging) if table.check_purity else None
        table.exchanging = exchanging
        table.number_inner, table.make_inner = self._number_inner, self._inners.made
        table.transmissions.rename_flight, table.rename_event = self._rename_flight, self._rename_event

    def _number_inner(self, key: int) -> int:
        number, is_new = self._inners.number(key)
        if is_new and self._proof is not None and not self.table.inner_state(number).stopped:
            self._proof.of_state(*self.table.called_in(number))
        return number

    def _rename_flight(self, number: int) -> None:
        transmissions = self.table.transmissions
        sender, packet, sent = transmissions.flight_of(number)
        if self._proof is not None:
            self._proof.of_packet(transmissions.packets.values[packet])
        packets = self._packets.renamed(packet)
        renamed = [
            transmissions.flight(names[sender], packets[renaming], sent) if renaming else number
            for renaming, names in enumerate(self.renamings)
        ]
        self.table.matrices.put("renamed_flights", number, renamed)

    def _rename_event(self, number: int) -> None:
        table = self.table
        entry = table.events.values[number]
        renamed = [
            table.event(_entry(entry, names)) if renaming else number
            for renaming, names in enumerate(self.renamings)
        ]
        table.matrices.put("renamed_events", number, renamed)

    def _placement(self, number: int, renaming: int) -> int:
        table, names = self.table, self.renamings[renaming]
        placement: Placement = table.placements.values[number]
        cut = frozenset(names[k] for k in placement.cut)
        return table.placement(Placement(names[placement.entity], placement.ahead, cut))

    def _state(self, number: int, renaming: int) -> int:
        table = self.table
        state = table.states.values[number]
        if state is None:
            return number
        return table.state(renamed_state(table.protocol, state, self.renamings[renaming]))

    def _packet(self, packet: int, renaming: int) -> int:
        transmissions = self.table.transmissions
        if not renaming:
            return packet
        value = transmissions.packets.values[packet]
        return transmissions.packet(renamed_packet(transmissions.protocol, value, self.renamings[renaming]))


def _entry(entry: Entry, names: Renaming) -> Entry:
    clock = entry.clock
    if clock is not None:
        moved = [0] * len(clock)
        for k, count in enumerate(clock):
            moved[names[k]] = count
        clock = tuple(moved)
    return Entry(
        entry.kind,
        None if entry.message is None else entry.message.renamed(names),
        entry.time,
        clock,
        None if entry.members is None else frozenset(names[k] for k in entry.members),
    )
