"""The lemmas of the Δ-causal paper (§3.4), as invariants of steps.

They speak of what happened before what. A process does not know that, so the model carries it along beside the
protocol: with every message, and at every agent, the sends that Definition 4 still relates to it.

The text that we have prints one sign for several; `m' ◁ m` is read as Definition 4's relation, and `m' ◁_d m`, which
Definition 5 makes of it, as "directly before".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from precedes.protocol import Deliver, Here, Invariant, Message, OfEntity, OfStep, Step, Timer, Transmit

if TYPE_CHECKING:
    from precedes_models.delta_causal.agent import Agent, DeltaAgent, Packet
    from precedes_models.delta_causal.protocol import DeltaCausal

_PAPER = "Δ-causal paper, section 3.4"


class Never(int):
    """A time that is earlier than every other."""

    def __repr__(self) -> str:
        """As states are shown."""
        return "never"


NEVER = Never(-(2**62))
"""`deliv` of a process nothing of which has been delivered."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A send: the message, its time stamp, and the messages that Definition 4 puts before it."""

    message: Message
    stamp: int
    before: frozenset[Message]

    def renamed(self, names: tuple[int, ...]) -> Sent:
        """The send after entity k has become `names[k]`."""
        return Sent(
            self.message.renamed(names),
            self.stamp,
            frozenset(message.renamed(names) for message in self.before),
        )


@dataclass(frozen=True, slots=True)
class Received:
    """A delivery: the message, its time stamp, what comes before it and what directly (Definitions 4 and 5)."""

    message: Message
    stamp: int
    before: frozenset[Message]
    directly: frozenset[Message]

    def renamed(self, names: tuple[int, ...]) -> Received:
        """The delivery after entity k has become `names[k]`."""
        return Received(
            self.message.renamed(names),
            self.stamp,
            frozenset(message.renamed(names) for message in self.before),
            frozenset(message.renamed(names) for message in self.directly),
        )


def directly_before(past: Iterable[Sent], to: int) -> Iterator[Sent]:
    """Definition 5: of the sends that Definition 4 puts before a message to `to`, those to `to` with nothing in
    between that was sent to `to` or by `to`.
    """
    past = tuple(past)
    between = [sent for sent in past if to in sent.message.destinations or to == sent.message.sender]
    for first in past:
        if to in first.message.destinations and not any(first.message in sent.before for sent in between):
            yield first


def _packet(step: Step[Agent]) -> Packet | None:
    return next((action.packet for action in step.actions if isinstance(action, Transmit)), None)  # type: ignore[return-value]


def _named(step: Step[Agent], *, directly: bool) -> bool | None:
    packet = _packet(step)
    if packet is None:
        return None
    met = False
    for j in packet.message.destinations:
        there = directly_before(packet.past, j) if directly else packet.past
        marks = {(sent.message.sender, sent.stamp) for sent in there if j in sent.message.destinations}
        if not packet.cb[j] <= marks:
            return False
        met = met or bool(packet.cb[j])
    return True if met else None


