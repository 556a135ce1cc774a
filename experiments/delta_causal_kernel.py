"""The Δ-causal algorithm (S1) to (S5), (R1) to (R6) for messages with one destination, compiled: what takes the model
minutes takes this a second. A test holds that both deliver every message at the same tick.

Beside the tags of the algorithm it keeps the tags without a bound, which name everything that a message has to wait for
(Lemma 2): they tell when a message could have been delivered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt

from precedes.protocol.running.chance import Chance, Delaying, Request

Int64 = npt.NDArray[np.int64]

NEVER: Final = -(2**62)


@dataclass(frozen=True, slots=True)
class Messages:
    """What is sent, in the order of the sends; times in ticks."""

    sent: Int64
    sender: Int64
    destination: Int64
    delay: Int64


@dataclass(frozen=True, slots=True)
class Measured:
    """What became of each message. `marks` are those of its tag for its destination, `marks_of_sender` those for its
    sender. `deliverable`: the tick from which nothing that it has to wait for was missing; `delivered`: when it was
    delivered. Both are NEVER for a message that was discarded.
    """

    marks: Int64
    marks_of_sender: Int64
    deliverable: Int64
    delivered: Int64


def uniform_requests(entities: int, messages: int, interval: float) -> Any:
    """Requests of all entities at the same rate, one every `interval` ticks at each, to any entity, itself included."""

    def requests(chance: Chance) -> list[Request]:
        time, found = 0.0, []
        for _ in range(messages):
            time += chance.waiting(interval / entities)
            sender = chance.below(entities)
            found.append(Request(int(time), sender, frozenset({chance.below(entities)})))
        return found

    return requests


def drawn(seed: int, number: int, requests: Any, delay: Delaying) -> Messages:
    """The messages of an execution: those that the simulator has under the same seed and number."""
    chance = Chance(seed, number, "network")
    asked = requests(chance)
    delays = []
    for _ in asked:
        delays.append(delay(chance))
        chance.uniform()
    return Messages(
        np.array([request.time for request in asked], np.int64),
        np.array([request.sender for request in asked], np.int64),
        np.array([next(iter(request.destinations)) for request in asked], np.int64),
        np.array(delays, np.int64),
    )


def measured(messages: Messages, entities: int, delta: int, max_cb: int) -> Measured:
    """Run the algorithm with MAX_CB; one of `entities` or more is no bound."""
    count = len(messages.sent)
    arrival = messages.sent + messages.delay
    order = np.argsort(arrival, kind="stable")
    # A message has left the network and every buffer when it has arrived or is past its deadline; what is due is looked
    # at when something else happens there, so that there is room for more.
    end = np.maximum(arrival, messages.sent + delta + 1)
    pool = 2 * int(np.max(np.arange(1, count + 1) - np.searchsorted(np.sort(end), messages.sent))) + 64
    out = Measured(*(np.full(count, NEVER, np.int64) for _ in range(4)))
    _run(
        entities,
        delta,
        max_cb,
        pool,
        messages.sent,
        messages.sender,
        messages.destination,
        arrival,
        order,
        out.marks,
        out.marks_of_sender,
        out.deliverable,
        out.delivered,
    )
    return out


@numba.njit(cache=True)
def _expired(tag, deliv, delta):  # type: ignore[no-untyped-def]
    """Condition (1): the first tick from which it is true if nothing more is delivered."""
    due = NEVER
    for sender in range(len(deliv)):
        x = tag[sender]
        if x != NEVER and deliv[sender] < x and x + delta + 1 > due:
            due = x + delta + 1
    return due


@numba.njit(cache=True)
def _due(tag, deliv, delta, bound):  # type: ignore[no-untyped-def]
    """(R2)."""
    due = _expired(tag, deliv, delta)
    count, first = 0, 2**62
    for x in tag:
        if x != NEVER:
            count += 1
            first = min(first, x)
    if count and count == bound and first + delta + 1 > due:
        due = first + delta + 1
    return due


@numba.njit(cache=True)
def _run(  # type: ignore[no-untyped-def]
    n,
    delta,
    bound,
    pool,
    sent,
    sender,
    destination,
    arrival,
    order,
    marks,
    marks_of_sender,
    deliverable,
    delivered,
):
    known = np.full((2, n, n, n), NEVER, np.int64)  # CB: with and without bound, at whom, for whom, of whom
    deliv = np.full((n, n), NEVER, np.int64)
    tags = np.full((pool, 2, n, n), NEVER, np.int64)
    free = np.arange(pool)
    free_count = pool
    slot = np.zeros(len(sent), np.int64)
    held = np.zeros((n, pool), np.int64)
    held_count = np.zeros(n, np.int64)
    candidate = np.zeros(
        len(sent), np.int64
    )  # the tick at which a held message can be delivered, as it stands now
    at_send, at_arrival = 0, 0
    while at_send < len(sent) or at_arrival < len(order):
        sends = at_arrival == len(order) or (
            at_send < len(sent) and sent[at_send] <= arrival[order[at_arrival]]
        )
        if sends:
            m = at_send
            now, here = sent[m], sender[m]
            at_send += 1
        else:
            m = order[at_arrival]
            now, here = arrival[m], destination[m]
            at_arrival += 1
        arrives = not sends and sent[m] + delta >= now
        if not sends and not arrives:  # (R1)
            free[free_count] = slot[m]
            free_count += 1
        # What was due here before, then what comes in, then what that sets free.
        for stage in range(2):
            if stage == 1:
                if not arrives:
                    break
                held[here, held_count[here]] = m
                held_count[here] += 1
                tag = tags[slot[m]]
                candidate[m] = max(now, _expired(tag[1, here], deliv[here], delta))
            time = now if stage == 1 else NEVER
            while True:
                best, best_due = -1, now + (1 if stage == 1 else 0)
                for place in range(held_count[here]):
                    other = held[here, place]
                    due = _due(tags[slot[other], 0, here], deliv[here], delta, bound)
                    due = max(due, arrival[other])
                    if due < best_due:
                        best, best_due = place, due
                if best < 0:
                    break
                # One delivery may set free what was due before it.
                time = max(time, best_due)
                other = held[here, best]
                held_count[here] -= 1
                held[here, best] = held[here, held_count[here]]
                delivered[other] = time
                deliverable[other] = min(candidate[other], time)
                for which in range(2):
                    for k in range(n):
                        if k != here:  # (R5)
                            for of in range(n):
                                x = tags[slot[other], which, k, of]
                                known[which, here, k, of] = max(known[which, here, k, of], x)
                deliv[here, sender[other]] = sent[other]  # (R6)
                free[free_count] = slot[other]
                free_count += 1
                for place in range(held_count[here]):
                    waiting = held[here, place]
                    if candidate[waiting] > time:
                        due = _expired(tags[slot[waiting], 1, here], deliv[here], delta)
                        candidate[waiting] = max(time, due)
        if sends:
            for which in range(2):
                for k in range(n):
                    count = 0
                    for of in range(n):  # (S2)
                        x = known[which, here, k, of]
                        if x != NEVER:
                            if x + delta < now:
                                known[which, here, k, of] = NEVER
                            else:
                                count += 1
                    while which == 0 and count > bound:  # (S3)
                        first = -1
                        for of in range(n):
                            x = known[0, here, k, of]
                            if x != NEVER and (first < 0 or x < known[0, here, k, first]):
                                first = of
                        known[0, here, k, first] = NEVER
                        count -= 1
                    if which == 0 and k == destination[m]:
                        marks[m] = count
                    if which == 0 and k == here:
                        marks_of_sender[m] = count
            if free_count == 0:
                raise MemoryError("more messages are held than there is room for")
            free_count -= 1
            slot[m] = free[free_count]
            tags[slot[m]] = known[:, here]
            for which in range(2):  # (S5)
                known[which, here, destination[m], :] = NEVER
                known[which, here, destination[m], here] = now
    # What is still held is delivered when it is due.
    for here in range(n):
        time = NEVER
        while held_count[here]:
            best, best_due = -1, 2**62
            for place in range(held_count[here]):
                other = held[here, place]
                due = max(_due(tags[slot[other], 0, here], deliv[here], delta, bound), arrival[other])
                if due < best_due:
                    best, best_due = place, due
            other = held[here, best]
            held_count[here] -= 1
            held[here, best] = held[here, held_count[here]]
            time = max(time, best_due)
            delivered[other] = time
            deliverable[other] = min(candidate[other], time)
            deliv[here, sender[other]] = sent[other]
            for place in range(held_count[here]):
                waiting = held[here, place]
                if candidate[waiting] > time:
                    due = _expired(tags[slot[waiting], 1, here], deliv[here], delta)
                    candidate[waiting] = max(time, due)
