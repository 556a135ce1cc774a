"""The auxiliary procedure: messages carry the s-records of all sends that precede theirs, and wait for these.

N. Manabe, H. Tada, M. Higuchi, M. Fujii: A Message Delivery Protocol Preserving Causal Order for Distributed Systems
(CMD paper), section 3.1. What is kept in R_j, and what may be left out of it, is decided in `kept` and `recorded`;
`precedes_models.cmd.protocol` changes these two and nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import ClassVar

from precedes.protocol import (
    Action,
    Deliver,
    Here,
    Invariant,
    Message,
    OfStep,
    Protocol,
    Reliable,
    Step,
    Transmit,
    made_by_slots,
    replace,
)
from precedes_models import vector_time
from precedes_models.vector_time import Clock


@made_by_slots
@dataclass(frozen=True, slots=True)
class Record:
    """An s-record <i, j, t>: there is a send e of entity i to entity j with V(e)[i] = t (Definition 6)."""

    sender: int
    receiver: int
    time: int

    def renamed(self, names: tuple[int, ...]) -> Record:
        """The s-record after entity k has become `names[k]`."""
        return _renamed(self, names)


@lru_cache(maxsize=1 << 14)
def _renamed(record: Record, names: tuple[int, ...]) -> Record:
    # There are few s-records, and each is renamed with every packet and state that has it.
    return Record(names[record.sender], names[record.receiver], record.time)


@lru_cache(maxsize=1 << 14)
def _all_renamed(records: frozenset[Record], names: tuple[int, ...]) -> frozenset[Record]:
    # Four of five states and packets have a set that others have, too, and a set keeps its hash.
    return frozenset([_renamed(record, names) for record in records])


@made_by_slots
@dataclass(frozen=True, slots=True)
class Packet:
    """A message m with V(m) and R(m). `confirmed` is for Definition 7 and no part of it."""

    message: Message
    clock: Clock
    records: frozenset[Record]
    confirmed: frozenset[Record] = frozenset()

    @property
    def sender(self) -> int:
        """Who sent m."""
        return self.message.sender


@made_by_slots
@dataclass(frozen=True, slots=True)
class Entity:
    """What S_j keeps: V_j, R_j, the Queue in the order of arrival.

    `own` is the time of the send of what it last delivered to itself, 0 where there is nothing. `confirmed`: the
    s-records that it has confirmed, in the sense of Definition 7; only where the protocol is to carry them along.
    """

    clock: Clock
    records: frozenset[Record] = frozenset()
    queue: tuple[Packet, ...] = ()
    own: int = 0
    confirmed: frozenset[Record] = frozenset()


class Reading(Enum):
    """A way to read the text that the repaired form does not follow.

    The docstrings of the protocols say where each stands and what becomes of it.
    """

    QUEUE_IN_CASE_I = "the Queue is looked at after a delivery in case (i) only"
    QUEUE_JOINS_V_OF_M = "what leaves the Queue joins the vector time of the message that came in"
    OWN_COMPONENT = "a message to oneself is taken to be delivered as soon as it is sent"
    MULTICAST_THE_SAME_WAY = "the copies of a message do not tell of each other"
    INDEX_IS_THE_SENDER = "i in <i, j, t> is the sender of m"
    QUEUE_DELIVERS_M = "what leaves the Queue is lost, and the message that came in is delivered again"
    RULES_IN_CASE_I = "the removal rules run in case (i) only"
    RULE_1_WITH_EQUALITY = (
        "rule 1 (a) removes from R(m) what R_j has too, and rule 2 then removes it from R_j"
    )
    RULE_3_AFTER_UPDATE = "rule 3 compares with V_j after it has been joined with V(m)"
    SEND_ADDS_ONLY = "a send leaves the s-records of earlier sends to the same entity in R_i"


def s_records(packet: Hashable) -> int:
    """How many s-records a packet carries."""
    assert isinstance(packet, Packet)
    return len(packet.records)


def _lemma_6(
    protocol: Auxiliary, here: Here, before: Entity, cause: Hashable, step: Step[Entity]
) -> bool | None:
    """At the delivery of an m of another entity i, nothing that happened before at this one knows of s(m)."""
    if not isinstance(cause, Packet):
        return None
    packets = {packet.message: packet for packet in (*before.queue, cause)}
    clock, judged = before.clock, None
    for action in step.actions:
        if isinstance(action, Deliver) and action.clock is not None:
            sender = action.message.sender
            if sender != here.entity:
                if clock[sender] >= packets[action.message].clock[sender]:
                    return False
                judged = True
            clock = action.clock
    return judged


def _definition_4(
    protocol: Auxiliary, here: Here, before: Entity, cause: Hashable, step: Step[Entity]
) -> bool | None:
    """The vector time after the delivery of m is sup{V_j, V(m)}, with one event more at j."""
    if not isinstance(cause, Packet):
        return None
    packets = {packet.message: packet for packet in (*before.queue, cause)}
    clock, judged = before.clock, None
    for action in step.actions:
        if isinstance(action, Deliver) and action.clock is not None:
            if action.clock != vector_time.received(clock, here.entity, packets[action.message].clock):
                return False
            clock, judged = action.clock, True
    return judged


def _case_i(
    protocol: Auxiliary, here: Here, before: Entity, cause: Hashable, step: Step[Entity]
) -> bool | None:
    """Where V_j[i] >= t, what P_i sent to P_j at t has been delivered: what comes in, and what waits, has not been.

    Every message comes in at some time and V_j only grows, so that it is enough to look then.
    """
    if not isinstance(cause, Packet):
        return None
    return protocol.known(here.entity, before, cause.sender) < cause.clock[cause.sender] and all(
        protocol.known(here.entity, step.state, packet.sender) < packet.clock[packet.sender]
        for packet in step.state.queue
    )


def _definition_6(
    protocol: Auxiliary, here: Here, before: Entity, cause: Hashable, step: Step[Entity]
) -> bool | None:
    """For every s-record <i, j, t> there is a send e of P_i to P_j with V(e)[i] = t.

    Asked of steps, for a state does not tell when its messages were sent. At first there are no s-records, so that it
    is enough that a step leaves and transmits no others than the entity had, the message that came in carried, or the
    send that is this step makes true.
    """
    after = step.state
    left = [after.records, *[packet.records for packet in after.queue]]
    for action in step.actions:
        if isinstance(action, Transmit):
            assert isinstance(action.packet, Packet)
            left.append(action.packet.records)
    if not any(left):
        return None
    new = frozenset[Record]().union(*[records - before.records for records in left])
    if not new:
        return True
    match cause:
        case Message(destinations=receivers):
            time = after.clock[here.entity]
            told = frozenset(Record(here.entity, receiver, time) for receiver in receivers)
        case Packet(records=told):
            pass
        case _:
            raise TypeError(f"not a request or a packet of this protocol: {cause!r}")
    return new <= before.records.union(told, *(packet.records for packet in before.queue))


DEFINITION_4 = OfStep("CMD Definition 4", "CMD paper, Definition 4 and vector time, step 3", _definition_4)
LEMMA_6 = OfStep("CMD Lemma 6", "CMD paper, Lemma 6, condition (2), for an m of another entity", _lemma_6)
CASE_I = OfStep("CMD case (i)", "CMD paper, section 3.1, case (i): what V_j[i] >= t tells", _case_i)
DEFINITION_6 = OfStep("CMD Definition 6", "CMD paper, Definition 6", _definition_6)


@dataclass(frozen=True)
class Auxiliary(Protocol[Entity]):
    """The auxiliary procedure of the CMD paper, section 3.1.

    As written and repaired differ in four readings; each has a scenario of its name in
    specs/papers/cmd-as-written.prec.

    - QUEUE_IN_CASE_I. Case (i), last sentence: the Queue is spoken of there alone. If it is looked at in that case
      only, a message that waits for one without an s-record for this receiver starves. Repaired: the Queue is looked at
      after every delivery. The sentence can be read so, too: by section 3 a message waits until condition (1) is not
      broken any more. As written it belongs to the case in which it stands.
    - QUEUE_JOINS_V_OF_M. The same sentence joins V_j with V(m) for the m' that leaves the Queue: a slip, for by step 3
      of the vector time it is the V of the message that is received. V_j then does not know of m', and what was sent
      after it starves. Repaired: V(m').
    - OWN_COMPONENT. Outside the paper, which sends to other processes (section 1): V_j[j] >= t is true of every message
      to oneself. Repaired: compared with the time of the last such message delivered.
    - MULTICAST_THE_SAME_WAY. Section 4 says that multicast goes the same way: s-records are added to R_i after the
      send, so that no copy tells of the others. Repaired: each copy carries the s-records of the others.

    Read as what the text says: in <i, j, t> only j, the receiver, is fixed, as "∀ <i, j, t>" and "∃ <i, j, t>" have it
    (the ∃ of section 3.3 prints t alone). INDEX_IS_THE_SENDER is the other way to take it, and does not keep condition
    (1). Of several messages in the Queue that can be delivered, the one that came in first is.
    """

    readings: frozenset[Reading] | None = None
    """Which steps are read as written; None: all that are in `letter`, or none, as `as_written` says."""
    queue: bool = True
    """False: what cannot be delivered yet stays in the network instead of in the Queue. Processes see no difference,
    and there are fewer states. For exploring: a simulated network delivers what it delivers."""
    confirmations: bool = False
    """Carry along which s-records each process has confirmed (Definition 7). What the protocol does is the same."""

    name: ClassVar[str] = "cmd-auxiliary"
    repaired: ClassVar[bool] = True
    source: ClassVar[str] = "CMD paper, section 3.1"
    claims: ClassVar[tuple[str, ...]] = (
        "causal_order",
        "causal_delivery",
        "vector_time",
        "no_creation",
        "no_duplication",
        "selectively_information_preserving",
        "validity",
    )
    destinations: ClassVar[str] = "unicast"
    answers: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (LEMMA_6, CASE_I, DEFINITION_6)
    further: ClassVar[tuple[Invariant, ...]] = (DEFINITION_4,)
    letter: ClassVar[frozenset[Reading]] = frozenset(
        {
            Reading.QUEUE_IN_CASE_I,
            Reading.QUEUE_JOINS_V_OF_M,
            Reading.OWN_COMPONENT,
            Reading.MULTICAST_THE_SAME_WAY,
        }
    )

    @property
    def network(self) -> Reliable:
        """Every message arrives; channels need not be FIFO (section 3)."""
        return Reliable()

    def reads(self, reading: Reading) -> bool:
        """Whether the text is read in this way."""
        if self.readings is None:
            return self.as_written and reading in self.letter
        return reading in self.readings

    def start(self, here: Here) -> Entity:
        """No events, no s-records."""
        return Entity(vector_time.zero(here.entities))

    def send(self, here: Here, state: Entity, message: Message) -> Step[Entity]:
        """Attach V_i and R_i, then add the s-record of this send to R_i."""
        clock = vector_time.ticked(state.clock, here.entity)
        time = clock[here.entity]
        new = frozenset([Record(here.entity, receiver, time) for receiver in message.destinations])
        told = frozenset() if self.reads(Reading.MULTICAST_THE_SAME_WAY) else new
        copies: list[Action] = []
        for receiver in sorted(message.destinations):
            others = frozenset([record for record in told if record.receiver != receiver])
            carried = self.recorded(state.records, others)
            copies.append(Transmit(Packet(message, clock, carried, state.confirmed), frozenset({receiver})))
        records = self.recorded(state.records, new)
        return Step(Entity(clock, records, state.queue, state.own, state.confirmed), tuple(copies), clock)

    def arrive(self, here: Here, state: Entity, packet: Hashable, sender: int) -> Step[Entity] | None:
        """Deliver what waits for nothing, and what has waited for it; keep the rest in the Queue."""
        assert isinstance(packet, Packet)
        if not self.deliverable(here.entity, state, packet):
            if not self.queue:
                return None
            return Step(replace(state, queue=(*state.queue, packet)))
        addressed = here.entity in [record.receiver for record in packet.records]
        state, delivery = self.delivered(here, state, packet, packet, addressed=addressed)
        actions: list[Action] = [delivery]
        if addressed or not self.reads(Reading.QUEUE_IN_CASE_I):
            while ready := [each for each in state.queue if self.deliverable(here.entity, state, each)]:
                rest = list(state.queue)
                rest.remove(ready[0])
                state = replace(state, queue=tuple(rest))
                state, delivery = self.delivered(here, state, ready[0], packet, addressed=True)
                actions.append(delivery)
        return Step(state, tuple(actions))

    def deliverable(self, entity: int, state: Entity, packet: Packet) -> bool:
        """Case (i), or no s-record with this receiver; otherwise case (ii)."""
        for record in packet.records:
            if record.receiver != entity or self.known(entity, state, record.sender) >= record.time:
                continue
            if record.sender == packet.sender or not self.reads(Reading.INDEX_IS_THE_SENDER):
                return False
        return True

    def known(self, entity: int, state: Entity, sender: int) -> int:
        """V_j[i], up to which everything that i sent to j has been delivered.

        V_j[j] counts the events of P_j itself and tells nothing of what it has sent to itself and not delivered yet.
        """
        if sender == entity and not self.reads(Reading.OWN_COMPONENT):
            return state.own
        return state.clock[sender]

    def delivered(
        self, here: Here, state: Entity, packet: Packet, came_in: Packet, *, addressed: bool
    ) -> tuple[Entity, Deliver]:
        """Deliver `packet`, as the text has it for a message that has just come in or leaves the Queue."""
        joined = came_in if self.reads(Reading.QUEUE_JOINS_V_OF_M) else packet
        clock = vector_time.received(state.clock, here.entity, joined.clock)
        told = came_in if self.reads(Reading.QUEUE_DELIVERS_M) else packet
        records = self.kept(here.entity, state, clock, told, addressed=addressed)
        own = told.clock[here.entity] if told.sender == here.entity else state.own
        confirmed = state.confirmed
        if self.confirmations:
            this = Record(packet.sender, here.entity, packet.clock[packet.sender])
            confirmed |= packet.confirmed | {this}
        return Entity(clock, records, state.queue, own, confirmed), Deliver(told.message, clock)

    def recorded(self, records: frozenset[Record], new: frozenset[Record]) -> frozenset[Record]:
        """R_i after a send whose s-records are `new`."""
        return records | new if new else records

    def kept(
        self, entity: int, state: Entity, clock: Clock, packet: Packet, *, addressed: bool
    ) -> frozenset[Record]:
        """R_j after a delivery; `state` is before it, `clock` is V_j after it, `addressed` tells case (i)."""
        # What is the same set takes no memory again.
        return state.records if packet.records <= state.records else state.records | packet.records

    def waiting(self, state: Entity) -> frozenset[Message]:
        """What is in the Queue."""
        return frozenset([packet.message for packet in state.queue])

    def renamed(self, state: Entity, names: tuple[int, ...]) -> Entity:
        """The state after entity k has become `names[k]`."""
        return Entity(
            vector_time.renamed(state.clock, names),
            _all_renamed(state.records, names),
            tuple([self.renamed_packet(packet, names) for packet in state.queue]),
            state.own,
            _all_renamed(state.confirmed, names),
        )

    def renamed_packet(self, packet: Hashable, names: tuple[int, ...]) -> Packet:
        """A packet after entity k has become `names[k]`."""
        assert isinstance(packet, Packet)
        return Packet(
            packet.message.renamed(names),
            vector_time.renamed(packet.clock, names),
            _all_renamed(packet.records, names),
            _all_renamed(packet.confirmed, names),
        )
