"""What can happen in a state: every interleaving, or enough of them. In the subset of Python that numba compiles.

A state is a row: a component for each entity, then the remaining budget. The budget is one number, and what is left of
each bound is a digit of it. Successors are written to `out`, and what leads to them to `via`.
"""

from __future__ import annotations

from typing import Final

from precedes.core.faults import AT_TIMEOUTS
from precedes.protocol.exploration.compiled_tables import (
    ACTS,
    BLOCKED,
    BROKEN,
    COMPONENT,
    COMPONENT_FIELDS,
    ENTITIES,
    FAULT_KINDS,
    FULL,
    INBOX,
    INNER,
    LAST_REQUEST,
    LOCAL,
    MADE,
    NETWORK,
    NOW,
    OF_LOSSES,
    OF_OWN,
    OF_REQUESTS,
    OUT,
    OWN,
    OWN_EARLY,
    OWN_LAST,
    OWN_TIMEOUTS,
    PAST,
    PATIENCE,
    PENDING,
    PLANS,
    RENAMINGS,
    REQUESTED,
    REQUESTED_LAST,
    STEP,
    STOPPED,
    TICKS,
    TIMED,
    TRANSMITTED,
    WAITING,
    WANTS,
    Tables,
)
from precedes.protocol.exploration.compiled_tables import SETTINGS as DIGITS
from precedes.protocol.exploration.numbering import (
    component_of,
    inbox_of,
    inner_of,
    renamed_local,
)
from precedes.protocol.exploration.offers import (
    answer_of,
    inserted,
    put,
    requested,
    ticked,
    worked_out,
)

EVERY, SILENT, ONE_BY_ONE, BY_ITSELF = range(4)
"""Which successors of a state are found: all; and see `docs/protocols.md`."""

TURN, MESSAGES, LOSSES = range(3)
(EARLY_DIGIT,) = range(LOSSES + FAULT_KINDS, LOSSES + FAULT_KINDS + len(AT_TIMEOUTS))
"""The digits of a budget: whose turn it is, requests, faults that are moves from losses on, and early time-outs."""

ALONE, NOBODY, ANYBODY, FIRST_ENTITY = range(4)
"""Whose moves are explored, where not every interleaving is: one entity without the others, whose component is the only
one of the state; nobody sends any more; nobody has been chosen yet; or the entity that sends next, counted from here.
"""

QUIESCENT, REFUSED, STARVING, ENDS = 1, 2, 4, 8
"""What is found out about a state: nothing but requests, faults and the passing of time for them can happen; requests
are left, every one is refused, and nothing else can happen; something waits where nothing more comes in; breadth first,
it leads to no state of the next layer."""
INCOMPLETE: Final = -1

PLAN_ENTITY, PLAN_FIRST, PLAN_LAST, PLAN_BUDGET, PLAN_PATIENCE = range(5)
BY_TICK: Final = -1
"""Stands in `via` where time went on."""


def digit(tables: Tables, budget: int, place: int) -> int:
    """What is left of one bound."""
    radix = int(tables.setting[DIGITS + 2 * place + 1])
    # Most bounds are 0, and a division takes as long as forty additions.
    return 0 if radix == 1 else budget // int(tables.setting[DIGITS + 2 * place]) % radix


def spent(tables: Tables, budget: int, place: int) -> int:
    """The budget when one of a kind is used."""
    return budget - int(tables.setting[DIGITS + 2 * place])


def turned(budget: int, turn: int, entities: int) -> int:
    """The budget when it is somebody's turn."""
    return budget - budget % (entities + FIRST_ENTITY) + turn


def plan(tables: Tables, entity: int, first: int, last: int, budget: int, patience: int) -> bool:
    """Note transitions that are to be followed. Whether there are any."""
    plans, sizes = tables.plans, tables.sizes
    if first >= last:
        return False
    if sizes[PLANS] == len(plans):
        sizes[BLOCKED] |= FULL
        return False
    made = int(sizes[PLANS])
    plans[made, PLAN_ENTITY] = entity
    plans[made, PLAN_FIRST] = first
    plans[made, PLAN_LAST] = last
    plans[made, PLAN_BUDGET] = budget
    plans[made, PLAN_PATIENCE] = patience
    sizes[PLANS] += 1
    return True


