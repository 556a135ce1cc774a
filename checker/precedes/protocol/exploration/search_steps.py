"""The search itself: states are expanded, and their successors that are new are added. In the subset of Python that
numba compiles.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from precedes.native.compiled_functions import Int32Out, MatrixOut, by_address
from precedes.native.prefetching import prefetch
from precedes.protocol.exploration.compiled_tables import (
    ASKED,
    BLOCKED,
    CROWDED,
    ENTITIES,
    EXPANDED,
    FOLLOWED,
    FULL,
    LAYER,
    OUT,
    OWN,
    STATES,
    Tables,
    hashed,
)
from precedes.protocol.exploration.distinct_rows import found_or_placed, is_roomy, row_code
from precedes.protocol.exploration.expansion import ENDS, broken_by, expanded, orbit, represent
from precedes.protocol.exploration.numbering import (
    place_components,
    place_courses,
    place_inboxes,
    place_locals,
    place_pasts,
)
from precedes.protocol.exploration.offers import place_answers

WALKS: Final = 64
"""How many walks go on at once: what they ask for is answered together."""
AHEAD: Final = 6
"""States between the one that is expanded and one whose transitions are asked for, and twice as many to one whose
components are."""
FARTHEST: Final = 400
"""Moves after which a walk begins anew."""


@by_address
class States(NamedTuple):
    """The states that were found.

    rows, slots  as in `DistinctRows`
    parents      the state from which each was found first, -1 in the beginning
    depths       of a search depth first: how many moves lead to each
    order        the states that were expanded by this call
    found        what was found out about them
    broken       by step, the first state in which it broke an invariant
    stack        of a search depth first: the states that wait; of walks: where each stands, how far it has come, and
                 the last random number
    """

    rows: MatrixOut
    slots: Int32Out
    parents: Int32Out
    depths: Int32Out
    order: Int32Out
    found: Int32Out
    broken: Int32Out
    stack: Int32Out


NO_STATES: Final = States(
    np.zeros((0, 0), np.int32), *(np.zeros(0, np.int32) for _ in range(len(States._fields) - 1))
)
"""For what needs none."""

BREADTH, DEPTH, WALK, SUCCESSORS, REPRESENTATIVE, ORBIT, ANSWERS = range(7)
"""What is to be done."""
INBOXES, COMPONENTS, COURSES, PASTS, LOCALS = range(7, 12)
"""Of what the slots are to be written anew."""


def run(tables: Tables, states: States, what: int, one: int, other: int, mode: int) -> int:
    """Do one thing, with the numbers that its function takes. All of them are in one function, so that what they share
    is compiled once.
    """
    if what == BREADTH:
        return breadth(tables, states, one, other, mode)
    if what == DEPTH:
        return depth(tables, states, one, other, mode)
    if what == WALK:
        walk(tables, states, one, other, mode)
    elif what == SUCCESSORS:
        return expanded(tables, mode)
    elif what == REPRESENTATIVE:
        return int(represent(tables, one))
    elif what == ORBIT:
        return int(orbit(tables, one))
    elif what == ANSWERS:
        place_answers(tables, one, other)
    elif what == INBOXES:
        place_inboxes(tables)
    elif what == COMPONENTS:
        place_components(tables)
    elif what == COURSES:
        place_courses(tables)
    elif what == PASTS:
        place_pasts(tables)
    else:
        place_locals(tables)
    return 0


def row_of(tables: Tables, states: States, number: int) -> None:
    """Write a state to `row`."""
    for place in range(states.rows.shape[1]):
        tables.row[place] = states.rows[number, place]


def has_room(tables: Tables, states: States, waiting: int) -> bool:
    """Whether the successors of a state have room among the states, and so many that wait."""
    sizes = tables.sizes
    needed = int(sizes[STATES] + sizes[OUT]) + waiting + 1
    if needed > len(states.rows) or not is_roomy(states.slots, needed):
        sizes[BLOCKED] |= CROWDED
    return bool(sizes[BLOCKED] == 0)


def represented(tables: Tables) -> bool:
    """Replace every successor by what stands for it."""
    complete = True
    for made in range(tables.sizes[OUT]):
        complete = complete and represent(tables, made)
    return complete


def note_broken(tables: Tables, states: States, number: int) -> None:
    """Note which steps from a state break invariants, where any of steps are asked."""
    for made in range(tables.sizes[OUT] if len(states.broken) else 0):
        step = broken_by(tables, made)
        if step >= 0 and states.broken[step] < 0:
            states.broken[step] = number


def lay_out(tables: Tables, states: States) -> int:
    """Write the successors of a state behind the states, and ask for what they will be looked up in. How many there
    are.
    """
    sizes, mask = tables.sizes, len(states.slots) - 1
    first = int(sizes[STATES])
    for made in range(sizes[OUT]):
        for place in range(states.rows.shape[1]):
            states.rows[first + made, place] = tables.out[made, place]
        prefetch(states.slots, row_code(states.rows, first + made) & mask)
    return int(sizes[OUT])


def add_successors(tables: Tables, states: States, number: int, waiting: int) -> int:
    """Add those successors of a state that are new: so many stand behind the states. The largest number of a successor;
    -1: there is none.
    """
    sizes, farthest = tables.sizes, -1
    sizes[FOLLOWED] += waiting
    first = int(sizes[STATES])
    for made in range(first, first + waiting):
        new = int(sizes[STATES])
        for place in range(states.rows.shape[1]):
            states.rows[new, place] = states.rows[made, place]
        after = found_or_placed(states.rows, states.slots, new)
        farthest = max(farthest, after)
        if after == new:
            states.parents[new] = number
            if len(states.depths):
                states.depths[new] = states.depths[number] + 1
            sizes[STATES] += 1
    return farthest


def breadth(tables: Tables, states: States, first: int, last: int, mode: int) -> int:
    """Expand the states from `first` to `last`. The number of the first that could not be expanded.

    From this one on it is found out what else will be asked for.
    """
    sizes = tables.sizes
    stop, before, waiting = last, -1, 0
    for number in range(first, last):
        look_ahead(tables, states, number, last)
        row_of(tables, states, number)
        found = expanded(tables, mode)
        if stop == last and sizes[BLOCKED] == 0 and represented(tables) and has_room(tables, states, waiting):
            note_broken(tables, states, number)
            add_waiting(tables, states, before, waiting, first)
            before, waiting = number, lay_out(tables, states)
            states.order[number - first] = number
            states.found[number - first] = found
            continue
        stop = min(stop, number)
        if sizes[BLOCKED] & (FULL | CROWDED) or sizes[ASKED] == len(tables.asked):
            break
    add_waiting(tables, states, before, waiting, first)
    return stop


def add_waiting(tables: Tables, states: States, before: int, waiting: int, first: int) -> None:
    """Add the successors of the state before, which were laid out when this one was not expanded yet: so memory has had
    time to answer.
    """
    if before >= 0 and add_successors(tables, states, before, waiting) < tables.sizes[LAYER]:
        states.found[before - first] += ENDS


def look_ahead(tables: Tables, states: States, number: int, last: int) -> None:
    """Ask for what the expansion of states that are next but some will read."""
    components, rows = tables.components, states.rows
    if number + 2 * AHEAD < last:
        for entity in range(tables.setting[ENTITIES]):
            prefetch(components, max(0, int(rows[number + 2 * AHEAD, entity])))
    if number + AHEAD < last:
        for entity in range(tables.setting[ENTITIES]):
            component = max(0, int(rows[number + AHEAD, entity]))
            prefetch(tables.transitions, max(0, int(components[component, OWN])))


def depth(tables: Tables, states: States, waiting: int, most: int, mode: int) -> int:
    """Expand states from the end of the stack, at most so many. How many wait then."""
    sizes, stack = tables.sizes, states.stack
    sizes[EXPANDED] = 0
    place = waiting - 1
    for _ in range(most):
        if place < 0:
            break
        number = int(stack[place])
        row_of(tables, states, number)
        found = expanded(tables, mode)
        if sizes[BLOCKED] == 0 and represented(tables) and has_room(tables, states, 0):
            first = int(sizes[STATES])
            note_broken(tables, states, number)
            add_successors(tables, states, number, lay_out(tables, states))
            states.order[sizes[EXPANDED]] = number
            states.found[sizes[EXPANDED]] = found
            sizes[EXPANDED] += 1
            waiting -= 1
            for new in range(first, sizes[STATES]):
                stack[waiting] = new
                waiting += 1
            place = waiting - 1
            continue
        place -= 1
        if sizes[BLOCKED] & (FULL | CROWDED) or sizes[ASKED] == len(tables.asked):
            break
    return waiting


def walk(tables: Tables, states: States, beginnings: int, farthest: int, mode: int) -> None:
    """Let every walk make moves at random, until something is asked for or there is no more room in `order`."""
    sizes, stack = tables.sizes, states.stack
    sizes[EXPANDED] = 0
    while sizes[BLOCKED] == 0 and sizes[EXPANDED] + WALKS <= len(states.order):
        for place in range(WALKS):
            number = int(stack[place])
            row_of(tables, states, number)
            found = expanded(tables, mode)
            if sizes[BLOCKED] == 0 and has_room(tables, states, 0):
                note_broken(tables, states, number)
                states.order[sizes[EXPANDED]] = number
                states.found[sizes[EXPANDED]] = found
                sizes[EXPANDED] += 1
                move_on(tables, states, place, beginnings, farthest)
            if sizes[BLOCKED] & (FULL | CROWDED):
                return


def move_on(tables: Tables, states: States, place: int, beginnings: int, farthest: int) -> None:
    """Let a walk go to one of the successors, or begin anew where there is none or it has come far."""
    sizes, stack = tables.sizes, states.stack
    drawn = hashed(int(stack[2 * WALKS]), place)
    stack[2 * WALKS] = drawn & 0x7FFFFFFF
    drawn >>= 8
    if sizes[OUT] == 0 or stack[WALKS + place] == farthest:
        stack[place] = drawn % beginnings
        stack[WALKS + place] = 0
        return
    new, made = int(sizes[STATES]), drawn % int(sizes[OUT])
    for column in range(states.rows.shape[1]):
        states.rows[new, column] = tables.out[made, column]
    after = found_or_placed(states.rows, states.slots, new)
    if after == new:
        states.parents[new] = stack[place]
        sizes[STATES] += 1
    sizes[FOLLOWED] += 1
    stack[place] = after
    stack[WALKS + place] += 1
