"""The tables of an exploration as matrices of small integers: which there are, and what is in a row of each.

A local state is an inner state, which the handlers of the model see, and a past, which only properties see. A
component is a local state and an inbox.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from precedes.core.faults import IN_ANY_STATE
from precedes.native.compiled_functions import Int32Out, Int64Out, MatrixOut, by_address

# ---- what is in a row of each matrix ----

ENTITY, PLACEMENT, NOW, STOPPED, WAITING, MAY_TICK, PENDING, LATER = range(8)
"""Of an inner state: the entity, where it is, the tick, whether it has stopped, whether a message waits in it; whether
time may go on as far as its timers are concerned, whether it must; itself one tick later."""
TIMERS: Final = 8
"""Where the ranges of its own steps begin: timers that are due, time-outs, the same early, crashes, recoveries; the
first and the last of each, -1 where they are not known."""
DUE, TIMEOUTS, EARLY, CRASHES, RECOVERIES = range(TIMERS, TIMERS + 10, 2)
INNER_FIELDS: Final = 18
FEW_INNER_FIELDS: Final = TIMERS
"""Where there is no time, no timer and no fault, an inner state has no steps of its own."""

INNER, PAST, WANTS = range(3)
"""Of a local state: what it is made of, and whether it is asked to send."""
LOCAL_FIELDS: Final = 3

MADE, SENDS, REST, CRASH = range(4)
"""Of a past: how many requests were accepted; the last send, where these are told apart from the rest, and the last of
all other events, each with what came before it; and the crash that it ends with."""
PAST_FIELDS: Final = 4

BEFORE, EVENT = range(2)
"""Of a course of events: the course before the last event, and the last event. Course 0 has none."""
COURSE_FIELDS: Final = 2

IN_COURSE, AS_SEND, AS_CRASH, AS_RECOVERY = range(4)
"""How an event is added to a past."""

AFTER, EMISSION, ACTS, PATIENCE, BROKEN, ADDS, WHENCE, BY, OPTION = range(9)
"""Of a step: the inner state after it, what it transmits, whether it does anything, the patience of the time-out,
whether it breaks an invariant, and what it adds to the past; the inner state before it, what made it, and which of the
options it is."""
STEP_FIELDS: Final = 9

ASKED_OF, CAUSE, FIRST, LAST, WANTED = range(5)
"""Of an answer: of which inner state and to what, and which steps; of one to requests, whether there are any. What is
answered is the number of a packet's cause, or `requested`."""
ANSWER_FIELDS: Final = 5

SENDER, PACKET, SENT, OF_FLIGHT, CORRUPTED, CORRUPTED_LAST = range(6)
"""Of a flight: who transmitted what, and when; what it is to a handler; and what it may become, -1: not known."""
FLIGHT_FIELDS: Final = 6

LOCAL, INBOX, OWN, OWN_TIMEOUTS, REQUESTED, REQUESTED_LAST, OWN_EARLY, OWN_LAST, TICKED, TICKS = range(10)
"""Of a component: what it is made of; where its transitions begin, and those of time-outs; its requests; where the
transitions of early time-outs begin, and where they end; the component one tick later, and whether it lets time go on.
"""
COMPONENT_FIELDS: Final = 10
FEW_COMPONENT_FIELDS: Final = OWN_EARLY
"""Where there is no time, no timer and no fault, the last are not there."""

COMPONENT, TRANSMITTED, STEP, KIND, FROM = range(5)
"""Of a transition: the component after it, what it transmits, the step, what kind of move it is, and its cause."""
TRANSITION_FIELDS: Final = 5

ARRIVED, VANISHED, LOST, COPIED, EXPIRED, EXPIRED_EARLY, REQUESTED_MOVE, CRASHED, RECOVERED = range(9)
"""The kinds of transitions."""

FAULT_KINDS: Final = len(IN_ANY_STATE)
# A fault without a name here ends the import. Machine code is kept under the text of this module, which is another one
# where there is another number of faults.
OF_OWN, OF_REQUESTS, OF_LOSSES, OF_DUPLICATES, OF_CORRUPTIONS, OF_CRASHES, OF_RECOVERIES = range(
    2 + FAULT_KINDS
)
"""What can be worked out of a component: arrivals and timers, requests, and what a fault of each kind does, in the
order of the table of faults."""