def follow(tables: Tables, done: int) -> bool:
    """Write the successors that the plans from number `done` on lead to. False where that cannot be done now."""
    n, plans, sizes = int(tables.setting[ENTITIES]), tables.plans, tables.sizes
    transitions, groups = tables.transitions, tables.groups
    for k in range(done, sizes[PLANS]):
        entity, budget, patience = (
            int(plans[k, PLAN_ENTITY]),
            int(plans[k, PLAN_BUDGET]),
            int(plans[k, PLAN_PATIENCE]),
        )
        for transition in range(plans[k, PLAN_FIRST], plans[k, PLAN_LAST]):
            if patience >= 0 and tables.steps[transitions[transition, STEP], PATIENCE] != patience:
                continue
            made = int(sizes[OUT])
            if made == len(tables.out):
                sizes[BLOCKED] |= FULL
                return False
            out = tables.out[made]
            for place in range(n):
                out[place] = tables.row[place]
            out[entity] = transitions[transition, COMPONENT]
            out[n] = budget
            emission = int(transitions[transition, TRANSMITTED])
            for group in range(tables.emissions[emission, 0], tables.emissions[emission, 1]):
                receiver = int(groups[group, 0])
                out[receiver] = put(tables, int(out[receiver]), int(groups[group, 1]), int(groups[group, 2]))
                if out[receiver] < 0:
                    return False
            tables.via[made, 0] = entity
            tables.via[made, 1] = transition
            sizes[OUT] += 1
    return True


def plan_timeouts(tables: Tables, budget: int) -> bool:
    """Plan the time-outs of least patience. Whether one of them changes or does anything."""
    n, transitions, steps = int(tables.setting[ENTITIES]), tables.transitions, tables.steps
    if tables.components.shape[1] < COMPONENT_FIELDS:
        return False
    least = -1
    for entity in range(n):
        component = int(tables.row[entity])
        for k in range(tables.components[component, OWN_TIMEOUTS], tables.components[component, OWN_EARLY]):
            patience = int(steps[transitions[k, STEP], PATIENCE])
            least = patience if least < 0 or patience < least else least
    happens = False
    for entity in range(n):
        component = int(tables.row[entity])
        first, last = (
            int(tables.components[component, OWN_TIMEOUTS]),
            int(tables.components[component, OWN_EARLY]),
        )
        plan(tables, entity, first, last, budget, least)
        for k in range(first, last):
            step = int(transitions[k, STEP])
            if steps[step, PATIENCE] == least:
                happens = happens or transitions[k, COMPONENT] != component or steps[step, ACTS] != 0
    return happens


def starves(tables: Tables, component: int) -> bool:
    """Whether something waits in a component where nothing more can happen."""
    inner, inbox = inner_of(tables, component), int(tables.components[component, INBOX])
    if tables.inners[inner, STOPPED]:
        return False
    return bool(tables.inners[inner, WAITING] != 0 or tables.inboxes[inbox, 0] < tables.inboxes[inbox, 1])


def must_go_on(tables: Tables, component: int) -> bool:
    """Whether time must go on for something to happen to a component."""
    inner, inbox = inner_of(tables, component), int(tables.components[component, INBOX])
    return bool(tables.inners[inner, PENDING] != 0 or tables.inboxes[inbox, 0] < tables.inboxes[inbox, 1])


def silent(tables: Tables, budget: int) -> int:
    """An entity whose packets come in first, because it does not answer them and cannot be asked to send, or -1."""
    for entity in range(tables.setting[ENTITIES]):
        component = int(tables.row[entity])
        first, last = (
            int(tables.components[component, OWN]),
            int(tables.components[component, OWN_TIMEOUTS]),
        )
        answers = first == last
        for k in range(first, last):
            answers = answers or tables.transitions[k, TRANSMITTED] != 0
        if digit(tables, budget, MESSAGES):
            accepts = tables.components[component, REQUESTED] < tables.components[component, REQUESTED_LAST]
            answers = answers or accepts
        if not answers:
            return entity
    return -1


def found_out(tables: Tables, happens: bool, refused: bool) -> int:
    """What is found out about a state in which something, or nothing, happens."""
    if happens:
        return 0
    starving = False
    for entity in range(tables.setting[ENTITIES]):
        starving = starving or starves(tables, int(tables.row[entity]))
    return QUIESCENT + REFUSED * refused + STARVING * starving


