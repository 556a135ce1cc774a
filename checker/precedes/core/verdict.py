"""The three values of a verdict, and the reasons for the third.

Every engine computes with the same small integers, so that a verdict passes from a compiled loop, a Spark
worker or the reference evaluator without translation. `TRUE` is 0, `FALSE` is -1, and any positive number is
unknown, with the `Reason`s as its bits. The connectives are Kleene's strong connectives: if a formula is true
or false, it is so whatever its unknown parts are.
"""

from __future__ import annotations

from enum import Enum, IntFlag
from typing import Final

TRUE: Final = 0
FALSE: Final = -1


class Verdict(Enum):
    """The verdict on a formula in one execution, or on a run as a whole.

    Attributes:
        HOLDS: Everything that was asked holds.
        VIOLATED: Something is violated, for certain.
        UNKNOWN: It is not decided, or there was nothing to check. Unknown is never a pass.
    """

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class Reason(IntFlag):
    """Why a verdict is unknown. The bits are stable: they stand in `verdicts.parquet`."""

    CONTRADICTION = 1 << 0
    INCOMPLETE = 1 << 1
    SEND_NOT_LOGGED = 1 << 2
    INTERLEAVING = 1 << 3
    CYCLE = 1 << 4
    NO_TIME = 1 << 5
    NO_DELTA = 1 << 6
    EPSILON = 1 << 7
    CLOCKS = 1 << 8
    NO_ARRIVAL = 1 << 9
    NO_CLOCK = 1 << 10
    NO_MARK = 1 << 11
    NOT_DECIDED = 1 << 12
    ROW_ORDER = 1 << 13
    CLOCK_ORDER = 1 << 14
    NO_ATTRIBUTE = 1 << 15
    NO_ACKNOWLEDGEMENT = 1 << 16
    GROUP_CHOOSES = 1 << 17
    NO_VIEWS = 1 << 18
    NO_VIEW_NUMBER = 1 << 19
    EQUAL_TIMES = 1 << 20


NO_REASON: Final = Reason(0)

REASON_TEXT: Final[dict[Reason, str]] = {
    Reason.CONTRADICTION: "rows of this execution contradict each other",
    Reason.INCOMPLETE: "the trace is incomplete: what is missing may not have been recorded",
    Reason.SEND_NOT_LOGGED: "the send of a message was not logged",
    Reason.INTERLEAVING: "it is not known how an entity's sends and deliveries interleave",
    Reason.CYCLE: "happens-before has a cycle: the execution is impossible",
    Reason.NO_TIME: "a send or a delivery has no time",
    Reason.NO_DELTA: "no delta is given",
    Reason.EPSILON: "a time is closer to its limit than epsilon",
    Reason.CLOCKS: "a delivery is earlier than its send by more than epsilon: the times do not fit together",
    Reason.NO_ARRIVAL: "no arrivals are recorded",
    Reason.NO_CLOCK: "an event has no recorded clock",
    Reason.NO_MARK: "no failure point is marked",
    Reason.NOT_DECIDED: "not decided by this version",
    Reason.ROW_ORDER: "times run against the order of rows, and there is no `seq`: the order of events is not known",
    Reason.CLOCK_ORDER: "the recorded clocks and the order of rows disagree",
    Reason.NO_ATTRIBUTE: "an attribute of a message or delivery was not recorded",
    Reason.NO_ACKNOWLEDGEMENT: "no acknowledgements are recorded",
    Reason.GROUP_CHOOSES: "it is not known whom a message is for: it is for a group, or the trace does not say",
    Reason.NO_VIEWS: "no view is recorded, or one without an id",
    Reason.NO_VIEW_NUMBER: "the id of a view is no whole number",
    Reason.EQUAL_TIMES: "events of an entity have equal times, and nothing else orders them",
}


def negation(value: int) -> int:
    """Kleene's not."""
    return FALSE if value == TRUE else TRUE if value == FALSE else value


def conjunction(left: int, right: int) -> int:
    """Kleene's and; the reasons of two unknowns are united."""
    return FALSE if FALSE in (left, right) else left | right


def disjunction(left: int, right: int) -> int:
    """Kleene's or; the reasons of two unknowns are united."""
    if TRUE in (left, right):
        return TRUE
    return right if left == FALSE else left if right == FALSE else left | right


def verdict(value: int) -> Verdict:
    """The verdict that a value stands for."""
    return Verdict.HOLDS if value == TRUE else Verdict.VIOLATED if value == FALSE else Verdict.UNKNOWN


def reasons(value: int) -> tuple[str, ...]:
    """The reasons in an unknown value as sentences, in the order of their bits; none for the other values."""
    if value in (TRUE, FALSE):
        return ()
    return tuple(text for reason, text in REASON_TEXT.items() if value & reason)
