"""What messages carry, looked at in passes over the numbers of a laid-out row group: positions, and what is missing.

Written in the subset of Python that numba compiles. `screen` has looked at the rows before.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.fast_path.coded_rows import CodedRows
from precedes.engines.columnar.fast_path.screen_kernels import Screened
from precedes.native.codes import (
    ACK,
    DEFERRED,
    FALSE,
    NACK,
    NO_ACKNOWLEDGEMENT,
    NO_ATTRIBUTE,
    NO_VALUE,
    SEND,
    TRUE,
)
from precedes.native.compiled_functions import Int32Out, Int64Out, MatrixOut
from precedes.traces.layout.columnar_file import MOST_BITS

POSITIONED: Final = ("positions_never_go_back", "first_deliveries_by_position", "one_position_one_message")
"""The definitions that `screen_positions` decides, by the columns of its values."""

_EVERY, _FIRST, _ONE = range(len(POSITIONED))


IN_FLIGHT: Final = "ordered_until_acknowledged"
"""The definition that `screen_flights` decides."""


class CarriedRoom(NamedTuple):
    """What is kept of the messages of an execution.

    value    what it carries
    met      the first row of the entity that delivered it last
    earlier  as a set, those that its sender sent before and that carry the same
    """

    value: Int64Out
    met: Int64Out
    earlier: Int64Out


def carried_room(messages: int) -> CarriedRoom:
    """Room for an execution with so many messages at most."""
    return CarriedRoom(*(np.empty(messages, np.int64) for _ in range(3)))


def count_recorded(
    rows: CodedRows, recorded: npt.NDArray[np.int64], screened: Screened, met: Int64Out, counts: Int32Out
) -> None:
    """Count the messages of each execution of which some row records a value. `met` has room for each message."""
    for m in range(len(met)):
        met[m] = -1
    for x in range(len(screened.fine)):
        count = 0
        for row in range(screened.row_offsets[x], screened.row_offsets[x + 1]):
            m = rows.message[row]
            if m >= 0 and recorded[row] != NO_VALUE and met[m] != x:
                met[m] = x
                count += 1
        counts[x] = count


def screen_positions(
    rows: CodedRows,
    recorded: npt.NDArray[np.int64],
    delivery: int,
    screened: Screened,
    room: CarriedRoom,
    values: MatrixOut,
) -> None:
    """Decide those of `POSITIONED` for all executions that are not decided yet, as the kernels do.

    `recorded` has the position that each row records; `values`, by executions and `POSITIONED`, is `DEFERRED` in the
    columns that are asked for. One position of two messages is looked for among few messages.
    """
    for x in range(len(screened.fine)):
        first, last = screened.row_offsets[x], screened.row_offsets[x + 1]
        take_values(first, last, screened.message_counts[x], rows, recorded, room)
        if values[x, _EVERY] == DEFERRED:
            values[x, _EVERY] = in_order(first, last, False, rows, delivery, room)
        if values[x, _FIRST] == DEFERRED:
            values[x, _FIRST] = in_order(first, last, True, rows, delivery, room)
        if values[x, _ONE] == DEFERRED:
            values[x, _ONE] = different(screened.message_counts[x], room.value)


def take_values(
    first: int, last: int, count: int, rows: CodedRows, recorded: npt.NDArray[np.int64], room: CarriedRoom
) -> None:
    """Write what each message of an execution carries."""
    for m in range(count):
        room.value[m] = NO_VALUE
        room.met[m] = -1
    for row in range(first, last):
        if rows.message[row] >= 0 and recorded[row] != NO_VALUE:
            room.value[rows.message[row]] = recorded[row]


def in_order(first: int, last: int, once: bool, rows: CodedRows, delivery: int, room: CarriedRoom) -> int:
    """Whether positions never descend where an entity delivers; `once`: where it delivers a message first."""
    entity, event, message = rows.entity, rows.event, rows.message
    begin = first
    count = 0
    lacking = False
    highest = NO_VALUE
    value = 0
    for row in range(first, last):
        if entity[row] != entity[begin]:
            begin = row
            count = 0
            lacking = False
            highest = NO_VALUE
        if event[row] != delivery:
            continue
        m = message[row]
        if once:
            if room.met[m] == begin:
                continue
            room.met[m] = begin
        position = room.value[m]
        count += 1
        lacking = lacking or position == NO_VALUE
        if lacking and count > 1:
            value = NO_ATTRIBUTE
        if position != NO_VALUE:
            if position < highest:
                return FALSE
            highest = position
    return value


def different(count: int, positions: Int64Out) -> int:
    """Whether no two messages have one position."""
    if count > MOST_BITS:
        return DEFERRED
    value = 0
    highest = NO_VALUE
    for m in range(count):
        position = positions[m]
        if position == NO_VALUE:
            value = NO_ATTRIBUTE if count > 1 else value
        elif position > highest:
            highest = position
        else:
            for other in range(m):
                if positions[other] == position:
                    return FALSE
    return value


def screen_flights(
    rows: CodedRows,
    recorded: npt.NDArray[np.int64],
    delivery: int,
    screened: Screened,
    room: CarriedRoom,
    values: Int32Out,
) -> None:
    """Decide `IN_FLIGHT` where nothing is acknowledged, or nothing is delivered after what its sender sent before.

    It is asked of each part by the values that `recorded` has for rows, or of all messages if there are none.
    Executions of many messages are left.
    """
    for x in range(len(screened.fine)):
        values[x] = DEFERRED
        if screened.message_counts[x] <= MOST_BITS:
            first, last = screened.row_offsets[x], screened.row_offsets[x + 1]
            if len(recorded) > 0:
                take_values(first, last, screened.message_counts[x], rows, recorded, room)
            mates_sent_before(first, last, rows, len(recorded) > 0, room)
            values[x] = followed(first, last, rows, delivery, room)


def mates_sent_before(first: int, last: int, rows: CodedRows, parted: bool, room: CarriedRoom) -> None:
    """Write what was sent before each message by its sender; if `parted`, of what carries the same."""
    for row in range(first, last):
        if rows.message[row] >= 0:
            room.earlier[rows.message[row]] = 0
    here = -1
    sent = 0
    for row in range(first, last):
        if rows.entity[row] != here:
            here = rows.entity[row]
            sent = 0
        if rows.event[row] != SEND:
            continue
        m = rows.message[row]
        if not parted:
            room.earlier[m] = sent
        elif room.value[m] != NO_VALUE:
            other = 0
            while sent >> other != 0:
                if sent >> other & 1 != 0 and room.value[other] == room.value[m]:
                    room.earlier[m] |= 1 << other
                other += 1
        sent |= 1 << m


def followed(first: int, last: int, rows: CodedRows, delivery: int, room: CarriedRoom) -> int:
    """Whether an entity delivers something after what was sent before it, as far as that is known."""
    here = -1
    got = 0
    follows = False
    acknowledged = False
    for row in range(first, last):
        if rows.entity[row] != here:
            here = rows.entity[row]
            got = 0
        kind = rows.event[row]
        acknowledged = acknowledged or kind in (ACK, NACK)
        if kind == delivery:
            m = rows.message[row]
            follows = follows or got & room.earlier[m] != 0
            got |= 1 << m
    if not follows:
        return TRUE
    return DEFERRED if acknowledged else NO_ACKNOWLEDGEMENT
