"""Small protocols to explore: right ones, and with a mistake each."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from precedes.protocol import (
    Choose,
    Deliver,
    Discard,
    Here,
    Message,
    Network,
    OfEntity,
    OfStep,
    Protocol,
    Reliable,
    SingleChannel,
    Step,
    Timed,
    Timer,
    Transmit,
)


@dataclass(frozen=True, slots=True)
class Numbered:
    """A message with its number among those of its sender to the receiver."""

    message: Message
    number: int


@dataclass(frozen=True, slots=True)
class Ends:
    """How many were sent to each entity, how many of each were delivered, and what is ahead of its turn."""

    sent: tuple[int, ...]
    delivered: tuple[int, ...]
    held: frozenset[Numbered] = frozenset()


@dataclass(frozen=True)
class InTurn(Protocol[Ends]):
    """Every sender's messages in their order over a network that keeps none, by numbers."""

    mistake: str = ""

    name: ClassVar[str] = "in-turn"
    claims: ClassVar[tuple[str, ...]] = (
        "order_preserving",
        "selectively_information_preserving",
        "no_duplication",
    )
    answers: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True

    @property
    def network(self) -> Network:
        return Reliable(loses=True, duplicates=True)

    def start(self, here: Here) -> Ends:
        return Ends((0,) * here.entities, (0,) * here.entities)

    def send(self, here: Here, state: Ends, message: Message) -> Step[Ends]:
        sent = list(state.sent)
        actions = []
        for to in sorted(message.destinations):
            sent[to] += 1
            actions.append(Transmit(Numbered(message, sent[to]), frozenset({to})))
        return Step(replace(state, sent=tuple(sent)), tuple(actions))

    def arrive(self, here: Here, state: Ends, packet: Hashable, sender: int) -> Step[Ends]:
        assert isinstance(packet, Numbered)
        if self.mistake == "at once":
            return Step(state, (Deliver(packet.message),))
        if self.mistake == "forgets" and packet.number > state.delivered[sender] + 1:
            return Step(state)
        if packet.number <= state.delivered[sender] and self.mistake != "again":
            return Step(state)
        held = state.held | {packet}
        delivered = list(state.delivered)
        actions = []
        while ready := [p for p in held if p.message.sender == sender and p.number <= delivered[sender] + 1]:
            held -= {ready[0]}
            delivered[sender] = ready[0].number
            actions.append(Deliver(ready[0].message))
            if self.mistake == "one at a time":
                break
        return Step(Ends(state.sent, tuple(delivered), held), tuple(actions))

    def waiting(self, state: Ends) -> frozenset[Message]:
        return frozenset(packet.message for packet in state.held)

    def renamed(self, state: Ends, names: tuple[int, ...]) -> Ends:
        return Ends(
            _moved(state.sent, names),
            _moved(state.delivered, names),
            frozenset(self.renamed_packet(packet, names) for packet in state.held),
        )

    def renamed_packet(self, packet: Hashable, names: tuple[int, ...]) -> Numbered:
        assert isinstance(packet, Numbered)
        return Numbered(packet.message.renamed(names), packet.number)


def _moved(counts: tuple[int, ...], names: tuple[int, ...]) -> tuple[int, ...]:
    moved = [0] * len(counts)
    for entity, count in enumerate(counts):
        moved[names[entity]] = count
    return tuple(moved)


@dataclass(frozen=True)
class Plain(Protocol[int]):
    """Delivers whatever comes; the state counts what was sent. The network is given."""

    given: Network = field(default_factory=Reliable)
    delta: int | None = None

    name: ClassVar[str] = "plain"
    claims: ClassVar[tuple[str, ...]] = ("no_creation",)
    answers: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True

    @property
    def network(self) -> Network:
        return self.given

    def start(self, here: Here) -> int:
        return 0

    def send(self, here: Here, state: int, message: Message) -> Step[int]:
        to = None if isinstance(self.given, SingleChannel) else message.destinations
        return Step(state + 1, (Transmit(message, to),))

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Step[int]:
        assert isinstance(packet, Message)
        return Step(state, (Deliver(packet),) if here.entity in packet.destinations else ())

    def renamed(self, state: int, names: tuple[int, ...]) -> int:
        return state

    def renamed_packet(self, packet: Hashable, names: tuple[int, ...]) -> Message:
        assert isinstance(packet, Message)
        return packet.renamed(names)


