"""The tables of an exploration as matrices of small integers, and what is looked up and added in them.

A local state is an inner state, which the handlers of the model see, and a past, which only properties see. A
component is a local state and an inbox. What the two can do is worked out here, from the steps of the inner state:
these come from the handlers, and are asked for where they are not known yet. Everything in this module is in the subset
of Python that numba compiles.

While something is asked for, no component is added: a search does the same steps again when it is there. So components
have the same numbers, however often a search was interrupted.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from precedes.engines.columnar.native import Int32Out, Int64Out, MatrixOut

# ---- what is in a row of each matrix ----

ENTITY, PLACEMENT, NOW, STOPPED, WAITING, MAY_TICK, PENDING, STEPS, LATER = range(9)
"""Of an inner state: the entity, where it is, the tick, whether it has stopped, whether a message waits in it; whether
time may go on as far as its timers are concerned, whether it must; the first of its answers; itself one tick later."""
TIMERS: Final = 10
"""Where the ranges of its own steps begin: timers that are due, time-outs, the same early, crashes, recoveries; the
first and the last of each, -1 where they are not known."""
DUE, TIMEOUTS, EARLY, CRASHES, RECOVERIES = range(TIMERS, TIMERS + 10, 2)
INNER_FIELDS: Final = 20

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

CAUSE, FIRST, LAST, NEXT, WANTED = range(5)
"""Of an answer: to what, which steps, and the next answer of the same inner state; of one to requests, whether there
are any. What is answered is the number of a packet's cause, or `requested`."""
ANSWER_FIELDS: Final = 5

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
    COURSES,
    PASTS,
    LOCALS,
) = range(15)
"""How many rows of a matrix there are; how many transitions were followed, and states expanded; and what stops a
search."""
SIZES: Final = 15

ASKS, FULL = 1, 2
"""Why a search is stopped: something is asked for; a matrix is full."""

