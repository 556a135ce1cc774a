"""Cycles in the union of all delivery orders: which messages lie on one, two in opposite orders, a shortest one.

Two messages that two entities deliver in opposite orders are a cycle of two, so both questions look only at messages
that lie on a cycle. Written, as the kernels are, in the subset of Python that numba compiles.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np


def on_cycles(begin: int, end: int, messages: int, delivered_offsets: Any, delivered: Any, found: Any) -> int:
    """Number the messages that lie on a cycle of the orders of the logs `begin` to `end` by their components, from 1.

    The others get 0. Returns how many components there are.

    They are those in a strongly connected component of several (Tarjan 1972, without recursion), in time linear
    in the deliveries: an edge leads from each message to the next in a log.
    """
    first_edge = np.zeros(messages + 1, np.int64)
    for e in range(begin, end):
        for k in range(delivered_offsets[e], delivered_offsets[e + 1] - 1):
            first_edge[delivered[k] + 1] += 1
    for m in range(messages):
        first_edge[m + 1] += first_edge[m]
    edges = np.empty(first_edge[messages], np.int32)
    unseen = first_edge.copy()
    for e in range(begin, end):
        for k in range(delivered_offsets[e], delivered_offsets[e + 1] - 1):
            m = delivered[k]
            edges[unseen[m]] = delivered[k + 1]
            unseen[m] += 1
    index = np.full(messages, -1, np.int32)
    low = np.empty(messages, np.int32)
    path = np.empty(messages, np.int32)
    stack = np.empty(messages, np.int32)
    top = 0
    count = 0
    for m in range(messages):
        unseen[m] = first_edge[m]
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
                q = edges[unseen[m]]
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


def narrowed(
    begin: int,
    end: int,
    delivered_offsets: Any,
    delivered: Any,
    component: Any,
    only: int,
    offsets: Any,
    log: Any,
) -> int:
    """Write the logs `begin` to `end`, one after the other, of the messages of one component; for 0 of all of them.

    Returns their length.
    """
    length = 0
    for e in range(begin, end):
        offsets[e - begin] = length
        for k in range(delivered_offsets[e], delivered_offsets[e + 1]):
            number = component[delivered[k]]
            if number == only or (only == 0 and number > 0):
                log[length] = delivered[k]
                length += 1
    offsets[end - begin] = length
    return length


def located(logs: int, messages: int, offsets: Any, log: Any, first: Any, holder: Any, place: Any) -> None:
    """Write where message m is: in log `holder[k]`, at `place[k]` of all, for k from `first[m]` to `first[m + 1]`."""
    for m in range(messages + 1):
        first[m] = 0
    for k in range(offsets[logs]):
        first[log[k] + 1] += 1
    for m in range(messages):
        first[m + 1] += first[m]
    for i in range(logs):
        for k in range(offsets[i], offsets[i + 1]):
            m = log[k]
            holder[first[m]] = i
            place[first[m]] = k
            first[m] += 1
    for m in range(messages, 0, -1):
        first[m] = first[m - 1]
    first[0] = 0


def inversion(logs: int, offsets: Any, log: Any, first: Any, holder: Any, place: Any, result: Any) -> bool:
    """Whether two logs have two messages in opposite orders; `result`: the logs, the one that the first log has first.

    The first log with another, then the first other log, then the first place in the first log.
    """
    met = np.full(logs, -1, np.int32)
    latest = np.empty(logs, np.int64)
    for i in range(logs):
        other = logs
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
        if other < logs:
            return True
    return False


def shortest(
    logs: int,
    messages: int,
    offsets: Any,
    log: Any,
    first: Any,
    holder: Any,
    place: Any,
    effort: int,
    entities: Any,
    cycle: Any,
) -> int:
    """The length of a shortest cycle of three or more, where there is none of two; written to `entities` and `cycle`.

    Each entity delivers the message beside it before the next one. After `effort` steps the shortest found so
    far is good enough.
    """
    depth = np.full(messages, -1, np.int32)
    source = np.empty(messages, np.int32)
    through = np.empty(messages, np.int32)
    queue = np.empty(messages, np.int32)
    reached = np.empty(logs, np.int64)
    best = 0
    steps = 0
    for start in range(messages):
        if first[start] == first[start + 1]:
            continue
        for i in range(logs):
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


INVERSION: Final = (on_cycles, narrowed, located, inversion)
"""What finds two messages in opposite orders."""
