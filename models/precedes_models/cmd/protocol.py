"""CMD: the auxiliary procedure with s-records removed once they tell nothing that a later one does not tell.

N. Manabe, H. Tada, M. Higuchi, M. Fujii: A Message Delivery Protocol Preserving Causal Order for Distributed Systems
(CMD paper), sections 3.2 and 3.3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from precedes.protocol import Deliver, Here, Invariant, OfEntity, OfState, OfStep, Situation, Step, Transmit
from precedes_models.cmd.auxiliary import (
    CASE_I,
    DEFINITION_4,
    DEFINITION_6,
    LEMMA_6,
    Auxiliary,
    Entity,
    Packet,
    Reading,
    Record,
    s_records,
)
from precedes_models.vector_time import Clock


def latest(records: frozenset[Record]) -> frozenset[Record]:
    """Of the s-records with one sender and one receiver, the one of the greatest time (rule 1)."""
    times = _times(records)
    if len(times) == len(records):
        return records
    return frozenset(record for record in records if record.time == times[record.sender, record.receiver])


def _times(records: Iterable[Record]) -> dict[tuple[int, int], int]:
    """The greatest time of the s-records of each sender and receiver."""
    found: dict[tuple[int, int], int] = {}
    for record in records:
        pair = (record.sender, record.receiver)
        if record.time > found.get(pair, 0):
            found[pair] = record.time
    return found


def _undelivered(situation: Situation) -> list[tuple[int, Packet]]:
    """Receiver and packet of every message that was sent and not delivered there: under way, or in a Queue."""
    found = [(receiver, packet) for _, receiver, packet in situation.under_way if isinstance(packet, Packet)]
    for entity, state in enumerate(situation.states):
        if state is not None:
            found.extend((entity, packet) for packet in state.queue)
    return found


def _one_of_each(protocol: Cmd, here: Here, state: Entity) -> bool | None:
    """No two s-records of one sender and one receiver."""
    if not state.records:
        return None
    return len({(record.sender, record.receiver) for record in state.records}) == len(state.records)


def _removed(protocol: Cmd, situation: Situation) -> bool | None:
    """Who knows of a send and has no s-record of it, nor of a later one to the same entity: it has been delivered."""
    judged = None
    for receiver, packet in _undelivered(situation):
        sender = packet.sender
        time = packet.clock[sender]
        for entity, state in enumerate(situation.states):
            if state is not None and entity != receiver and state.clock[sender] >= time:
                judged = True
                if not any(
                    record.sender == sender and record.receiver == receiver and record.time >= time
                    for record in state.records
                ):
                    return False
    return judged


def _confirmed(protocol: Cmd, here: Here, before: Entity, cause: Hashable, step: Step[Entity]) -> bool | None:
    """What rules 2 and 3 remove, or keep from being added, has been delivered, and this entity knows of it. What rule 1
    removes has a later s-record of the same pair."""
    if not protocol.confirmations or not isinstance(cause, Packet):
        return None
    packets = {packet.message: packet for packet in (*before.queue, cause)}
    told = [packets[action.message].records for action in step.actions if isinstance(action, Deliver)]
    after = step.state.records
    removed = [
        record
        for record in before.records.union(*told) - after
        if not any(_same(record, other) and record.time < other.time for other in after)
    ]
    if not removed:
        return None
    return all(record in step.state.confirmed for record in removed)


def _tags(protocol: Cmd, here: Here, before: Entity, cause: Hashable, step: Step[Entity]) -> bool | None:
    """A message carries N² s-records at most."""
    sizes = [s_records(action.packet) for action in step.actions if isinstance(action, Transmit)]
    return max(sizes) <= here.entities**2 if sizes else None


ONE_OF_EACH = OfEntity("CMD rule 1", "CMD paper, section 3.2, rule 1", _one_of_each)
TAGS = OfStep("CMD tags", "CMD paper, section 1: N² tags at the worst", _tags)
CONFIRMED = OfStep(
    "CMD Definition 7",
    "CMD paper, Definition 7 and section 3.2, rules 2 and 3: what is removed is confirmed",
    _confirmed,
)
REMOVED = OfState(
    "CMD Theorem 2, rules 2 and 3", "CMD paper, proof of Theorem 2: what is removed is delivered", _removed
)


@dataclass(frozen=True)
class Cmd(Auxiliary):
    """CMD of the CMD paper, section 3.3.

    As written and repaired differ in the four readings of the auxiliary procedure and in five more; each has a scenario
    of its name in specs/papers/cmd-as-written.prec.

    - RULE_3_AFTER_UPDATE. V_j is joined with V(m) before the rules run, so that rule 3 removes from R(m) whatever R_j
      does not have: nothing is learned any more, and condition (1) is broken. Repaired: V_j before it is joined.
    - RULE_1_WITH_EQUALITY. Rule 1 (a), t >= t', removes from R(m) what both have. If "not in R(m)" in rule 2 is asked
      of what is left of R(m), the s-record is removed from R_j, too: it is lost, and condition (1) is broken. Repaired:
      t > t'. If it is asked of R(m) as it was attached, t >= t' does no harm: by section 3.2, rule 2 is about what P_i
      had removed before it sent m. As written it is what is left, for the rules are carried out in order on the same
      sets.
    - QUEUE_DELIVERS_M. Case (i), last sentence: R(m) is added and m delivered where the message that leaves the Queue
      is m', a slip. That one is lost, m is delivered twice. Repaired: R(m') and m', as in section 3.1.
    - RULES_IN_CASE_I. The steps run the rules in case (i) alone; the sentence before them says at every delivery.
      Without them no order is broken, but R_j gets two s-records of one pair. Repaired: at every delivery.
    - SEND_ADDS_ONLY. A send adds to R_i and removes nothing, so that a message can carry more than the N² s-records
      that section 1 names as the worst. Repaired: rule 1 for what is added.

    Read as what the text says: rule 1 is about every two s-records of one pair in R_j and R(m), both taken as they were
    when the rule began; the "∀ <k, l, t> in R_j" before it binds k, l and t, which (a) and (b) use.
    """

    name: ClassVar[str] = "cmd"
    source: ClassVar[str] = "CMD paper, section 3.3"
    invariants: ClassVar[tuple[Invariant, ...]] = (LEMMA_6, CASE_I, DEFINITION_6, ONE_OF_EACH, TAGS, REMOVED)
    further: ClassVar[tuple[Invariant, ...]] = (DEFINITION_4, CONFIRMED)
    letter: ClassVar[frozenset[Reading]] = Auxiliary.letter | {
        Reading.QUEUE_DELIVERS_M,
        Reading.RULES_IN_CASE_I,
        Reading.RULE_1_WITH_EQUALITY,
        Reading.RULE_3_AFTER_UPDATE,
        Reading.SEND_ADDS_ONLY,
    }

    def recorded(self, records: frozenset[Record], new: frozenset[Record]) -> frozenset[Record]:
        """R_i after a send; rule 1 for what is added."""
        both = super().recorded(records, new)
        return both if self.reads(Reading.SEND_ADDS_ONLY) else latest(both)

    def kept(
        self, entity: int, state: Entity, clock: Clock, packet: Packet, *, addressed: bool
    ) -> frozenset[Record]:
        """R_j after a delivery: rules 1, 2 and 3 in this order, then R(m) is added."""
        mine, carried = state.records, packet.records
        if not addressed and self.reads(Reading.RULES_IN_CASE_I):
            return mine | carried
        mine, carried = self.rule_1(mine, carried)
        mine = self.rule_2(mine, carried, packet.clock)
        known = clock if self.reads(Reading.RULE_3_AFTER_UPDATE) else state.clock
        return mine | self.rule_3(mine, carried, known)

    def rule_1(
        self, mine: frozenset[Record], carried: frozenset[Record]
    ) -> tuple[frozenset[Record], frozenset[Record]]:
        """R_j and R(m) without what the other has a later s-record for."""
        equal = self.reads(Reading.RULE_1_WITH_EQUALITY)
        of_mine: list[Record] = []
        of_carried: list[Record] = []
        for each in mine:
            for other in carried:
                if each.receiver != other.receiver or each.sender != other.sender:
                    continue
                if each.time < other.time:
                    of_mine.append(each)
                elif other.time < each.time or equal:
                    of_carried.append(other)
        return mine.difference(of_mine), carried.difference(of_carried)

    def rule_2(self, mine: frozenset[Record], carried: frozenset[Record], clock: Clock) -> frozenset[Record]:
        """R_j without what the sender of m, whose vector time is `clock`, knew of and had removed."""
        return _unless_known(mine, carried, clock)

    def rule_3(self, mine: frozenset[Record], carried: frozenset[Record], clock: Clock) -> frozenset[Record]:
        """R(m) without what this entity, whose vector time is `clock`, knows of and has removed."""
        return _unless_known(carried, mine, clock)


def _unless_known(records: frozenset[Record], others: frozenset[Record], clock: Clock) -> frozenset[Record]:
    """The s-records without what a clock knows of and others have not."""
    known = [record for record in records if record.time <= clock[record.sender]]
    return records.difference([record for record in known if record not in others])


def _same(first: Record, second: Record) -> bool:
    """Whether both are of one sender and one receiver."""
    return (first.sender, first.receiver) == (second.sender, second.receiver)
