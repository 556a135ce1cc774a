"""The tables of an exploration as matrices of small integers, and what is looked up and added in them.

A component is a local state and an inbox. What the two can do is worked out here, from the steps of the local state:
these come from the handlers of the model, and are asked for where they are not known yet. Everything in this module is
in the subset of Python that numba compiles.

While something is asked for, nothing is added: a search does the same steps again when it is there. So components have
the same numbers, however often a search was interrupted.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from precedes.engines.columnar.native import Int32Out, Int64Out, MatrixOut

# ---- what is in a row of each matrix ----

ENTITY, PLACEMENT, NOW, STOPPED, WAITING, MAY_TICK, PENDING, WANTS, STEPS, LATER, LOG, VIEW = range(12)
"""Of a local state: the entity, where it is, the tick, whether it has stopped, whether a message waits in it; whether
time may go on as far as its timers are concerned, whether it must; whether it is asked to send; the first of its
answers to packets; itself one tick later; the number of its history, and of what invariants see of it."""
TIMERS: Final = 12
"""Where the ranges of its own steps begin: timers that are due, time-outs, the same early, requests, crashes,
recoveries; the first and the last of each, -1 where they are not known."""
DUE, TIMEOUTS, EARLY, REQUESTS, CRASHES, RECOVERIES = range(TIMERS, TIMERS + 12, 2)
LOCAL_FIELDS: Final = 24

AFTER, EMISSION, ACTS, PATIENCE, BROKEN = range(5)
"""Of a step: the local state after it, what it transmits, whether it does anything, the patience of the time-out, and
whether it breaks an invariant."""
STEP_FIELDS: Final = 5

CAUSE, FIRST, LAST, NEXT = range(4)
"""Of an answer: to what, which steps, and the next answer of the same local state."""
ANSWER_FIELDS: Final = 4

SENDER, PACKET, SENT, OF_FLIGHT, CORRUPTED, CORRUPTED_LAST = range(6)
"""Of a flight: who transmitted what, and when; what it is to a handler; and what it may become, -1: not known."""
FLIGHT_FIELDS: Final = 6

LOCAL, INBOX, OWN, OWN_TIMEOUTS, OWN_EARLY, OWN_LAST, REQUESTED, REQUESTED_LAST, TICKED, TICKS = range(10)
"""Of a component: what it is made of; where its transitions begin, those of time-outs, of early ones, and where they
end; its requests; the component one tick later, and whether it lets time go on."""
COMPONENT_FIELDS: Final = 10

COMPONENT, TRANSMITTED, STEP, KIND, FROM = range(5)
"""Of a transition: the component after it, what it transmits, the step, what kind of move it is, and its cause."""
TRANSITION_FIELDS: Final = 5

ARRIVED, VANISHED, LOST, COPIED, EXPIRED, EXPIRED_EARLY, REQUESTED_MOVE, CRASHED, RECOVERED = range(9)
"""The kinds of transitions."""

OF_OWN, OF_REQUESTS, OF_LOSSES, OF_DUPLICATES, OF_CORRUPTIONS, OF_CRASHES, OF_RECOVERIES = range(7)
"""What can be worked out of a component: arrivals and timers, requests, and what a fault of each kind does."""

# ---- numbers that are not in rows ----

IN_ANY_ORDER, FIFO, ONE_CHANNEL, TIMED = range(4)
"""Networks."""

ENTITIES, NETWORK, SHORTEST, LONGEST, LAST_REQUEST, RENAMINGS = range(6)
"""Of the setting."""
SETTINGS: Final = 6

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
) = range(12)
"""How many rows of a matrix there are; how many transitions were followed, and states expanded; and what stops a
search."""
SIZES: Final = 12

ASKS, FULL = 1, 2
"""Why a search is stopped: something is asked for; a matrix is full."""

FOR_ANSWER, FOR_TIMERS, FOR_REQUESTS, FOR_CRASHES, FOR_RECOVERIES, FOR_CORRUPTED, FOR_LATER = range(7)
"""What may be asked for."""


class Tables(NamedTuple):
    """The matrices. Those up to `others` have what the handlers of the model said, the following what follows from it,
    the last ones are scratch.

    cut          from whom nothing reaches a placement: 1 for each sender
    emissions    the groups of an emission; groups: a receiver, and its flights in `sent`
    inboxes      the first and the last flight of each in `in_flight`
    faults       the transitions by the kind of fault, of each component
    renamed      what a component becomes under each renaming, -1 where that is not known
    renamed_locals, renamed_flights, composed: the same of local states and flights; two renamings as one
    asked        what is asked for: which kind, of which local state or flight, to which cause
    """

    setting: Int32Out
    locals: MatrixOut
    steps: MatrixOut
    answers: MatrixOut
    flights: MatrixOut
    cut: MatrixOut
    emissions: MatrixOut
    groups: MatrixOut
    sent: Int32Out
    others: Int32Out
    renamings: MatrixOut
    composed: MatrixOut
    renamed_locals: MatrixOut
    renamed_flights: MatrixOut
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


def hashed(code: int, value: int) -> int:
    """A hash of one more number; 32 bits, the same in machine code and in Python."""
    return ((code ^ (code >> 15)) * 739982445 + value + 1) & 0xFFFFFFFF


def ask(tables: Tables, kind: int, of: int, cause: int) -> None:
    """Ask for what a handler says."""
    sizes = tables.sizes
    sizes[BLOCKED] |= ASKS
    if sizes[ASKED] < len(tables.asked):
        tables.asked[sizes[ASKED], 0] = kind
        tables.asked[sizes[ASKED], 1] = of
        tables.asked[sizes[ASKED], 2] = cause
        sizes[ASKED] += 1


def inbox_code(flights: Int32Out, first: int, last: int) -> int:
    """The hash of an inbox."""
    code = last - first
    for k in range(first, last):
        code = hashed(code, int(flights[k]))
    return hashed(code, 0)


def inbox_of(tables: Tables, length: int) -> int:
    """The number of the inbox that is in `scratch`; -1 where there is no room for it."""
    scratch, inboxes, in_flight, slots = tables.scratch, tables.inboxes, tables.in_flight, tables.inbox_slots
    mask = len(slots) - 1
    slot = inbox_code(scratch, 0, length) & mask
    while slots[slot] >= 0:
        found = int(slots[slot])
        first = int(inboxes[found, 0])
        same = int(inboxes[found, 1]) - first == length
        for k in range(length):
            same = same and in_flight[first + k] == scratch[k]
        if same:
            return found
        slot = (slot + 1) & mask
    sizes = tables.sizes
    made, first = int(sizes[INBOXES]), int(sizes[IN_FLIGHT])
    if made == len(inboxes) or first + length > len(in_flight):
        sizes[BLOCKED] |= FULL
        return -1
    for k in range(length):
        in_flight[first + k] = scratch[k]
    inboxes[made, 0] = first
    inboxes[made, 1] = first + length
    slots[slot] = made
    sizes[INBOXES] += 1
    sizes[IN_FLIGHT] += length
    return made


def component_code(local: int, inbox: int) -> int:
    """The hash of a component."""
    return hashed(hashed(local, inbox), 0)


def component_of(tables: Tables, local: int, inbox: int) -> int:
    """The number of a component; -1 where it is not there and cannot be added now."""
    components, slots, sizes = tables.components, tables.component_slots, tables.sizes
    if inbox < 0 or sizes[BLOCKED] & FULL:
        return -1
    mask = len(slots) - 1
    slot = component_code(local, inbox) & mask
    while slots[slot] >= 0:
        found = int(slots[slot])
        if components[found, LOCAL] == local and components[found, INBOX] == inbox:
            return found
        slot = (slot + 1) & mask
    made = int(sizes[COMPONENTS])
    if made == len(components):
        sizes[BLOCKED] |= FULL
    if sizes[BLOCKED]:
        return -1
    for field in range(COMPONENT_FIELDS):
        components[made, field] = -1
    for field in range(tables.faults.shape[1]):
        tables.faults[made, field] = -1
    for field in range(tables.renamed.shape[1]):
        tables.renamed[made, field] = -1
    components[made, LOCAL] = local
    components[made, INBOX] = inbox
    slots[slot] = made
    sizes[COMPONENTS] += 1
    return made


def precedes(tables: Tables, one: int, other: int) -> bool:
    """Whether a flight stands before another one in an inbox, where both were put in."""
    flights = tables.flights
    if flights[one, SENDER] != flights[other, SENDER]:
        return bool(flights[one, SENDER] < flights[other, SENDER])
    if tables.setting[NETWORK] == FIFO:
        return False
    if flights[one, PACKET] != flights[other, PACKET]:
        return bool(flights[one, PACKET] < flights[other, PACKET])
    return bool(flights[one, SENT] < flights[other, SENT])


def inserted(tables: Tables, flight: int, length: int) -> int:
    """Put a flight into the inbox that is in `scratch`. How many there are then."""
    scratch = tables.scratch
    if length + tables.setting[RENAMINGS] >= len(scratch):
        tables.sizes[BLOCKED] |= FULL
        return length
    place = length
    if tables.setting[NETWORK] != ONE_CHANNEL:
        while place > 0 and precedes(tables, flight, int(scratch[place - 1])):
            scratch[place] = scratch[place - 1]
            place -= 1
    scratch[place] = flight
    return length + 1


def put(tables: Tables, component: int, first: int, last: int) -> int:
    """The component when the flights from `first` to `last` of `sent` have been transmitted to it."""
    local, inbox = int(tables.components[component, LOCAL]), int(tables.components[component, INBOX])
    placement = int(tables.locals[local, PLACEMENT])
    begin, end = int(tables.inboxes[inbox, 0]), int(tables.inboxes[inbox, 1])
    scratch = tables.scratch
    length = end - begin
    for k in range(length):
        scratch[k] = tables.in_flight[begin + k]
    for k in range(first, last):
        flight = int(tables.sent[k])
        if not tables.cut[placement, tables.flights[flight, SENDER]]:
            length = inserted(tables, flight, length)
    return component_of(tables, local, inbox_of(tables, length))


def comes_next(tables: Tables, inbox: int, place: int, now: int) -> bool:
    """Whether the flight at a place could be the next to come in; of equal ones, the first."""
    first = int(tables.inboxes[inbox, 0])
    network = tables.setting[NETWORK]
    flight = int(tables.in_flight[first + place])
    if network == TIMED and tables.flights[flight, SENT] + tables.setting[SHORTEST] > now:
        return False
    if place == 0:
        return True
    before = int(tables.in_flight[first + place - 1])
    if network == ONE_CHANNEL:
        return False
    if network == FIFO:
        return bool(tables.flights[before, SENDER] != tables.flights[flight, SENDER])
    return before != flight


def without(tables: Tables, inbox: int, place: int) -> int:
    """The inbox without one flight."""
    first, last = int(tables.inboxes[inbox, 0]), int(tables.inboxes[inbox, 1])
    length = 0
    for k in range(first, last):
        if k != first + place:
            tables.scratch[length] = tables.in_flight[k]
            length += 1
    return inbox_of(tables, length)


def answer_of(tables: Tables, local: int, cause: int) -> int:
    """The answer of a local state to a packet; -1 where it is asked for."""
    answers = tables.answers
    answer = int(tables.locals[local, STEPS])
    while answer >= 0 and answers[answer, CAUSE] != cause:
        answer = int(answers[answer, NEXT])
    if answer < 0:
        ask(tables, FOR_ANSWER, local, cause)
    return answer


def offer(tables: Tables, first: int, last: int, inbox: int, kind: int, cause: int) -> None:
    """Note steps that are to become transitions; `first` -1 for one that does not concern the local state."""
    offers, sizes = tables.offers, tables.sizes
    if sizes[OFFERS] == len(offers):
        sizes[BLOCKED] |= FULL
        return
    made = int(sizes[OFFERS])
    offers[made, 0] = first
    offers[made, 1] = last
    offers[made, 2] = inbox
    offers[made, 3] = kind
    offers[made, 4] = cause
    sizes[OFFERS] += 1


def offer_answer(tables: Tables, local: int, inbox: int, kind: int, cause: int) -> bool:
    """Note what a local state does with a packet. Whether it does anything, or that is not known yet."""
    if tables.locals[local, STOPPED]:
        if kind != COPIED:
            offer(tables, -1, 0, inbox, VANISHED, cause)
        return True
    answer = answer_of(tables, local, cause)
    if answer < 0:
        return True
    first, last = int(tables.answers[answer, FIRST]), int(tables.answers[answer, LAST])
    offer(tables, first, last, inbox, kind, cause)
    return first < last


def offer_packets(tables: Tables, component: int, what: int) -> bool:
    """Note what becomes of each packet that could be the next. Whether one of them must come in before time goes on."""
    local, inbox = int(tables.components[component, LOCAL]), int(tables.components[component, INBOX])
    first, last = int(tables.inboxes[inbox, 0]), int(tables.inboxes[inbox, 1])
    now = int(tables.locals[local, NOW])
    overdue = False
    for place in range(last - first):
        if not comes_next(tables, inbox, place, now):
            continue
        flight = int(tables.in_flight[first + place])
        rest = inbox if what == OF_DUPLICATES else without(tables, inbox, place)
        if what == OF_LOSSES:
            offer(tables, -1, 0, rest, LOST, int(tables.flights[flight, OF_FLIGHT]))
            continue
        begin, end = 0, 1
        if what == OF_CORRUPTIONS:
            begin, end = int(tables.flights[flight, CORRUPTED]), int(tables.flights[flight, CORRUPTED_LAST])
            if begin < 0:
                ask(tables, FOR_CORRUPTED, flight, 0)
        kind = COPIED if what == OF_DUPLICATES else ARRIVED
        for k in range(begin, end):
            cause = (
                int(tables.others[k]) if what == OF_CORRUPTIONS else int(tables.flights[flight, OF_FLIGHT])
            )
            if offer_answer(tables, local, rest, kind, cause):
                overdue = overdue or tables.flights[flight, SENT] + tables.setting[LONGEST] <= now
    return overdue


def offer_own(tables: Tables, local: int, inbox: int, field: int, asked: int, kind: int) -> None:
    """Note the steps of a local state that need no packet; they are asked for where they are not known."""
    first = int(tables.locals[local, field])
    if first < 0:
        ask(tables, asked, local, 0)
        return
    offer(tables, first, int(tables.locals[local, field + 1]), inbox, kind, -1)


def offer_all(tables: Tables, component: int, what: int) -> bool:
    """Note everything that is to be worked out. Whether time may go on as far as packets are concerned."""
    local, inbox = int(tables.components[component, LOCAL]), int(tables.components[component, INBOX])
    stopped = tables.locals[local, STOPPED] != 0
    tables.sizes[OFFERS] = 0
    if what == OF_REQUESTS:
        offer_own(tables, local, inbox, REQUESTS, FOR_REQUESTS, REQUESTED_MOVE)
        return True
    if what == OF_CRASHES:
        offer_own(tables, local, inbox, CRASHES, FOR_CRASHES, CRASHED)
        return True
    if what == OF_RECOVERIES:
        offer_own(tables, local, inbox, RECOVERIES, FOR_RECOVERIES, RECOVERED)
        return True
    overdue = offer_packets(tables, component, what)
    if what == OF_OWN and not stopped:
        if tables.locals[local, DUE] < 0:
            ask(tables, FOR_TIMERS, local, 0)
            return False
        for field in (DUE, TIMEOUTS, EARLY):
            kind = EXPIRED_EARLY if field == EARLY else EXPIRED
            offer(
                tables,
                int(tables.locals[local, field]),
                int(tables.locals[local, field + 1]),
                inbox,
                kind,
                -field,
            )
    return not overdue


def worked_out(tables: Tables, component: int, what: int) -> bool:
    """Work out what a component can do, once. False where something is asked for, or there is no room."""
    components, faults, sizes = tables.components, tables.faults, tables.sizes
    if what == OF_OWN:
        known = components[component, OWN_LAST] >= 0
    elif what == OF_REQUESTS:
        known = components[component, REQUESTED] >= 0
    else:
        known = faults[component, 2 * (what - OF_LOSSES)] >= 0
    if known:
        return True
    ticks = offer_all(tables, component, what)
    if sizes[BLOCKED]:
        return False
    local = int(components[component, LOCAL])
    first = end = int(sizes[TRANSITIONS])
    timeouts = early = -1
    for k in range(sizes[OFFERS]):
        if tables.offers[k, 4] == -TIMEOUTS:
            timeouts = end
        if tables.offers[k, 4] == -EARLY:
            early = end
        end = added(tables, local, k, end)
        if end < 0:
            return False
    sizes[TRANSITIONS] = end
    if what == OF_OWN:
        components[component, OWN_TIMEOUTS] = end if timeouts < 0 else timeouts
        components[component, OWN_EARLY] = end if early < 0 else early
        components[component, OWN] = first
        components[component, OWN_LAST] = end
        components[component, TICKS] = ticks and (
            tables.locals[local, STOPPED] != 0 or tables.locals[local, MAY_TICK] != 0
        )
    elif what == OF_REQUESTS:
        components[component, REQUESTED] = first
        components[component, REQUESTED_LAST] = end
    else:
        faults[component, 2 * (what - OF_LOSSES)] = first
        faults[component, 2 * (what - OF_LOSSES) + 1] = end
    return True


def added(tables: Tables, local: int, place: int, end: int) -> int:
    """Add the transitions of an offer. How many there are then; -1 where that cannot be done now."""
    offers, transitions = tables.offers, tables.transitions
    first, last, inbox = int(offers[place, 0]), int(offers[place, 1]), int(offers[place, 2])
    for step in range(first, last if first >= 0 else 0):
        after = int(tables.steps[step, AFTER]) if step >= 0 else local
        component = component_of(tables, after, inbox)
        if end == len(transitions):
            tables.sizes[BLOCKED] |= FULL
        if component < 0 or end == len(transitions):
            return -1
        transitions[end, COMPONENT] = component
        transitions[end, TRANSMITTED] = tables.steps[step, EMISSION] if step >= 0 else 0
        transitions[end, STEP] = step
        transitions[end, KIND] = offers[place, 3]
        transitions[end, FROM] = offers[place, 4]
        end += 1
    return end


def ticked(tables: Tables, component: int) -> int:
    """The component one tick later; -1 where that is not known yet."""
    components = tables.components
    if components[component, TICKED] < 0:
        local = int(components[component, LOCAL])
        later = int(tables.locals[local, LATER])
        if later < 0:
            ask(tables, FOR_LATER, local, 0)
            return -1
        components[component, TICKED] = component_of(tables, later, int(components[component, INBOX]))
    return int(components[component, TICKED])


def place_inboxes(tables: Tables) -> None:
    """Write the slots of all inboxes anew."""
    slots = tables.inbox_slots
    mask = len(slots) - 1
    for inbox in range(tables.sizes[INBOXES]):
        slot = (
            inbox_code(tables.in_flight, int(tables.inboxes[inbox, 0]), int(tables.inboxes[inbox, 1])) & mask
        )
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = inbox


def place_components(tables: Tables) -> None:
    """Write the slots of all components anew."""
    slots, components = tables.component_slots, tables.components
    mask = len(slots) - 1
    for component in range(tables.sizes[COMPONENTS]):
        slot = component_code(int(components[component, LOCAL]), int(components[component, INBOX])) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = component
