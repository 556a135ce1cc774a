"""Tuned kernels of information: who has which messages, whatever their order."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.kernel import Kernel, Span, most_entries, span_of
from precedes.native.codes import DEFERRED, FALSE, INCOMPLETE, SEND_NOT_LOGGED
from precedes.native.compiled_functions import Int32Out, MatrixOut


def addressed(entity: int, message: int, columns: Columns) -> bool:
    """Whether a local entity is a destination of a message (by global number) whose send was logged."""
    if columns.to_all[message]:
        return True
    destination_offsets = columns.destination_offsets
    destinations = columns.destinations
    low = destination_offsets[message]
    high = destination_offsets[message + 1]
    while low < high:
        middle = (low + high) // 2
        if destinations[middle] < entity:
            low = middle + 1
        else:
            high = middle
    return bool(low < destination_offsets[message + 1] and destinations[low] == entity)


def has(entity: int, message: int, columns: Columns) -> bool:
    """Whether an entity (by global number) delivered a local message."""
    for k in range(columns.delivered_offsets[entity], columns.delivered_offsets[entity + 1]):
        if columns.delivered[k] == message:
            return True
    return False


def any_unsure(begin: int, end: int, columns: Columns) -> bool:
    """Whether it is not known of some entity if it recovered after its last crash."""
    unsure = False
    for entity in range(begin, end):
        unsure = unsure or columns.unsure_stops[entity]
    return bool(unsure)


class Owed(NamedTuple):
    """What an execution owes to its entities, counted; `held` says which entity delivered a message last."""

    held: npt.NDArray[np.int64]
    by_set: npt.NDArray[np.int64]


def owed_of(first: int, last: int, columns: Columns) -> Owed:
    """Room for any execution."""
    return Owed(
        np.empty(most_entries(first, last, columns.message_offsets), np.int64),
        np.empty(most_entries(first, last, columns.entity_offsets), np.int64),
    )


class Holders(NamedTuple):
    """Who delivered each message of an execution, among its destinations; among all, where its send was not logged.

    several  how many, the faulty ones only if `faulty`
    correct  how many correct ones
    first    the first of the `several`
    """

    several: npt.NDArray[np.int64]
    correct: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    faulty: bool


def holders_of(first: int, last: int, columns: Columns, faulty: bool) -> Holders:
    """Room for any execution."""
    most = most_entries(first, last, columns.message_offsets)
    return Holders(np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64), faulty)


def no_creation(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Hadzilacos and Toueg 1994, integrity, second half: what is delivered was sent."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    sender = columns.sender
    for x in range(first, last):
        begin, end, base, _ = span_of(x, columns)
        for entity in range(begin, end):
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                if values[x] == 0 and sender[base + delivered[k]] < 0:
                    values[x] = FALSE
                    places[x, 0] = entity - begin
                    places[x, 2] = delivered[k]


def no_duplication(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Hadzilacos and Toueg 1994, integrity, first half: nothing is delivered twice."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    repeated = columns.repeated
    for x in range(first, last):
        begin, end, _, _ = span_of(x, columns)
        for entity in range(begin, end):
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                if values[x] == 0 and repeated[k]:
                    values[x] = FALSE
                    places[x, 0] = entity - begin
                    places[x, 2] = delivered[k]


def broadcast(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """1994, §2.2: every message is addressed to every entity."""
    sender, send_logged, to_all = columns.sender, columns.send_logged, columns.to_all
    destination_offsets, destinations = columns.destination_offsets, columns.destinations
    for x in range(first, last):
        begin, end, base, stop = span_of(x, columns)
        value = 0
        for message in range(base, stop):
            if sender[message] < 0 or to_all[message]:
                continue
            if not send_logged[message]:
                value = SEND_NOT_LOGGED
            elif destination_offsets[message + 1] - destination_offsets[message] < end - begin:
                value = FALSE
                missing = 0
                for k in range(destination_offsets[message], destination_offsets[message + 1]):
                    if destinations[k] == missing:
                        missing += 1
                places[x, 0] = missing
                places[x, 2] = message - base
                break
        values[x] = value


def information_equivalent(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """1994, §2.2: all receipt logs have the same messages."""
    equivalent(first, last, columns, holders_of(first, last, columns, True), values, places)


def equivalent(
    first: int, last: int, columns: Columns, found: Holders, values: Int32Out, places: MatrixOut
) -> None:
    """Whether all receipt logs have the same messages, with room for the holders of each."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    holders, holder = found.several, found.first
    for x in range(first, last):
        begin, end, base, stop = span_of(x, columns)
        messages = stop - base
        for m in range(messages):
            holders[m] = 0
        for entity in range(begin, end):
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = delivered[k]
                if holders[m] == 0:
                    holder[m] = entity - begin
                holders[m] += 1
        for m in range(messages):
            if 0 < holders[m] < end - begin:
                values[x] = FALSE
                places[x, 0] = holder[m]
                places[x, 2] = m
                for entity in range(begin, end):
                    if not has(entity, m, columns):
                        places[x, 1] = entity - begin
                        break
                break