FOR_ANSWER, FOR_TIMERS, FOR_CRASHES, FOR_RECOVERIES, FOR_CORRUPTED, FOR_LATER = range(6)
"""What may be asked for."""


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
    renamed_inners, renamed_flights, renamed_events, composed: the same of inner states, flights and events; two
                 renamings as one
    asked        what is asked for: which kind, of which inner state or flight, to which cause
    """

    setting: Int32Out
    inners: MatrixOut
    steps: MatrixOut
    answers: MatrixOut
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


def course_after(tables: Tables, course: int, event: int) -> int:
    """The number of a course of events with one more; -1 where there is no room."""
    courses, slots = tables.courses, tables.course_slots
    mask = len(slots) - 1
    slot = hashed(hashed(course, event), 0) & mask
    while slots[slot] >= 0:
        found = int(slots[slot])
        if courses[found, BEFORE] == course and courses[found, EVENT] == event:
            return found
        slot = (slot + 1) & mask
    made = int(tables.sizes[COURSES])
    if made == len(courses):
        tables.sizes[BLOCKED] |= FULL
        return -1
    courses[made, BEFORE] = course
    courses[made, EVENT] = event
    slots[slot] = made
    tables.sizes[COURSES] += 1
    return made


def past_code(made: int, sends: int, rest: int, crash: int) -> int:
    """The hash of a past."""
    return hashed(hashed(hashed(hashed(made, sends), rest), crash), 0)


def past_of(tables: Tables, made: int, sends: int, rest: int, crash: int) -> int:
    """The number of a past; -1 where there is no room."""
    pasts, slots = tables.pasts, tables.past_slots
    if sends < 0 or rest < 0:
        return -1
    mask = len(slots) - 1
    slot = past_code(made, sends, rest, crash) & mask
    while slots[slot] >= 0:
        past = pasts[slots[slot]]
        if past[SENDS] == sends and past[REST] == rest and past[MADE] == made and past[CRASH] == crash:
            return int(slots[slot])
        slot = (slot + 1) & mask
    number = int(tables.sizes[PASTS])
    if number == len(pasts):
        tables.sizes[BLOCKED] |= FULL
        return -1
    pasts[number, MADE] = made
    pasts[number, SENDS] = sends
    pasts[number, REST] = rest
    pasts[number, CRASH] = crash
    slots[slot] = number
    tables.sizes[PASTS] += 1
    return number


def past_after(tables: Tables, past: int, addition: int) -> int:
    """The past when what a step adds has been added; -1 where there is no room."""
    sends, rest = int(tables.pasts[past, SENDS]), int(tables.pasts[past, REST])
    crash = int(tables.pasts[past, CRASH])
    for k in range(tables.additions[addition, 0], tables.additions[addition, 1]):
        event = int(tables.logged[k])
        how = tables.events[event]
        if how == AS_CRASH:
            crash = event
        elif how == AS_RECOVERY:
            crash = -1
        elif how == AS_SEND:
            sends = course_after(tables, sends, event)
        else:
            rest = course_after(tables, rest, event)
        if sends < 0 or rest < 0:
            return -1
    return past_of(tables, int(tables.pasts[past, MADE] + tables.additions[addition, 2]), sends, rest, crash)


def local_of(tables: Tables, inner: int, past: int) -> int:
    """The number of a local state; -1 where there is no room."""
    locals_, slots = tables.locals, tables.local_slots
    if past < 0:
        return -1
    mask = len(slots) - 1
    slot = hashed(hashed(inner, past), 0) & mask
    while slots[slot] >= 0:
        found = int(slots[slot])
        if locals_[found, INNER] == inner and locals_[found, PAST] == past:
            return found
        slot = (slot + 1) & mask
    made = int(tables.sizes[LOCALS])
    if made == len(locals_):
        tables.sizes[BLOCKED] |= FULL
        return -1
    locals_[made, INNER] = inner
    locals_[made, PAST] = past
    locals_[made, WANTS] = 0
    slots[slot] = made
    tables.sizes[LOCALS] += 1
    return made


def renamed_course(tables: Tables, course: int, renaming: int) -> int:
    """A course of events after a renaming; -1 where there is no room."""
    length, scratch = 0, tables.scratch
    room = len(scratch) - int(tables.setting[RENAMINGS])
    while course > 0 and length < room:
        scratch[length] = tables.renamed_events[tables.courses[course, EVENT], renaming]
        length += 1
        course = int(tables.courses[course, BEFORE])
    if length == room:
        tables.sizes[BLOCKED] |= FULL
        return -1
    for k in range(length - 1, -1, -1):
        course = course_after(tables, course, int(scratch[k]))
        if course < 0:
            return -1
    return course


def renamed_local(tables: Tables, local: int, renaming: int) -> int:
    """A local state after a renaming; -1 where there is no room."""
    past = int(tables.locals[local, PAST])
    sends = renamed_course(tables, int(tables.pasts[past, SENDS]), renaming)
    rest = renamed_course(tables, int(tables.pasts[past, REST]), renaming)
    crash, made = int(tables.pasts[past, CRASH]), int(tables.pasts[past, MADE])
    if crash >= 0:
        crash = int(tables.renamed_events[crash, renaming])
    inner = int(tables.renamed_inners[tables.locals[local, INNER], renaming])
    return local_of(tables, inner, past_of(tables, made, sends, rest, crash))


def inner_of(tables: Tables, component: int) -> int:
    """The inner state of a component."""
    return int(tables.locals[tables.components[component, LOCAL], INNER])


def component_code(local: int, inbox: int) -> int:
    """The hash of a component."""
    return hashed(hashed(local, inbox), 0)


def component_of(tables: Tables, local: int, inbox: int) -> int:
    """The number of a component; -1 where it is not there and cannot be added now."""
    components, slots, sizes = tables.components, tables.component_slots, tables.sizes
    if local < 0 or inbox < 0 or sizes[BLOCKED] & FULL:
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
    placement = int(tables.inners[inner_of(tables, component), PLACEMENT])
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


def answer_of(tables: Tables, inner: int, cause: int) -> int:
    """The answer of an inner state to a packet, or to requests; -1 where it is asked for."""
    answers = tables.answers
    answer = int(tables.inners[inner, STEPS])
    while answer >= 0 and answers[answer, CAUSE] != cause:
        answer = int(answers[answer, NEXT])
    if answer < 0:
        ask(tables, FOR_ANSWER, inner, cause)
    return answer


def requested(made: int) -> int:
    """What stands for the requests after so many, where answers have a cause."""
    return -1 - made


def place_answers(tables: Tables, first: int, last: int) -> None:
    """Find answers from their inner states, which stand where the next answer will."""
    for answer in range(first, last):
        inner = int(tables.answers[answer, NEXT])
        tables.answers[answer, NEXT] = tables.inners[inner, STEPS]
        tables.inners[inner, STEPS] = answer


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


def offer_answer(tables: Tables, inner: int, inbox: int, kind: int, cause: int) -> bool:
    """Note what an inner state does with a packet. Whether it does anything, or that is not known yet."""
    if tables.inners[inner, STOPPED]:
        if kind != COPIED:
            offer(tables, -1, 0, inbox, VANISHED, cause)
        return True
    answer = answer_of(tables, inner, cause)
    if answer < 0:
        return True
    first, last = int(tables.answers[answer, FIRST]), int(tables.answers[answer, LAST])
    offer(tables, first, last, inbox, kind, cause)
    return first < last


def offer_packets(tables: Tables, component: int, what: int) -> bool:
    """Note what becomes of each packet that could be the next. Whether one of them must come in before time goes on."""
    inner, inbox = inner_of(tables, component), int(tables.components[component, INBOX])
    first, last = int(tables.inboxes[inbox, 0]), int(tables.inboxes[inbox, 1])
    now = int(tables.inners[inner, NOW])
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
            if offer_answer(tables, inner, rest, kind, cause):
                overdue = overdue or tables.flights[flight, SENT] + tables.setting[LONGEST] <= now
    return overdue


def offer_own(tables: Tables, inner: int, inbox: int, field: int, asked: int, kind: int) -> None:
    """Note the steps of an inner state that need no packet; they are asked for where they are not known."""
    first = int(tables.inners[inner, field])
    if first < 0:
        ask(tables, asked, inner, 0)
        return
    offer(tables, first, int(tables.inners[inner, field + 1]), inbox, kind, -1)


def offer_requests(tables: Tables, local: int, inbox: int) -> None:
    """Note what a local state does when it is asked to send."""
    inner, made = int(tables.locals[local, INNER]), int(tables.pasts[tables.locals[local, PAST], MADE])
    answer = answer_of(tables, inner, requested(made))
    if answer >= 0:
        tables.locals[local, WANTS] = tables.answers[answer, WANTED]
        first, last = int(tables.answers[answer, FIRST]), int(tables.answers[answer, LAST])
        offer(tables, first, last, inbox, REQUESTED_MOVE, -1)


def offer_all(tables: Tables, component: int, what: int) -> bool:
    """Note everything that is to be worked out. Whether time may go on as far as packets are concerned."""
    local, inbox = int(tables.components[component, LOCAL]), int(tables.components[component, INBOX])
    inner = int(tables.locals[local, INNER])
    tables.sizes[OFFERS] = 0
    if what == OF_REQUESTS:
        offer_requests(tables, local, inbox)
        return True
    if what == OF_CRASHES:
        offer_own(tables, inner, inbox, CRASHES, FOR_CRASHES, CRASHED)
        return True
    if what == OF_RECOVERIES:
        offer_own(tables, inner, inbox, RECOVERIES, FOR_RECOVERIES, RECOVERED)
        return True
    overdue = offer_packets(tables, component, what)
    if what == OF_OWN and not tables.inners[inner, STOPPED]:
        if tables.inners[inner, DUE] < 0:
            ask(tables, FOR_TIMERS, inner, 0)
            return False
        for field in (DUE, TIMEOUTS, EARLY):
            kind = EXPIRED_EARLY if field == EARLY else EXPIRED
            first, last = int(tables.inners[inner, field]), int(tables.inners[inner, field + 1])
            offer(tables, first, last, inbox, kind, -field)
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
        inner = int(tables.locals[local, INNER])
        components[component, TICKS] = ticks and (
            tables.inners[inner, STOPPED] != 0 or tables.inners[inner, MAY_TICK] != 0
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
        after = local
        if step >= 0:
            past = past_after(tables, int(tables.locals[local, PAST]), int(tables.steps[step, ADDS]))
            after = local_of(tables, int(tables.steps[step, AFTER]), past)
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
        inner = int(tables.locals[local, INNER])
        later = int(tables.inners[inner, LATER])
        if later < 0:
            ask(tables, FOR_LATER, inner, 0)
            return -1
        after = local_of(tables, later, int(tables.locals[local, PAST]))
        components[component, TICKED] = component_of(tables, after, int(components[component, INBOX]))
    return int(components[component, TICKED])


def place_courses(tables: Tables) -> None:
    """Write the slots of all courses of events anew."""
    slots, courses = tables.course_slots, tables.courses
    mask = len(slots) - 1
    for course in range(1, tables.sizes[COURSES]):
        slot = hashed(hashed(int(courses[course, BEFORE]), int(courses[course, EVENT])), 0) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = course


def place_pasts(tables: Tables) -> None:
    """Write the slots of all pasts anew."""
    slots, pasts = tables.past_slots, tables.pasts
    mask = len(slots) - 1
    for past in range(tables.sizes[PASTS]):
        made, sends = int(pasts[past, MADE]), int(pasts[past, SENDS])
        slot = past_code(made, sends, int(pasts[past, REST]), int(pasts[past, CRASH])) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = past


def place_locals(tables: Tables) -> None:
    """Write the slots of all local states anew."""
    slots, locals_ = tables.local_slots, tables.locals
    mask = len(slots) - 1
    for local in range(tables.sizes[LOCALS]):
        slot = hashed(hashed(int(locals_[local, INNER]), int(locals_[local, PAST])), 0) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = local


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
