"""Tuned kernels of views and groups, by one pass over histories and installations.

Where no views are recorded, or an order is not known, the compiled formula decides.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.delivery_cycle import Logs
from precedes.engines.columnar.kernels.information import addressed
from precedes.engines.columnar.kernels.kernel import Kernel, Span, most_entries, span_of
from precedes.engines.columnar.kernels.order import Fronts, disagree, drained
from precedes.engines.columnar.kernels.turns import all_logged
from precedes.native.codes import DEFERRED, FALSE, NO_VALUE, NO_VIEW_NUMBER, SEND
from precedes.native.compiled_functions import Int32Out, MatrixOut

Int64 = npt.NDArray[np.int64]


def views_in_doubt(x: int, columns: Columns) -> bool:
    """Whether views, or the order of events, are not known in an execution."""
    return bool(columns.order_doubt[x] != 0 or columns.installed_unknown[x])


def installed_twice(span: Span, columns: Columns) -> int:
    """The first entity that installs a view twice, or -1."""
    for e in range(span.begin, span.end):
        for k in range(columns.installed_offsets[e], columns.installed_offsets[e + 1]):
            if columns.installed_again[k]:
                return int(e - span.begin)
    return -1


def local_monotonicity(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Chockler, Keidar, Vitenberg 2001, local monotonicity: views ascend by their numbers, each once.

    Two views are undetermined where the id of one is no number.
    """
    for x in range(first, last):
        span = span_of(x, columns)
        value = 0
        worst = installed_twice(span, columns)
        if views_in_doubt(x, columns):
            value = DEFERRED
        elif worst < 0:
            for e in range(span.begin, span.end):
                ascending = ascends(x, e, columns)
                if ascending == FALSE:
                    worst = e - span.begin
                    break
                value |= ascending
        if value != DEFERRED and worst >= 0:
            value = FALSE
            places[x, 0] = worst
        values[x] = value


def ascends(x: int, entity: int, columns: Columns) -> int:
    """Whether the views that an entity installs ascend by their numbers."""
    start, stop = columns.installed_offsets[entity], columns.installed_offsets[entity + 1]
    value = 0
    previous = NO_VALUE
    for k in range(start, stop):
        number = columns.view_numbers[columns.view_offsets[x] + columns.installed_views[k]]
        if number == NO_VALUE:
            if stop - start > 1:
                value = NO_VIEW_NUMBER
            continue
        if previous != NO_VALUE and number <= previous:
            return FALSE
        previous = number
    return value


