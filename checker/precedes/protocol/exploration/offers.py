"""What a component can do, worked out from the steps of its inner state and what is in its inbox.

Steps come from the handlers, and are asked for where they are not known yet. While something is asked for, no component
is added: a search does the same steps again when it is there. So components have the same numbers, however often a
search was interrupted. Everything here is in the subset of Python that numba compiles.
"""

from __future__ import annotations

from precedes.protocol.exploration.compiled_tables import (
    ADDS,
    AFTER,
    ARRIVED,
    ASKED,
    ASKED_OF,
    ASKS,
    BLOCKED,
    BROKEN_LINKS,
    CAUSE,
    COMPONENT,
    COMPONENT_FIELDS,
    COPIED,
    CORRUPTED,
    CORRUPTED_LAST,
    CRASHED,
    CRASHES,
    DUE,
    EARLY,
    EMISSION,
    EXPIRED,
    EXPIRED_EARLY,
    FIFO,
    FIRST,
    FOR_ANSWER,
    FOR_CORRUPTED,
    FOR_CRASHES,
    FOR_LATER,
    FOR_RECOVERIES,
    FOR_TIMERS,
    FROM,
    FULL,
    INBOX,
    INNER,
    INNER_FIELDS,
    KIND,
    LAST,
    LATER,
    LOCAL,
    LONGEST,
    LOST,
    MADE,
    MAY_TICK,
    NETWORK,
    NOW,
    OF_CORRUPTIONS,
    OF_CRASHES,
    OF_DUPLICATES,
    OF_FLIGHT,
    OF_LOSSES,
    OF_OWN,
    OF_RECOVERIES,
    OF_REQUESTS,
    OFFERS,
    ONE_CHANNEL,
    OWN,
    OWN_EARLY,
    OWN_LAST,
    OWN_TIMEOUTS,
    PACKET,
    PAST,
    PLACEMENT,
    RECOVERED,
    RECOVERIES,
    RENAMINGS,
    REQUESTED,
    REQUESTED_LAST,
    REQUESTED_MOVE,
    SENDER,
    SENT,
    SHORTEST,
    STEP,
    STOPPED,
    TICKED,
    TICKS,
    TIMED,
    TIMEOUTS,
    TRANSITIONS,
    TRANSMITTED,
    VANISHED,
    WANTED,
    WANTS,
    Tables,
    hashed,
    may_be,
)
from precedes.protocol.exploration.distinct_rows import put_in_slot
from precedes.protocol.exploration.numbering import (
    component_of,
    inbox_of,
    inner_of,
    local_of,
    past_after,
)


def ask(tables: Tables, kind: int, of: int, cause: int) -> None:
    """Ask for what a handler says."""
    sizes = tables.sizes
    sizes[BLOCKED] |= ASKS
    if sizes[ASKED] < len(tables.asked):
        tables.asked[sizes[ASKED], 0] = kind
        tables.asked[sizes[ASKED], 1] = of
        tables.asked[sizes[ASKED], 2] = cause
        sizes[ASKED] += 1


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
    placement = -1
    if tables.setting[BROKEN_LINKS] > 0:
        placement = int(tables.inners[inner_of(tables, component), PLACEMENT])
    begin, end = int(tables.inboxes[inbox, 0]), int(tables.inboxes[inbox, 1])
    scratch = tables.scratch
    length = end - begin
    for k in range(length):
        scratch[k] = tables.in_flight[begin + k]
    for k in range(first, last):
        flight = int(tables.sent[k])
        if placement < 0 or not tables.cut[placement, tables.flights[flight, SENDER]]:
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
    answers, slots = tables.answers, tables.answer_slots
    mask = len(slots) - 1
    code = hashed(hashed(inner, cause), 0)
    slot = code & mask
    while slots[slot] >= 0:
        if may_be(int(slots[slot]), code, mask):
            found = int(slots[slot]) & mask
            if answers[found, ASKED_OF] == inner and answers[found, CAUSE] == cause:
                return found
        slot = (slot + 1) & mask
    ask(tables, FOR_ANSWER, inner, cause)
    return -1


def requested(made: int) -> int:
    """What stands for the requests after so many, where answers have a cause."""
    return -1 - made


def place_answers(tables: Tables, first: int, last: int) -> None:
    """Write the slots of answers."""
    answers = tables.answers
    for answer in range(first, last):
        code = hashed(hashed(int(answers[answer, ASKED_OF]), int(answers[answer, CAUSE])), 0)
        put_in_slot(tables.answer_slots, code, answer)


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
    if what == OF_OWN and tables.inners.shape[1] == INNER_FIELDS and not tables.inners[inner, STOPPED]:
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
        known = components[component, OWN_TIMEOUTS] >= 0
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
        components[component, OWN] = first
        components[component, OWN_TIMEOUTS] = end if timeouts < 0 else timeouts
        if components.shape[1] == COMPONENT_FIELDS:
            components[component, OWN_EARLY] = end if early < 0 else early
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