def information_preserving(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """1994, §2.2: every receipt log has exactly what was sent."""
    preserving(first, last, columns, owed_of(first, last, columns), values, places)


def preserving(
    first: int, last: int, columns: Columns, owed: Owed, values: Int32Out, places: MatrixOut
) -> None:
    """Whether every receipt log has exactly what was sent."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    sender, held = columns.sender, owed.held
    for x in range(first, last):
        begin, end, base, stop = span_of(x, columns)
        messages = stop - base
        sent = 0
        for m in range(messages):
            held[m] = -1
            if sender[base + m] >= 0:
                sent += 1
        value = 0
        for entity in range(begin, end):
            got = 0
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = delivered[k]
                held[m] = entity
                if sender[base + m] < 0:
                    value = FALSE
                    places[x, 0] = entity - begin
                    places[x, 2] = m
                    break
                got += 1
            if value == FALSE:
                break
            if got < sent:
                value = FALSE
                for m in range(messages):
                    if sender[base + m] >= 0 and held[m] != entity:
                        places[x, 0] = entity - begin
                        places[x, 2] = m
                        break
                break
        values[x] = value


def selectively_information_preserving(
    first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut
) -> None:
    """1994, §2.2: every receipt log has exactly what was sent to its owner.

    Messages are counted; only where the count is short is the missing one looked for. A message whose send
    was not logged may be addressed to anybody.
    """
    selectively_preserving(first, last, columns, owed_of(first, last, columns), values, places)


def selectively_preserving(
    first: int, last: int, columns: Columns, owed: Owed, values: Int32Out, places: MatrixOut
) -> None:
    """Whether every receipt log has exactly what was sent to its owner."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    sender, send_logged, complete = columns.sender, columns.send_logged, columns.complete
    held = owed.held
    for x in range(first, last):
        span = span_of(x, columns)
        begin, base = span.begin, span.base
        unlogged, to_everyone = counted_as_owed(span, columns, owed)
        value = 0
        for entity in range(begin, span.end):
            local = entity - begin
            got = 0
            got_unlogged = 0
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = delivered[k]
                held[m] = entity
                if sender[base + m] >= 0 and not send_logged[base + m]:
                    got_unlogged += 1
                elif sender[base + m] < 0 and not complete:
                    value |= INCOMPLETE
                elif sender[base + m] < 0 or not addressed(local, base + m, columns):
                    value = FALSE
                    places[x, 0] = local
                    places[x, 2] = m
                    break
                else:
                    got += 1
            if value == FALSE:
                break
            if got < owed.by_set[local] + to_everyone:
                if complete:
                    value = FALSE
                    places[x, 0] = local
                    places[x, 2] = first_missing(entity, span, columns, held)
                    break
                value |= INCOMPLETE
            if unlogged > 0:
                value |= SEND_NOT_LOGGED
                if got_unlogged < unlogged and not complete:
                    value |= INCOMPLETE
        values[x] = value


def counted_as_owed(span: Span, columns: Columns, owed: Owed) -> tuple[int, int]:
    """Count what is owed to each entity; how many sends were not logged, and how many messages go to everybody."""
    sender, send_logged, to_all = columns.sender, columns.send_logged, columns.to_all
    held, by_set = owed.held, owed.by_set
    for e in range(span.end - span.begin):
        by_set[e] = 0
    unlogged = 0
    to_everyone = 0
    for m in range(span.base, span.stop):
        held[m - span.base] = -1
        if sender[m] < 0:
            continue
        if not send_logged[m]:
            unlogged += 1
        elif to_all[m]:
            to_everyone += 1
        else:
            for k in range(columns.destination_offsets[m], columns.destination_offsets[m + 1]):
                by_set[columns.destinations[k]] += 1
    return unlogged, to_everyone


def first_missing(entity: int, span: Span, columns: Columns, held: npt.NDArray[np.int64]) -> int:
    """The first message that is addressed to an entity and that it did not deliver; its log was the last one read."""
    for m in range(span.stop - span.base):
        g = span.base + m
        wanted = held[m] != entity and columns.sender[g] >= 0 and columns.send_logged[g]
        if wanted and addressed(entity - span.begin, g, columns):
            return m
    return -1


def agreement(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Hadzilacos and Toueg 1994, agreement: if one correct destination delivers a message, all of these do."""
    agreed(first, last, columns, holders_of(first, last, columns, False), values, places)


def uniform_agreement(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Hadzilacos and Toueg 1994, uniform agreement: if any destination delivers a message, all correct ones do."""
    agreed(first, last, columns, holders_of(first, last, columns, True), values, places)


def agreed(
    first: int, last: int, columns: Columns, holders: Holders, values: Int32Out, places: MatrixOut
) -> None:
    """Agreement, or its uniform form."""
    sender, send_logged = columns.sender, columns.send_logged
    for x in range(first, last):
        span = span_of(x, columns)
        if any_unsure(span.begin, span.end, columns):
            values[x] = DEFERRED
            continue
        correct = found_holders(span, columns, holders)
        value = 0
        for m in range(span.stop - span.base):
            g = span.base + m
            if sender[g] < 0:
                continue
            if not send_logged[g]:
                if holders.correct[m] < correct and holders.several[m] > 0:
                    value |= SEND_NOT_LOGGED
                continue
            if holders.several[m] > 0 and holders.correct[m] != correct_destinations(
                g, correct, span, columns
            ):
                value = FALSE
                places[x, 0] = holders.first[m]
                places[x, 2] = m
                for e in range(span.end - span.begin):
                    if columns.faulty[span.begin + e] or not addressed(e, g, columns):
                        continue
                    if not has(span.begin + e, m, columns):
                        places[x, 1] = e
                        break
                break
        values[x] = value


def found_holders(span: Span, columns: Columns, holders: Holders) -> int:
    """Find the holders of the messages of an execution; how many entities are correct."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    send_logged, faulty = columns.send_logged, columns.faulty
    several, correct_ones, first_one = holders.several, holders.correct, holders.first
    for m in range(span.stop - span.base):
        several[m] = 0
        correct_ones[m] = 0
    correct = 0
    for entity in range(span.begin, span.end):
        excused = faulty[entity]
        if not excused:
            correct += 1
        for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
            m = delivered[k]
            if not send_logged[span.base + m] or addressed(entity - span.begin, span.base + m, columns):
                if not excused:
                    correct_ones[m] += 1
                if holders.faulty or not excused:
                    if several[m] == 0:
                        first_one[m] = entity - span.begin
                    several[m] += 1
    return correct


def correct_destinations(message: int, correct: int, span: Span, columns: Columns) -> int:
    """How many destinations of a message (by global number) are correct, where `correct` entities are."""
    if columns.to_all[message]:
        return correct
    start, stop = columns.destination_offsets[message], columns.destination_offsets[message + 1]
    count = int(stop - start)
    if correct < span.end - span.begin:
        for k in range(start, stop):
            if columns.faulty[span.begin + columns.destinations[k]]:
                count -= 1
    return count


def validity(first: int, last: int, columns: Columns, values: Int32Out, places: MatrixOut) -> None:
    """Hadzilacos and Toueg 1994, validity: some destination, if there is one, delivers what a correct entity sent."""
    valid(first, last, columns, holders_of(first, last, columns, True), values, places)


def valid(
    first: int, last: int, columns: Columns, found: Holders, values: Int32Out, places: MatrixOut
) -> None:
    """Validity, with room for the holders of each message."""
    delivered_offsets, delivered = columns.delivered_offsets, columns.delivered
    sender, send_logged, faulty = columns.sender, columns.send_logged, columns.faulty
    to_all, destination_offsets = columns.to_all, columns.destination_offsets
    holders = found.several
    for x in range(first, last):
        begin, end, base, stop = span_of(x, columns)
        messages = stop - base
        if any_unsure(begin, end, columns):
            values[x] = DEFERRED
            continue
        for m in range(messages):
            holders[m] = 0
        for entity in range(begin, end):
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = delivered[k]
                if send_logged[base + m] and addressed(entity - begin, base + m, columns):
                    holders[m] += 1
        value = 0
        for m in range(messages):
            g = base + m
            if sender[g] < 0 or faulty[begin + sender[g]]:
                continue
            if not send_logged[g]:
                value |= SEND_NOT_LOGGED
            elif holders[m] == 0 and (to_all[g] or destination_offsets[g] < destination_offsets[g + 1]):
                value = FALSE
                places[x, 2] = m
                break
        values[x] = value


_RECEIPTS: Final = ("delivered_offsets", "delivered")
ADDRESSES: Final = ("to_all", "destination_offsets", "destinations")
"""What `addressed` reads."""
_SELECTIVE: Final = (*_RECEIPTS, "sender", "send_logged", *ADDRESSES)
_AGREEMENT: Final = (*_SELECTIVE, "faulty", "unsure_stops")

INFORMATION_KERNELS: Final = {
    "no_creation": Kernel(no_creation, (*_RECEIPTS, "sender")),
    "no_duplication": Kernel(no_duplication, (*_RECEIPTS, "repeated")),
    "broadcast": Kernel(broadcast, ("sender", "send_logged", *ADDRESSES)),
    "information_equivalent": Kernel(information_equivalent, _RECEIPTS),
    "information_preserving": Kernel(information_preserving, (*_RECEIPTS, "sender")),
    "selectively_information_preserving": Kernel(selectively_information_preserving, _SELECTIVE),
    "agreement": Kernel(agreement, _AGREEMENT),
    "uniform_agreement": Kernel(uniform_agreement, _AGREEMENT),
    "validity": Kernel(validity, _AGREEMENT),
}
"""By the name of the definition in `recognition.DEFINITIONS`."""
