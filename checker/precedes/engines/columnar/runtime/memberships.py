"""What generated code calls about groups and views; see `runtime.logs` for what such code may be.

A view is its local number, -1 where there is none. The view of an event may also be unknown: then it is `UNKNOWN` less
the reasons.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.runtime.logs import Column, Here, Scratch
from precedes.native.codes import INCOMPLETE, SEND_NOT_LOGGED

UNKNOWN = -2


class Log(NamedTuple):
    """VL of an entity: where it is among the views that entities install, and why its order is not known."""

    start: int
    stop: int
    doubt: int


def listed(number: int, start: int, stop: int, numbers: npt.NDArray[np.int32]) -> bool:
    """Whether a number is one of some numbers."""
    found = False
    for place in range(start, stop):
        found = found or numbers[place] == number
    return bool(found)


# ---- groups ----


def group_addresses(x: int, here: Here, columns: Columns, addressed: Scratch) -> None:
    """2 for every entity and every message that is addressed to a group of the entity, and not to it by name."""
    first_group = columns.group_offsets[x]
    for message in range(here.m):
        start = columns.to_group_offsets[here.first_message + message]
        for index in range(start, columns.to_group_offsets[here.first_message + message + 1]):
            group = first_group + columns.to_groups[index]
            for place in range(columns.group_member_offsets[group], columns.group_member_offsets[group + 1]):
                cell = columns.group_members[place] * here.m + message
                if addressed[cell] == 0:
                    addressed[cell] = 2


def group_chooses(entity: int, to: int, here: Here, columns: Columns, addressed: Column) -> bool:
    """Whether some message in SL of an entity goes to `to` only if a group chooses it."""
    start = columns.sent_offsets[here.first_entity + entity]
    for index in range(start, columns.sent_offsets[here.first_entity + entity + 1]):
        if addressed[to * here.m + columns.sent[index]] == 2:
            return True
    return False


def in_group(entity: int, group: int, x: int, columns: Columns) -> bool:
    """Whether an entity is in a group; both may not be there."""
    if entity < 0 or group < 0:
        return False
    offsets, number = columns.group_member_offsets, columns.group_offsets[x] + group
    return listed(entity, offsets[number], offsets[number + 1], columns.group_members)


def in_group_for_sure(entity: int, group: int, x: int, columns: Columns) -> int:
    """Whether an entity is in a group, which may not be there, on an incomplete execution.

    The groups of an entity are said once, and the row that says them may be missing.
    """
    said = False
    for number in range(columns.group_offsets[x + 1] - columns.group_offsets[x]):
        inside = in_group(entity, number, x, columns)
        if inside and number == group:
            return 0
        said = said or inside
    return -1 if said else INCOMPLETE


def addresses_group(message: int, group: int, here: Here, columns: Columns) -> bool:
    """Whether a message is addressed to a group; both are there."""
    offsets, number = columns.to_group_offsets, here.first_message + message
    return listed(group, offsets[number], offsets[number + 1], columns.to_groups)


# ---- views ----


def log_of(entity: int, here: Here, columns: Columns) -> Log:
    """VL of an entity."""
    number = here.first_entity + entity
    return Log(
        columns.installed_offsets[number],
        columns.installed_offsets[number + 1],
        columns.history_doubt[number],
    )


def view_at(event: int, entity: int, here: Here, columns: Columns) -> int:
    """The view of an event of an entity, which is its number in the execution; or -1."""
    if event < 0:
        return -1
    log = log_of(entity, here, columns)
    if log.start == log.stop:
        return -1
    if log.doubt > 0:
        return UNKNOWN - log.doubt
    view: int = columns.view_of_event[columns.event_offsets[here.first_entity] + event]
    return view


def view_of_send(message: int, here: Here, columns: Columns, send_event: Column) -> int:
    """The view of the send of a message, or of -1."""
    sender = columns.sender[here.first_message + message] if message >= 0 else -1
    if sender < 0:
        return -1
    log = log_of(sender, here, columns)
    if log.start == log.stop:
        return -1
    if not columns.send_logged[here.first_message + message]:
        return UNKNOWN - SEND_NOT_LOGGED
    return view_at(send_event[message], sender, here, columns)


def both_views(one: int, other: int) -> int:
    """Why it is not known which two views are, -1 where one is not there, 0 where both are known."""
    if one == -1 or other == -1:
        return -1
    first = UNKNOWN - one if one < 0 else 0
    second = UNKNOWN - other if other < 0 else 0
    return first | second


def in_view(entity: int, view: int, x: int, columns: Columns) -> int:
    """Whether an entity is in a view."""
    known = both_views(view, view)
    if entity < 0 or known != 0:
        return -1 if entity < 0 else known
    offsets, number = columns.view_member_offsets, columns.view_offsets[x] + view
    return 0 if listed(entity, offsets[number], offsets[number + 1], columns.view_members) else -1


def place_of_view(view: int, log: Log, columns: Columns) -> int:
    """Where a view is in VL, or -1."""
    for place in range(log.start, log.stop):
        if columns.installed_views[place] == view:
            return place
    return -1


def installs(entity: int, view: int, again: bool, here: Here, columns: Columns) -> int:
    """Whether an entity installs a view, or installs it `again`."""
    known = both_views(view, view)
    if entity < 0 or known != 0:
        return -1 if entity < 0 else known
    place = place_of_view(view, log_of(entity, here, columns), columns)
    if place < 0 or (again and not columns.installed_again[place]):
        return -1
    return 0


def installs_before(first: int, second: int, entity: int, here: Here, columns: Columns) -> int:
    """Whether an entity installs two views, and one before the other."""
    known = both_views(first, second)
    if entity < 0 or known != 0:
        return -1 if entity < 0 else known
    log = log_of(entity, here, columns)
    before, after = place_of_view(first, log, columns), place_of_view(second, log, columns)
    if first == second or before < 0 or after < 0:
        return -1
    if log.doubt > 0:
        return log.doubt
    return 0 if before < after else -1


def same_view(one: int, other: int) -> int:
    """Whether two views are one."""
    known = both_views(one, other)
    if known != 0:
        return known
    return 0 if one == other else -1


def ordered_views(first: int, second: int, entity: int, here: Here, columns: Columns) -> int:
    """Whether an entity installs one of two different views before the other, on an incomplete execution.

    The order of two installations that were recorded stays.
    """
    if entity < 0 or first < 0 or second < 0:
        return INCOMPLETE
    log = log_of(entity, here, columns)
    before, after = place_of_view(first, log, columns), place_of_view(second, log, columns)
    if before < 0 or after < 0:
        return INCOMPLETE
    if log.doubt > 0:
        return log.doubt
    return 0 if before < after else -1
