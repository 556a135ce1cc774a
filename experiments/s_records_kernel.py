"""CMD for messages with one destination, compiled; the s-records that each message carries. A test holds that they are
those of the models, message by message.

Rule 1 leaves one s-record for each sender and receiver, so that R is a matrix of times, 0 where there is none. R of the
auxiliary procedure, which removes nothing and delivers at the same times, is kept beside it, a bit for each message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numba
import numpy as np
import numpy.typing as npt

from precedes.protocol.running.chance import Chance, Delaying, Request

Int64 = npt.NDArray[np.int64]

SERVER: Final = 0
"""The server of client-server, and the hot spot."""


@dataclass(frozen=True, slots=True)
class Carried:
    """How many s-records each message carries under CMD and under the auxiliary procedure, in the order of the sends,
    and whether it had to wait in a Queue.
    """

    records: Int64
    auxiliary: Int64
    queued: Int64


Pair = Callable[[Chance, int], tuple[int, int]]


def _uniform(chance: Chance, entities: int) -> tuple[int, int]:
    sender = chance.below(entities)
    return sender, (sender + 1 + chance.below(entities - 1)) % entities


def _ring(chance: Chance, entities: int) -> tuple[int, int]:
    sender = chance.below(entities)
    return sender, (sender + 1) % entities


def _client_server(chance: Chance, entities: int) -> tuple[int, int]:
    client = 1 + chance.below(entities - 1)
    return (SERVER, client) if chance.uniform() < 0.5 else (client, SERVER)


def _hot_spot(chance: Chance, entities: int) -> tuple[int, int]:
    sender = chance.below(entities)
    if sender != SERVER and chance.uniform() < 0.5:
        return sender, SERVER
    return sender, (sender + 1 + chance.below(entities - 1)) % entities


TOPOLOGIES: Final[dict[str, Pair]] = {
    "uniform": _uniform,
    "ring": _ring,
    "client-server": _client_server,
    "hot spot": _hot_spot,
}
"""Sender and destination. Uniform: any to any other. Ring: to the next. Client-server: a client to the server or the
server to a client, as often. Hot spot: as uniform, but every other message of an entity goes to one of them."""


def requests(
    topology: str, entities: int, messages: int, interval: float
) -> Callable[[Chance], list[Request]]:
    """Poisson requests; each entity makes one every `interval` ticks, in the mean of all."""
    pair = TOPOLOGIES[topology]

    def made(chance: Chance) -> list[Request]:
        time, found = 0.0, []
        for _ in range(messages):
            time += chance.waiting(interval / entities)
            sender, destination = pair(chance, entities)
            found.append(Request(int(time), sender, frozenset({destination})))
        return found

    return made


def carried(
    seed: int,
    number: int,
    made: Callable[[Chance], Sequence[Request]],
    delay: Delaying,
    entities: int,
) -> Carried:
    """The execution that the simulator has under the same seed and number."""
    chance = Chance(seed, number, "network")
    asked = made(chance)
    delays = []
    for _ in asked:
        delays.append(delay(chance))
        chance.uniform()
    sent = np.array([request.time for request in asked], np.int64)
    arrival = sent + np.array(delays, np.int64)
    out = Carried(*(np.zeros(len(asked), np.int64) for _ in range(3)))
    _run(
        entities,
        sent,
        np.array([request.sender for request in asked], np.int64),
        np.array([next(iter(request.destinations)) for request in asked], np.int64),
        arrival,
        np.argsort(arrival, kind="stable"),
        out.records,
        out.auxiliary,
        out.queued,
    )
    return out


@numba.njit(cache=True)
def _deliverable(records, clock, here):  # type: ignore[no-untyped-def]
    """Case (i), or no s-record with this receiver."""
    return not np.any(records[:, here] > clock)


@numba.njit(cache=True)
def _bits(words):  # type: ignore[no-untyped-def]
    """How many bits are set."""
    count = 0
    for word in words:
        left = word
        while left:
            left &= left - np.uint64(1)
            count += 1
    return count


@numba.njit(cache=True)
def _run(n, sent, sender, destination, arrival, order, out_records, out_auxiliary, out_queued):  # type: ignore[no-untyped-def]
    count = len(sent)
    clock = np.zeros((n, n), np.int64)
    records = np.zeros((n, n, n), np.int64)
    words = (count + 63) // 64
    kept = np.zeros((n, words), np.uint64)
    message_clock = np.zeros((count, n), np.int64)
    slot = np.zeros(count, np.int64)
    pool = 256
    tags = np.zeros((pool, n, n), np.int64)
    tags_kept = np.zeros((pool, words), np.uint64)
    free = np.arange(pool)
    free_count = pool
    queue = np.zeros((n, count), np.int64)
    queued = np.zeros(n, np.int64)
    at_send, at_arrival = 0, 0
    while at_arrival < count:
        if at_send < count and sent[at_send] <= arrival[order[at_arrival]]:
            m, here = at_send, sender[at_send]
            at_send += 1
            if free_count == 0:
                more = np.zeros((2 * pool, n, n), np.int64)
                more[:pool] = tags
                more_kept = np.zeros((2 * pool, words), np.uint64)
                more_kept[:pool] = tags_kept
                tags_kept = more_kept
                free = np.zeros(2 * pool, np.int64)
                free[:pool] = np.arange(pool, 2 * pool)
                tags, free_count, pool = more, pool, 2 * pool
            free_count -= 1
            slot[m] = free[free_count]
            tags[slot[m]] = records[here]
            out_records[m] = np.count_nonzero(records[here])
            tags_kept[slot[m]] = kept[here]
            out_auxiliary[m] = _bits(kept[here])
            kept[here, m // 64] |= np.uint64(1) << np.uint64(m % 64)
            clock[here, here] += 1
            message_clock[m] = clock[here]
            records[here, here, destination[m]] = clock[here, here]
            continue
        m = order[at_arrival]
        at_arrival += 1
        here = destination[m]
        queue[here, queued[here]] = m
        queued[here] += 1
        if not _deliverable(tags[slot[m]], clock[here], here):
            out_queued[m] = 1
            continue
        place = queued[here] - 1
        while place >= 0:
            m = queue[here, place]
            for later in range(place, queued[here] - 1):
                queue[here, later] = queue[here, later + 1]
            queued[here] -= 1
            mine, told, known = records[here], tags[slot[m]], message_clock[m]
            for k in range(n):
                for to in range(n):
                    a, b = mine[k, to], told[k, to]
                    if a == b:  # both have it, or neither
                        continue
                    if b > a:  # rule 1 (b)
                        a = 0
                    else:  # rule 1 (a)
                        b = 0
                    if a and a <= known[k]:  # rule 2
                        a = 0
                    if b and b <= clock[here, k]:  # rule 3
                        b = 0
                    mine[k, to] = max(a, b)
            kept[here] |= tags_kept[slot[m]]
            free[free_count] = slot[m]
            free_count += 1
            clock[here, here] += 1
            for k in range(n):
                if k != here:
                    clock[here, k] = max(clock[here, k], known[k])
            place = -1
            for other in range(queued[here]):
                if _deliverable(tags[slot[queue[here, other]]], clock[here], here):
                    place = other
                    break