# ---- numbers that are not in rows ----

IN_ANY_ORDER, FIFO, ONE_CHANNEL, TIMED = range(4)
"""Networks."""

ENTITIES, NETWORK, SHORTEST, LONGEST, LAST_REQUEST, RENAMINGS, BROKEN_LINKS = range(7)
"""Of the setting."""
SETTINGS: Final = 7

(
    INBOXES,
    IN_FLIGHT,
    COMPONENTS,
    TRANSITIONS,
    OFFERS,
    PLANS,
    OUT,
    ASKED,
    STATES,
    FOLLOWED,
    EXPANDED,
    BLOCKED,
    COURSES,
    PASTS,
    LOCALS,
    LAYER,
) = range(16)
"""How many rows of a matrix there are; how many transitions were followed, and states expanded; what stops a search;
and the number of the first state of the next layer."""
SIZES: Final = 16

ASKS, FULL, CROWDED = 1, 2, 4
"""Why a search is stopped: something is asked for; a matrix is full; there is no room for more states."""

FOR_ANSWER, FOR_TIMERS, FOR_CRASHES, FOR_RECOVERIES, FOR_CORRUPTED, FOR_LATER = range(6)
"""What may be asked for."""


@by_address
class Tables(NamedTuple):
    """The matrices. Those up to `others` have what the handlers of the model said, the following what follows from it,
    the last ones are scratch.

    cut          from whom nothing reaches a placement: 1 for each sender
    emissions    the groups of an emission; groups: a receiver, and its flights in `sent`
    additions    what a step adds to a past: the first and the last of its events in `logged`, and how many requests
    events       how each event is added to a past
    inboxes      the first and the last flight of each in `in_flight`
    faults       the transitions by the kind of fault, of each component
    renamed      what a component becomes under each renaming, -1 where that is not known
    renamed_flights, renamed_events, composed: the same of flights and events; two renamings as one
    renamed_inners  of an inner state, the first one of its orbit, and the row of `members` that has, for each renaming,
                 the how many-th of the orbit it becomes
    asked        what is asked for: which kind, of which inner state or flight, to which cause
    """

    setting: Int32Out
    inners: MatrixOut
    steps: MatrixOut
    answers: MatrixOut
    answer_slots: Int32Out
    flights: MatrixOut
    cut: MatrixOut
    emissions: MatrixOut
    groups: MatrixOut
    sent: Int32Out
    others: Int32Out
    additions: MatrixOut
    logged: Int32Out
    events: Int32Out
    renamings: MatrixOut
    composed: MatrixOut
    members: MatrixOut
    renamed_inners: MatrixOut
    renamed_flights: MatrixOut
    renamed_events: MatrixOut
    courses: MatrixOut
    course_slots: Int32Out
    pasts: MatrixOut
    past_slots: Int32Out
    locals: MatrixOut
    local_slots: Int32Out
    inboxes: MatrixOut
    in_flight: Int32Out
    inbox_slots: Int32Out
    components: MatrixOut
    component_slots: Int32Out
    faults: MatrixOut
    transitions: MatrixOut
    renamed: MatrixOut
    scratch: Int32Out
    offers: MatrixOut
    plans: MatrixOut
    out: MatrixOut
    via: MatrixOut
    row: Int32Out
    asked: MatrixOut
    sizes: Int64Out


def noted(code: int, number: int, mask: int) -> int:
    """What stands in a slot: a number, and above it what the slots leave of the hash. So a slot nearly always says
    whether it is worth while to look at its row.
    """
    return (code & ~mask & 0x7FFFFFFF) | number


def may_be(note: int, code: int, mask: int) -> bool:
    """Whether what stands in a slot may be of something with this hash."""
    return ((note ^ code) & ~mask & 0x7FFFFFFF) == 0


def hashed(code: int, value: int) -> int:
    """A hash of one more number; 32 bits, the same in machine code and in Python."""
    return ((code ^ (code >> 15)) * 739982445 + value + 1) & 0xFFFFFFFF
