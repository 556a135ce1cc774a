"""What numbered things become when entities are renamed. An orbit has all renamings of one thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from precedes.protocol.exploration.transition_table import STATE, STATE_BITS, TransitionTable
from precedes.protocol.validation.symmetry_check import Renaming


class Renamings:
    """All renamings of the entities, each with a number. Number 0 changes nothing."""

    def __init__(self, names: tuple[Renaming, ...]) -> None:
        self.names: Final = names
        numbers = {each: number for number, each in enumerate(names)}
        self.composed: Final = [
            [numbers[tuple(after[k] for k in before)] for before in names] for after in names
        ]
        """`composed[after][before]`: two renamings as one."""
        self.inverse: Final = [row.index(0) for row in zip(*self.composed, strict=True)]

    def __len__(self) -> int:
        return len(self.names)


class Orbits:
    """Numbered things, of which all renamings of one are found at once.

    `make` renames one thing by one renaming. Of what has been renamed before, everything is known by composition.
    """

    def __init__(self, renamings: Renamings, make: Callable[[int, int], int]) -> None:
        self._renamings = renamings
        self._make = make
        self._bases: dict[int, tuple[list[int], int]] = {}
        """For each thing: all renamings of the first that was seen of its orbit, and which of them it is."""

    def renamed(self, thing: int) -> list[int]:
        """The numbers of a thing after each renaming."""
        base = self._bases.get(thing)
        if base is None:
            return self._found(thing)
        orbit, one = base
        return [orbit[after[one]] for after in self._renamings.composed] if one else orbit

    def _found(self, thing: int) -> list[int]:
        orbit = [self._make(thing, renaming) for renaming in range(len(self._renamings))]
        for renaming, number in enumerate(orbit):
            self._bases.setdefault(number, (orbit, renaming))
        return orbit


@dataclass(frozen=True, slots=True)
class Shape:
    """Which renamings of an inner state are the same.

    members  for each renaming, which member of the orbit it leads to from the first one
    ways     for each member, the first renaming that leads to it
    rows     for each member, the row of the matrix `members` that has what its renamings are
    """

    members: tuple[int, ...]
    ways: tuple[int, ...]
    rows: tuple[int, ...]


class InnerOrbits:
    """The inner states of an exploration, of which whole orbits get their numbers at once, one after the other.

    Few of the renamings of a state are ever looked at, and to make one takes as long as a call of a handler. So a
    renaming is made when it is looked at. Only those in which the entity is the last one are always made: a state is
    known if one of these is, and two renamings are the same if those of these are that they lead to. The last entity,
    because new states are mostly its own: what was found first comes first in a representative.
    """

    def __init__(
        self,
        table: TransitionTable,
        renamings: Renamings,
        placements: Orbits,
        rename: Callable[[int, int], int],
    ) -> None:
        """`rename` renames a protocol's state by a renaming that is not number 0."""
        self._table = table
        self._renamings = renamings
        self._placements = placements
        self._sites: dict[int, list[int]] = {}
        """What sites are after each renaming. There are few, and they are asked for again and again."""
        self._rename = rename
        entities = range(table.entities)
        self._home = [
            [number for number, names in enumerate(renamings.names) if names[entity] == entities[-1]]
            for entity in entities
        ]
        """For each entity, the renamings that make it the last one."""
        self._shapes: dict[tuple[int, tuple[int, ...]], Shape] = {}
        self._states: list[dict[int, int]] = [{} for _ in renamings.names]
        """For each renaming, the states that were renamed. Many inner states have the same, where time goes on."""
        self._shape_of: list[Shape] = []
        self._orbit_of: list[int] = []
        """Of every orbit its shape, and of every inner state the number of its orbit."""
        self._first: list[int] = []
        """The first inner state of each orbit, which is always made."""

    def number(self, key: int) -> tuple[int, bool]:
        """The number of an inner state that was not looked at before, and whether its orbit is new."""
        table, inners, state = self._table, self._table.inners, key & STATE
        sites = self._renamed_sites(key >> STATE_BITS)
        ways = self._home[table.entity_at(sites[0])]
        there = self._renamed(sites, state, ways[0])
        found = inners.known(there) if ways[0] else None
        if found is not None:
            number = self._after(found, self._renamings.inverse[ways[0]])
            inners.place(number, key)
            return number, False
        homes = [there, *[self._renamed(sites, state, way) for way in ways[1:]]]
        shape = self._shape(ways, tuple(map(homes.index, homes)))
        first = inners.reserve(len(shape.ways))
        self._orbit_of += [len(self._first)] * len(shape.ways)
        self._first.append(first)
        self._shape_of.append(shape)
        inners.place(first, key)
        for way, home in zip(ways, homes, strict=True):
            inners.place(first + shape.members[way], home)
        table.add_inners(state, [sites[way] for way in shape.ways])
        table.matrices.extend("renamed_inners", [number for row in shape.rows for number in (first, row)])
        return first, True

    def made(self, number: int) -> int:
        """An inner state of which only the number was known."""
        orbit, inners = self._orbit_of[number], self._table.inners
        first = self._first[orbit]
        key: int = inners.values[first]
        way = self._shape_of[orbit].ways[number - first]
        made = self._renamed(self._renamed_sites(key >> STATE_BITS), key & STATE, way)
        inners.place(number, made)
        return made

    def _after(self, number: int, renaming: int) -> int:
        """The number of an inner state after a renaming."""
        orbit = self._orbit_of[number]
        first, shape = self._first[orbit], self._shape_of[orbit]
        return first + shape.members[self._renamings.composed[renaming][shape.ways[number - first]]]

    def _renamed(self, sites: list[int], state: int, renaming: int) -> int:
        """An inner state after a renaming. `sites`: what its site is after each."""
        if renaming:
            known = self._states[renaming]
            found = known.get(state)
            if found is None:
                found = known[state] = self._rename(state, renaming)
                self._states[self._renamings.inverse[renaming]][found] = state
            state = found
        return sites[renaming] << STATE_BITS | state

    def _renamed_sites(self, site: int) -> list[int]:
        found = self._sites.get(site)
        if found is None:
            found = self._sites[site] = self._table.renamed_sites(site, self._placements.renamed)
        return found

    def _shape(self, ways: list[int], same: tuple[int, ...]) -> Shape:
        """The shape of an orbit. `ways` lead to those in which the entity is the last one, and `same` says of each of
        them which is the first that leads to the same.
        """
        shape = self._shapes.get((ways[0], same))
        if shape is None:
            composed, inverse = self._renamings.composed, self._renamings.inverse
            back = inverse[ways[0]]
            still = [composed[back][way] for way, first in zip(ways, same, strict=True) if not first]
            members = [-1] * len(self._renamings)
            found: list[int] = []
            for way in range(len(members)):
                if members[way] < 0:
                    for each in still:
                        members[composed[way][each]] = len(found)
                    found.append(way)
            shape = self._shapes[ways[0], same] = Shape(
                tuple(members),
                tuple(found),
                tuple(
                    self._table.matrices.add("members", *(members[after[way]] for after in composed))
                    for way in found
                ),
            )
        return shape
