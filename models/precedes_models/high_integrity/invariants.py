"""What the high-integrity paper says of states and steps, as invariants that an exploration checks.

What holds with probability one and what only in expectation is told apart by where it stands: here is the former.
Expectations and probabilities are in `numbers`. "The paper's own words" that are false as written are
kept, so that an exploration finds the behavior.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Final

from precedes.protocol import (
    Here,
    Invariant,
    Message,
    OfPair,
    OfState,
    OfStep,
    Situation,
    Step,
    Timer,
    Transmit,
)
from precedes_models.high_integrity.neighbors import NearFar, Uniform
from precedes_models.high_integrity.state import Part, Request, State, part_of

if TYPE_CHECKING:
    from precedes_models.high_integrity.protocol import HighIntegrity

PAPER: Final = "high-integrity paper"


def ended(situation: Situation) -> Iterator[tuple[int, Part, Message]]:
    """The origins that live and have done with their latest message."""
    for origin, state in enumerate(situation.states):
        part = None if state is None else part_of(state, origin)
        if part is not None and part.message is not None and part.ended:
            yield origin, part, part.message


def lacking(situation: Situation, message: Message) -> frozenset[int]:
    """Destinations that stopped before the data of a message came, or that live and have no copy or another one."""
    return frozenset(
        node
        for node in message.destinations
        if (
            message not in situation.delivered[node]
            if situation.states[node] is None
            else not part_of(situation.states[node], message.sender).holds(message)
        )
    )


def _noticed(protocol: HighIntegrity, situation: Situation) -> bool | None:
    """Where some member lacks the data in the end, the origin had a report or a live node an alarm."""
    premise = False
    for origin, part, message in ended(situation):
        absent = lacking(situation, message) & frozenset(part.members)
        if absent:
            premise = True
            alarms = any(state is not None and part_of(state, origin).alarm for state in situation.states)
            if not part.reports and not alarms:
                return False
    return True if premise else None


def _noticed_for_certain(protocol: HighIntegrity, situation: Situation) -> bool | None:
    """The same where adj is deterministic. Where neighbors are drawn the paper itself claims no more than an
    expectation (section 3.4.2)."""
    return None if isinstance(protocol.adj, Uniform | NearFar) else _noticed(protocol, situation)


def _origin_lost(protocol: HighIntegrity, situation: Situation) -> bool | None:
    """Where an origin stopped while some node had no confirmation, a live node raises the alarm."""
    premise = False
    for origin, stopped in enumerate(situation.states):
        if stopped is not None:
            continue
        parts = [part_of(state, origin) for state in situation.states if state is not None]
        if any(part.unconfirmed for part in parts):
            premise = True
            if not any(part.alarm for part in parts):
                return False
    return True if premise else None


def _false_removal(protocol: HighIntegrity, situation: Situation) -> bool | None:
    """Nobody is removed who lives and has the data."""
    premise = False
    for _, part, message in ended(situation):
        if part.removed:
            premise = True
            if part.removed - lacking(situation, message) - _stopped(situation):
                return False
    return True if premise else None


def _stopped(situation: Situation) -> frozenset[int]:
    return frozenset(node for node, state in enumerate(situation.states) if state is None)


def _removal(protocol: HighIntegrity, situation: Situation) -> bool | None:
    """Step 7 is for the nodes that failed for good: one that stopped before the data came and was found out in every
    round, by others or by the origin, is removed."""
    premise = False
    for origin, part, message in ended(situation):
        if protocol.may_repeat(part) or part.members == (origin,):
            continue
        for node in lacking(situation, message) & _stopped(situation) & frozenset(part.members):
            rounds = {report.round for report in part.reports if node in report.failed}
            if len(rounds) == part.round + 1 or node in part.unconfirmed:
                premise = True
                if node not in part.removed:
                    return False
    return True if premise else None


def _repaired_copy(protocol: HighIntegrity, situation: Situation) -> bool | None:
    """Step 6: whoever lives, was reported and is in the group has the data by a repetition, or all repetitions
    were made."""
    premise = False
    for _, part, message in ended(situation):
        reported = {node for report in part.reports for node in report.failed} - part.removed
        alive = {node for node in reported if situation.states[node] is not None}
        left = alive & lacking(situation, message)
        if left and protocol.may_repeat(part):
            return False
        premise = premise or bool(alive - left)
    return True if premise else None


def _agreement(protocol: HighIntegrity, here: Here, state: State, there: Here, other: State) -> bool | None:
    """Step 4: who has confirmed to a node has what the node has (no collision of the hash)."""
    premise = False
    for part in state:
        beyond = part_of(other, part.origin)
        same_round = (part.message, part.round) == (beyond.message, beyond.round)
        if part.message is not None and same_round and there.entity in part.confirmed:
            premise = True
            if part.copy != beyond.copy:
                return False
    return True if premise else None


def _request(
    protocol: HighIntegrity, here: Here, before: State, cause: Hashable, step: Step[State]
) -> bool | None:
    """Step 5: a request names nodes in ascending order, as many as it has room for, none that confirmed."""
    premise = False
    for action in step.actions:
        if isinstance(cause, Timer) and isinstance(action, Transmit) and isinstance(action.packet, Request):
            request = action.packet
            premise = True
            part = part_of(before, request.message.sender)
            ordered = list(request.failed) == sorted(set(request.failed))
            minority = here.entity in request.failed
            if not (ordered and request.failed and len(request.failed) <= protocol.room):
                return False
            if part.confirmed & set(request.failed) and not minority:
                return False
    return True if premise else None


NOTICED: Final = OfState(
    "missed failure, whatever is drawn", f"{PAPER}, section 3.4.2", _noticed, quiescent=True
)
"""What drawn neighbors cannot promise: to be asked for by name, to see a behavior that misses a failure."""

INVARIANTS: Final[tuple[Invariant, ...]] = (
    OfStep("step 5, request", f"{PAPER}, section 3.3, step 5", _request),
    OfPair("agreement of those that confirmed", f"{PAPER}, section 3.3, step 4", _agreement),
    OfState(
        "integrity, missed failure", f"{PAPER}, sections 3.1 and 3.4.1", _noticed_for_certain, quiescent=True
    ),
    OfState(
        "integrity, origin lost",
        f"{PAPER}, section 3.1, definition of integrity",
        _origin_lost,
        quiescent=True,
    ),
    OfState(
        "integrity, false removal", f"{PAPER}, section 3.4.2, false reports", _false_removal, quiescent=True
    ),
    OfState("step 7, removal", f"{PAPER}, section 3.3, step 7", _removal, quiescent=True),
    OfState(
        "step 6, repetition",
        f"{PAPER}, section 3.3, step 6, and section 3.4.4",
        _repaired_copy,
        quiescent=True,
    ),
)
