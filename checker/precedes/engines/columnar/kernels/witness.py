"""What shows a violation where two messages do not: the shortest cycle of orders, the chain of `p ~> q`.

Called for one execution at a time and only where somebody asks. The answer depends on names and histories, never on
the order of rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.engines.columnar.kernel_columns import Columns
from precedes.engines.columnar.kernels.delivery_cycle import (
    Logs,
    inversion,
    located,
    narrowed,
    on_cycles,
    shortest,
)
from precedes.engines.columnar.kernels.kernel import Span, span_of
from precedes.engines.columnar.kernels.order import known_logs
from precedes.native.codes import SEND
from precedes.native.compiled_functions import Int32Out, machine_code, read_only

CHAINED: Final = frozenset({"causal_order", "process_causal_order", "causal_delivery", "delta_causal_order"})
"""The kernels whose two messages are the ends of a chain."""

EFFORT: Final = 2_000_000
"""Steps after which the shortest cycle found so far is good enough."""


CHAIN: Final = ("event_kind", "event_message", "edge_offsets", "edge_earlier")
"""The columns that `chain`, `clocks_say_more` and `deliveries_in_turn` read."""

Cycle = tuple[tuple[int, ...], tuple[int, ...]]
"""Entities and messages: each entity delivers a message of the cycle before the next."""


def shortest_cycle(columns: Columns, x: int, *, by_machine: bool) -> Cycle:
    """A shortest cycle of the columns `KNOWN_LOGS`, empty if there is none."""
    orders = _Orders.of(columns, x, by_machine=by_machine)
    return orders.cycle(0)


def cycles(columns: Columns, x: int, *, by_machine: bool) -> list[Cycle]:
    """A shortest cycle of each strongly connected component, the component with the first message first."""
    orders = _Orders.of(columns, x, by_machine=by_machine)
    numbers = orders.component[orders.component > 0].tolist()
    return [orders.cycle(number) for number in dict.fromkeys(numbers)]


@dataclass(frozen=True, slots=True)
class _Orders:
    """The logs of an execution whose order is known, and the components of the union of their orders."""

    logs: Logs
    component: npt.NDArray[np.int32]
    by_machine: bool

    @classmethod
    def of(cls, columns: Columns, x: int, *, by_machine: bool) -> _Orders:
        """Those of execution x."""
        begin, end = int(columns.entity_offsets[x]), int(columns.entity_offsets[x + 1])
        messages = int(columns.message_offsets[x + 1] - columns.message_offsets[x])
        logs = Logs(begin, end, columns.delivered_offsets, columns.delivered)
        if columns.history_doubt[begin:end].any():
            # A log whose order is not known shows no cycle.
            known = known_logs(begin, end, columns)
            logs = Logs(known.begin, known.end, read_only(known.offsets), read_only(known.entries))
        component = np.empty(messages, np.int32)
        numbered = machine_code(on_cycles) if by_machine else on_cycles
        numbered(logs, messages, component)
        return cls(logs, component, by_machine)

    def cycle(self, only: int) -> Cycle:
        """The entities and messages of a shortest cycle of one component, or of all for 0."""
        entities, cycle = (np.empty(len(self.component), np.int32) for _ in range(2))
        function = machine_code(cycle_of) if self.by_machine else cycle_of
        length = function(self.logs, read_only(self.component), only, EFFORT, entities, cycle)
        return tuple(dict.fromkeys(entities[:length].tolist())), tuple(cycle[:length].tolist())


def chain(columns: Columns, x: int, first: int, last: int, *, by_machine: bool) -> tuple[int, ...]:
    """The fewest messages that lead from the send of `first` to the send of `last`, these two at the ends.

    Each is sent by an entity that sent or delivered the one before it earlier. Where recorded clocks say more than the
    rows, the chain may also go from event to event by a clock.
    """
    if first >= 0 and last >= 0 and clocks_say_more(columns, x):
        return _clock_chain(columns, x, first, last)
    span = span_of(x, columns)
    path = np.empty(span.stop - span.base, np.int32)
    function = machine_code(path_between) if by_machine else path_between
    length = function(span, columns, first, last, path)
    return tuple(path[:length].tolist()) if length else (first, last)


def clocks_say_more(columns: Columns, x: int) -> bool:
    """Whether recorded clocks say more of an execution than its rows."""
    if not len(columns.edge_offsets):
        return False
    start, stop = (int(columns.event_offsets[e]) for e in columns.entity_offsets[x : x + 2])
    return bool(columns.edge_offsets[start] < columns.edge_offsets[stop])


def deliveries_in_turn(columns: Columns, x: int, entity: int, late: int, early: int) -> tuple[int, ...]:
    """The messages by which some delivery of `early` happens before that of `late` at the entity, these included.

    Where recorded clocks say more than the rows, that need not be a delivery at the same entity.
    """
    graph = _EventGraph(columns, x)
    ends = graph.deliveries(late, *graph.span(entity))
    starts = graph.deliveries(early, graph.start, graph.stop)
    return graph.messages(starts, ends[0]) if ends else (late, early)


def _clock_chain(columns: Columns, x: int, first: int, last: int) -> tuple[int, ...]:
    graph = _EventGraph(columns, x)
    path = graph.messages([graph.send[first]], graph.send[last])
    return tuple(dict.fromkeys((first, *path, last)))


class _EventGraph:
    """What follows what directly in one execution: at an entity, by a message, or by a clock."""

    def __init__(self, columns: Columns, x: int) -> None:
        self.columns = columns
        first, last = int(columns.entity_offsets[x]), int(columns.entity_offsets[x + 1])
        self.offsets = columns.event_offsets[first : last + 1].tolist()
        self.start, self.stop = self.offsets[0], self.offsets[-1]
        self.kind = columns.event_kind[self.start : self.stop].tolist()
        self.message = columns.event_message[self.start : self.stop].tolist()
        self.send = {
            m: self.start + k
            for k, (kind, m) in enumerate(zip(self.kind, self.message, strict=True))
            if kind == SEND
        }

    def deliveries(self, message: int, start: int, stop: int) -> list[int]:
        """The deliveries of a message among the events from `start` to `stop`."""
        wanted = self.columns.delivery, message
        return [
            k
            for k in range(start, stop)
            if (self.kind[k - self.start], self.message[k - self.start]) == wanted
        ]

    def span(self, entity: int) -> tuple[int, int]:
        """The events of an entity."""
        return self.offsets[entity], self.offsets[entity + 1]

    def before(self, event: int) -> Iterator[tuple[int, int]]:
        """The events right before one, and 0 where that is at the same entity, else 1."""
        columns = self.columns
        if event not in self.offsets:
            yield event - 1, 0
        k = event - self.start
        if self.kind[k] == columns.delivery and self.message[k] in self.send:
            yield self.send[self.message[k]], 1
        edges = columns.edge_offsets
        for earlier in columns.edge_earlier[edges[event] : edges[event + 1]].tolist():
            yield earlier, 1

    def messages(self, starts: Sequence[int], end: int) -> tuple[int, ...]:
        """The messages at the ends of the steps between entities that lead from one of the starts to the end."""
        following: dict[int, int] = {end: end}
        settled: set[int] = set()
        waiting = deque([(end, end)])
        wanted = frozenset(starts)
        while waiting:
            event, after = waiting.popleft()
            if event in settled:
                continue
            settled.add(event)
            following[event] = after
            if event in wanted and event != end:
                return self._turns(event, following)
            for earlier, cost in self.before(event):
                (waiting.append if cost else waiting.appendleft)((earlier, event))
        return ()

    def _turns(self, event: int, following: Mapping[int, int]) -> tuple[int, ...]:
        path = [event]
        while following[path[-1]] != path[-1]:
            path.append(following[path[-1]])
        kept = [
            k
            for place, k in enumerate(path)
            if place in (0, len(path) - 1)
            or path[place - 1] != k - 1
            or path[place + 1] != k + 1
            or k in self.offsets
        ]
        return tuple(dict.fromkeys(m for k in kept if (m := self.message[k - self.start]) >= 0))


def cycle_of(
    logs: Logs,
    component: npt.NDArray[np.int32],
    only: int,
    effort: int,
    entities: Int32Out,
    cycle: Int32Out,
) -> int:
    """Write a shortest cycle of the logs: each entity delivers the message beside it before the next.

    It is one of the messages of one component, or of any for 0. Returns its length, 0 where there is none.
    """
    kept = narrowed(logs, component, only)
    occurrences = located(kept, len(component))
    result = np.empty(4, np.int32)
    if inversion(kept, occurrences, result):
        for k in range(2):
            entities[k] = result[k]
            cycle[k] = result[2 + k]
        return 2
    return shortest(kept, occurrences, effort, entities, cycle)


class Knowledge(NamedTuple):
    """Who knows each message, and its first send after that.

    Message m is known to entity `knower[k]`, whose sends from `after[k]` on follow that, for k from `first[m]` to
    `first[m + 1]`. The sends of entity e are `send_offsets[e]` to `send_offsets[e + 1]` of `sends`.
    """

    send_offsets: npt.NDArray[np.int64]
    sends: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    knower: npt.NDArray[np.int32]
    after: npt.NDArray[np.int64]


def knowledge_of(span: Span, columns: Columns) -> Knowledge:
    """Who knows which message of an execution."""
    event_offsets, event_kind, event_message = (
        columns.event_offsets,
        columns.event_kind,
        columns.event_message,
    )
    delivery = columns.delivery
    begin, end, base, stop = span
    first = np.zeros(stop - base + 1, np.int64)
    send_offsets = np.empty(end - begin + 1, np.int64)
    sends = np.empty(event_offsets[end] - event_offsets[begin], np.int32)
    count = 0
    for e in range(begin, end):
        send_offsets[e - begin] = count
        for k in range(event_offsets[e], event_offsets[e + 1]):
            if event_kind[k] == SEND:
                sends[count] = event_message[k]
                count += 1
            if event_kind[k] == SEND or event_kind[k] == delivery:
                first[event_message[k] + 1] += 1
    send_offsets[end - begin] = count
    for m in range(stop - base):
        first[m + 1] += first[m]
    knower = np.empty(first[stop - base], np.int32)
    after = np.empty(first[stop - base], np.int64)
    unseen = first.copy()
    count = 0
    for e in range(begin, end):
        for k in range(event_offsets[e], event_offsets[e + 1]):
            if event_kind[k] == SEND:
                count += 1
            if event_kind[k] == SEND or event_kind[k] == delivery:
                m = event_message[k]
                knower[unseen[m]] = e - begin
                after[unseen[m]] = count
                unseen[m] += 1
    return Knowledge(send_offsets, sends, first, knower, after)


def path_between(span: Span, columns: Columns, origin: int, target: int, path: Int32Out) -> int:
    """Write a shortest chain from the send of one message to the send of another; the number of its messages, or 0."""
    send_offsets, sends, first, knower, after = knowledge_of(span, columns)
    source = np.full(span.stop - span.base, -1, np.int32)
    queue = np.empty(span.stop - span.base, np.int32)
    reached = send_offsets[1:].copy()
    source[origin] = origin
    queue[0] = origin
    head = 0
    tail = 1
    while head < tail and source[target] < 0:
        m = queue[head]
        head += 1
        for there in range(first[m], first[m + 1]):
            i = knower[there]
            for k in range(after[there], reached[i]):
                q = sends[k]
                if source[q] < 0:
                    source[q] = m
                    queue[tail] = q
                    tail += 1
            reached[i] = min(reached[i], after[there])
    if source[target] < 0:
        return 0
    length = 1
    m = target
    while m != origin:
        m = source[m]
        length += 1
    m = target
    for k in range(length - 1, -1, -1):
        path[k] = m
        m = source[m]
    return length
