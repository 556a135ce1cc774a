"""TO: what the states of the entities say of each other (1994, sections 2.3 and 3)."""

from __future__ import annotations

from typing import Any

from precedes.protocol import Here, Invariant, OfEntity, OfPair, OfState, Situation
from precedes_models.total_order.transfer import Transfer

SECTION_3 = "1994, section 3.1"
SECTION_2_3 = "1994, section 2.3"


def comparable(state: Transfer, other: Transfer) -> bool:
    """Whether the numbers of the two mean the same PDUs: no reset lies between them or is under way."""
    return state.round is None and other.round is None and state.epoch == other.epoch


def knows(protocol: Any, here: Here, state: Transfer, there: Here, other: Transfer) -> bool | None:
    """AL_kj <= REQ_k at E_j: what this entity takes E_j to have accepted, E_j has."""
    if not comparable(state, other):
        return None
    return all(state.al[k][there.entity] <= other.req[k] for k in range(here.entities))


def pre_acknowledged(protocol: Any, here: Here, state: Transfer, there: Here, other: Transfer) -> bool | None:
    """A pre-acknowledged PDU has been accepted by everybody."""
    if not state.prl or not comparable(state, other):
        return None
    return all(pdu.seq < other.req[pdu.source] for pdu in state.prl)


def acknowledged(protocol: Any, situation: Situation) -> bool | None:
    """An acknowledged PDU has been pre-acknowledged by everybody: every destination knows that every destination
    has it."""
    met = False
    for i, delivered in enumerate(situation.delivered):
        for j, other in enumerate(situation.states):
            if i == j or other is None or not delivered:
                continue
            met = True
            known = {*situation.delivered[j], *(pdu.message for pdu in other.prl)}
            if other.round is not None:
                # While a reset is under way, what stands before the line waits to be acknowledged by its end.
                known |= {pdu.message for pdu in other.rrl}
            if not known.issuperset(delivered):
                return False
    return True if met else None


def accepted_in_order(protocol: Any, here: Here, state: Transfer) -> bool | None:
    """RL without ARL is PRL, then RRL, and each source's PDUs stand in it without a gap, up to REQ."""
    log = (*state.prl, *state.rrl)
    if not log:
        return None
    for source in range(here.entities):
        numbers = [pdu.seq for pdu in log if pdu.source == source]
        end = state.req[source]
        if numbers != list(range(end - len(numbers), end)):
            return False
    return True


INVARIANTS: tuple[Invariant, ...] = (
    OfEntity("TO: accepted without a gap", SECTION_3, accepted_in_order),
    OfPair("TO: what AL says is accepted is", SECTION_3, knows),
    OfPair("TO: pre-acknowledged is accepted by all", SECTION_2_3, pre_acknowledged),
    OfState("TO: acknowledged is pre-acknowledged by all", SECTION_2_3, acknowledged),
)
