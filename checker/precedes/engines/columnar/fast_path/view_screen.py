"""Who surely satisfies what may be asked of views, in one pass over the numbers of a laid-out row group.

Written in the subset of Python that numba compiles. `screen` has looked at the rows before.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from precedes.engines.columnar.fast_path.coded_rows import CodedRows
from precedes.engines.columnar.fast_path.screen_kernels import Screened, has_order
from precedes.native.codes import SEND, VIEW
from precedes.native.compiled_functions import Int32Out, Int64Out
from precedes.traces.layout.columnar_file import EVERYBODY, MOST_BITS

_NONE: Final = -1
_NOT_MET: Final = -2
_ALL: Final = 127


MEMBERS: Final = 1
"""Entities install views that they are members of."""

LOGGED: Final = 2
"""The send of every message is logged."""

INSIDE: Final = 4
"""Sends and deliveries happen in views."""

ONE_ORDER: Final = 8
"""Views are installed in one order."""

SAME: Final = 16
"""All deliver a message in one view, that in which it was sent."""

OWN: Final = 32
"""Who sends a message to itself in a view delivers it."""

SYNCHRONY: Final = 64
"""What is delivered in a view that another one follows is the same at all entities, and so is the other."""

ASKED: Final = {
    "self_inclusion": MEMBERS,
    "initial_view_event": LOGGED | INSIDE,
    "one_view_order": ONE_ORDER,
    "same_view_delivery": SAME,
    "sending_view_delivery": LOGGED | SAME,
    "self_delivery": LOGGED | SAME | OWN,
    "virtual_synchrony": SYNCHRONY,
}
"""What must be so that the definitions of these names in `recognition.DEFINITIONS` hold."""


class ViewSets(NamedTuple):
    """What is kept of an execution. Sets of messages and of views are numbers.

    within     messages: the view in which it is delivered, and sent if that was in a view
    before     views: those that must come before it
    following  views: which view is installed right after it
    held       views: what is delivered in it where another one follows
    """

    within: Int64Out
    before: Int64Out
    following: Int64Out
    held: Int64Out


def view_sets() -> ViewSets:
    """Room for any execution of few messages and views."""
    return ViewSets(*(np.empty(MOST_BITS, np.int64) for _ in range(4)))


def screen_views(rows: CodedRows, delivery: int, screened: Screened, sets: ViewSets, kept: Int32Out) -> None:
    """Write of each execution what it surely satisfies of what may be asked of views; 0 for nothing.

    Where that is something, an execution has few messages and views, at least one view, the id of each view is known,
    and nobody installs one twice. All is more than Chockler, Keidar, Vitenberg 2001 and Moser 1994 ask for.
    """
    for x in range(len(screened.fine)):
        first, last = screened.row_offsets[x], screened.row_offsets[x + 1]
        few = screened.message_counts[x] <= MOST_BITS
        for m in range(screened.message_counts[x] if few else 0):
            sets.within[m] = _NOT_MET
        kept[x] = in_views(first, last, rows, delivery, sets) if few else 0


def in_views(first: int, last: int, rows: CodedRows, delivery: int, sets: ViewSets) -> int:
    """What the execution in these rows satisfies."""
    entity, event, message = rows.entity, rows.event, rows.message
    here = _NONE
    view = _NONE
    most = _NONE
    known = 0
    met = 0
    sent = 0
    installed = 0
    got = 0
    got_in_view = 0
    owed = 0
    broken = 0
    for row in range(first, last):
        if entity[row] != here:
            if owed & ~got != 0:
                broken |= OWN
            here = entity[row]
            view = _NONE
            installed = 0
            got = 0
            got_in_view = 0
            owed = 0
        kind = event[row]
        m = message[row]
        if m >= 0:
            met |= 1 << m
        if kind == VIEW:
            following = rows.installed[row]
            if following < 0 or following >= MOST_BITS or installed >> following & 1 != 0:
                return 0
            if known >> following & 1 == 0:
                known |= 1 << following
                sets.before[following] = 0
                sets.following[following] = _NONE
            if rows.members[row] >> here & 1 == 0:
                broken |= MEMBERS
            sets.before[following] |= installed
            if view != _NONE and not follows(following, view, got_in_view, sets):
                broken |= SYNCHRONY
            most = max(most, following)
            installed |= 1 << following
            view = following
            got_in_view = 0
        elif kind == delivery:
            broken |= happens(m, view, sets)
            if got >> m & 1 == 0:
                got |= 1 << m
                got_in_view |= 1 << m
        elif kind == SEND:
            sent |= 1 << m
            broken |= INSIDE if view == _NONE else happens(m, view, sets)
            if rows.dest[row] == EVERYBODY or rows.dest[row] >> here & 1 != 0:
                owed |= 1 << m
    if known == 0:
        return 0
    if owed & ~got != 0:
        broken |= OWN
    if met != sent:
        broken |= LOGGED
    if not has_order(most + 1, known, sets.before):
        broken |= ONE_ORDER
    return _ALL & ~broken


def follows(following: int, view: int, got: int, sets: ViewSets) -> bool:
    """Whether a view may follow one in which these messages were delivered, by what others did."""
    if sets.following[view] == _NONE:
        sets.following[view] = following
        sets.held[view] = got
    return bool(sets.following[view] == following and sets.held[view] == got)


def happens(m: int, view: int, sets: ViewSets) -> int:
    """What a message breaks that is sent or delivered in a view, or in none."""
    if sets.within[m] == _NOT_MET:
        sets.within[m] = view
    broken = 0 if sets.within[m] == view else SAME
    return broken | INSIDE if view == _NONE else broken
