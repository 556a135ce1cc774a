"""Who surely satisfies what is asked of views, in one pass over the numbers of a laid-out row group.

Written in the subset of Python that numba compiles. `screen` has looked at the rows before.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from precedes.engines.columnar.fast_path.coded_rows import CodedRows
from precedes.engines.columnar.fast_path.screen_kernels import Screened, has_order
from precedes.native.codes import SEND, VIEW
from precedes.native.compiled_functions import Int64Out
from precedes.traces.layout.columnar_file import EVERYBODY, MOST_BITS

_NONE: Final = -1
_NOT_MET: Final = -2


class ViewQuestion(NamedTuple):
    """What is asked of views.

    members    entities install views that they are members of
    logged     the send of every message is logged
    inside     sends and deliveries happen in views
    one_order  views are installed in one order, none twice
    same       all deliver a message in one view, that in which it was sent
    own        who sends a message to itself in a view delivers it
    synchrony  what is delivered in a view that another one follows is the same at all entities, and so is the other
    """

    members: bool
    logged: bool
    inside: bool
    one_order: bool
    same: bool
    own: bool
    synchrony: bool


NOTHING_OF_VIEWS: Final = ViewQuestion(*(False,) * 7)

ASKED: Final = {
    "self_inclusion": NOTHING_OF_VIEWS._replace(members=True),
    "initial_view_event": NOTHING_OF_VIEWS._replace(logged=True, inside=True),
    "one_view_order": NOTHING_OF_VIEWS._replace(one_order=True),
    "same_view_delivery": NOTHING_OF_VIEWS._replace(same=True),
    "sending_view_delivery": NOTHING_OF_VIEWS._replace(logged=True, same=True),
    "self_delivery": NOTHING_OF_VIEWS._replace(logged=True, same=True, own=True),
    "virtual_synchrony": NOTHING_OF_VIEWS._replace(synchrony=True),
}
"""What must be asked so that the definitions of these names in `recognition.DEFINITIONS` hold."""


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


def screen_views(
    rows: CodedRows, delivery: int, asked: ViewQuestion, screened: Screened, sets: ViewSets
) -> None:
    """Leave `fine` only the executions that surely satisfy what is asked of views.

    These have few messages and views, at least one view, the id of each view is known, and nobody installs one twice.
    See `ViewQuestion` for what else they are like: more than Chockler, Keidar, Vitenberg 2001 and Moser 1994 ask for.
    """
    for x in range(len(screened.fine)):
        if screened.fine[x]:
            first, last = screened.row_offsets[x], screened.row_offsets[x + 1]
            few = screened.message_counts[x] <= MOST_BITS
            for m in range(screened.message_counts[x] if few else 0):
                sets.within[m] = _NOT_MET
            screened.fine[x] = few and in_views(first, last, rows, delivery, asked, sets)


def in_views(
    first: int, last: int, rows: CodedRows, delivery: int, asked: ViewQuestion, sets: ViewSets
) -> bool:
    """Whether the execution in these rows is as is asked."""
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
    for row in range(first, last):
        if entity[row] != here:
            if owed & ~got != 0:
                return False
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
                return False
            if known >> following & 1 == 0:
                known |= 1 << following
                sets.before[following] = 0
                sets.following[following] = _NONE
            if asked.members and rows.members[row] >> here & 1 == 0:
                return False
            sets.before[following] |= installed
            if view != _NONE and asked.synchrony and not follows(following, view, got_in_view, sets):
                return False
            most = max(most, following)
            installed |= 1 << following
            view = following
            got_in_view = 0
        elif kind == delivery:
            if not happens(m, view, asked, sets):
                return False
            if got >> m & 1 == 0:
                got |= 1 << m
                got_in_view |= 1 << m
        elif kind == SEND:
            sent |= 1 << m
            if view == _NONE:
                if asked.inside:
                    return False
            elif not happens(m, view, asked, sets):
                return False
            if asked.own and (rows.dest[row] == EVERYBODY or rows.dest[row] >> here & 1 != 0):
                owed |= 1 << m
    if known == 0 or owed & ~got != 0 or (asked.logged and met != sent):
        return False
    return not asked.one_order or has_order(most + 1, known, sets.before)


def follows(following: int, view: int, got: int, sets: ViewSets) -> bool:
    """Whether a view may follow one in which these messages were delivered, by what others did."""
    if sets.following[view] == _NONE:
        sets.following[view] = following
        sets.held[view] = got
    return bool(sets.following[view] == following and sets.held[view] == got)


def happens(m: int, view: int, asked: ViewQuestion, sets: ViewSets) -> bool:
    """Whether a message may be sent or delivered in a view, or in none."""
    if asked.inside and view == _NONE:
        return False
    if sets.within[m] == _NOT_MET:
        sets.within[m] = view
    return not asked.same or sets.within[m] == view
