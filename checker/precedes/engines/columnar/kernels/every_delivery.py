"""Tuned kernels of every delivery, repeats included, and of acknowledgements: one pass over the histories."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.kernel import Kernel, most_entries, span_of
from precedes.engines.columnar.kernels.order import SendersMet
from precedes.native.codes import ACK, FALSE, NACK, NO_ACKNOWLEDGEMENT, SEND_NOT_LOGGED
from precedes.native.compiled_functions import Int32Out, MatrixOut


def every_delivery_in_order(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """At each entity, what comes from one sender ascends in the sender's log, with every repeat.

    Of two messages of one sender it is undetermined where the send of one was not logged, or where the order of
    the deliveries or of the sends is not known.
    """
    widest = most_entries(first, last, columns.entity_offsets)
    senders = SendersMet(
        np.full(widest, -1, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
    )
    holder = np.full(most_entries(first, last, columns.message_offsets), -1, np.int64)
    repeats_preserved(first, last, columns, senders, holder, (values, places))


def repeats_preserved(
    first: int,
    last: int,
    columns: Columns,
    senders: SendersMet,
    holder: npt.NDArray[np.int64],
    found: tuple[Int32Out, MatrixOut],
) -> None:
    """Whether order is preserved. `holder` has the entity that delivered a message last."""
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    sender, send_logged, send_position = columns.sender, columns.send_logged, columns.send_position
    history_doubt, delivery = columns.history_doubt, columns.delivery
    seen, logged, others, unlogged = senders
    values, places = found
    for x in range(first, last):
        begin, end, base, _ = span_of(x, columns)
        value = 0
        for entity in range(begin, end):
            here = history_doubt[entity]
            for k in range(event_offsets[entity], event_offsets[entity + 1]):
                if event_kind[k] != delivery:
                    continue
                message = event_message[k]
                origin = sender[base + message]
                if origin < 0:
                    continue
                doubt = here | history_doubt[begin + origin]
                if seen[origin] != entity:
                    seen[origin] = entity
                    logged[origin] = -1
                    others[origin] = 0
                    unlogged[origin] = 0
                if holder[message] != entity:
                    holder[message] = entity
                    others[origin] += 1
                    if not send_logged[base + message]:
                        unlogged[origin] += 1
                if send_logged[base + message]:
                    previous = logged[origin]
                    if (
                        doubt == 0
                        and previous >= 0
                        and send_position[base + previous] > send_position[base + message]
                    ):
                        value = FALSE
                        places[x, 0] = entity - begin
                        places[x, 1] = origin
                        places[x, 2] = message
                        places[x, 3] = previous
                        break
                    logged[origin] = message
                if others[origin] > 1 and unlogged[origin] > 0:
                    value |= SEND_NOT_LOGGED | here
                if others[origin] - unlogged[origin] > 1:
                    value |= doubt
            if value == FALSE:
                break
        values[x] = value


def repeats_in_place(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Between two deliveries of a message, the entity delivers nothing else.

    Where the order of its deliveries is not known, any other message may have come between.
    """
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    holder = np.full(most_entries(first, last, columns.message_offsets), -1, np.int64)
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        value = 0
        for entity in range(begin, end):
            doubt = columns.history_doubt[entity]
            previous = -1
            for k in range(event_offsets[entity], event_offsets[entity + 1]):
                if event_kind[k] != columns.delivery:
                    continue
                message = event_message[k]
                if previous >= 0 and previous != message:
                    value |= doubt
                    if doubt == 0 and holder[message] == entity:
                        value = FALSE
                        places[x, 0] = entity - begin
                        places[x, 2] = message
                        places[x, 3] = previous
                        break
                holder[message] = entity
                previous = message
            if value == FALSE:
                break
        values[x] = value


class Held(NamedTuple):
    """What the entity that is gone through holds of each message.

    holder   the entity that delivered it last
    settled  whether it accepted it or gave it back since
    """

    holder: npt.NDArray[np.int64]
    settled: npt.NDArray[np.bool_]


