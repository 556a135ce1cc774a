"""Behaviors that are shown are what the search found: after a crash, after a corruption, with views."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

import pytest

from precedes.core.execution import EventKind
from precedes.core.verdict import Verdict
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.protocol import (
    Deliver,
    Here,
    Message,
    Network,
    Protocol,
    Reliable,
    Step,
    Timed,
    Transmit,
    View,
)
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import DEADLOCK, STARVATION, Exploration


def asked(protocol: Protocol[Any], bounds: Bounds, text: str, *, plain: bool = False) -> Exploration:
    return explore(protocol, bounds, [requirement(text, standard_library())], plain=plain)


class Rearranging(Protocol[Any]):
    """RL is the state, and a crash forgets it, or, where it is `kept`, leaves nothing to recover with."""

    name: ClassVar[str] = "rearranging"
    network: ClassVar[Reliable] = Reliable()
    kept: ClassVar[bool] = False

    def start(self, here: Here) -> Any:
        return ()

    def send(self, here: Here, state: Any, message: Message) -> Step[Any]:
        return Step(state, (Transmit(message, message.destinations),))

    def arrive(self, here: Here, state: Any, packet: Hashable, sender: int) -> Step[Any]:
        return Step((*state, packet))

    def receipt_log(self, state: Any) -> tuple[Message, ...]:
        received: tuple[Message, ...] = state
        return received

    def crash(self, here: Here, state: Any) -> Any:
        return None if self.kept else ()


class Keeping(Rearranging):
    kept: ClassVar[bool] = True


DELIVERED = "quiescent forall i, j: forall p in SL[j, i]: p in RL[i]"


@pytest.mark.parametrize(("protocol", "moves"), [(Rearranging(), 3), (Keeping(), 3)])
def test_what_a_crash_leaves_says_what_was_received(protocol: Rearranging, moves: int) -> None:
    found = asked(protocol, Bounds(2, 1, crashes=1), DELIVERED, plain=True)
    (finding,) = found.findings
    assert len(finding.behavior) - 1 == moves
    assert not [event for event in finding.execution.history("E2").events if event.kind is EventKind.DELIVER]


class Starving(Protocol[int]):
    """What comes in as it was sent is refused; what the network has changed is delivered."""

    name: ClassVar[str] = "starving"
    network: ClassVar[Reliable] = Reliable(corrupts=True)

    def start(self, here: Here) -> int:
        return 0

    def send(self, here: Here, state: int, message: Message) -> Step[int]:
        return Step(state, (Transmit(("whole", message), message.destinations),))

    def arrive(self, here: Here, state: int, packet: Any, sender: int) -> Step[int] | None:
        return Step(state, (Deliver(packet[1]),)) if packet[0] == "changed" else None

    def corrupted(self, packet: Any) -> tuple[Hashable, ...]:
        return (("changed", packet[1]),) if packet[0] == "whole" else ()


def test_no_fault_ends_a_behavior_in_which_something_starves() -> None:
    found = asked(Starving(), Bounds(2, 1, corruptions=1), "no_duplication")
    (finding,) = (each for each in found.findings if each.property == STARVATION)
    assert len(finding.behavior) - 1 == 1
    assert finding.about == ("1 packet that E2 refuses",)


class Viewing(Protocol[int]):
    """Who sends installs a view of itself and those whom the message is for."""

    name: ClassVar[str] = "viewing"
    network: ClassVar[Reliable] = Reliable()
    symmetric: ClassVar[bool] = True

    def start(self, here: Here) -> int:
        return 0

    def send(self, here: Here, state: int, message: Message) -> Step[int]:
        members = message.destinations | {here.entity}
        return Step(1, (View(members), Transmit(message, message.destinations)))

    def arrive(self, here: Here, state: int, packet: Any, sender: int) -> Step[int]:
        return Step(state, (Deliver(packet),))

    def renamed(self, state: int, names: tuple[int, ...]) -> int:
        return state

    def renamed_packet(self, packet: Any, names: tuple[int, ...]) -> Message:
        renamed: Message = packet.renamed(names)
        return renamed


@pytest.mark.parametrize("view", ["{E1, E2}", "{E1, E3}", "{E2, E3}"])
def test_who_names_a_view_names_its_members(view: str) -> None:
    text = f'(exists p: sent(p)) implies forall i: not installs(i, "{view}")'
    found = asked(Viewing(), Bounds(3, 1), text)
    assert found.verdict is Verdict.VIOLATED
    assert not [each for each in found.reductions if "symmetry" in each]


class Once(Protocol[int]):
    """Each entity accepts so many requests, in a network that has time or none."""

    name: ClassVar[str] = "once"

    def __init__(self, network: Network, accepted: int) -> None:
        super().__init__()
        self.given, self.accepted = network, accepted

    @property
    def network(self) -> Network:
        return self.given

    def start(self, here: Here) -> int:
        return 0

    def send(self, here: Here, state: int, message: Message) -> Step[int] | None:
        if state == self.accepted:
            return None
        return Step(state + 1, (Transmit(message, message.destinations),))

    def arrive(self, here: Here, state: int, packet: Any, sender: int) -> Step[int]:
        return Step(state, (Deliver(packet),))


TWICE = ((Message(0, 1, frozenset({1})), Message(0, 2, frozenset({1}))), ())


def test_where_there_is_time_no_deadlock_is_not_asked() -> None:
    bounds = Bounds(2, script=TWICE)
    assert asked(Once(Reliable(), 1), bounds, "no_duplication").of(DEADLOCK) is Verdict.VIOLATED
    timed = asked(Once(Timed(0, 1), 1), bounds, "no_duplication")
    assert DEADLOCK not in timed.exercised
    assert timed.verdict is Verdict.HOLDS
    deaf = asked(Once(Timed(0, 1), 0), bounds, "no_duplication")
    assert deaf.of(DEADLOCK) is Verdict.UNKNOWN
    assert deaf.open[DEADLOCK] == ("no request of E1 was accepted in any state; a script says who sends",)
