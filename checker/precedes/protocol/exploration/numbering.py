"""The numbers of inboxes, pasts, local states and components: looked up in the tables, or given.

Everything here is in the subset of Python that numba compiles.
"""

from __future__ import annotations

from precedes.native.compiled_functions import Int32Out, MatrixOut
from precedes.protocol.exploration.compiled_tables import (
    AS_CRASH,
    AS_RECOVERY,
    AS_SEND,
    BEFORE,
    BLOCKED,
    COMPONENTS,
    COURSES,
    CRASH,
    EVENT,
    FULL,
    IN_FLIGHT,
    INBOX,
    INBOXES,
    INNER,
    LOCAL,
    LOCALS,
    MADE,
    PAST,
    PASTS,
    RENAMINGS,
    REST,
    SENDS,
    WANTS,
    Tables,
    hashed,
    may_be,
    noted,
)
from precedes.protocol.exploration.distinct_rows import put_in_slot


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
    code = inbox_code(scratch, 0, length)
    slot = code & mask
    while slots[slot] >= 0:
        if may_be(int(slots[slot]), code, mask):
            found = int(slots[slot]) & mask
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
    slots[slot] = noted(code, made, mask)
    sizes[INBOXES] += 1
    sizes[IN_FLIGHT] += length
    return made


def pair_of(tables: Tables, kind: int, rows: MatrixOut, slots: Int32Out, left: int, right: int) -> int:
    """The number of a row that begins with two numbers, in the table of a kind; -1 where there is no room."""
    mask = len(slots) - 1
    code = hashed(hashed(left, right), 0)
    slot = code & mask
    while slots[slot] >= 0:
        if may_be(int(slots[slot]), code, mask):
            found = int(slots[slot]) & mask
            if rows[found, 0] == left and rows[found, 1] == right:
                return found
        slot = (slot + 1) & mask
    made = int(tables.sizes[kind])
    if made == len(rows):
        tables.sizes[BLOCKED] |= FULL
        return -1
    rows[made, 0] = left
    rows[made, 1] = right
    slots[slot] = noted(code, made, mask)
    tables.sizes[kind] += 1
    return made


def course_after(tables: Tables, course: int, event: int) -> int:
    """The number of a course of events with one more; -1 where there is no room."""
    return pair_of(tables, COURSES, tables.courses, tables.course_slots, course, event)


def past_code(made: int, sends: int, rest: int, crash: int) -> int:
    """The hash of a past."""
    return hashed(hashed(hashed(hashed(made, sends), rest), crash), 0)


def past_of(tables: Tables, made: int, sends: int, rest: int, crash: int) -> int:
    """The number of a past; -1 where there is no room."""
    pasts, slots = tables.pasts, tables.past_slots
    if sends < 0 or rest < 0:
        return -1
    mask = len(slots) - 1
    code = past_code(made, sends, rest, crash)
    slot = code & mask
    while slots[slot] >= 0:
        if may_be(int(slots[slot]), code, mask):
            found = int(slots[slot]) & mask
            past = pasts[found]
            if past[SENDS] == sends and past[REST] == rest and past[MADE] == made and past[CRASH] == crash:
                return found
        slot = (slot + 1) & mask
    number = int(tables.sizes[PASTS])
    if number == len(pasts):
        tables.sizes[BLOCKED] |= FULL
        return -1
    pasts[number, MADE] = made
    pasts[number, SENDS] = sends
    pasts[number, REST] = rest
    pasts[number, CRASH] = crash
    slots[slot] = noted(code, number, mask)
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
    if past < 0:
        return -1
    count = int(tables.sizes[LOCALS])
    local = pair_of(tables, LOCALS, tables.locals, tables.local_slots, inner, past)
    if local == count:
        tables.locals[local, WANTS] = 0
    return local


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
    first, row = tables.renamed_inners[tables.locals[local, INNER]]
    inner = int(first) + int(tables.members[row, renaming])
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
    code = component_code(local, inbox)
    slot = code & mask
    while slots[slot] >= 0:
        if may_be(int(slots[slot]), code, mask):
            found = int(slots[slot]) & mask
            if components[found, LOCAL] == local and components[found, INBOX] == inbox:
                return found
        slot = (slot + 1) & mask
    made = int(sizes[COMPONENTS])
    if made == len(components):
        sizes[BLOCKED] |= FULL
    if sizes[BLOCKED]:
        return -1
    for field in range(components.shape[1]):
        components[made, field] = -1
    for field in range(tables.faults.shape[1]):
        tables.faults[made, field] = -1
    for field in range(tables.renamed.shape[1]):
        tables.renamed[made, field] = -1
    components[made, LOCAL] = local
    components[made, INBOX] = inbox
    slots[slot] = noted(code, made, mask)
    sizes[COMPONENTS] += 1
    return made


def place_courses(tables: Tables) -> None:
    """Write the slots of all courses of events anew."""
    courses = tables.courses
    for course in range(1, tables.sizes[COURSES]):
        code = hashed(hashed(int(courses[course, BEFORE]), int(courses[course, EVENT])), 0)
        put_in_slot(tables.course_slots, code, course)


def place_pasts(tables: Tables) -> None:
    """Write the slots of all pasts anew."""
    pasts = tables.pasts
    for past in range(tables.sizes[PASTS]):
        made, sends = int(pasts[past, MADE]), int(pasts[past, SENDS])
        code = past_code(made, sends, int(pasts[past, REST]), int(pasts[past, CRASH]))
        put_in_slot(tables.past_slots, code, past)


def place_locals(tables: Tables) -> None:
    """Write the slots of all local states anew."""
    locals_ = tables.locals
    for local in range(tables.sizes[LOCALS]):
        code = hashed(hashed(int(locals_[local, INNER]), int(locals_[local, PAST])), 0)
        put_in_slot(tables.local_slots, code, local)


def place_inboxes(tables: Tables) -> None:
    """Write the slots of all inboxes anew."""
    inboxes = tables.inboxes
    for inbox in range(tables.sizes[INBOXES]):
        code = inbox_code(tables.in_flight, int(inboxes[inbox, 0]), int(inboxes[inbox, 1]))
        put_in_slot(tables.inbox_slots, code, inbox)


def place_components(tables: Tables) -> None:
    """Write the slots of all components anew."""
    components = tables.components
    for component in range(tables.sizes[COMPONENTS]):
        code = component_code(int(components[component, LOCAL]), int(components[component, INBOX]))
        put_in_slot(tables.component_slots, code, component)
