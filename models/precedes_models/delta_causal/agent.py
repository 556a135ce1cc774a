"""An agent that stamps messages with the time of its clock, tags them, and holds back what arrives until its tag allows
the delivery (Δ-causal paper, §2.2 and §3.2). What the tag says and how long it makes a message wait is left to the
algorithms: `protocol`, `full_tag`, `fixed_wait`.

Times are whole ticks of a clock. "Wait until x + Δ < time" has a first instant on a clock that ticks, which is
x + Δ + 1; on the real line it has none, and what is called the moment of delivery is then the limit from above.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from precedes.protocol import (
    Action,
    Arrive,
    Choose,
    Deliver,
    Discard,
    Here,
    Invariant,
    Message,
    Network,
    Outcome,
    Protocol,
    Step,
    Timed,
    Timer,
    Transmit,
    replace,
)
from precedes_models.delta_causal.invariants import (
    NEEDLESS,
    NEVER,
    THEOREM_3,
    THEOREM_4,
    Received,
    Sent,
    directly_before,
)

Mark: TypeAlias = tuple[int, int]
"""(l, x): the sender and the time stamp of a message."""
Tag: TypeAlias = tuple[frozenset[Mark], ...]
"""CB: for each process, the marks of messages to it."""


@dataclass(frozen=True, slots=True)
class Packet:
    """(m, CB_m, j, TS_m, dest_m); j and dest_m stand in the message. `past` is for the lemmas and no part of it."""

    message: Message
    stamp: int
    cb: Tag
    past: frozenset[Sent] = frozenset()


@dataclass(frozen=True, slots=True)
class Agent:
    """A_i. `held`: what arrived and waits in (R0) or (R2). `latest`: the latest time stamp that was sent or delivered
    here; only the repaired form looks at it. For the lemmas: `past` is what happened before, as far back as Δ, and
    `delivered` what was delivered here.
    """

    cb: Tag
    deliv: tuple[int, ...]
    held: frozenset[Packet] = frozenset()
    latest: int = NEVER
    past: frozenset[Sent] = frozenset()
    delivered: frozenset[Received] = frozenset()


@dataclass(frozen=True)
class DeltaAgent(Protocol[Agent]):
    """What the algorithms have in common."""

    delta: int = 1
    """Δ, in ticks."""
    lemmas: bool = True
    """Keep what the lemmas and Theorem 3 speak of. What the protocol does is the same without."""

    claims: ClassVar[tuple[str, ...]] = ("causal_order", "delta_causal_order", "deadline", "timely_delivery")
    invariants: ClassVar[tuple[Invariant, ...]] = (THEOREM_3, THEOREM_4)
    further: ClassVar[tuple[Invariant, ...]] = (NEEDLESS,)
    answers: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.delta < 0:
            raise ValueError("delta must be a number of ticks, and not negative")
        if not self.lemmas:
            object.__setattr__(self, "invariants", (THEOREM_4,))
            object.__setattr__(self, "further", ())

    @property
    def limit(self) -> int:
        """How long after its send a message is in time, in ticks."""
        return self.delta

    @property
    def network(self) -> Network:
        """Delays from none to one tick more than can be in time: later is as good as lost."""
        return Timed(shortest=0, longest=self.limit + 1)

    def start(self, here: Here) -> Agent:
        """Nothing known, nothing delivered."""
        return Agent((frozenset(),) * here.entities, (NEVER,) * here.entities)

    # ---- sending ----------------------------------------------------------------------------------------------

    def send(self, here: Here, state: Agent, message: Message) -> Outcome[Agent] | None:
        """Stamp, tag and transmit; None while the clock has to move first."""
        if not self.may_send(here, state):
            return None
        past = self.seen(state.past, here.now) if self.lemmas else frozenset()
        after = replace(
            state,
            latest=self.later(state.latest, here.now),
            past=self.including(past, message, here.now),
        )
        return one_of(
            [
                Step(
                    replace(after, cb=self.after_sending(tag, message, here.now)),
                    self.packets(here, message, tag, past),
                )
                for tag in self.tags(here, state, message)
            ]
        )

    def may_send(self, here: Here, state: Agent) -> bool:
        """Whether the clock has moved since all that was sent or delivered here was sent, so that time stamps grow."""
        return here.now > state.latest

    def packets(self, here: Here, message: Message, tag: Tag, past: frozenset[Sent]) -> tuple[Transmit, ...]:
        """What goes to whom: one packet for all destinations."""
        return (Transmit(Packet(message, here.now, tag, past), message.destinations),)

    @abstractmethod
    def tags(self, here: Here, state: Agent, message: Message) -> Iterable[Tag]:
        """The tag of a message, or several where the algorithm leaves open which."""

    @abstractmethod
    def after_sending(self, tag: Tag, message: Message, stamp: int) -> Tag:
        """What is known when a message has been sent."""

    # ---- receiving --------------------------------------------------------------------------------------------

    def arrive(self, here: Here, state: Agent, packet: object, sender: int) -> Outcome[Agent]:
        """Discard what is late; hold the rest, and deliver what can be delivered at once."""
        assert isinstance(packet, Packet)
        arrival = Arrive(packet.message)
        if self.is_late(here, packet):
            return Step(state, (arrival, Discard(packet.message)))
        return self.released(here, replace(state, held=state.held | {packet}), (arrival,))

    def timers(self, here: Here, state: Agent) -> tuple[Timer, ...]:
        """One timer: for the first tick at which a message that is held can be delivered though nothing arrives."""
        if not state.held:
            return ()
        return (Timer("wait", due=min(self.due(here, state, packet) for packet in state.held)),)

    def expire(self, here: Here, state: Agent, timer: Timer) -> Outcome[Agent]:
        """A wait is over."""
        return self.released(here, state, ())

    def released(self, here: Here, state: Agent, actions: tuple[Action, ...]) -> Outcome[Agent]:
        """Deliver one of the messages that can be delivered now, whichever; the timer, then due at once, sees to the
        others.
        """
        ready = [packet for packet in state.held if self.due(here, state, packet) <= here.now]
        if not ready:
            return Step(state, actions)
        return one_of(
            [self.delivered(here, state, packet, actions) for packet in sorted(ready, key=_by_name)]
        )

    def is_late(self, here: Here, packet: Packet) -> bool:
        """(R1): more than Δ after the send."""
        return packet.stamp + self.limit < here.now

    @abstractmethod
    def due(self, here: Here, state: Agent, packet: Packet) -> int:
        """The first tick at which the wait is over, if nothing else is delivered until then."""

    def expired(self, here: Here, state: Agent, packet: Packet) -> int:
        """Condition (1) of (R2), as `due`: every message in the tag has been delivered here or is no longer in time."""
        marks = packet.cb[here.entity]
        return max((x + self.limit + 1 for sender, x in marks if state.deliv[sender] < x), default=NEVER)

    def delivered(self, here: Here, state: Agent, packet: Packet, actions: tuple[Action, ...]) -> Step[Agent]:
        """Deliver, and learn what the tag says."""
        message = packet.message
        after = replace(
            state,
            held=state.held - {packet},
            cb=self.learned(here, state.cb, packet),
            deliv=self.noted(state.deliv, packet),
            latest=self.later(state.latest, packet.stamp),
        )
        if self.lemmas:
            after = replace(
                after,
                past=self.seen(state.past | self.including(packet.past, message, packet.stamp), here.now),
                delivered=self.recent(state.delivered, here.now) | {_received(packet, here.entity)},
            )
        return Step(after, (*actions, Deliver(message)))

    def is_full(self, marks: frozenset[Mark]) -> bool:
        """Whether there is room for no other mark, so that one may have been left out."""
        return False

    @abstractmethod
    def learned(self, here: Here, cb: Tag, packet: Packet) -> Tag:
        """What is known when a message has been delivered."""

    def noted(self, deliv: tuple[int, ...], packet: Packet) -> tuple[int, ...]:
        """The latest time stamp delivered of each sender (R6)."""
        return tuple(packet.stamp if k == packet.message.sender else x for k, x in enumerate(deliv))

    # ---- what happened before what ----------------------------------------------------------------------------

    def later(self, latest: int, stamp: int) -> int:
        """The later of two time stamps, for `may_send`."""
        return max(latest, stamp)

    def seen(self, past: Iterable[Sent], now: int) -> frozenset[Sent]:
        """What Definition 4 still relates to what is sent now."""
        return frozenset(sent for sent in past if sent.stamp + self.limit >= now)

    def recent(self, delivered: Iterable[Received], now: int) -> frozenset[Received]:
        """What a message that is delivered now or later may be directly before."""
        return frozenset(received for received in delivered if received.stamp + 2 * self.limit >= now)

    def including(self, past: frozenset[Sent], message: Message, stamp: int) -> frozenset[Sent]:
        """What comes before whatever is sent after this message."""
        if not self.lemmas:
            return frozenset()
        return past | {Sent(message, stamp, frozenset(sent.message for sent in past))}

    # ---- for the explorer -------------------------------------------------------------------------------------

    def waiting(self, state: Agent) -> frozenset[Message]:
        """What is held."""
        return frozenset(packet.message for packet in state.held)

    def renamed(self, state: Agent, names: tuple[int, ...]) -> Agent:
        """Marks, vectors, messages."""
        return Agent(
            _renamed_tag(state.cb, names),
            _renamed_vector(state.deliv, names),
            frozenset(self.renamed_packet(packet, names) for packet in state.held),
            state.latest,
            frozenset(sent.renamed(names) for sent in state.past),
            frozenset(received.renamed(names) for received in state.delivered),
        )

    def renamed_packet(self, packet: object, names: tuple[int, ...]) -> Packet:
        """Marks and messages."""
        assert isinstance(packet, Packet)
        return Packet(
            packet.message.renamed(names),
            packet.stamp,
            _renamed_tag(packet.cb, names),
            frozenset(sent.renamed(names) for sent in packet.past),
        )


def union_max(first: frozenset[Mark], second: frozenset[Mark]) -> frozenset[Mark]:
    """T_1 ∪max T_2: of the marks of one sender the latest."""
    both = first | second
    return frozenset((sender, x) for sender, x in both if not any(sender == k and x < y for k, y in both))


def with_mark(tag: Tag, message: Message, stamp: int) -> Tag:
    """The tag and, for each destination, that this message is under way to it."""
    mark = frozenset({(message.sender, stamp)})
    return tuple(
        union_max(marks, mark) if k in message.destinations else marks for k, marks in enumerate(tag)
    )


def _received(packet: Packet, here: int) -> Received:
    before = frozenset(sent.message for sent in packet.past)
    directly = frozenset(sent.message for sent in directly_before(packet.past, here))
    return Received(packet.message, packet.stamp, before, directly)


def _by_name(packet: Packet) -> tuple[int, int]:
    return packet.message.sender, packet.message.number


def one_of(steps: list[Step[Agent]]) -> Outcome[Agent]:
    return steps[0] if len(steps) == 1 else Choose(tuple((1.0, step) for step in steps))


def _renamed_vector(vector: tuple[int, ...], names: tuple[int, ...]) -> tuple[int, ...]:
    renamed = [0] * len(vector)
    for k, value in enumerate(vector):
        renamed[names[k]] = value
    return tuple(renamed)


def _renamed_tag(tag: Tag, names: tuple[int, ...]) -> Tag:
    renamed: list[frozenset[Mark]] = [frozenset()] * len(tag)
    for k, marks in enumerate(tag):
        renamed[names[k]] = frozenset((names[sender], x) for sender, x in marks)
    return tuple(renamed)
