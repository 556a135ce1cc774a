"""Equal values of different classes are a mistake of a model: a search would take them for one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.protocol import Deliver, Here, Message, Protocol, Reliable, Step, Transmit
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.validation.equal_values import ALL_OF, EVERY, EqualValues, difference
from tests.protocol.toys import Plain


class Data(NamedTuple):
    message: Hashable


class Again(NamedTuple):
    message: Hashable


@dataclass(frozen=True)
class Framed:
    value: Any


class Number(IntEnum):
    ONE = 1


ALIKE = (
    (1, 1),
    ((1, (2, "a")), (1, (2, "a"))),
    (frozenset({(1, 2)}), frozenset({(1, 2)})),
    (Framed(Data(1)), Framed(Data(1))),
    ({"a": (1,)}, {"a": (1,)}),
)
DIFFERENT = (
    (1, True, (1, True)),
    (1, 1.0, (1, 1.0)),
    (1, Number.ONE, (1, Number.ONE)),
    (Data(1), (1,), (Data(1), (1,))),
    ((0, (Data(1),)), (0, (Again(1),)), (Data(1), Again(1))),
    (frozenset({(1, 2)}), frozenset({(True, 2)}), (1, True)),
    (Framed(frozenset({Data(1)})), Framed(frozenset({Again(1)})), (Data(1), Again(1))),
    ({1: "a"}, {True: "a"}, (1, True)),
    ({"a": (1,)}, {"a": (True,)}, (1, True)),
)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_values_of_the_same_classes_are_the_same(one: Any, other: Any) -> None:
    assert one == other
    assert difference(one, other) is None


@pytest.mark.parametrize(("one", "other", "parts"), DIFFERENT)
def test_the_parts_that_differ_are_told(one: Any, other: Any, parts: tuple[Any, Any]) -> None:
    assert one == other
    found = difference(one, other)
    assert found == parts
    assert found is not None
    assert list(map(type, found)) == list(map(type, parts))


def test_later_one_pair_in_so_many_is_looked_at() -> None:
    now_and_then, every = EqualValues(Plain()), EqualValues(Plain(), every=True)
    for _ in range(ALL_OF):
        now_and_then.compare(Framed(1), Framed(1))
        every.compare(Framed(1), Framed(1))
    with pytest.raises(PrecedesError, match="M020"):
        every.compare((1, 2), (True, 2))
    for _ in range(EVERY - 1):
        now_and_then.compare((1, 2), (True, 2))
    with pytest.raises(PrecedesError, match="1 of the class int equals True of the class bool"):
        now_and_then.compare((1, 2), (True, 2))
    with pytest.raises(PrecedesError, match="M020"):
        now_and_then.compare(Data(1), Again(1))


@dataclass(frozen=True)
class Twice(Protocol[Any]):
    """Who gets a message answers itself once; the two packets, or the two states, are equal."""

    states: bool = False

    name: ClassVar[str] = "twice"
    claims: ClassVar[tuple[str, ...]] = ("no_duplication",)
    destinations: ClassVar[str] = "unicast"
    network: ClassVar[Reliable] = Reliable()

    def start(self, here: Here) -> Any:
        return Data(here.entity) if self.states else Framed(())

    def send(self, here: Here, state: Any, message: Message) -> Step[Any]:
        return Step(state, (Transmit(Data(message), message.destinations),))

    def arrive(self, here: Here, state: Any, packet: Any, sender: int) -> Step[Any]:
        if self.states:
            return Step(Again(here.entity), (Deliver(packet.message),))
        if isinstance(packet, Again):
            return Step(state)
        again = Transmit(Again(packet.message), frozenset({here.entity}))
        return Step(state, (Deliver(packet.message), again))


@pytest.mark.parametrize("states", [True, False])
def test_a_search_refuses_states_and_packets_that_it_would_take_for_one(states: bool) -> None:
    with pytest.raises(PrecedesError, match="M020 twice: Data"):
        explore(Twice(states=states), Bounds(2, 1))
