"""Tuned kernels of information: who has which messages, whatever their order."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from precedes.engines.columnar.kernels.kernel import DEFERRED, Kernel

_FALSE: Final = -1
_INCOMPLETE: Final = 1 << 1
_SEND_NOT_LOGGED: Final = 1 << 2


def addressed(entity: int, message: int, to_all: Any, destination_offsets: Any, destinations: Any) -> bool:
    """Whether a local entity is a destination of a message (by global number) whose send was logged."""
    if to_all[message]:
        return True
    low = destination_offsets[message]
    high = destination_offsets[message + 1]
    while low < high:
        middle = (low + high) // 2
        if destinations[middle] < entity:
            low = middle + 1
        else:
            high = middle
    return bool(low < destination_offsets[message + 1] and destinations[low] == entity)


def most_messages(first: int, last: int, message_offsets: Any) -> int:
    """The most messages that an execution has."""
    most = 0
    for x in range(first, last):
        most = max(most, message_offsets[x + 1] - message_offsets[x])
    return most


def any_unsure(begin: int, end: int, unsure_stops: Any) -> bool:
    """Whether it is not known of some entity if it recovered after its last crash."""
    unsure = False
    for entity in range(begin, end):
        unsure = unsure or unsure_stops[entity]
    return bool(unsure)


def no_creation(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    values: Any,
    places: Any,
) -> None:
    """Hadzilacos and Toueg 1994, integrity, second half: what is delivered was sent."""
    for x in range(first, last):
        begin = entity_offsets[x]
        for entity in range(begin, entity_offsets[x + 1]):
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                if values[x] == 0 and sender[message_offsets[x] + delivered[k]] < 0:
                    values[x] = _FALSE
                    places[x, 0] = entity - begin
                    places[x, 2] = delivered[k]


def no_duplication(
    first: int,
    last: int,
    entity_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    repeated: Any,
    values: Any,
    places: Any,
) -> None:
    """Hadzilacos and Toueg 1994, integrity, first half: nothing is delivered twice."""
    for x in range(first, last):
        begin = entity_offsets[x]
        for entity in range(begin, entity_offsets[x + 1]):
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                if values[x] == 0 and repeated[k]:
                    values[x] = _FALSE
                    places[x, 0] = entity - begin
                    places[x, 2] = delivered[k]


def broadcast(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    sender: Any,
    send_logged: Any,
    to_all: Any,
    destination_offsets: Any,
    destinations: Any,
    values: Any,
    places: Any,
) -> None:
    """1994, §2.2: every message is addressed to every entity."""
    for x in range(first, last):
        entities = entity_offsets[x + 1] - entity_offsets[x]
        value = 0
        for message in range(message_offsets[x], message_offsets[x + 1]):
            if sender[message] < 0 or to_all[message]:
                continue
            if not send_logged[message]:
                value = _SEND_NOT_LOGGED
            elif destination_offsets[message + 1] - destination_offsets[message] < entities:
                value = _FALSE
                missing = 0
                for k in range(destination_offsets[message], destination_offsets[message + 1]):
                    if destinations[k] == missing:
                        missing += 1
                places[x, 0] = missing
                places[x, 2] = message - message_offsets[x]
                break
        values[x] = value


def information_equivalent(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    values: Any,
    places: Any,
) -> None:
    """1994, §2.2: all receipt logs have the same messages."""
    most = most_messages(first, last, message_offsets)
    holders = np.empty(most, np.int64)
    holder = np.empty(most, np.int64)
    for x in range(first, last):
        begin = entity_offsets[x]
        end = entity_offsets[x + 1]
        messages = message_offsets[x + 1] - message_offsets[x]
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
                values[x] = _FALSE
                places[x, 0] = holder[m]
                places[x, 2] = m
                for entity in range(begin, end):
                    has = False
                    for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                        if delivered[k] == m:
                            has = True
                            break
                    if not has:
                        places[x, 1] = entity - begin
                        break
                break


def information_preserving(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    values: Any,
    places: Any,
) -> None:
    """1994, §2.2: every receipt log has exactly what was sent."""
    most = most_messages(first, last, message_offsets)
    held = np.empty(most, np.int64)
    for x in range(first, last):
        base = message_offsets[x]
        begin = entity_offsets[x]
        messages = message_offsets[x + 1] - base
        sent = 0
        for m in range(messages):
            held[m] = -1
            if sender[base + m] >= 0:
                sent += 1
        value = 0
        for entity in range(begin, entity_offsets[x + 1]):
            got = 0
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = delivered[k]
                held[m] = entity
                if sender[base + m] < 0:
                    value = _FALSE
                    places[x, 0] = entity - begin
                    places[x, 2] = m
                    break
                got += 1
            if value == _FALSE:
                break
            if got < sent:
                value = _FALSE
                for m in range(messages):
                    if sender[base + m] >= 0 and held[m] != entity:
                        places[x, 0] = entity - begin
                        places[x, 2] = m
                        break
                break
        values[x] = value


def selectively_information_preserving(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_logged: Any,
    to_all: Any,
    destination_offsets: Any,
    destinations: Any,
    complete: bool,
    values: Any,
    places: Any,
) -> None:
    """1994, §2.2: every receipt log has exactly what was sent to its owner.

    Messages are counted; only where the count is short is the missing one looked for. A message whose send
    was not logged may be addressed to anybody.
    """
    most = most_messages(first, last, message_offsets)
    widest = 0
    for x in range(first, last):
        widest = max(widest, entity_offsets[x + 1] - entity_offsets[x])
    held = np.empty(most, np.int64)
    owed = np.empty(widest, np.int64)
    for x in range(first, last):
        base = message_offsets[x]
        begin = entity_offsets[x]
        messages = message_offsets[x + 1] - base
        for e in range(entity_offsets[x + 1] - begin):
            owed[e] = 0
        unlogged = 0
        to_everyone = 0
        for m in range(base, base + messages):
            held[m - base] = -1
            if sender[m] < 0:
                continue
            if not send_logged[m]:
                unlogged += 1
            elif to_all[m]:
                to_everyone += 1
            else:
                for k in range(destination_offsets[m], destination_offsets[m + 1]):
                    owed[destinations[k]] += 1
        value = 0
        for entity in range(begin, entity_offsets[x + 1]):
            local = entity - begin
            got = 0
            got_unlogged = 0
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = delivered[k]
                held[m] = entity
                if sender[base + m] >= 0 and not send_logged[base + m]:
                    got_unlogged += 1
                elif sender[base + m] < 0 and not complete:
                    value |= _INCOMPLETE
                elif sender[base + m] < 0 or not addressed(
                    local, base + m, to_all, destination_offsets, destinations
                ):
                    value = _FALSE
                    places[x, 0] = local
                    places[x, 2] = m
                    break
                else:
                    got += 1
            if value == _FALSE:
                break
            if got < owed[local] + to_everyone:
                if complete:
                    value = _FALSE
                    for m in range(messages):
                        if (
                            held[m] != entity
                            and sender[base + m] >= 0
                            and send_logged[base + m]
                            and addressed(local, base + m, to_all, destination_offsets, destinations)
                        ):
                            places[x, 0] = local
                            places[x, 2] = m
                            break
                    break
                value |= _INCOMPLETE
            if unlogged > 0:
                value |= _SEND_NOT_LOGGED
                if got_unlogged < unlogged and not complete:
                    value |= _INCOMPLETE
        values[x] = value


def agreement(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_logged: Any,
    to_all: Any,
    destination_offsets: Any,
    destinations: Any,
    faulty: Any,
    unsure_stops: Any,
    values: Any,
    places: Any,
) -> None:
    """Hadzilacos and Toueg 1994, agreement: if one correct destination delivers a message, all of these do."""
    agreed(
        first, last, entity_offsets, message_offsets, delivered_offsets, delivered, sender, send_logged, to_all,
        destination_offsets, destinations, faulty, unsure_stops, False, values, places,
    )  # fmt: skip


def uniform_agreement(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_logged: Any,
    to_all: Any,
    destination_offsets: Any,
    destinations: Any,
    faulty: Any,
    unsure_stops: Any,
    values: Any,
    places: Any,
) -> None:
    """Hadzilacos and Toueg 1994, uniform agreement: if any destination delivers a message, all correct ones do."""
    agreed(
        first, last, entity_offsets, message_offsets, delivered_offsets, delivered, sender, send_logged, to_all,
        destination_offsets, destinations, faulty, unsure_stops, True, values, places,
    )  # fmt: skip


def agreed(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_logged: Any,
    to_all: Any,
    destination_offsets: Any,
    destinations: Any,
    faulty: Any,
    unsure_stops: Any,
    uniform: bool,
    values: Any,
    places: Any,
) -> None:
    """Agreement, or its uniform form."""
    most = most_messages(first, last, message_offsets)
    # Destinations that delivered; any entity, where the send was not logged.
    holders = np.empty(most, np.int64)
    correct_holders = np.empty(most, np.int64)
    holder = np.empty(most, np.int64)
    for x in range(first, last):
        base = message_offsets[x]
        begin = entity_offsets[x]
        entities = entity_offsets[x + 1] - begin
        messages = message_offsets[x + 1] - base
        for m in range(messages):
            holders[m] = 0
            correct_holders[m] = 0
        if any_unsure(begin, entity_offsets[x + 1], unsure_stops):
            values[x] = DEFERRED
            continue
        correct = 0
        for entity in range(begin, entity_offsets[x + 1]):
            excused = faulty[entity]
            if not excused:
                correct += 1
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = delivered[k]
                if not send_logged[base + m] or addressed(
                    entity - begin, base + m, to_all, destination_offsets, destinations
                ):
                    if not excused:
                        correct_holders[m] += 1
                    if uniform or not excused:
                        if holders[m] == 0:
                            holder[m] = entity - begin
                        holders[m] += 1
        value = 0
        for m in range(messages):
            g = base + m
            if sender[g] < 0:
                continue
            if not send_logged[g]:
                if correct_holders[m] < correct and holders[m] > 0:
                    value |= _SEND_NOT_LOGGED
                continue
            all_of = correct
            if not to_all[g]:
                all_of = destination_offsets[g + 1] - destination_offsets[g]
                if correct < entities:
                    for k in range(destination_offsets[g], destination_offsets[g + 1]):
                        if faulty[begin + destinations[k]]:
                            all_of -= 1
            if correct_holders[m] == all_of:
                continue
            if holders[m] > 0:
                value = _FALSE
                places[x, 0] = holder[m]
                places[x, 2] = m
                for e in range(entities):
                    if faulty[begin + e] or not addressed(e, g, to_all, destination_offsets, destinations):
                        continue
                    has = False
                    for k in range(delivered_offsets[begin + e], delivered_offsets[begin + e + 1]):
                        if delivered[k] == m:
                            has = True
                            break
                    if not has:
                        places[x, 1] = e
                        break
                break
        values[x] = value


def validity(
    first: int,
    last: int,
    entity_offsets: Any,
    message_offsets: Any,
    delivered_offsets: Any,
    delivered: Any,
    sender: Any,
    send_logged: Any,
    to_all: Any,
    destination_offsets: Any,
    destinations: Any,
    faulty: Any,
    unsure_stops: Any,
    values: Any,
    places: Any,
) -> None:
    """Hadzilacos and Toueg 1994, validity: some destination, if there is one, delivers what a correct entity sent."""
    most = most_messages(first, last, message_offsets)
    holders = np.empty(most, np.int64)
    for x in range(first, last):
        base = message_offsets[x]
        begin = entity_offsets[x]
        messages = message_offsets[x + 1] - base
        if any_unsure(begin, entity_offsets[x + 1], unsure_stops):
            values[x] = DEFERRED
            continue
        for m in range(messages):
            holders[m] = 0
        for entity in range(begin, entity_offsets[x + 1]):
            for k in range(delivered_offsets[entity], delivered_offsets[entity + 1]):
                m = delivered[k]
                if send_logged[base + m] and addressed(
                    entity - begin, base + m, to_all, destination_offsets, destinations
                ):
                    holders[m] += 1
        value = 0
        for m in range(messages):
            g = base + m
            if sender[g] < 0 or faulty[begin + sender[g]]:
                continue
            if not send_logged[g]:
                value |= _SEND_NOT_LOGGED
            elif holders[m] == 0 and (to_all[g] or destination_offsets[g] < destination_offsets[g + 1]):
                value = _FALSE
                places[x, 2] = m
                break
        values[x] = value


_SELECTIVE: Final = (addressed, most_messages)

INFORMATION_KERNELS: Final = {
    "no_creation": Kernel(no_creation),
    "no_duplication": Kernel(no_duplication),
    "broadcast": Kernel(broadcast),
    "information_equivalent": Kernel(information_equivalent, (most_messages,)),
    "information_preserving": Kernel(information_preserving, (most_messages,)),
    "selectively_information_preserving": Kernel(selectively_information_preserving, _SELECTIVE),
    "agreement": Kernel(agreement, (*_SELECTIVE, any_unsure, agreed)),
    "uniform_agreement": Kernel(uniform_agreement, (*_SELECTIVE, any_unsure, agreed)),
    "validity": Kernel(validity, (*_SELECTIVE, any_unsure)),
}
"""By the name of the definition in `recognise.DEFINITIONS`."""