def _lemma_1(
    protocol: DeltaCausal, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    return _named(step, directly=True)


def _lemma_1_repaired(
    protocol: DeltaCausal, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    return _named(step, directly=False)


def _lemma_2(
    protocol: DeltaCausal, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    return _complete(protocol, here, step, to_itself=True)


def _lemma_2_repaired(
    protocol: DeltaCausal, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    return _complete(protocol, here, step, to_itself=False)


def _complete(protocol: DeltaCausal, here: Here, step: Step[Agent], *, to_itself: bool) -> bool | None:
    packet = _packet(step)
    if packet is None:
        return None
    met = False
    for j in packet.message.destinations:
        if j == here.entity and not to_itself:
            continue
        marks = packet.cb[j]
        for sent in directly_before(packet.past, j):
            met = True
            full = len(marks) == protocol.max_cb and all(sent.stamp <= x for _, x in marks)
            if (sent.message.sender, sent.stamp) not in marks and not full:
                return False
    return True if met else None


def _lemma_3(
    protocol: DeltaCausal, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    return _in_order(before, step, directly=True)


def _theorem_3(
    protocol: DeltaAgent, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    return _in_order(before, step, directly=False)


def _in_order(before: Agent, step: Step[Agent], *, directly: bool) -> bool | None:
    """Whether nothing was delivered before that what is delivered now comes (directly) before."""
    new = step.state.delivered - before.delivered
    if not new:
        return None
    (this,) = new
    if any(this.message in (there.directly if directly else there.before) for there in before.delivered):
        return False
    return True if (this.directly if directly else this.before) else None


def _theorem_4(
    protocol: DeltaAgent, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    gone = before.held - step.state.held
    if not any(isinstance(action, Deliver) for action in step.actions):
        return None
    if not gone:
        return None if isinstance(cause, Timer) else True
    return all(here.now <= packet.stamp + protocol.limit for packet in gone)


def _needed(protocol: DeltaAgent, here: Here, state: Agent) -> bool | None:
    """What waits with a tag that is not full waits for (R0), or for a message before it that has not been delivered and
    is still in time; or its wait ends now."""
    met = False
    delivered = {received.message for received in state.delivered}
    for packet in state.held:
        if protocol.is_full(packet.cb[here.entity]):
            continue
        met = True
        awaited = here.now < packet.stamp or any(
            here.entity in sent.message.destinations
            and sent.message not in delivered
            and sent.stamp + protocol.limit >= here.now
            for sent in packet.past
        )
        if not awaited and protocol.due(here, state, packet) > here.now:
            return False
    return True if met else None


def _deliv_grows(
    protocol: DeltaAgent, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    """(R6), deliv[j] := TS_m, never takes a later time stamp back: it is the maximum."""
    pairs = [
        (old, new)
        for old, new in zip(before.deliv, step.state.deliv, strict=True)
        if old != new and old > NEVER
    ]
    return all(old < new for old, new in pairs) if pairs else None


def _less_than_delta(
    protocol: DeltaAgent, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    """What arrived less than Δ after its send is delivered less than Δ after it."""
    gone = before.held - step.state.held
    if not gone or not any(isinstance(action, Deliver) for action in step.actions):
        return None
    return all(here.now < packet.stamp + protocol.limit for packet in gone)


def _stamps_grow(
    protocol: DeltaAgent, here: Here, before: Agent, cause: object, step: Step[Agent]
) -> bool | None:
    """No message has an earlier time stamp than one that comes before it."""
    packet = _packet(step)
    if packet is None or not packet.past:
        return None
    return all(sent.stamp <= packet.stamp for sent in packet.past)


THEOREM_3 = OfStep("Theorem 3, as Theorem 2 has it", _PAPER, _theorem_3)
"""Of two messages that are delivered to one process."""
THEOREM_4 = OfStep("Theorem 4: no wait outlasts Δ", _PAPER, _theorem_4)
"""Of what was held: it is delivered while it is in time, by the clock that (R1) looks at."""

_LEMMA_3 = OfStep("Lemma 3", _PAPER, _lemma_3)

NEEDLESS = OfEntity("no needless wait", "Δ-causal paper, section 4.1, |CB| < MAX_CB", _needed)
"""Met where something waits with a tag that is not full."""

FURTHER: tuple[Invariant, ...] = (
    OfStep("deliv never falls", "Δ-causal paper, section 3.3, (R6)", _deliv_grows),
    NEEDLESS,
    OfStep("Theorem 4 by section 2.2: less than Δ", "Δ-causal paper, section 2.2", _less_than_delta),
    OfStep("no earlier time stamp", "Δ-causal paper, section 3.5", _stamps_grow),
)
"""The third is met where something has waited."""

AS_WRITTEN: tuple[Invariant, ...] = (
    OfStep("Lemma 1", _PAPER, _lemma_1),
    OfStep("Lemma 2", _PAPER, _lemma_2),
    _LEMMA_3,
    THEOREM_3,
)
REPAIRED: tuple[Invariant, ...] = (
    OfStep("Lemma 1 without 'directly'", _PAPER, _lemma_1_repaired),
    OfStep("Lemma 2 of messages to others", _PAPER, _lemma_2_repaired),
    _LEMMA_3,
    THEOREM_3,
)
"""Two lemmas say more than is so, whatever the protocol's form, and nothing needs it.

Lemma 1 says that a mark is of a message directly before. It stays where it is after something has come back from
where that message went (Definition 5, item 4), because (R5) only adds. Lemma 2 says that what is directly before has
a mark; of what comes in to the sender itself (R4) makes none, and none is needed: it has been delivered.
"""