def all_worked_out(tables: Tables, budget: int, asks: bool) -> bool:
    """Work out what every entity may do, requests where they may be made, and what may go wrong. False where something
    is asked for, which is then everything that is not known.
    """
    complete, last = True, OF_LOSSES
    if tables.faults.shape[1] > 0:
        last += FAULT_KINDS
    for entity in range(tables.setting[ENTITIES]):
        component = int(tables.row[entity])
        for what in range(OF_OWN, last):
            if what == OF_REQUESTS and not asks:
                continue
            if what >= OF_LOSSES and not digit(tables, budget, LOSSES + what - OF_LOSSES):
                continue
            complete = worked_out(tables, component, what) and complete
    return complete


def every(tables: Tables, mode: int) -> int:
    """All that can happen in a state, or what comes in to a silent entity. What is found out about the state."""
    n, row, components = int(tables.setting[ENTITIES]), tables.row, tables.components
    budget = int(row[n])
    timed = tables.setting[NETWORK] == TIMED
    # Whatever is read here is read in every state, and mostly from far away in memory.
    now = int(tables.inners[inner_of(tables, int(row[0])), NOW]) if timed else 0
    requests = digit(tables, budget, MESSAGES)
    asks = requests > 0 and not (timed and now > tables.setting[LAST_REQUEST])
    if not all_worked_out(tables, budget, asks) or (tables.sizes[BLOCKED] and not timed):
        # It is expanded again when what is asked for is known. Where there is time, a tick may ask for more.
        return INCOMPLETE
    chosen = silent(tables, budget) if mode == SILENT else -1
    happens = pending = False
    for entity in range(n):
        component = int(row[entity])
        if chosen < 0 or chosen == entity:
            happens = (
                plan(
                    tables,
                    entity,
                    int(components[component, OWN]),
                    int(components[component, OWN_TIMEOUTS]),
                    budget,
                    -1,
                )
                or happens
            )
        pending = pending or (timed and must_go_on(tables, component))
    if not happens and not pending:
        happens = plan_timeouts(tables, budget)
    accepted = wanted = False
    for entity in range(n if asks and chosen == -1 else 0):
        component = int(row[entity])
        first, last = int(components[component, REQUESTED]), int(components[component, REQUESTED_LAST])
        accepted = plan(tables, entity, first, last, spent(tables, budget, MESSAGES), -1) or accepted
    for entity in range(n if asks and chosen == -1 and not accepted else 0):
        wanted = wanted or tables.locals[components[row[entity], LOCAL], WANTS] != 0
    plan_faults(tables, budget, chosen)
    if not follow(tables, 0):
        return INCOMPLETE
    ticks = timed
    for entity in range(n):
        ticks = ticks and components[row[entity], TICKS] != 0
    if (
        ticks
        and (pending or (requests and now < tables.setting[LAST_REQUEST]))
        and not follow_tick(tables, budget)
    ):
        return INCOMPLETE
    pending = pending and ticks
    if chosen >= 0:
        return 0
    return found_out(tables, happens or pending, wanted and not accepted and not timed)


def plan_faults(tables: Tables, budget: int, chosen: int) -> None:
    """Plan what may go wrong."""
    n, row, components = int(tables.setting[ENTITIES]), tables.row, tables.components
    if tables.faults.shape[1] == 0:
        return
    for kind in range(FAULT_KINDS):
        if not digit(tables, budget, LOSSES + kind):
            continue
        for entity in range(n):
            if chosen < 0 or (kind == 0 and entity == chosen):
                component = int(row[entity])
                first, last = (
                    int(tables.faults[component, 2 * kind]),
                    int(tables.faults[component, 2 * kind + 1]),
                )
                plan(tables, entity, first, last, spent(tables, budget, LOSSES + kind), -1)
    if chosen >= 0 or not digit(tables, budget, EARLY_DIGIT):
        return
    in_flight = False
    for entity in range(n):
        inbox = int(components[row[entity], INBOX])
        in_flight = in_flight or tables.inboxes[inbox, 0] < tables.inboxes[inbox, 1]
    for entity in range(n if in_flight else 0):
        component = int(row[entity])
        first, last = int(components[component, OWN_EARLY]), int(components[component, OWN_LAST])
        plan(tables, entity, first, last, spent(tables, budget, EARLY_DIGIT), -1)


def follow_tick(tables: Tables, budget: int) -> bool:
    """Write the state one tick later. False where that cannot be done now."""
    n, made, sizes = int(tables.setting[ENTITIES]), int(tables.sizes[OUT]), tables.sizes
    if made == len(tables.out):
        sizes[BLOCKED] |= FULL
        return False
    complete = True
    for entity in range(n):
        after = ticked(tables, int(tables.row[entity]))
        tables.out[made, entity] = after
        complete = complete and after >= 0
    tables.out[made, n] = budget
    tables.via[made, 0] = 0
    tables.via[made, 1] = BY_TICK
    sizes[OUT] += 1
    return complete


