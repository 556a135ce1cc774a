"""Entities that can be exchanged: of states that differ only in the names of entities, one represents all.

Messages need no such reduction. A message is identified by its sender and its place among the sender's
messages, so it never has two names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import permutations
from typing import Any, Final

from precedes.core.formula import EntityNamed, Formula, MessageNamed
from precedes.core.traversal import walk
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.histories import Entry
from precedes.protocol.exploration.inboxes import put
from precedes.protocol.exploration.interned_states import Placement
from precedes.protocol.exploration.state_space import Space, State
from precedes.protocol.model import Protocol
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
    return any(isinstance(node, EntityNamed | MessageNamed) for node in walk(formula))


class Orbits:
    """What numbered things become when entities are renamed, all renamings of one of them being found at once.

    `make` renames one thing by one renaming. Of what has been renamed before, everything is known by composition.
    """

    def __init__(self, renamings: tuple[Renaming, ...], make: Callable[[int, int], int]) -> None:
        numbers = {names: number for number, names in enumerate(renamings)}
        self._composed = [
            [numbers[tuple(after[k] for k in before)] for before in renamings] for after in renamings
        ]
        self._renamings = range(len(renamings))
        self._make = make
        self._bases: dict[int, tuple[list[int], int]] = {}
        """For each thing: all renamings of the first that was seen of its orbit, and which of them it is."""

    def renamed(self, thing: int, renaming: int) -> int:
        """The number of a thing after a renaming."""
        base = self._bases.get(thing)
        if base is None:
            base = self._found(thing)
        return base[0][self._composed[renaming][base[1]]]

    def orbit(self, thing: int) -> int:
        """The same number for all renamings of a thing."""
        self.renamed(thing, 0)
        return self._bases[thing][0][0]

    def _found(self, thing: int) -> tuple[list[int], int]:
        orbit = [self._make(thing, renaming) for renaming in self._renamings]
        for renaming, number in enumerate(orbit):
            self._bases.setdefault(number, (orbit, renaming))
        return self._bases[thing]


class Symmetry:
    """Chooses the representative of a state: the least of its renamings as a tuple of numbers.

    The first entity of the least is found by itself, and with it nearly always the renaming.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.table = space.table
        entities = range(space.entities)
        self.renamings: tuple[Renaming, ...] = tuple(permutations(entities))
        self._places = [tuple(names.index(k) for k in entities) for names in self.renamings]
        self._all = Orbits(self.renamings, self._component)
        self._states = Orbits(self.renamings, self._state)
        self._logs = Orbits(self.renamings, self._log)
        self._packets = Orbits(self.renamings, self._packet)
        self._best: dict[int, tuple[int, tuple[int, ...]]] = {}
        exchanging = Exchanging(self.table.protocol, space.entities, self.renamings, self.table.called)
        exchanging.beginning()
        self.table.watch = exchanging.watch

    def representative(self, state: State) -> State:
        """The state that stands for this one and all that are renamings of it."""
        if len(state) == 2:
            return state
        best = self._best
        least = -1
        candidates: tuple[int, ...] = ()
        for component in state[:-1]:
            found = best.get(component)
            if found is None:
                found = self._first(component)
            if least < 0 or found[0] < least:
                least, candidates = found
            elif found[0] == least:
                candidates = candidates + found[1]
        if len(candidates) == 1:
            return self.renamed(state, candidates[0])
        return min([self.renamed(state, renaming) for renaming in dict.fromkeys(candidates)])

    def orbit(self, component: int) -> int:
        """The same number for all renamings of a component."""
        return self._all.orbit(component)

    def renamed(self, state: State, renaming: int) -> State:
        """A state after the entities have got other names."""
        if not renaming:
            return state
        rename = self._all.renamed
        after = [rename(state[place], renaming) for place in self._places[renaming]]
        after.append(self.space.turned(state[-1], self.renamings[renaming]))
        return tuple(after)

    def _first(self, component: int) -> tuple[int, tuple[int, ...]]:
        """The least number that a component has as the first entity, and the renamings that give it."""
        entity = self.table.placements[self.table.rows[component].placement].entity
        numbers = {
            renaming: self._all.renamed(component, renaming)
            for renaming, names in enumerate(self.renamings)
            if names[entity] == 0
        }
        least = min(numbers.values())
        found = least, tuple(renaming for renaming, number in numbers.items() if number == least)
        self._best[component] = found
        return found

    def _component(self, component: int, renaming: int) -> int:
        if not renaming:
            return component
        table, names = self.table, self.renamings[renaming]
        row = table.rows[component]
        placement = table.placements[row.placement]
        local = table.locals[row.local]
        flights = tuple(
            (names[flight[0]], self._packets.renamed(flight[1], renaming), *flight[2:])
            for flight in row.inbox
        )
        return table.component(
            table.placement(
                Placement(
                    names[placement.entity], placement.ahead, frozenset(names[k] for k in placement.cut)
                )
            ),
            row.now,
            table.local_of(
                self._states.renamed(local.state, renaming),
                local.requests,
                self._logs.renamed(local.log, renaming),
                stopped=local.stopped,
                lost=local.lost,
            ),
            put(table.network, (), flights),
        )

    def _state(self, number: int, renaming: int) -> int:
        table = self.table
        state = table.states[number]
        if state is None or not renaming:
            return number
        return table.state(renamed_state(table.protocol, state, self.renamings[renaming]))

    def _log(self, log: int, renaming: int) -> int:
        names = self.renamings[renaming]
        return self.table.log(tuple(_entry(entry, names) for entry in self.table.logs[log]))

    def _packet(self, packet: int, renaming: int) -> int:
        table = self.table
        if not renaming:
            return packet
        return table.packet(renamed_packet(table.protocol, table.packets[packet], self.renamings[renaming]))


def _entry(entry: Entry, names: Renaming) -> Entry:
    clock = entry.clock
    if clock is not None:
        moved = [0] * len(clock)
        for k, count in enumerate(clock):
            moved[names[k]] = count
        clock = tuple(moved)
    return replace(
        entry,
        message=None if entry.message is None else entry.message.renamed(names),
        clock=clock,
        members=None if entry.members is None else frozenset(names[k] for k in entry.members),
    )