@dataclass(frozen=True)
class Vanishing(Plain):
    """Ends its process."""

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Step[int]:
        os._exit(1)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A state of `Tabled`: a mood, and messages that are kept back."""

    mood: int = 0
    kept: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Tabled(Protocol[Drawn]):
    """A protocol by tables, so that many can be drawn: what a mood becomes by a send, and what an arrival does.

    An arrival in mood m of a packet sent in mood s: `arrivals[3 * m + s]` is the next mood and one of deliver, keep,
    drop, refuse, and release, which delivers what is kept, the latest first, and then what came.
    """

    sends: tuple[int, ...] = (0, 1, 2)
    arrivals: tuple[tuple[int, str], ...] = ((0, "deliver"),) * 9
    wrong: int = 9
    refuses: int = 9
    """The mood in which requests are refused."""

    name: ClassVar[str] = "tabled"
    answers: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True

    @property
    def network(self) -> Network:
        return Reliable()

    def start(self, here: Here) -> Drawn:
        return Drawn()

    def send(self, here: Here, state: Drawn, message: Message) -> Step[Drawn] | None:
        if state.mood == self.refuses:
            return None
        after = Drawn(self.sends[state.mood], state.kept)
        return Step(after, (Transmit((message, state.mood), message.destinations),))

    def arrive(self, here: Here, state: Drawn, packet: Any, sender: int) -> Step[Drawn] | None:
        message, sent_in = packet
        mood, what = self.arrivals[3 * state.mood + sent_in]
        if what == "refuse":
            return None
        if what == "keep":
            return Step(Drawn(mood, (*state.kept, message)))
        if what == "drop":
            return Step(Drawn(mood, state.kept), (Discard(message),))
        released = (*reversed(state.kept),) if what == "release" else ()
        kept = () if what == "release" else state.kept
        return Step(Drawn(mood, kept), tuple(map(Deliver, (*released, message))))

    def waiting(self, state: Drawn) -> frozenset[Message]:
        return frozenset(state.kept)

    def renamed(self, state: Drawn, names: tuple[int, ...]) -> Drawn:
        return Drawn(state.mood, tuple(message.renamed(names) for message in state.kept))

    def renamed_packet(self, packet: Any, names: tuple[int, ...]) -> Any:
        return packet[0].renamed(names), packet[1]


def _fits(protocol: Tabled, here: Here, before: Drawn, cause: Any, step: Step[Drawn]) -> bool | None:
    if isinstance(cause, Message):
        return None
    return 3 * before.mood + cause[1] != protocol.wrong


def _in_the_mood(protocol: Tabled, here: Here, state: Drawn) -> bool | None:
    return None if not state.kept else len(state.kept) < 2 or state.mood != protocol.wrong % 3


STEP = OfStep("steps fit", "made for this test", _fits)
ENTITY = OfEntity("moods fit", "made for this test", _in_the_mood)


@dataclass(frozen=True, slots=True)
class Talk:
    """Of a sender and receiver that take turns: what is sent and not confirmed, what waits, the next bits."""

    open: Message | None = None
    bit: int = 0
    expected: int = 0
    done: bool = False


@dataclass(frozen=True)
class Alternating(Protocol[Talk]):
    """The alternating bit over a FIFO channel that loses and duplicates: two entities, the first sends."""

    mistake: str = ""

    name: ClassVar[str] = "alternating"
    claims: ClassVar[tuple[str, ...]] = (
        "order_preserving",
        "selectively_information_preserving",
        "no_duplication",
    )

    @property
    def network(self) -> Network:
        return Reliable(fifo=True, loses=True, duplicates=True)

    def start(self, here: Here) -> Talk:
        return Talk()

    def send(self, here: Here, state: Talk, message: Message) -> Step[Talk] | None:
        if state.open is not None or here.entity != 0 or message.destinations != frozenset({1}):
            return None
        return Step(replace(state, open=message), (Transmit(("data", message, state.bit), frozenset({1})),))

    def arrive(self, here: Here, state: Talk, packet: Any, sender: int) -> Step[Talk]:
        kind, message, bit = packet
        if kind == "ack":
            if bit == state.bit and state.open is not None:
                return Step(replace(state, open=None, bit=1 - bit))
            return Step(state)
        reply = Transmit(("ack", None, bit), frozenset({sender}))
        if bit == state.expected or self.mistake == "no bit":
            return Step(replace(state, expected=1 - state.expected), (Deliver(message), reply))
        return Step(state, (reply,))

    def timers(self, here: Here, state: Talk) -> tuple[Timer, ...]:
        if state.open is None or self.mistake == "no timer":
            return ()
        return (Timer("retransmission"),)

    def expire(self, here: Here, state: Talk, timer: Timer) -> Step[Talk]:
        return Step(state, (Transmit(("data", state.open, state.bit), frozenset({1})),))


@dataclass(frozen=True)
class Broken(Plain):
    """Plain, with a handler that is no handler."""

    how: str = "raises"
    name: ClassVar[str] = "broken"
    symmetric: ClassVar[bool] = False
    calls: ClassVar[dict[str, int]] = {"arrive": 0}

    def start(self, here: Here) -> Any:
        return [] if self.how == "unhashable state" else 0

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Any:
        if self.how == "raises":
            nothing: Mapping[Hashable, Step[int]] = {}
            return nothing[packet]
        if self.how == "invents":
            return Step(state, (Deliver(Message(2, 7, frozenset({here.entity}))),))
        if self.how == "impure":
            self.calls["arrive"] += 1
            return Step(self.calls["arrive"])
        if self.how == "unhashable packet":
            return Step(state, (Transmit([1]),))  # type: ignore[arg-type]
        if self.how == "nowhere":
            return Step(state, (Transmit(1, frozenset({9})),))
        return "nonsense"

    def timers(self, here: Here, state: int) -> tuple[Timer, ...]:
        return (Timer("t", due=1),) if self.how == "due" else ()


@dataclass(frozen=True)
class Waits(Plain):
    """Delivers `wait` ticks after the arrival, by a timer; the state has what waits, with its time."""

    wait: int = 1
    given: Network = field(default_factory=lambda: Timed(shortest=1, longest=2))
    name: ClassVar[str] = "waits"
    symmetric: ClassVar[bool] = False

    def start(self, here: Here) -> Any:
        return ()

    def send(self, here: Here, state: Any, message: Message) -> Step[Any]:
        return Step(state, (Transmit(message, message.destinations),))

    def arrive(self, here: Here, state: Any, packet: Hashable, sender: int) -> Step[Any]:
        return Step((*state, (here.now + self.wait, packet)))

    def timers(self, here: Here, state: Any) -> tuple[Timer, ...]:
        return tuple(Timer(f"{message.name}", due=time) for time, message in state)

    def expire(self, here: Here, state: Any, timer: Timer) -> Step[Any]:
        message = next(message for _, message in state if message.name == timer.name)
        return Step(tuple(each for each in state if each[1] != message), (Deliver(message),))


@dataclass(frozen=True)
class Tosses(Plain):
    """Delivers what comes, or does not."""

    name: ClassVar[str] = "tosses"

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Choose[int]:
        assert isinstance(packet, Message)
        return Choose(((1.0, Step(state, (Deliver(packet),))), (1.0, Step(state))))