def only_in_flight_repeats(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """An entity delivers a message again only if it neither accepted it nor gave it back.

    A repeat is undetermined where the order of events is not known, or where no acknowledgements are recorded.
    """
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    most = most_entries(first, last, columns.message_offsets)
    holder, settled = Held(np.full(most, -1, np.int64), np.zeros(most, np.bool_))
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        without = 0 if columns.acknowledged_recorded[x] else NO_ACKNOWLEDGEMENT
        value = 0
        for entity in range(begin, end):
            doubt = columns.history_doubt[entity]
            for k in range(event_offsets[entity], event_offsets[entity + 1]):
                kind = event_kind[k]
                message = event_message[k]
                if kind in (ACK, NACK):
                    settled[message] = True
                if kind != columns.delivery:
                    continue
                if holder[message] == entity:
                    value |= doubt if doubt > 0 else without
                    if doubt == 0 and settled[message]:
                        value = FALSE
                        places[x, 0] = entity - begin
                        places[x, 2] = message
                        break
                holder[message] = entity
                settled[message] = False
            if value == FALSE:
                break
        values[x] = value


class InFlight(NamedTuple):
    """What the entity that is gone through delivered of each sender, and has in flight.

    seen      the entity that met the sender last
    others    how many of its messages the entity delivered
    unlogged  how many of these whose send was not logged
    logged    how many messages with a logged send are in flight
    vague     how many without one are
    top       the last delivery of a message with a logged send that may be in flight, or -1
    below     deliveries: the one before it of the same sender, or -1

    Deliveries are counted from the first event of the execution. Until something is violated, the last one in flight
    was sent first.
    """

    seen: npt.NDArray[np.int64]
    others: npt.NDArray[np.int64]
    unlogged: npt.NDArray[np.int64]
    logged: npt.NDArray[np.int64]
    vague: npt.NDArray[np.int64]
    top: npt.NDArray[np.int64]
    below: npt.NDArray[np.int64]


def ordered_until_acknowledged(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """An entity delivers a message only if nothing is in flight there that its sender sent before.

    It is undetermined of two messages in flight together where the send of one was not logged, where the order of
    events is not known, or where no acknowledgements are recorded.
    """
    widest = most_entries(first, last, columns.entity_offsets)
    most = most_entries(first, last, columns.message_offsets)
    longest = 0
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        longest = max(longest, columns.event_offsets[end] - columns.event_offsets[begin])
    flights = InFlight(
        np.full(widest, -1, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(longest, np.int64),
    )
    held = Held(np.full(most, -1, np.int64), np.zeros(most, np.bool_))
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        value = 0
        for entity in range(begin, end):
            if columns.history_doubt[entity] > 0:
                value |= unplaced(x, entity, columns, flights, held)
            else:
                value |= overtaken(x, entity, columns, flights, held, places)
            if value == FALSE:
                break
        values[x] = value


def begun(origin: int, entity: int, flights: InFlight) -> None:
    """Count anew for a sender that an entity meets."""
    seen, others, unlogged, logged, vague, top, _ = flights
    if seen[origin] != entity:
        seen[origin] = entity
        others[origin] = 0
        unlogged[origin] = 0
        logged[origin] = 0
        vague[origin] = 0
        top[origin] = -1


def unplaced(x: int, entity: int, columns: Columns, flights: InFlight, held: Held) -> int:
    """Why it is not known of an entity whose order of events is not known; 0 with at most one message of a sender."""
    begin, _, base, _ = span_of(x, columns)
    here = columns.history_doubt[entity]
    value = 0
    for k in range(columns.event_offsets[entity], columns.event_offsets[entity + 1]):
        message = columns.event_message[k]
        if columns.event_kind[k] != columns.delivery or held.holder[message] == entity:
            continue
        held.holder[message] = entity
        origin = columns.sender[base + message]
        if origin < 0:
            continue
        begun(origin, entity, flights)
        flights.others[origin] += 1
        if not columns.send_logged[base + message]:
            flights.unlogged[origin] += 1
        if flights.others[origin] > 1 and flights.unlogged[origin] > 0:
            value |= SEND_NOT_LOGGED | here
        if flights.others[origin] - flights.unlogged[origin] > 1:
            value |= here | columns.history_doubt[begin + origin]
    return value


def overtaken(x: int, entity: int, columns: Columns, flights: InFlight, held: Held, places: MatrixOut) -> int:
    """Whether an entity delivers a message while one that was sent before is in flight."""
    begin, _, base, _ = span_of(x, columns)
    start = columns.event_offsets[begin]
    without = 0 if columns.acknowledged_recorded[x] else NO_ACKNOWLEDGEMENT
    holder, settled = held
    _, _, _, logged, vague, top, below = flights
    value = 0
    for k in range(columns.event_offsets[entity], columns.event_offsets[entity + 1]):
        kind = columns.event_kind[k]
        message = columns.event_message[k]
        if message < 0 or columns.sender[base + message] < 0:
            continue
        origin = columns.sender[base + message]
        flying = holder[message] == entity and not settled[message]
        counts = logged if columns.send_logged[base + message] else vague
        if kind in (ACK, NACK) and flying:
            settled[message] = True
            counts[origin] -= 1
        if kind != columns.delivery:
            continue
        begun(origin, entity, flights)
        if flying:
            counts[origin] -= 1
        doubt = columns.history_doubt[begin + origin]
        if vague[origin] > 0 or (logged[origin] > 0 and not columns.send_logged[base + message]):
            value |= SEND_NOT_LOGGED | without
        if doubt > 0 and logged[origin] > 0 and columns.send_logged[base + message]:
            value |= doubt | without
        if doubt == 0 and columns.send_logged[base + message]:
            earlier = in_flight(origin, entity, start, columns, flights, held)
            if earlier >= 0 and (
                columns.send_position[base + earlier] < columns.send_position[base + message]
            ):
                if without == 0:
                    places[x, 0] = entity - begin
                    places[x, 1] = origin
                    places[x, 2] = earlier
                    places[x, 3] = message
                    return FALSE
                value |= without
            below[k - start] = top[origin]
            top[origin] = k - start
        holder[message] = entity
        settled[message] = False
        counts[origin] += 1
    return value


def in_flight(origin: int, entity: int, start: int, columns: Columns, flights: InFlight, held: Held) -> int:
    """The message of a sender that was delivered last of those in flight, or -1. Others are taken off the stack."""
    top, below = flights.top, flights.below
    while top[origin] >= 0:
        message = columns.event_message[start + top[origin]]
        if held.holder[message] == entity and not held.settled[message]:
            return int(message)
        top[origin] = below[top[origin]]
    return -1


HISTORIES: Final = ("event_kind", "event_message", "history_doubt")
"""What they all read."""

SENDS: Final = ("sender", "send_logged", "send_position")

DELIVERY_KERNELS: Final = {
    "every_delivery_in_order": Kernel(every_delivery_in_order, (*HISTORIES, *SENDS)),
    "repeats_in_place": Kernel(repeats_in_place, HISTORIES),
    "only_in_flight_repeats": Kernel(only_in_flight_repeats, (*HISTORIES, "acknowledged_recorded")),
    "ordered_until_acknowledged": Kernel(
        ordered_until_acknowledged, (*HISTORIES, *SENDS, "acknowledged_recorded")
    ),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
