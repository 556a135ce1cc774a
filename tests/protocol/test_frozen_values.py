"""Copies of frozen values are those that `dataclasses.replace` makes."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import pytest

from precedes.protocol import made_by_slots, replace


@dataclass(frozen=True, slots=True)
class Slots:
    one: int
    other: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Single:
    one: int


@dataclass(frozen=True)
class Dictionary:
    one: int
    other: int = 2


@dataclass(frozen=True, slots=True)
class Child(Slots):
    third: int = 3


@dataclass(frozen=True, slots=True)
class Counted:
    one: int
    twice: int = field(default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.one)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByName:
    one: int
    other: int = 2


@pytest.mark.parametrize(
    "value", [Slots(1, (2,)), Single(1), Dictionary(1), Child(1, (2,)), Counted(1), ByName(one=1)], ids=repr
)
def test_as_dataclasses_has_it(value: Any) -> None:
    made = replace(value, one=7)
    assert (made, type(made)) == (dataclasses.replace(value, one=7), type(value))
    assert (hash(made), repr(made)) == (hash(dataclasses.replace(made)), repr(dataclasses.replace(made)))
    assert value.one == 1
    with pytest.raises(FrozenInstanceError):
        made.one = 8


@pytest.mark.parametrize("value", [Slots(1), Single(1), Dictionary(1)], ids=repr)
def test_a_field_that_is_not_there(value: Any) -> None:
    with pytest.raises(TypeError, match="nothing"):
        replace(value, nothing=1)


def test_no_dataclass() -> None:
    with pytest.raises(TypeError):
        replace(3, one=1)


@made_by_slots
@dataclass(frozen=True, slots=True)
class BySlots:
    one: int
    other: tuple[int, ...] = ()


def test_made_by_slots_as_by_dataclasses() -> None:
    for made, same in ((BySlots(1), Slots(1)), (BySlots(other=(2,), one=1), Slots(1, (2,)))):
        assert dataclasses.astuple(made) == dataclasses.astuple(same)
        assert (hash(made), repr(made)) == (hash(same), f"By{same!r}")
        assert pickle.loads(pickle.dumps(made)) == dataclasses.replace(made) == replace(made, one=1) == made
        with pytest.raises(FrozenInstanceError):
            made.one = 8  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"BySlots\.__init__\(\) missing 1 required"):
        BySlots()  # type: ignore[call-arg]


@pytest.mark.parametrize("of", [Dictionary, Counted, ByName])
def test_what_slots_alone_do_not_make(of: type) -> None:
    with pytest.raises(TypeError, match=of.__name__):
        made_by_slots(of)
