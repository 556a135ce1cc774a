"""The dynamic cluster: what must hold of the active entities, and that the agreements end.

Active are those that run and are A in their own eyes (section 2.2); active all along those among them that have not
stopped in between.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import combinations
from typing import Any

from precedes.protocol import (
    Deliver,
    Discard,
    Here,
    Invariant,
    Message,
    OfState,
    OfStep,
    Situation,
    Step,
    Transmit,
    View,
)
from precedes_models.dynamic_cluster.state import Member, RcvPack, Standing, StopPack
from precedes_models.total_order.transfer import FIRST

SECTION_3_2 = "dynamic cluster paper, section 3.2"
SECTION_3 = "dynamic cluster paper, section 3"


def active(situation: Situation, *, all_along: bool) -> Iterator[tuple[int, Member]]:
    """The active entities."""
    for k, state in enumerate(situation.states):
        if state is not None and state.standing is Standing.ACTIVE and not (all_along and state.returned):
            yield k, state


def same_emask(protocol: Any, situation: Situation) -> bool | None:
    """In quiescence the active entities have the same emask, and have set their stop marks by it."""
    members = [state for _, state in active(situation, all_along=False)]
    if not any(member.emask for member in members):
        return None
    return len({member.emask for member in members} | {member.marked for member in members}) == 1


def same_cut(protocol: Any, situation: Situation) -> bool | None:
    """In quiescence they have delivered the same of an entity that has stopped, and nothing of it waits."""
    members = list(active(situation, all_along=True))
    stopped = frozenset[int]().union(*(member.emask for _, member in members))
    if not stopped or len(members) < 2:
        return None
    cuts = {tuple(m for m in situation.delivered[k] if m.sender in stopped) for k, _ in members}
    waiting = any(
        pdu.source in stopped and pdu.message is not None
        for _, member in members
        for pdu in member.data.rrl + member.data.prl
    )
    return len(cuts) == 1 and not waiting


def one_cut(protocol: Any, situation: Situation) -> bool | None:
    """Active entities that have ended stop agreements with the same emask expect the same of those that have stopped:
    REQ_h of (3), from which (4) deletes. Judged of those of which something has been received, where neither is in an
    agreement or a reset and no reset lies between the two."""
    calm = [
        state
        for _, state in active(situation, all_along=False)
        if state.stopping is None and state.returning is None and state.data.round is None and state.marked
    ]
    met = None
    for one, other in combinations(calm, 2):
        if one.marked != other.marked or one.data.epoch != other.data.epoch:
            continue
        for h in one.marked:
            if max(one.data.req[h], other.data.req[h]) > FIRST:
                met = True
                if one.data.req[h] != other.data.req[h]:
                    return False
    return met


def one_sequence(protocol: Any, situation: Situation) -> bool | None:
    """TO among the active, its order: at any time, of two that were active all along one has delivered what the other
    has, or the beginning of that."""
    logs = [situation.delivered[k] for k, _ in active(situation, all_along=True)]
    met = None
    for one, other in combinations(logs, 2):
        if one and other:
            met = True
            shorter = min(len(one), len(other))
            if one[:shorter] != other[:shorter]:
                return False
    return met


def everything(protocol: Any, situation: Situation) -> bool | None:
    """TO among the active, its completeness: in quiescence they have delivered the same, with all that they sent
    themselves."""
    members = [k for k, _ in active(situation, all_along=True)]
    if len(members) < 1 or not any(situation.sent):
        return None
    if len({situation.delivered[k] for k in members}) > 1:
        return False
    delivered = set(situation.delivered[members[0]])
    return all(delivered.issuperset(situation.sent[k]) for k in members)


def nothing_lost(protocol: Any, situation: Situation) -> bool | None:
    """In quiescence, what anybody has acknowledged, one that stopped afterwards too, those active all along have
    acknowledged."""
    members = [k for k, _ in active(situation, all_along=True)]
    anything = {message for log in situation.delivered for message in log}
    if not anything or not members:
        return None
    return all(anything <= set(situation.delivered[k]) for k in members)


def acknowledged(protocol: Any, situation: Situation) -> bool | None:
    """What anybody has acknowledged, every other has at least pre-acknowledged. Judged where nobody has been taken for
    stopped and no agreement is under way: from then on fewer confirmations are asked for."""
    members = [(k, state) for k, state in enumerate(situation.states) if state is not None]
    calm = all(
        state.standing is Standing.ACTIVE
        and not state.emask
        and not state.returned
        and state.data.round is None
        and state.data.epoch == members[0][1].data.epoch
        for _, state in members
    )
    anything = {message for log in situation.delivered for message in log}
    if not calm or not anything:
        return None
    return all(
        anything <= {*situation.delivered[k], *(pdu.message for pdu in state.data.prl)}
        for k, state in members
    )


def agreement_ends(protocol: Any, situation: Situation) -> bool | None:
    """In quiescence no agreement is under way."""
    running = [state for state in situation.states if state is not None]
    return all(
        state.stopping is None
        and state.returning is None
        and state.data.round is None
        and state.standing is not Standing.RECOVERING
        for state in running
    )


def says_something_new(
    protocol: Any, here: Here, before: Member, cause: Hashable, step: Step[Member]
) -> bool | None:
    """Nobody is led by its own STOP_PACK or RCV_PACK to send the same again and be as before: that would never end."""
    if not isinstance(cause, StopPack | RcvPack) or cause.source != here.entity:
        return None
    return not (step.state == before and Transmit(cause) in step.actions)


def possible_expectations(protocol: Any, situation: Situation) -> bool | None:
    """In quiescence an active entity expects next of another what that one has sent or will send next: nothing older
    than its first PDU, and nothing newer than its next."""
    members = list(active(situation, all_along=False))
    if len(members) < 2:
        return None
    return all(FIRST <= member.data.req[k] <= other.data.seq for _, member in members for k, other in members)


def deleted_of_the_stopped(
    protocol: Any, here: Here, before: Member, cause: Hashable, step: Step[Member]
) -> bool | None:
    """Step (4), where there is something that could be deleted: of those that have stopped, and of nobody else, and
    nothing that has been acknowledged."""
    ended = before.stopping is not None and step.state.stopping is None
    installed = any(isinstance(action, View) for action in step.actions)
    if not (ended and installed and before.data.prl + before.data.rrl):
        return None
    deleted = [action.message for action in step.actions if isinstance(action, Discard)]
    delivered: set[Message] = {action.message for action in step.actions if isinstance(action, Deliver)}
    return all(message.sender in step.state.emask and message not in delivered for message in deleted)


def only_the_stopped(protocol: Any, situation: Situation) -> bool | None:
    """In quiescence nobody who runs is taken for stopped, but those with whom the protocol is hasty. So it is where
    no time-out is premature: bounds with early time-outs break it."""
    members = list(active(situation, all_along=False))
    masked = frozenset[int]().union(*(member.emask for _, member in members))
    if not masked:
        return None
    return all(situation.states[k] is None or k in protocol.hasty for k in masked)


INVARIANTS: tuple[Invariant, ...] = (
    OfState("cluster: same emask", SECTION_3_2, same_emask, quiescent=True),
    OfState("cluster: same cut", SECTION_3_2, same_cut, quiescent=True),
    OfState("cluster: one cut", SECTION_3_2, one_cut),
    OfState("cluster: TO among the active, one sequence", SECTION_3, one_sequence),
    OfState("cluster: TO among the active, everything", SECTION_3, everything, quiescent=True),
    OfState("cluster: no acknowledged PDU is lost", SECTION_3, nothing_lost, quiescent=True),
    OfState("cluster: acknowledged is pre-acknowledged by all", "1994, section 2.3", acknowledged),
    OfState("cluster: agreement ends", SECTION_3, agreement_ends, quiescent=True),
    OfState("cluster: what is expected can come", SECTION_3, possible_expectations, quiescent=True),
    OfStep("cluster: an answer says something new", SECTION_3, says_something_new),
    OfState(
        "cluster: only who has stopped is taken for stopped", SECTION_3_2, only_the_stopped, quiescent=True
    ),
    OfStep("cluster: only of the stopped is anything deleted", SECTION_3_2, deleted_of_the_stopped),
)
