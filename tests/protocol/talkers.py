"""Small protocols that may never come to rest: right ones, one with a mistake each, and many by tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from precedes.protocol import (
    Action,
    Deliver,
    Here,
    Message,
    Network,
    Protocol,
    Reliable,
    Step,
    Timer,
    Transmit,
)

BOTH = {"arrivals": "for this test", "time-outs": "for this test"}


@dataclass(frozen=True, slots=True)
class Ends:
    """What was sent and not confirmed, and what was delivered."""

    open: frozenset[Message] = frozenset()
    got: frozenset[Message] = frozenset()
    sent: frozenset[Message] = frozenset()


@dataclass(frozen=True)
class Confirmed(Protocol[Ends]):
    """What is not confirmed is sent again by a time-out, over a network that loses. Messages go to one entity."""

    mistake: str = ""

    name: ClassVar[str] = "confirmed"
    claims: ClassVar[tuple[str, ...]] = ("no_duplication",)
    destinations: ClassVar[str] = "unicast"
    fair: ClassVar[Mapping[str, str]] = BOTH

    @property
    def network(self) -> Network:
        return Reliable(loses=True)

    def start(self, here: Here) -> Ends:
        return Ends()

    def send(self, here: Here, state: Ends, message: Message) -> Step[Ends] | None:
        if state.open:
            return None
        after = replace(state, open=frozenset({message}), sent=state.sent | {message})
        return Step(after, (Transmit(message, message.destinations),))

    def arrive(self, here: Here, state: Ends, packet: Hashable, sender: int) -> Step[Ends]:
        if isinstance(packet, tuple):
            return Step(replace(state, open=state.open - {packet[1]}))
        assert isinstance(packet, Message)
        confirms = (
            () if self.mistake == "does not confirm" else (Transmit(("ack", packet), frozenset({sender})),)
        )
        if self.mistake == "not yet":
            return Step(state, (Transmit(packet, frozenset({here.entity})),))
        if packet in state.got:
            return Step(state, confirms)
        return Step(replace(state, got=state.got | {packet}), (Deliver(packet), *confirms))

    def timers(self, here: Here, state: Ends) -> tuple[Timer, ...]:
        return () if self.mistake == "does not repeat" or not state.open else (Timer("again"),)

    def expire(self, here: Here, state: Ends, timer: Timer) -> Step[Ends]:
        return Step(
            state, tuple(Transmit(message, message.destinations) for message in sorted(state.open, key=repr))
        )


@dataclass(frozen=True, slots=True)
class Mind:
    """A state of `Chatting`."""

    mood: int = 0
    got: frozenset[Message] = frozenset()
    sent: frozenset[Message] = frozenset()


@dataclass(frozen=True)
class Chatting(Protocol[Mind]):
    """By tables: what an arrival does, `arrivals[2 * mood + kind]` with kind 0 for a message and 1 for a ping, and what
    a time-out of a mood does, each with the next mood. `deaf`: the mood in which no request is accepted.
    """

    arrivals: tuple[tuple[int, str], ...] = ((0, "deliver"), (0, "drop")) * 2
    expiries: tuple[tuple[int, str], ...] = ((0, "none"),) * 2
    given: Network = field(default_factory=Reliable)
    timeouts_are_fair: bool = True
    deaf: int | None = None

    name: ClassVar[str] = "chatting"

    @property
    def fair(self) -> Mapping[str, str]:  # type: ignore[override]
        return BOTH if self.timeouts_are_fair else {"arrivals": "for this test"}

    @property
    def network(self) -> Network:
        return self.given

    def start(self, here: Here) -> Mind:
        return Mind()

    def send(self, here: Here, state: Mind, message: Message) -> Step[Mind] | None:
        if state.mood == self.deaf:
            return None
        return Step(replace(state, sent=state.sent | {message}), (Transmit(message, message.destinations),))

    def arrive(self, here: Here, state: Mind, packet: Any, sender: int) -> Step[Mind] | None:
        ping = packet == "ping"
        mood, what = self.arrivals[2 * state.mood + ping]
        after, actions = replace(state, mood=mood), list[Action]()
        if what == "refuse":
            return None
        if what == "back":
            actions.append(Transmit(packet, frozenset({here.entity})))
        if what == "answer":
            actions.append(Transmit("ping", frozenset({sender})))
        if what in ("deliver", "answer") and not ping and here.entity in packet.destinations:
            if packet not in state.got:
                actions.insert(0, Deliver(packet))
            after = replace(after, got=state.got | {packet})
        return Step(after, tuple(actions))

    def timers(self, here: Here, state: Mind) -> tuple[Timer, ...]:
        return () if self.expiries[state.mood][1] == "none" else (Timer("t", patience=state.mood),)

    def expire(self, here: Here, state: Mind, timer: Timer) -> Step[Mind]:
        mood, what = self.expiries[state.mood]
        actions: tuple[Action, ...] = ()
        if what == "ping":
            actions = (Transmit("ping", here.others),)
        if what == "again" and state.sent:
            message = min(state.sent, key=lambda each: each.number)
            actions = (Transmit(message, message.destinations),)
        return Step(replace(state, mood=mood), actions)