def one_view_order(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """What follows from local monotonicity: no view twice, and no two views in opposite orders.

    Where the union of the orders has no cycle that is so. Else two views in opposite orders are both on a cycle.
    """
    views = most_entries(first, last, columns.view_offsets)
    entities = most_entries(first, last, columns.entity_offsets)
    fronts = Fronts(
        np.empty(views, np.int64),
        np.empty(views, np.int64),
        np.empty(views, np.int64),
        np.empty(entities, np.int64),
        np.empty(entities, np.int64),
        np.empty(views, np.int64),
    )
    shown = np.empty(4, np.int32)
    for x in range(first, last):
        span = span_of(x, columns)
        if views_in_doubt(x, columns):
            values[x] = DEFERRED
            continue
        worst = installed_twice(span, columns)
        if worst >= 0:
            values[x] = FALSE
            places[x, 0] = worst
            continue
        there = columns.view_offsets[x + 1] - columns.view_offsets[x]
        logs = Logs(span.begin, span.end, columns.installed_offsets, columns.installed_views)
        if not drained(logs, there, fronts) and disagree(logs, there, shown):
            values[x] = FALSE
            places[x, 0] = shown[0]
            places[x, 1] = shown[1]


def initial_view_event(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Chockler, Keidar, Vitenberg 2001, initial view event: an entity sends and delivers only in a view."""
    for x in range(first, last):
        span = span_of(x, columns)
        if views_in_doubt(x, columns) or not all_logged(span, columns):
            values[x] = DEFERRED
            continue
        for e in range(span.begin, span.end):
            if values[x] == 0 and happens_in_no_view(e, columns, places[x]):
                values[x] = FALSE
                places[x, 0] = e - span.begin


def happens_in_no_view(e: int, columns: Columns, places: Int32Out) -> bool:
    """Whether an entity sends or delivers something before it installs its first view. Writes the message."""
    for k in range(columns.event_offsets[e], columns.event_offsets[e + 1]):
        if columns.event_view[k] >= 0:
            return False
        if columns.event_kind[k] in (SEND, columns.delivery):
            places[2] = columns.event_message[k]
            return True
    return False


class Met(NamedTuple):
    """Of each message the first entity that delivers it, or -1, the view there or at its send, and who met it last."""

    holder: Int64
    within: Int64
    last: Int64


def met_of(first: int, last: int, columns: Columns) -> Met:
    """Room for any execution."""
    most = most_entries(first, last, columns.message_offsets)
    return Met(np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64))


def cleared(span: Span, met: Met) -> None:
    """Forget what was met."""
    for m in range(span.stop - span.base):
        met.holder[m] = -1
        met.within[m] = -1
        met.last[m] = -1


def same_view_delivery(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Chockler, Keidar, Vitenberg 2001, same view delivery: all deliver a message in one view, or all in none."""
    met = met_of(first, last, columns)
    for x in range(first, last):
        span = span_of(x, columns)
        if views_in_doubt(x, columns):
            values[x] = DEFERRED
            continue
        cleared(span, met)
        for e in range(span.begin, span.end):
            if values[x] == 0 and in_another_view(e, span, columns, met, places[x]):
                values[x] = FALSE


def in_another_view(e: int, span: Span, columns: Columns, met: Met, places: Int32Out) -> bool:
    """Whether an entity first delivers a message in another view than one before it.

    Writes who delivers it in a view, who does not deliver it there, and the message.
    """
    here = -1
    for k in range(columns.event_offsets[e], columns.event_offsets[e + 1]):
        m = columns.event_message[k]
        if columns.event_view[k] >= 0:
            here = columns.event_view[k]
        if columns.event_kind[k] != columns.delivery or met.last[m] == e:
            continue
        met.last[m] = e
        if met.holder[m] < 0:
            met.holder[m] = e - span.begin
            met.within[m] = here
        elif met.within[m] != here:
            places[0] = e - span.begin if here >= 0 else met.holder[m]
            places[1] = met.holder[m] if here >= 0 else e - span.begin
            places[2] = m
            return True
    return False


def sending_view_delivery(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """Chockler, Keidar, Vitenberg 2001, sending view delivery: what is sent in a view is delivered in no other view."""
    met = met_of(first, last, columns)
    for x in range(first, last):
        span = span_of(x, columns)
        if views_in_doubt(x, columns) or not all_logged(span, columns):
            values[x] = DEFERRED
            continue
        cleared(span, met)
        for e in range(span.begin, span.end):
            here = -1
            for k in range(columns.event_offsets[e], columns.event_offsets[e + 1]):
                if columns.event_view[k] >= 0:
                    here = columns.event_view[k]
                elif columns.event_kind[k] == SEND:
                    met.within[columns.event_message[k]] = here
        for e in range(span.begin, span.end):
            if values[x] == 0 and in_a_view_not_sent_in(e, columns, met, places[x]):
                values[x] = FALSE
                places[x, 0] = e - span.begin


def in_a_view_not_sent_in(e: int, columns: Columns, met: Met, places: Int32Out) -> bool:
    """Whether an entity first delivers a message in another view than that of its send. Writes the message."""
    here = -1
    for k in range(columns.event_offsets[e], columns.event_offsets[e + 1]):
        m = columns.event_message[k]
        if columns.event_view[k] >= 0:
            here = columns.event_view[k]
        if columns.event_kind[k] != columns.delivery or met.last[m] == e:
            continue
        met.last[m] = e
        if here >= 0 and met.within[m] >= 0 and met.within[m] != here:
            places[2] = m
            return True
    return False


def self_delivery(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Moser, Amir, Melliar-Smith, Agarwal 1994, self delivery: who sends itself a message in a view delivers it there,
    unless it fails.
    """
    met = met_of(first, last, columns)
    for x in range(first, last):
        span = span_of(x, columns)
        unsure = views_in_doubt(x, columns) or not all_logged(span, columns)
        for e in range(span.begin, span.end):
            unsure = unsure or columns.unsure_stops[e]
        if unsure:
            values[x] = DEFERRED
            continue
        cleared(span, met)
        for e in range(span.begin, span.end):
            if values[x] == 0 and not columns.faulty[e] and owes_itself(e, span, columns, met, places[x]):
                values[x] = FALSE
                places[x, 0] = e - span.begin


def owes_itself(e: int, span: Span, columns: Columns, met: Met, places: Int32Out) -> bool:
    """Whether an entity sent itself something in a view and did not deliver it there. Writes the message."""
    here = -1
    for k in range(columns.event_offsets[e], columns.event_offsets[e + 1]):
        m = columns.event_message[k]
        if columns.event_view[k] >= 0:
            here = columns.event_view[k]
        elif columns.event_kind[k] == columns.delivery and met.last[m] != e:
            met.last[m] = e
            met.within[m] = here
    here = -1
    for k in range(columns.event_offsets[e], columns.event_offsets[e + 1]):
        m = columns.event_message[k]
        if columns.event_view[k] >= 0:
            here = columns.event_view[k]
        elif (
            columns.event_kind[k] == SEND
            and here >= 0
            and (met.last[m] != e or met.within[m] != here)
            and addressed(e - span.begin, span.base + m, columns)
        ):
            places[2] = m
            return True
    return False


def once_per_group(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """No message is delivered twice within a group, neither to two members nor to one again."""
    met = met_of(first, last, columns)
    for x in range(first, last):
        span = span_of(x, columns)
        cleared(span, met)
        for number in range(columns.named_group_offsets[x], columns.named_group_offsets[x + 1]):
            group = columns.group_offsets[x] + columns.named_groups[number]
            if values[x] == 0 and taken_twice(group, span, columns, met, places[x]):
                values[x] = FALSE


def taken_twice(group: int, span: Span, columns: Columns, met: Met, places: Int32Out) -> bool:
    """Whether a message is delivered twice within a group. Writes to whom."""
    for place in range(columns.group_member_offsets[group], columns.group_member_offsets[group + 1]):
        member = columns.group_members[place]
        e = span.begin + member
        for k in range(columns.event_offsets[e], columns.event_offsets[e + 1]):
            m = columns.event_message[k]
            if columns.event_kind[k] != columns.delivery:
                continue
            if met.last[m] == group:
                places[0] = met.holder[m]
                places[1] = member
                places[2] = m
                return True
            met.last[m] = group
            met.holder[m] = member
    return False


class Stays(NamedTuple):
    """The stays of entities in views that another view follows; an entity has one in each view that it installs.

    entity     stays: whose it is
    within     stays: in which view
    following  stays: which view the entity installs right after it, -1 for none
    starts     stays + 1: into the messages
    messages   deliveries: what is first delivered in each stay
    at         views: the stay of the entity that is gone through, -1 where it never installs the view
    met        messages: the entity, and later the mark, that it was met with last
    """

    entity: Int64
    within: Int64
    following: Int64
    starts: Int64
    messages: npt.NDArray[np.int32]
    at: Int64
    met: Int64


class Sorting(NamedTuple):
    """The stays, sorted by the views that follow and then by the views that they are in.

    order, other  stays
    counts        views + 2: how many stays come before those with each number
    """

    order: Int64
    other: Int64
    counts: Int64


def virtual_synchrony(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Chockler, Keidar, Vitenberg 2001, virtual synchrony: entities that install one view right after another one
    deliver the same messages in the first.
    """
    stays = 0
    longest = 0
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        stays = max(stays, columns.installed_offsets[end] - columns.installed_offsets[begin])
        longest = max(longest, columns.event_offsets[end] - columns.event_offsets[begin])
    views = most_entries(first, last, columns.view_offsets)
    work = (
        Stays(
            np.empty(stays, np.int64),
            np.empty(stays, np.int64),
            np.empty(stays, np.int64),
            np.empty(stays + 1, np.int64),
            np.empty(longest, np.int32),
            np.empty(views, np.int64),
            np.empty(most_entries(first, last, columns.message_offsets), np.int64),
        ),
        Sorting(np.empty(stays, np.int64), np.empty(stays, np.int64), np.empty(views + 2, np.int64)),
    )
    synchronous(first, last, columns, work, values, places)


def synchronous(
    first: int,
    last: int,
    columns: Columns,
    work: tuple[Stays, Sorting],
    values: Int32Out,
    places: MatrixOut,
) -> None:
    """The same, with room for any execution."""
    stays, sorting = work
    for x in range(first, last):
        span = span_of(x, columns)
        if views_in_doubt(x, columns):
            values[x] = DEFERRED
            continue
        count = stays_found(span, columns, stays)
        deliveries_placed(count, span, columns, stays)
        sort(count, columns.view_offsets[x + 1] - columns.view_offsets[x], stays, sorting)
        for m in range(span.stop - span.base):
            stays.met[m] = -1
        begin = 0
        for k in range(count):
            one, other = sorting.order[begin], sorting.order[k]
            if stays.within[one] != stays.within[other] or stays.following[one] != stays.following[other]:
                begin = k
            elif k > begin and stays.following[one] >= 0 and differ((one, other), count, stays, places[x]):
                values[x] = FALSE
                break


def stays_found(span: Span, columns: Columns, stays: Stays) -> int:
    """Write in which view each stay is, and what follows it; how many there are."""
    first = columns.installed_offsets[span.begin]
    for e in range(span.begin, span.end):
        last = columns.installed_offsets[e + 1]
        for k in range(columns.installed_offsets[e], last):
            stays.entity[k - first] = e - span.begin
            stays.within[k - first] = columns.installed_views[k]
            stays.following[k - first] = columns.installed_views[k + 1] if k + 1 < last else -1
    return int(columns.installed_offsets[span.end] - first)


def deliveries_placed(count: int, span: Span, columns: Columns, stays: Stays) -> None:
    """Write what is first delivered in each stay: once to count it, and once to place it."""
    starts = stays.starts
    for k in range(count + 1):
        starts[k] = 0
    for placing in (False, True):
        for m in range(span.stop - span.base):
            stays.met[m] = -1
        for e in range(span.begin, span.end):
            gone_through(e, placing, span, columns, stays)
        if not placing:
            total = 0
            for k in range(count + 1):
                total += starts[k]
                starts[k] = total - starts[k]
    # Each start has moved on to the next one.
    for k in range(count, 0, -1):
        starts[k] = starts[k - 1]
    starts[0] = 0


def gone_through(e: int, placing: bool, span: Span, columns: Columns, stays: Stays) -> None:
    """Count, or place, what an entity first delivers in each of its stays."""
    first = columns.installed_offsets[span.begin]
    for k in range(columns.installed_offsets[e], columns.installed_offsets[e + 1]):
        stays.at[columns.installed_views[k]] = k - first
    stay = -1
    for k in range(columns.event_offsets[e], columns.event_offsets[e + 1]):
        m = columns.event_message[k]
        if columns.event_view[k] >= 0:
            stay = stays.at[columns.event_view[k]]
        elif columns.event_kind[k] == columns.delivery and stays.met[m] != e:
            stays.met[m] = e
            if stay >= 0 and placing:
                stays.messages[stays.starts[stay]] = m
            if stay >= 0:
                stays.starts[stay] += 1


def sort(count: int, views: int, stays: Stays, sorting: Sorting) -> None:
    """Sort the stays by what follows, and then by the views that they are in."""
    for k in range(count):
        sorting.order[k] = k
    placed(count, views, stays.following, sorting.order, sorting.other, sorting.counts)
    placed(count, views, stays.within, sorting.other, sorting.order, sorting.counts)


def placed(count: int, views: int, keys: Int64, given: Int64, into: Int64, counts: Int64) -> None:
    """Write stays, which are given in some order, in the order of their keys: views, or -1."""
    for v in range(views + 2):
        counts[v] = 0
    for k in range(count):
        counts[keys[k] + 2] += 1
    for v in range(1, views + 2):
        counts[v] += counts[v - 1]
    for k in range(count):
        key = keys[given[k]] + 1
        into[counts[key]] = given[k]
        counts[key] += 1


def differ(pair: tuple[int, int], count: int, stays: Stays, places: Int32Out) -> bool:
    """Whether something is delivered in one of two stays only. Writes who delivers it there, who does not, and what."""
    one, other = pair
    starts, messages, met = stays.starts, stays.messages, stays.met
    for turn in range(2):
        here, there = (one, other) if turn == 0 else (other, one)
        # Each stay is compared with one before it, so that no mark occurs twice.
        mark = other + turn * count
        for k in range(starts[there], starts[there + 1]):
            met[messages[k]] = mark
        for k in range(starts[here], starts[here + 1]):
            if met[messages[k]] != mark:
                places[0] = stays.entity[here]
                places[1] = stays.entity[there]
                places[2] = messages[k]
                return True
    return False


_HISTORIES: Final = ("event_kind", "event_message")
_UNKNOWN: Final = ("order_doubt", "installed_unknown")
_DESTINATIONS: Final = ("destination_offsets", "destinations")
_IN_VIEWS: Final = (*_HISTORIES, "event_view", *_UNKNOWN)
_INSTALLED: Final = ("installed_offsets", "installed_views", "installed_again", "view_offsets", *_UNKNOWN)

VIEW_KERNELS: Final = {
    "local_monotonicity": Kernel(local_monotonicity, (*_INSTALLED, "view_numbers")),
    "one_view_order": Kernel(one_view_order, _INSTALLED),
    "initial_view_event": Kernel(initial_view_event, (*_IN_VIEWS, "sender", "send_logged")),
    "same_view_delivery": Kernel(same_view_delivery, _IN_VIEWS),
    "sending_view_delivery": Kernel(sending_view_delivery, (*_IN_VIEWS, "sender", "send_logged")),
    "self_delivery": Kernel(
        self_delivery,
        (*_IN_VIEWS, "sender", "send_logged", "to_all", *_DESTINATIONS, "faulty", "unsure_stops"),
    ),
    "virtual_synchrony": Kernel(
        virtual_synchrony, (*_IN_VIEWS, "installed_offsets", "installed_views", "view_offsets")
    ),
    "once_per_group": Kernel(
        once_per_group,
        (
            *_HISTORIES,
            "named_group_offsets",
            "named_groups",
            "group_offsets",
            "group_member_offsets",
            "group_members",
        ),
    ),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
