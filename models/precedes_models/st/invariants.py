"""What the 1994 paper says of accepted, pre-acknowledged and acknowledged PDUs, as invariants of ST."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from precedes.protocol import Here, Invariant, Message, OfEntity, OfPair, OfState, OfStep, Situation, Step
from precedes_models.st.state import FIRST, Pdu, State

if TYPE_CHECKING:
    from precedes_models.st.protocol import SelectiveTotalOrder

_PAPER = "Tachikawa, Nakamura, Takizawa 1994"


def _accepted(protocol: SelectiveTotalOrder, here: Here, state: State) -> bool | None:
    """From every source, what is for this entity, one PSEQ after the other, as far as PREQ says."""
    if not state.received:
        return None
    numbers: list[list[int]] = [[] for _ in range(here.entities)]
    for pdu in state.received:
        numbers[pdu.source].append(pdu.pseq[here.entity])
    return all(numbers[j] == list(range(FIRST, expected)) for j, expected in enumerate(state.preq))


def _for_me(protocol: SelectiveTotalOrder, here: Here, state: State) -> bool | None:
    if not state.received:
        return None
    return all(here.entity in pdu.destinations for pdu in state.received)


def _same(one: Pdu, other: Pdu) -> bool:
    return (one.source, one.tseq) == (other.source, other.tseq)


def _pre_acknowledged(
    protocol: SelectiveTotalOrder, here: Here, state: State, there: Here, other: State
) -> bool | None:
    """What this entity has pre-acknowledged, every destination has accepted."""
    common = [pdu for pdu in state.arl + state.prl if there.entity in pdu.destinations]
    if not common:
        return None
    return all(any(_same(pdu, its) for its in other.received) for pdu in common)


def _acknowledged(
    protocol: SelectiveTotalOrder, here: Here, state: State, there: Here, other: State
) -> bool | None:
    """What this entity has acknowledged, every destination knows to have been accepted by every destination."""
    common = [pdu for pdu in state.arl if there.entity in pdu.destinations]
    if not common:
        return None
    return all(pdu.tseq < min(other.al[pdu.source][k] for k in pdu.destinations) for pdu in common)


def _in_order(
    protocol: SelectiveTotalOrder, here: Here, before: State, cause: Hashable, step: Step[State]
) -> bool | None:
    """In data transfer PDUs move on from RRL to PRL and from PRL to ARL, and RL keeps its order and grows behind."""
    after = step.state
    if before.recovery is not None or after.recovery is not None or before.round != after.round:
        return None
    if not before.received or before.received == after.received:
        return None
    return all(map(_same, before.received, after.received)) and len(before.received) <= len(after.received)


def _stays(
    protocol: SelectiveTotalOrder, here: Here, before: State, cause: Hashable, step: Step[State]
) -> bool | None:
    """What has been acknowledged stays where it was."""
    if not before.arl or before == step.state:
        return None
    return before.arl == step.state.arl[: len(before.arl)]


def _settled(protocol: SelectiveTotalOrder, here: Here, state: State) -> bool | None:
    """What is acknowledged, by step (4) of section 4.2 too, is selectively correct: of every source the first PDUs that
    are for this entity, in the order in which they were sent."""
    if not state.arl:
        return None
    numbers: list[list[int]] = [[] for _ in range(here.entities)]
    for pdu in state.arl:
        numbers[pdu.source].append(pdu.pseq[here.entity])
    return all(seen == list(range(FIRST, FIRST + len(seen))) for seen in numbers)


def _no_gap(
    protocol: SelectiveTotalOrder, here: Here, before: State, cause: Hashable, step: Step[State]
) -> bool | None:
    """Acceptance condition (1) adds nothing to (2): where there is no gap in the TSEQ, PSEQ is the expected one."""
    if before.recovery is not None or not isinstance(cause, Pdu) or cause.tseq != before.treq[cause.source]:
        return None
    return cause.pseq[here.entity] == before.preq[cause.source]


def _window(protocol: SelectiveTotalOrder, here: Here, state: State) -> bool | None:
    """The lower half of the flow condition, minAL_i <= TSEQ; and nobody expects more of E_i than it has sent."""
    if state.tseq == FIRST:
        return None
    return max(state.al[here.entity]) <= state.tseq


def _flow(
    protocol: SelectiveTotalOrder, here: Here, before: State, cause: Hashable, step: Step[State]
) -> bool | None:
    """Data is sent where minAL_i <= TSEQ < minAL_i + min(W, minBUF/(H * n)). TSEQ counts confirmations, too."""
    if not isinstance(cause, Message):
        return None
    least = min(before.al[here.entity])
    if not least <= before.tseq < least + protocol.window:
        return False
    size = (before.tseq - least) * protocol.factor * here.entities
    return protocol.buffers is None or size < min(before.buffers)


def _known(protocol: SelectiveTotalOrder, here: Here, state: State, there: Here, other: State) -> bool | None:
    """AL_kj: E_i knows that E_j expects at least this of E_k. Go-back takes it back at one entity after the other."""
    if protocol.retransmission == "go-back" and (
        state.recovery or other.recovery or state.round != other.round
    ):
        return None
    column = [row[there.entity] for row in state.al]
    if max(column) == FIRST:
        return None
    return all(map(int.__le__, column, other.treq))


def _continues(protocol: SelectiveTotalOrder, situation: Situation) -> bool | None:
    """Where nothing can happen any more, nobody has stopped for an agreement or waits for what it lost."""
    if not any(situation.sent):
        return None
    return all(state is None or (state.recovery is None and not state.alarm) for state in situation.states)


def _all_acknowledged(protocol: SelectiveTotalOrder, situation: Situation) -> bool | None:
    """Where nothing can happen any more, everything that was accepted has been acknowledged."""
    if not any(situation.sent):
        return None
    return all(state is None or not (state.rrl or state.prl) for state in situation.states)


def _one_agreement(protocol: SelectiveTotalOrder, here: Here, state: State) -> bool | None:
    return state.round <= 1 if state.round else None


INVARIANTS: tuple[Invariant, ...] = (
    OfEntity("accepted: PREQ", f"{_PAPER}, section 3.2, acceptance procedure (3)", _accepted),
    OfEntity("RL has what is for its entity", f"{_PAPER}, section 3.2", _for_me),
    OfStep("acceptance: (1) implies (2)", f"{_PAPER}, section 3.2, acceptance condition", _no_gap),
    OfPair("pre-acknowledged", f"{_PAPER}, sections 2.3 (2) and 3.3", _pre_acknowledged),
    OfPair("acknowledged", f"{_PAPER}, sections 2.3 (3) and 3.4", _acknowledged),
    OfPair("AL is known", f"{_PAPER}, section 3.1, AL_kj", _known),
    OfStep("RL is ARL, PRL and RRL in order", f"{_PAPER}, section 3.1", _in_order),
    OfStep("acknowledged stays", f"{_PAPER}, section 4.2, step (4)", _stays),
    OfEntity("acknowledged: selectively correct", f"{_PAPER}, section 4.2, after step (4)", _settled),
    OfEntity("minAL and TSEQ", f"{_PAPER}, section 3.2, flow condition", _window),
    OfState("every entity continues", f"{_PAPER}, sections 4.2 and 4.3", _continues, quiescent=True),
)

FURTHER: tuple[Invariant, ...] = (
    OfState(
        "everything is acknowledged in the end", f"{_PAPER}, section 3.4", _all_acknowledged, quiescent=True
    ),
    OfEntity("one agreement", f"{_PAPER}, section 4.1: one loss, one recovery", _one_agreement),
    OfStep("flow condition", f"{_PAPER}, section 3.2, flow condition", _flow),
)
"""The first needs confirmations, for nothing else acknowledges the last PDU of all; the second is of a single loss;
the third is without confirmations, which the paper does not have and the window does not count."""
