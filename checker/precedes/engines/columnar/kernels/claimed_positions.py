"""Tuned kernels of the positions that the system itself claims: neighbors in histories, and in one sorted order."""

from __future__ import annotations

from typing import Final

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.every_delivery import HISTORIES
from precedes.engines.columnar.kernels.kernel import Kernel, span_of
from precedes.engines.columnar.kernels.order import KNOWN_LOGS
from precedes.native.codes import FALSE, NO_ATTRIBUTE, NO_VALUE
from precedes.native.compiled_functions import Int32Out, MatrixOut


def positions_never_go_back(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """An entity never delivers a message with a lower position than an earlier one.

    Two deliveries are undetermined where a position was not recorded, or where they differ and their order is not
    known.
    """
    for x in range(first, last):
        begin, end, base, _ = span_of(x, columns)
        value = 0
        for entity in range(begin, end):
            previous = -1
            count = 0
            lacking = 0
            for k in range(columns.event_offsets[entity], columns.event_offsets[entity + 1]):
                if columns.event_kind[k] != columns.delivery:
                    continue
                count += 1
                message = columns.event_message[k]
                if columns.claimed_position[base + message] == NO_VALUE:
                    lacking += 1
                    continue
                value = followed(x, entity, previous, message, columns, (value, places))
                if value == FALSE:
                    break
                previous = message
            if value == FALSE:
                break
            if count > 1 and lacking > 0:
                value |= NO_ATTRIBUTE | columns.history_doubt[entity]
        values[x] = value


def first_deliveries_by_position(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """An entity delivers messages for the first time in the order of their positions; undetermined as with repeats."""
    for x in range(first, last):
        begin, end, base, _ = span_of(x, columns)
        value = 0
        for entity in range(begin, end):
            start, stop = columns.delivered_offsets[entity], columns.delivered_offsets[entity + 1]
            previous = -1
            lacking = 0
            for k in range(start, stop):
                message = columns.delivered[k]
                if columns.claimed_position[base + message] == NO_VALUE:
                    lacking += 1
                    continue
                value = followed(x, entity, previous, message, columns, (value, places))
                if value == FALSE:
                    break
                previous = message
            if value == FALSE:
                break
            if stop - start > 1 and lacking > 0:
                value |= NO_ATTRIBUTE | columns.history_doubt[entity]
        values[x] = value


def followed(
    x: int, entity: int, previous: int, message: int, columns: Columns, found: tuple[int, MatrixOut]
) -> int:
    """The value so far and that of two deliveries, the second right after the first of those with a position."""
    value, places = found
    begin, _, base, _ = span_of(x, columns)
    positions, doubt = columns.claimed_position, columns.history_doubt[entity]
    if previous < 0 or positions[base + previous] == positions[base + message]:
        return value
    if doubt == 0 and positions[base + previous] > positions[base + message]:
        places[x, 0] = entity - begin
        places[x, 2] = previous
        places[x, 3] = message
        return FALSE
    return int(value | doubt)


def one_position_one_message(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """Two messages never have one position; undetermined where one of two or more was not recorded."""
    for x in range(first, last):
        _, _, base, stop = span_of(x, columns)
        value = 0
        for k in range(base, stop):
            message = columns.claimed_order[k]
            position = columns.claimed_position[base + message]
            if position == NO_VALUE:
                if stop - base > 1:
                    value |= NO_ATTRIBUTE
                continue
            previous = columns.claimed_order[k - 1]
            if k > base and columns.claimed_position[base + previous] == position:
                value = FALSE
                places[x, 2] = previous
                places[x, 3] = message
                break
        values[x] = value


POSITION_KERNELS: Final = {
    "positions_never_go_back": Kernel(positions_never_go_back, (*HISTORIES, "claimed_position")),
    "first_deliveries_by_position": Kernel(first_deliveries_by_position, (*KNOWN_LOGS, "claimed_position")),
    "one_position_one_message": Kernel(one_position_one_message, ("claimed_position", "claimed_order")),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
