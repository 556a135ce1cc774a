"""What may be asked of views, decided in one pass over the numbers of a laid-out row group, where that is easy.

Written in the subset of Python that numba compiles. `screen` has looked at the rows before.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.fast_path.coded_rows import CodedRows
from precedes.engines.columnar.fast_path.screen_kernels import Screened, has_order
from precedes.native.codes import NO_VALUE, SEND, VIEW
from precedes.native.compiled_functions import Int32Out, Int64Out
from precedes.traces.layout.columnar_file import EVERYBODY, MOST_BITS

_NONE: Final = -1
_OUTSIDE: Final = MOST_BITS
"""What stands for no view in a set of views."""

ASKED: Final = {
    "self_inclusion": 1,
    "one_view_order": 2,
    "local_monotonicity": 4,
    "initial_view_event": 8,
    "same_view_delivery": 16,
    "sending_view_delivery": 32,
    "self_delivery": 64,
    "virtual_synchrony": 128,
}
"""The bits that stand for the definitions of these names in `recognition.DEFINITIONS`."""

_MEMBERS: Final = ASKED["self_inclusion"]
_ORDER: Final = ASKED["one_view_order"]
_ASCENDING: Final = ASKED["local_monotonicity"]
_INITIAL: Final = ASKED["initial_view_event"]
_SAME: Final = ASKED["same_view_delivery"]
_SENDING: Final = ASKED["sending_view_delivery"]
_OWN: Final = ASKED["self_delivery"]
_SYNCHRONY: Final = ASKED["virtual_synchrony"]


class ViewSets(NamedTuple):
    """What is kept of an execution. Sets of messages and of views are numbers.

    within     messages: the views in which some entity first delivers it
    here       messages: the view in which the entity that is gone through first delivers it
    sent       messages: the view in which it is sent
    before     views: those that must come before it
    following  views: which view is installed right after it
    held       views: what is first delivered in it where another one follows
    """

    within: Int64Out
    here: Int64Out
    sent: Int64Out
    before: Int64Out
    following: Int64Out
    held: Int64Out


class Answers(NamedTuple):
    """Bits of `ASKED` for each execution: what it satisfies, and what it violates. `unnumbered`: where the ids of views
    that have to ascend are no numbers.
    """

    satisfied: Int32Out
    violated: Int32Out
    unnumbered: Int32Out


class Bits(NamedTuple):
    """The same of one execution."""

    satisfied: int
    violated: int
    unnumbered: int


def view_sets() -> ViewSets:
    """Room for any execution of few messages and views."""
    return ViewSets(*(np.empty(MOST_BITS, np.int64) for _ in range(6)))


def screen_views(
    rows: CodedRows,
    numbers: npt.NDArray[np.int64],
    delivery: int,
    screened: Screened,
    sets: ViewSets,
    answers: Answers,
) -> None:
    """Decide what may be asked of views, by the definitions of Chockler, Keidar, Vitenberg 2001 and Moser 1994.

    `numbers` has those that the ids of the views are which rows install, or nothing where these are not asked for.
    Nothing is decided of an execution with many messages or views, without views, with a view without an id, or in
    which an entity installs a view twice.
    """
    for x in range(len(screened.fine)):
        first, last = screened.row_offsets[x], screened.row_offsets[x + 1]
        of_views = Bits(0, 0, 0)
        if screened.message_counts[x] <= MOST_BITS:
            of_views = installed_in(first, last, rows, numbers, sets)
        of_deliveries = Bits(0, 0, 0)
        if of_views.satisfied | of_views.violated:
            of_deliveries = delivered_in(first, last, rows, delivery, sets)
        answers.satisfied[x] = of_views.satisfied | of_deliveries.satisfied
        answers.violated[x] = of_views.violated | of_deliveries.violated
        answers.unnumbered[x] = of_views.unnumbered


def installed_in(
    first: int, last: int, rows: CodedRows, numbers: npt.NDArray[np.int64], sets: ViewSets
) -> Bits:
    """What is so of the views that the entities in these rows install; nothing where that is not easy."""
    entity, event = rows.entity, rows.event
    here = _NONE
    known = 0
    most = _NONE
    installed = 0
    highest = NO_VALUE
    lacking = False
    unnumbered = 0
    violated = 0
    unsure = _ASCENDING if len(numbers) == 0 else 0
    for row in range(first, last):
        if entity[row] != here:
            here = entity[row]
            installed = 0
            highest = NO_VALUE
            lacking = False
        if event[row] != VIEW:
            continue
        view = rows.installed[row]
        if here > MOST_BITS or view < 0 or view >= MOST_BITS or installed >> view & 1 != 0:
            return Bits(0, 0, 0)
        if known >> view & 1 == 0:
            known |= 1 << view
            most = max(most, view)
            sets.before[view] = 0
            sets.following[view] = _NONE
        sets.before[view] |= installed
        if rows.members[row] >> here & 1 == 0:
            # Nobody is in a view whose members are nowhere named, nor is in one of a large cluster.
            violated |= _MEMBERS if rows.members[row] != 0 else 0
            unsure |= _MEMBERS
        if len(numbers) > 0:
            number = numbers[row]
            lacking = lacking or number == NO_VALUE
            if lacking and installed != 0:
                unnumbered = _ASCENDING
            if number != NO_VALUE:
                if highest != NO_VALUE and number <= highest:
                    violated |= _ASCENDING
                highest = number
        installed |= 1 << view
    if known == 0:
        return Bits(0, 0, 0)
    if not has_order(most + 1, known, sets.before) and opposite(most + 1, known, sets.before):
        violated |= _ORDER
    unnumbered &= ~violated
    satisfied = (_MEMBERS | _ORDER | _ASCENDING) & ~(violated | unsure | unnumbered)
    return Bits(satisfied, violated, unnumbered)


def opposite(count: int, known: int, before: Int64Out) -> bool:
    """Whether two of some views are installed in opposite orders."""
    for one in range(count):
        if known >> one & 1 != 0:
            for other in range(one):
                if before[one] >> other & 1 != 0 and before[other] >> one & 1 != 0:
                    return True
    return False


def delivered_in(first: int, last: int, rows: CodedRows, delivery: int, sets: ViewSets) -> Bits:
    """What is so of the sends and deliveries in these rows, and the views in which they happen."""
    entity, event, message = rows.entity, rows.event, rows.message
    here = _NONE
    view = _NONE
    met = 0
    got = 0
    got_in_view = 0
    owed = 0
    stopped = False
    violated = 0
    unsure = 0
    for row in range(first, last):
        if entity[row] != here:
            violated, unsure = owing(owed, stopped, violated, unsure)
            here = entity[row]
            view = _NONE
            got = 0
            got_in_view = 0
            owed = 0
            stopped = False
        kind = event[row]
        m = message[row]
        if m >= 0 and met >> m & 1 == 0:
            met |= 1 << m
            sets.within[m] = 0
            sets.sent[m] = _NONE
        if kind == VIEW:
            following = rows.installed[row]
            if view != _NONE:
                violated, unsure = follows(following, view, got_in_view, sets, violated, unsure)
            view = following
            got_in_view = 0
        elif kind == delivery:
            violated |= _INITIAL if view == _NONE else 0
            if got >> m & 1 == 0:
                got |= 1 << m
                got_in_view |= 1 << m
                sets.here[m] = view
                sets.within[m] |= 1 << (_OUTSIDE if view == _NONE else view)
                if sets.sent[m] == view:
                    owed &= ~(1 << m)
        elif kind == SEND:
            violated |= _INITIAL if view == _NONE else 0
            sets.sent[m] = view
            to_itself = rows.dest[row] == EVERYBODY or rows.dest[row] >> here & 1 != 0
            if view != _NONE and to_itself and (got >> m & 1 == 0 or sets.here[m] != view):
                owed |= 1 << m
        elif m < 0:
            stopped = True
    violated, unsure = owing(owed, stopped, violated, unsure)
    violated |= apart(met, sets)
    satisfied = (_INITIAL | _SAME | _SENDING | _OWN | _SYNCHRONY) & ~(violated | unsure)
    return Bits(satisfied, violated, 0)


def owing(owed: int, stopped: bool, violated: int, unsure: int) -> tuple[int, int]:
    """What is violated, and what is unsure, after an entity that did not deliver in a view what it sent itself in it.

    One that stopped may have failed.
    """
    if owed == 0:
        return violated, unsure
    if stopped:
        return violated, unsure | _OWN
    return violated | _OWN, unsure


def follows(
    following: int, view: int, got: int, sets: ViewSets, violated: int, unsure: int
) -> tuple[int, int]:
    """What is violated, and what is unsure, after a view that follows one in which these messages were delivered.

    Where different views follow one, entities that go on together are not told from the others.
    """
    if sets.following[view] == _NONE:
        sets.following[view] = following
        sets.held[view] = got
    elif sets.following[view] != following:
        return violated, unsure | _SYNCHRONY
    elif sets.held[view] != got:
        return violated | _SYNCHRONY, unsure
    return violated, unsure


def apart(met: int, sets: ViewSets) -> int:
    """What messages violate that are delivered in several views, or in another one than that of their send."""
    violated = 0
    for m in range(MOST_BITS):
        if met >> m == 0:
            break
        if met >> m & 1 == 0:
            continue
        within = sets.within[m]
        if within & (within - 1) != 0:
            violated |= _SAME
        if sets.sent[m] != _NONE and within & ~(1 << sets.sent[m]) & ~(1 << _OUTSIDE) != 0:
            violated |= _SENDING
    return violated
