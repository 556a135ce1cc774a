"""Which states lead to which, for the questions of liveness: every step that may be fair, or that says that a behavior
need not end. In the subset of Python that numba compiles.

A step has a label: the number of its cause, the entity that takes it, and its kind. Two steps of one label are the same
obligation: the packet that comes in, the time-out that expires.
"""

from __future__ import annotations

from typing import Final

from precedes.native.compiled_functions import Int32Out, MatrixOut
from precedes.protocol.exploration.compiled_tables import (
    ACTS,
    ARRIVED,
    BLOCKED,
    BY,
    DUE,
    ENTITIES,
    EXPIRED,
    FROM,
    KIND,
    OUT,
    REQUESTED_MOVE,
    STEP,
    VANISHED,
    Tables,
)
from precedes.protocol.exploration.distinct_rows import sought
from precedes.protocol.exploration.expansion import BY_TICK, EVERY, expanded

ARRIVAL, TIMEOUT, TIMER, TICK, REQUEST = range(5)
"""The kinds of labels: a packet comes in; a time-out expires; a timer that is due; time goes on; a request."""
KINDS: Final = 8
NOWHERE: Final = -1
"""Stands for a state that was not found, or that is no concern of a loop."""


def number_of(tables: Tables, rows: MatrixOut, slots: Int32Out, made: int) -> int:
    """The number of the state that a successor is; NOWHERE where it was not found."""
    found, _ = sought(rows, slots, tables.out, made)
    return found if found >= 0 else NOWHERE


def label_of(tables: Tables, made: int) -> int:
    """The label of the step to a successor, -1 for a fault. A time-out that neither changes nor does anything is none:
    a search takes it for nothing, too.
    """
    n = int(tables.setting[ENTITIES])
    entity, transition = int(tables.via[made, 0]), int(tables.via[made, 1])
    if transition == BY_TICK:
        return TICK
    kind, step = int(tables.transitions[transition, KIND]), int(tables.transitions[transition, STEP])
    cause = int(tables.transitions[transition, FROM])
    if kind in (ARRIVED, VANISHED):
        return (cause * n + entity) * KINDS + ARRIVAL
    if kind == EXPIRED:
        what = TIMER if cause == -DUE else TIMEOUT
        if (
            what == TIMEOUT
            and tables.out[made, entity] == tables.row[entity]
            and not tables.steps[step, ACTS]
        ):
            return -1
        return (int(tables.steps[step, BY]) * n + entity) * KINDS + what
    return REQUEST if kind == REQUESTED_MOVE else -1


def recurring_steps(
    tables: Tables, rows: MatrixOut, slots: Int32Out, targets: Int32Out, labels: Int32Out, ends: Int32Out
) -> None:
    """Write the steps from the states from number `ends[0]` on, as many as there is room for or `ends` has entries.

    `ends[0]` becomes the number of the first state that was not looked at, because something is asked for or there is
    no more room; the entry after it is the sum of steps, and so on: `ends[k + 1]` is where the steps of the k-th state
    end. A step that spends something from the budget leads NOWHERE: no loop comes back from there.
    """
    width = rows.shape[1]
    first, count, done = int(ends[0]), 0, 0
    while done + 1 < len(ends) and tables.sizes[BLOCKED] == 0:
        for place in range(width):
            tables.row[place] = rows[first + done, place]
        expanded(tables, EVERY)
        made = int(tables.sizes[OUT])
        if tables.sizes[BLOCKED] or count + made > len(targets):
            break
        for k in range(made):
            label = label_of(tables, k)
            if label < 0:
                continue
            same = tables.out[k, width - 1] == tables.row[width - 1]
            targets[count] = number_of(tables, rows, slots, k) if same else NOWHERE
            labels[count] = label
            count += 1
        done += 1
        ends[done] = count
    ends[0] = first + done
