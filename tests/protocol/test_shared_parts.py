"""Equal parts of states are kept once, and states stay what they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from precedes.protocol.exploration.shared_parts import SharedParts
from precedes.protocol.validation.equal_values import EqualValues
from tests.protocol.toys import Plain


@dataclass(frozen=True, slots=True)
class State:
    vector: tuple[int, ...]
    known: frozenset[int] = frozenset()
    note: list[int] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class ByNumber:
    """Its hash leaves out a field that has none."""

    number: int
    more: tuple[list[int], ...]

    def __hash__(self) -> int:
        return self.number


@dataclass
class Changing:
    vector: tuple[int, ...]


def vector(count: int) -> tuple[int, ...]:
    return tuple(range(count))


def test_equal_parts_are_one() -> None:
    parts, states = (
        SharedParts(EqualValues(Plain())),
        [State(vector(3), frozenset(vector(k + 2)), [k]) for k in range(3)],
    )
    for state in states:
        parts.share(state)
    assert len({id(state.vector) for state in states}) == 1
    assert [len(state.known) for state in states] == [2, 3, 4]
    assert [state.note for state in states] == [[0], [1], [2]]


@pytest.mark.parametrize(
    "make", [lambda: ByNumber(1, ([],)), lambda: Changing(vector(3)), lambda: (vector(3),)]
)
def test_other_values_keep_their_parts(make: Any) -> None:
    parts = SharedParts(EqualValues(Plain()))
    one, other = make(), make()
    before = [id(part) for part in (vars(other).values() if hasattr(other, "__dict__") else other)]
    parts.share(one)
    parts.share(other)
    assert one == other
    assert [id(part) for part in (vars(other).values() if hasattr(other, "__dict__") else other)] == before