def in_turn(tables: Tables, mode: int) -> int:
    """Enough of what can happen in a state, where only requests transmit and nothing goes wrong. What is found out
    about the state.

    Before an entity sends, messages come in to it alone. In the end they come in to one entity after the other, or, for
    what concerns single entities, to each without the others.
    """
    n, row, components, sizes = int(tables.setting[ENTITIES]), tables.row, tables.components, tables.sizes
    budget = int(row[n])
    turn, requests = digit(tables, budget, TURN), digit(tables, budget, MESSAGES)
    for entity in range(n if turn != ALONE else 1):
        component = int(row[entity])
        worked_out(tables, component, OF_OWN)
        if requests and turn in (ANYBODY, entity + FIRST_ENTITY):
            ask_requests(tables, component)
    if sizes[BLOCKED]:
        return INCOMPLETE
    if turn == ALONE:
        component = int(row[0])
        more = plan(
            tables, 0, int(components[component, OWN]), int(components[component, OWN_TIMEOUTS]), budget, -1
        )
        if not follow(tables, 0):
            return INCOMPLETE
        return 0 if more else QUIESCENT + STARVING * starves(tables, component)
    accepted = wanted = happens = over = starving = False
    for entity in range(n + 1):
        done = int(sizes[PLANS])
        if entity < n:
            if not requests or turn == NOBODY or (turn != ANYBODY and turn != entity + FIRST_ENTITY):
                continue
            component = int(row[entity])
            if not worked_out(tables, component, OF_REQUESTS):
                return INCOMPLETE
            wants = tables.locals[components[component, LOCAL], WANTS] != 0
            first, last = int(components[component, REQUESTED]), int(components[component, REQUESTED_LAST])
            left = turned(spent(tables, budget, MESSAGES), ANYBODY, n)
            accepted = plan(tables, entity, first, last, left, -1) or accepted
            if wants:
                first, last = int(components[component, OWN]), int(components[component, OWN_TIMEOUTS])
                plan(tables, entity, first, last, turned(budget, entity + FIRST_ENTITY, n), -1)
            wanted = wanted or wants
        elif turn < FIRST_ENTITY:
            alone = mode == BY_ITSELF and turn == ANYBODY
            if alone:
                starving = follow_alone(tables)
                if sizes[BLOCKED]:
                    return INCOMPLETE
            over = coming_in(tables) >= 0
            if over and not (alone and not requests):
                arrivals = coming_in(tables)
                component = int(row[arrivals])
                first, last = int(components[component, OWN]), int(components[component, OWN_TIMEOUTS])
                plan(tables, arrivals, first, last, turned(budget, NOBODY, n), -1)
            if not over:
                happens = plan_timeouts(tables, turned(budget, ANYBODY, n))
        if not follow(tables, done):
            return INCOMPLETE
    if turn >= FIRST_ENTITY:
        return 0
    if over:
        return STARVING * (starving and not requests)
    for entity in range(n if requests and turn == NOBODY else 0):
        component = int(row[entity])
        if not worked_out(tables, component, OF_REQUESTS):
            return INCOMPLETE
        accepted = accepted or components[component, REQUESTED] < components[component, REQUESTED_LAST]
        wanted = wanted or tables.locals[components[component, LOCAL], WANTS] != 0
    return found_out(tables, happens, wanted and not accepted)


def ask_requests(tables: Tables, component: int) -> None:
    """Ask for the requests that a component accepts, where they are not known."""
    local = int(tables.components[component, LOCAL])
    made = int(tables.pasts[tables.locals[local, PAST], MADE])
    answer_of(tables, int(tables.locals[local, INNER]), requested(made))


def coming_in(tables: Tables) -> int:
    """The first entity to which something comes in; -1: there is none."""
    for entity in range(tables.setting[ENTITIES]):
        component = int(tables.row[entity])
        if tables.components[component, OWN] < tables.components[component, OWN_TIMEOUTS]:
            return entity
    return -1


