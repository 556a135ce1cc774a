"""The map `adj` of the high-integrity paper (section 3.4): whom a node asks whether the data has arrived.

A neighborhood says, for one node, which sets of neighbors it may choose and how probable each is, as exact
fractions. It decides nothing else: what is done with the neighbors is the protocol's business.

`members` is the group in ascending order; the paper's number i is the place in it. A group of n nodes loses members
by step 7, and how the others are then numbered the paper leaves open (section 5): here the remaining members are
numbered anew in the old order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final, TypeAlias, assert_never

Choices: TypeAlias = tuple[tuple[Fraction, frozenset[int]], ...]
"""Sets of neighbors with their probabilities, which sum to 1; no set twice, none with probability 0."""


@dataclass(frozen=True, slots=True)
class Ring:
    """Section 3.4.1: adj(i) = {i + 1 mod n}. With `several` = d, section 3.4.4: {i + 1, ..., i + d}.

    In a group of d or fewer others that is all of them. A group of one asks itself, as adj(i) says.
    """

    several: int = 1


RING: Final = Ring()
"""The deterministic map of section 3.4.1."""


@dataclass(frozen=True, slots=True)
class Uniform:
    """Section 3.4.2: one node, each as probable as the other. With `several` = d, section 3.4.4: d different ones.

    `itself`: whether a node may choose itself. The paper's P(n) = (1 - 1/n)^n has n nodes that choose among n.
    """

    several: int = 1
    itself: bool = False


@dataclass(frozen=True, slots=True)
class NearFar:
    """Section 3.4.3: with probability `near` one of the nearest nodes, else one of the others; uniform among each.

    Near are the `reach` nodes on either side of the ring; the paper gives neither number. Where all others are near,
    the choice is uniform among them.
    """

    near: Fraction = Fraction(7, 8)
    reach: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.near < 1 or self.reach < 1:
            raise ValueError(
                f"near and far nodes need 0 < near < 1 and 1 <= reach, not {self.near}, {self.reach}"
            )


@dataclass(frozen=True, slots=True)
class Fixed:
    """A map given by itself: `sets[i]` is adj(i). For one draw of a random map, looked at alone."""

    sets: tuple[frozenset[int], ...]


Neighbourhood: TypeAlias = Ring | Uniform | NearFar | Fixed


def choices(neighbourhood: Neighbourhood, node: int, members: Sequence[int]) -> Choices:
    """adj(node) in a group; ValueError where the node is not in it."""
    match neighbourhood:
        case Ring(several):
            at = members.index(node)
            following = [members[(at + k) % len(members)] for k in range(1, several + 1)]
            return ((Fraction(1), frozenset(following[: max(1, len(members) - 1)])),)
        case Uniform(several, itself):
            among = [member for member in members if itself or member != node] or [node]
            sets = list(combinations(among, min(several, len(among))))
            return tuple((Fraction(1, len(sets)), frozenset(chosen)) for chosen in sets)
        case NearFar(near, reach):
            return _near_and_far(near, reach, node, members)
        case Fixed(sets):
            return ((Fraction(1), sets[node]),)
        case _ as never:
            assert_never(never)


def _near_and_far(near: Fraction, reach: int, node: int, members: Sequence[int]) -> Choices:
    at, count = members.index(node), len(members)
    if count == 1:
        return ((Fraction(1), frozenset({node})),)
    distance = {
        member: min((k - at) % count, (at - k) % count) for k, member in enumerate(members) if k != at
    }
    close = [member for member in distance if distance[member] <= reach]
    far = [member for member in distance if distance[member] > reach]
    if not far:
        return tuple((Fraction(1, len(close)), frozenset({member})) for member in close)
    return tuple(
        [(near / len(close), frozenset({member})) for member in close]
        + [((1 - near) / len(far), frozenset({member})) for member in far]
    )


def named(text: str) -> Neighbourhood:
    """A neighborhood by its name, as the command line gives it: `ring`, `uniform`, `uniform-itself`, `near-far`; the
    first three also with a number of neighbors, `ring:2`. ValueError says what there is."""
    kind, _, several = text.partition(":")
    if several and not (several.isdecimal() and int(several) >= 1):
        raise ValueError(f"{several!r} is not a number of neighbors; write {kind}:2")
    count = int(several or 1)
    match kind:
        case "ring":
            return Ring(count)
        case "uniform":
            return Uniform(count)
        case "uniform-itself":
            return Uniform(count, itself=True)
        case "near-far" if not several:
            return NearFar()
        case _:
            raise ValueError(
                f"there is no choice of neighbors {text!r}; the choices are ring, uniform, uniform-itself (each also"
                " with a number of neighbors, ring:2) and near-far"
            )
