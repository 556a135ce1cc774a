"""Cycles in the union of all delivery orders: which messages lie on one, two in opposite orders, a shortest one.

Two messages that two entities deliver in opposite orders are a cycle of two, so both questions look only at messages
that lie on a cycle. Written, as the kernels are, in the subset of Python that numba compiles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.native.compiled_functions import Int32Out


class Logs(NamedTuple):
    """The receipt logs `begin` to `end`: log e has the messages `offsets[e]` to `offsets[e + 1]` of `entries`."""

    begin: int
    end: int
    offsets: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int32]


class Occurrences(NamedTuple):
    """Where message m is: in log `holder[k]`, at `place[k]` of all entries, for k from `first[m]` to `first[m + 1]`.

    Logs are counted from 0.
    """

    first: npt.NDArray[np.int64]
    holder: npt.NDArray[np.int32]
    place: npt.NDArray[np.int64]


class Edges(NamedTuple):
    """An edge leads from message m to `following[k]` for k from `first[m]` to `first[m + 1]`."""

    first: npt.NDArray[np.int64]
    following: npt.NDArray[np.int32]


def edges_of(logs: Logs, messages: int) -> Edges:
    """From each message to the next in a log."""
    offsets, entries = logs.offsets, logs.entries
    first = np.zeros(messages + 1, np.int64)
    for e in range(logs.begin, logs.end):
        for k in range(offsets[e], offsets[e + 1] - 1):
            first[entries[k] + 1] += 1
    for m in range(messages):
        first[m + 1] += first[m]
    following = np.empty(first[messages], np.int32)
    unseen = first.copy()
    for e in range(logs.begin, logs.end):
        for k in range(offsets[e], offsets[e + 1] - 1):
            m = entries[k]
            following[unseen[m]] = entries[k + 1]
            unseen[m] += 1
    return Edges(first, following)


def on_cycles(logs: Logs, messages: int, found: Int32Out) -> int:
    """Number the messages that lie on a cycle of the orders of the logs by their components, from 1.

    The others get 0. Returns how many components there are.

    They are those in a strongly connected component of several (Tarjan 1972, without recursion), in time linear
    in the deliveries: an edge leads from each message to the next in a log.
    """
    edges = edges_of(logs, messages)
    first_edge, following_edge = edges.first, edges.following
    unseen = first_edge.copy()
    index = np.full(messages, -1, np.int32)
    low = np.empty(messages, np.int32)
    path = np.empty(messages, np.int32)
    stack = np.empty(messages, np.int32)
    top = 0
    count = 0
    for m in range(messages):
        found[m] = 0
    component = 0
    for root in range(messages):
        if index[root] >= 0:
            continue
        depth = 0
        following = root
        while following >= 0 or depth > 0:
            if following >= 0:
                index[following] = count
                low[following] = count
                count += 1
                stack[top] = following
                top += 1
                path[depth] = following
                depth += 1
            m = path[depth - 1]
            following = -1
            if unseen[m] < first_edge[m + 1]:
                q = following_edge[unseen[m]]
                unseen[m] += 1
                if index[q] < 0:
                    following = q
                else:
                    # What is done with has an index that lowers nothing.
                    low[m] = min(low[m], index[q])
                continue
            depth -= 1
            if depth > 0:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[m])
            if low[m] == index[m]:
                number = 0
                if stack[top - 1] != m:
                    component += 1
                    number = component
                q = -1
                while q != m:
                    top -= 1
                    q = stack[top]
                    index[q] = messages
                    found[q] = number
    return component


def narrowed(logs: Logs, component: npt.NDArray[np.int32], only: int) -> Logs:
    """The logs with the messages of one component only; for 0 those of all components."""
    offsets, entries = logs.offsets, logs.entries
    kept_offsets = np.empty(logs.end - logs.begin + 1, np.int64)
    kept = np.empty(offsets[logs.end] - offsets[logs.begin], np.int32)
    length = 0
    for e in range(logs.begin, logs.end):
        kept_offsets[e - logs.begin] = length
        for k in range(offsets[e], offsets[e + 1]):
            number = component[entries[k]]
            if number == only or (only == 0 and number > 0):
                kept[length] = entries[k]
                length += 1
    kept_offsets[logs.end - logs.begin] = length
    return Logs(0, logs.end - logs.begin, kept_offsets, kept)


def located(logs: Logs, messages: int) -> Occurrences:
    """Where each message is in logs that are counted from 0."""
    offsets, entries = logs.offsets, logs.entries
    first = np.zeros(messages + 1, np.int64)
    length = offsets[logs.end]
    holder = np.empty(length, np.int32)
    place = np.empty(length, np.int64)
    for k in range(length):
        first[entries[k] + 1] += 1
    for m in range(messages):
        first[m + 1] += first[m]
    for i in range(logs.end):
        for k in range(offsets[i], offsets[i + 1]):
            m = entries[k]
            holder[first[m]] = i
            place[first[m]] = k
            first[m] += 1
    for m in range(messages, 0, -1):
        first[m] = first[m - 1]
    first[0] = 0
    return Occurrences(first, holder, place)


def inversion(logs: Logs, occurrences: Occurrences, result: Int32Out) -> bool:
    """Whether two logs have two messages in opposite orders; `result`: the logs, the one that the first log has first.

    The first log with another, then the first other log, then the first place in the first log.
    """
    offsets, log = logs.offsets, logs.entries
    first, holder, place = occurrences.first, occurrences.holder, occurrences.place
    met = np.full(logs.end, -1, np.int32)
    latest = np.empty(logs.end, np.int64)
    for i in range(logs.end):
        other = logs.end
        for k in range(offsets[i], offsets[i + 1]):
            m = log[k]
            for there in range(first[m], first[m + 1]):
                j = holder[there]
                if j >= other:
                    break
                if j <= i:
                    continue
                if met[j] == i and place[there] < latest[j]:
                    other = j
                    result[0] = i
                    result[1] = j
                    result[2] = log[latest[j]]
                    result[3] = m
                else:
                    met[j] = i
                    latest[j] = place[there]
        if other < logs.end:
            return True
    return False


def shortest(logs: Logs, occurrences: Occurrences, effort: int, entities: Int32Out, cycle: Int32Out) -> int:
    """The length of a shortest cycle of three or more, where there is none of two; written to `entities` and `cycle`.

    Each entity delivers the message beside it before the next one. After `effort` steps the shortest found so
    far is good enough.
    """
    offsets, log = logs.offsets, logs.entries
    first, holder, place = occurrences.first, occurrences.holder, occurrences.place
    messages = len(first) - 1
    depth = np.full(messages, -1, np.int32)
    source = np.empty(messages, np.int32)
    through = np.empty(messages, np.int32)
    queue = np.empty(messages, np.int32)
    reached = np.empty(logs.end, np.int64)
    best = 0
    steps = 0
    for start in range(messages):
        if first[start] == first[start + 1]:
            continue
        for i in range(logs.end):
            reached[i] = offsets[i + 1]
        depth[start] = 0
        queue[0] = start
        head = 0
        tail = 1
        length = 0
        while head < tail and length == 0:
            m = queue[head]
            head += 1
            if best > 0 and depth[m] + 1 >= best:
                break
            for there in range(first[m], first[m + 1]):
                i = holder[there]
                for k in range(place[there] + 1, reached[i]):
                    steps += 1
                    q = log[k]
                    if q == start:
                        length = depth[m] + 1
                        entities[length - 1] = i
                        cycle[length - 1] = m
                        break
                    if depth[q] < 0:
                        depth[q] = depth[m] + 1
                        source[q] = m
                        through[q] = i
                        queue[tail] = q
                        tail += 1
                if length > 0:
                    break
                reached[i] = min(reached[i], place[there] + 1)
        if length > 0:
            best = length
            for k in range(length - 1, 0, -1):
                entities[k - 1] = through[cycle[k]]
                cycle[k - 1] = source[cycle[k]]
        for k in range(tail):
            depth[queue[k]] = -1
        if best == 3 or (best > 0 and steps > effort):
            break
    return best