def follow_alone(tables: Tables) -> bool:
    """Write what comes in to each entity without the others. Whether something waits where nothing more comes in, while
    something does elsewhere.
    """
    n, sizes, components = int(tables.setting[ENTITIES]), tables.sizes, tables.components
    starving = False
    for entity in range(n):
        component = int(tables.row[entity])
        first, last = int(components[component, OWN]), int(components[component, OWN_TIMEOUTS])
        starving = starving or (first == last and starves(tables, component))
        for transition in range(first, last):
            made = int(sizes[OUT])
            if made == len(tables.out):
                sizes[BLOCKED] |= FULL
                return False
            tables.out[made, 0] = tables.transitions[transition, COMPONENT]
            for place in range(1, n):
                tables.out[made, place] = -1
            tables.out[made, n] = ALONE
            tables.via[made, 0] = entity
            tables.via[made, 1] = transition
            sizes[OUT] += 1
    return starving


def expanded(tables: Tables, mode: int) -> int:
    """Write the successors of the state in `row`. What is found out about it, or INCOMPLETE: again, when what is asked
    for is known, or there is room.
    """
    sizes = tables.sizes
    sizes[OUT] = 0
    sizes[PLANS] = 0
    found = in_turn(tables, mode) if mode in (ONE_BY_ONE, BY_ITSELF) else every(tables, mode)
    return INCOMPLETE if sizes[BLOCKED] else found


def broken_by(tables: Tables, made: int) -> int:
    """The step that leads to a successor where it breaks an invariant, else -1."""
    transition = int(tables.via[made, 1])
    if transition < 0:
        return -1
    step = int(tables.transitions[transition, STEP])
    return step if step >= 0 and tables.steps[step, BROKEN] else -1


def orbit(tables: Tables, component: int) -> bool:
    """Find all renamings of a component. False where there is no room for them."""
    renamed = tables.renamed
    local, inbox = int(tables.components[component, LOCAL]), int(tables.components[component, INBOX])
    first, last = int(tables.inboxes[inbox, 0]), int(tables.inboxes[inbox, 1])
    count = int(tables.setting[RENAMINGS])
    for renaming in range(count):
        made = component
        if renaming:
            length = 0
            for k in range(first, last):
                flight = int(tables.renamed_flights[tables.in_flight[k], renaming])
                length = inserted(tables, flight, length)
            inbox = inbox_of(tables, length)
            made = component_of(tables, renamed_local(tables, local, renaming), inbox)
        tables.scratch[len(tables.scratch) - 1 - renaming] = made
        if made < 0:
            return False
    for one in range(count):
        base = int(tables.scratch[len(tables.scratch) - 1 - one])
        for renaming in range(count):
            after = int(tables.composed[renaming, one])
            renamed[base, renaming] = tables.scratch[len(tables.scratch) - 1 - after]
    return True


def represent(tables: Tables, made: int) -> bool:
    """Replace a successor by what stands for it and all that are renamings of it: the least as a row of numbers. False
    where there is no room.
    """
    n, count, out = int(tables.setting[ENTITIES]), int(tables.setting[RENAMINGS]), tables.out[made]
    if count <= 1 or out[1] < 0:
        return True
    for entity in range(n):
        if tables.renamed[out[entity], 0] < 0 and not orbit(tables, int(out[entity])):
            return False
    best, turn = 0, int(out[n]) % (n + FIRST_ENTITY)
    for renaming in range(1, count):
        if is_less(tables, made, renaming, best, turn):
            best = renaming
    for place in range(n):
        tables.scratch[place] = tables.renamed[out[tables.renamings[best, n + place]], best]
    for place in range(n):
        out[place] = tables.scratch[place]
    out[n] = turned(int(out[n]), renamed_turn(tables, best, turn), n)
    return True


def renamed_turn(tables: Tables, renaming: int, turn: int) -> int:
    """Whose turn it is after a renaming."""
    return (
        turn if turn < FIRST_ENTITY else int(tables.renamings[renaming, turn - FIRST_ENTITY]) + FIRST_ENTITY
    )


def is_less(tables: Tables, made: int, one: int, other: int, turn: int) -> bool:
    """Whether a successor is less under a renaming than under another one."""
    n, out, renamed, renamings = (
        int(tables.setting[ENTITIES]),
        tables.out[made],
        tables.renamed,
        tables.renamings,
    )
    for place in range(n):
        left = renamed[out[renamings[one, n + place]], one]
        right = renamed[out[renamings[other, n + place]], other]
        if left != right:
            return bool(left < right)
    return renamed_turn(tables, one, turn) < renamed_turn(tables, other, turn)
