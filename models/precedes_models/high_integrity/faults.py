"""The faults that the high-integrity paper has in mind, or leaves out: what can go wrong with a multicast of node 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

ORIGIN: Final = 0


class Phase(IntEnum):
    """The steps of a round in which something is on its way."""

    DATA = 1
    QUERY = 3
    ANSWER = 4
    REQUEST = 5
    HEARD = 6


@dataclass(frozen=True, slots=True)
class Dead:
    """A node that has stopped before the beginning. Several with following numbers are the run of section 3.4.1."""

    node: int

    def __str__(self) -> str:
        return f"dead {self.node}"


@dataclass(frozen=True, slots=True)
class Dies:
    """A node that stops in the first round: DATA, with the data and before it has asked; QUERY, after it has asked
    and before it answers; ANSWER, after it has answered and before its time-out; REQUEST, after its own request."""

    node: int
    after: Phase

    def __str__(self) -> str:
        return f"dies {self.node} after {self.after.name.lower()}"


@dataclass(frozen=True, slots=True)
class Lost:
    """The first packet of a kind from one node to another does not arrive."""

    kind: Phase
    sender: int
    receiver: int

    def __str__(self) -> str:
        return f"lost {self.kind.name.lower()} {self.sender}-{self.receiver}"


@dataclass(frozen=True, slots=True)
class Broken:
    """Nothing passes between two nodes, in any round."""

    one: int
    other: int

    def __str__(self) -> str:
        return f"broken {self.one}-{self.other}"


@dataclass(frozen=True, slots=True)
class Corrupted:
    """The copy of the first round arrives with a bit flipped, another one at every node."""

    node: int

    def __str__(self) -> str:
        return f"corrupted {self.node}"


@dataclass(frozen=True, slots=True)
class Stale:
    """What arrives in the first round is the data of the message before, the same at every node."""

    node: int

    def __str__(self) -> str:
        return f"stale {self.node}"


Fault: TypeAlias = Dead | Dies | Lost | Broken | Corrupted | Stale


def faults(entities: int, *, drawn: bool) -> Iterator[Fault]:
    """Every single fault in a group. `drawn`: any two nodes may be neighbors, not only i and i + 1."""
    nodes = range(entities)
    yield from map(Dead, nodes)
    for phase in (Phase.DATA, Phase.QUERY, Phase.ANSWER, Phase.REQUEST):
        yield from (Dies(node, phase) for node in nodes)
    yield from (Lost(Phase.DATA, ORIGIN, node) for node in nodes if node != ORIGIN)
    pairs = [(i, j) for i in nodes for j in nodes if i != j and (drawn or j == (i + 1) % entities)]
    yield from (Lost(Phase.QUERY, i, j) for i, j in pairs)
    yield from (Lost(Phase.ANSWER, j, i) for i, j in pairs)
    yield from (Lost(Phase.REQUEST, node, ORIGIN) for node in nodes if node != ORIGIN)
    yield from (Broken(i, j) for i in nodes for j in nodes if i < j)
    yield from (Corrupted(node) for node in nodes if node != ORIGIN)
    yield from (Stale(node) for node in nodes if node != ORIGIN)
