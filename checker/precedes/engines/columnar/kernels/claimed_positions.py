"""Tuned kernels of the positions that the system itself claims: neighbors in histories, and in one sorted order."""

from __future__ import annotations

from typing import Final

from precedes.engines.columnar.codes import FALSE, NO_ATTRIBUTE, NO_VALUE
from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.every_delivery import HISTORIES
from precedes.engines.columnar.kernels.kernel import Kernel, span_of
from precedes.engines.columnar.native import Int32Out, MatrixOut


def positions_never_go_back(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """An entity never delivers a message with a lower position than an earlier one.

    Two deliveries are undetermined where a position was not recorded, or where they differ and their order is not
    known.
    """
    event_offsets, event_message = columns.event_offsets, columns.event_message
    for x in range(first, last):
        begin, end, base, _ = span_of(x, columns)
        value = 0
        for entity in range(begin, end):
            doubt = columns.history_doubt[entity]
            previous = -1
            count = 0
            lacking = 0
            for k in range(event_offsets[entity], event_offsets[entity + 1]):
                if columns.event_kind[k] != columns.delivery:
                    continue
                count += 1
                message = event_message[k]
                position = columns.claimed_position[base + message]
                if position == NO_VALUE:
                    lacking += 1
                    continue
                if previous >= 0 and columns.claimed_position[base + previous] != position:
                    value |= doubt
                    if doubt == 0 and columns.claimed_position[base + previous] > position:
                        value = FALSE
                        places[x, 0] = entity - begin
                        places[x, 2] = previous
                        places[x, 3] = message
                        break
                previous = message
            if value == FALSE:
                break
            if count > 1 and lacking > 0:
                value |= NO_ATTRIBUTE | doubt
        values[x] = value


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
    "one_position_one_message": Kernel(one_position_one_message, ("claimed_position", "claimed_order")),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
