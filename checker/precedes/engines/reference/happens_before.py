"""Happens-before by its definition: the least relation over the events of an execution (Δ-causal paper,
Definition 1).

1. e1 ~> e2 where one entity did e1 and then e2.
2. s(m) ~> r(m). The receipt r(m) is an event of the execution's kind of delivery, and every delivery of m is
   one, repeats too. A delivery of what nobody sent has no such edge. Arrivals (where they are not the
   deliveries), discards, crashes, views and local events are internal: they stand in the order of their entity
   and carry nothing from another, for the process knows of a message once it is delivered.
3. e1 ~> e2 where e1 ~> e and e ~> e2.
4. Where recorded clocks are evidence: e1 ~> e2 where the clock of e1 counts e1, at entity k, and that of e2 has as
   much for k (`precedes.core.clock_order`).

It is found by following edges; no clock is computed here, so that clocks can be checked against it.

Where the order of some entity's events is not known, or clocks and rows disagree, nothing is said of any two events.

Some edges may not be known: where only SL and RL of an entity are, how its sends and its other events follow
each other; where a send was not logged, its place among the events of its sender. Two graphs bound the
relation: the edges that are certain, and those together with every edge of unknown direction that the certain
ones do not contradict, a possible execution having no cycle. What the certain edges reach is true, what they
reach the other way round and what the possible edges do not reach is false, all else is unknown. The first
bound is exact: if the certain edges do not lead from a to b, some possible execution has b first. The second
may call unknown what no possible execution has, where edges that are possible one by one exclude each other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, pairwise, product
from operator import itemgetter
from typing import assert_never

from precedes.core.execution import EventKind, Execution, History
from precedes.core.formula import ArrivalEvent, DeliveryEvent, EntityNamed, EventTerm, MessageNamed, SendEvent
from precedes.core.verdict import FALSE, TRUE, Reason

Edges = dict[int, list[int]]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event as a node of the relation; `index` is its place in the history, None for a send that was not
    logged."""

    entity: str
    kind: EventKind
    message: str | None
    index: int | None


class HappensBeforeRelation:
    """The relation of one execution. Events are numbers into `events`."""

    def __init__(self, execution: Execution) -> None:
        self.events: list[Occurrence] = []
        self._delivery = execution.delivery
        self._first: dict[tuple[EventKind, str, str], int] = {}
        self._send: dict[str, int] = {}
        self._certain: Edges = {}
        self._open: dict[Reason, list[tuple[int, int]]] = {
            Reason.INTERLEAVING: [],
            Reason.SEND_NOT_LOGGED: [],
        }
        self._reached: dict[tuple[int, Reason | None], frozenset[int]] = {}
        self.doubt = execution.doubt
        for history in execution.histories:
            self._add_history(history)
        self._add_unlogged_sends(execution)
        for number, event in enumerate(self.events):
            if event.kind is self._delivery and event.message in self._send:
                self._add_edge(self._send[event.message], number)
        if execution.by_clocks:
            self._add_clocks(execution)

    # ---- building ------------------------------------------------------------------------------------------

    def _add_event(self, event: Occurrence) -> int:
        number = len(self.events)
        self.events.append(event)
        self._certain[number] = []
        if event.message is not None:
            self._first.setdefault((event.kind, event.message, event.entity), number)
            if event.kind is EventKind.SEND:
                self._send[event.message] = number
        return number

    def _add_edge(self, first: int, second: int) -> None:
        self._certain[first].append(second)

    def _add_history(self, history: History) -> None:
        sends: list[int] = []
        others: list[int] = []
        numbers: list[int] = []
        for index, event in enumerate(history.events):
            if event.kind is EventKind.SEND and event.message in self._send:
                continue
            number = self._add_event(Occurrence(history.entity, event.kind, event.message, index))
            numbers.append(number)
            (sends if event.kind is EventKind.SEND else others).append(number)
        for chain in [numbers] if history.interleaved else [sends, others]:
            for first, second in pairwise(chain):
                self._add_edge(first, second)
        if not history.interleaved:
            self._open[Reason.INTERLEAVING] += product(sends, others)

    def _add_clocks(self, execution: Execution) -> None:
        """Rule 4: of every entity, the last event that an event's clock counts came before it, and so all earlier."""
        clocks: dict[int, Mapping[str, int]] = {}
        counted: dict[str, list[tuple[int, int]]] = {entity: [] for entity in execution.entities}
        for number, occurrence in enumerate(self.events):
            if occurrence.index is None:
                continue
            event = execution.history(occurrence.entity).events[occurrence.index]
            if event.clock is not None:
                clocks[number] = event.clock
                if event.counted:
                    counted[occurrence.entity].append((event.clock.get(occurrence.entity, 0), number))
        for own in counted.values():
            own.sort()
        for number, clock in clocks.items():
            for entity, count in clock.items():
                if entity != self.events[number].entity and (
                    place := bisect_right(counted[entity], count, key=itemgetter(0))
                ):
                    self._add_edge(counted[entity][place - 1][1], number)

    def _add_unlogged_sends(self, execution: Execution) -> None:
        here: dict[str, list[int]] = {entity: [] for entity in execution.entities}
        for number, event in enumerate(self.events):
            here[event.entity].append(number)
        added: dict[str, list[int]] = {entity: [] for entity in execution.entities}
        for name, message in execution.messages.items():
            if message.sender in here and name not in self._send:
                added[message.sender].append(
                    self._add_event(Occurrence(message.sender, EventKind.SEND, name, None))
                )
        for entity, sends in added.items():
            self._open[Reason.SEND_NOT_LOGGED] += [*product(sends, here[entity]), *combinations(sends, 2)]

    # ---- events --------------------------------------------------------------------------------------------

    def send(self, message: str) -> int | None:
        """The send of a message; None for one that nobody sent."""
        return self._send.get(message)

    def delivery(self, message: str, entity: str) -> int | None:
        """The first delivery of a message at an entity, if there is one."""
        return self._first.get((self._delivery, message, entity))

    def arrival(self, message: str, entity: str) -> int | None:
        """The first arrival of a message at an entity, if there is one."""
        return self._first.get((EventKind.ARRIVE, message, entity))

    def named(self, term: EventTerm) -> int | None:
        """The event that a ground term names."""
        match term:
            case SendEvent(MessageNamed(message)):
                return self.send(message)
            case DeliveryEvent(MessageNamed(message), EntityNamed(entity)):
                return self.delivery(message, entity)
            case ArrivalEvent(MessageNamed(message), EntityNamed(entity)):
                return self.arrival(message, entity)
            case SendEvent() | DeliveryEvent() | ArrivalEvent():
                return None
            case _:
                assert_never(term)

    def of_entity(self, entity: str) -> list[int]:
        """The events of an entity that clocks count: sends, deliveries and local events, unlogged sends among them."""
        counted = (EventKind.SEND, self._delivery, EventKind.LOCAL)
        return [n for n, event in enumerate(self.events) if event.entity == entity and event.kind in counted]

    # ---- the relation --------------------------------------------------------------------------------------

    @cached_property
    def cycle(self) -> tuple[Occurrence, ...]:
        """A cycle of the certain edges, the first event being also the last; empty on a possible execution."""
        sorter = TopologicalSorter[int]()
        for first, following in self._certain.items():
            for second in following:
                sorter.add(second, first)
        try:
            sorter.prepare()
        except CycleError as error:
            return tuple(self.events[number] for number in error.args[1])
        return ()

    def before(self, first: int, second: int) -> int:
        """Whether `first ~> second`, as a value of `precedes.core.verdict`."""
        if self.doubt:
            return FALSE if first == second else self.doubt
        if self.cycle:
            return Reason.CYCLE
        if second in self._certainly_after(first):
            return TRUE
        if first == second or first in self._certainly_after(second):
            return FALSE
        if second not in self._possibly_after(first, *self._open):
            return FALSE
        alone = [reason for reason in self._open if second in self._possibly_after(first, reason)]
        return sum(alone or self._open)

    def in_completions(self, first: EventTerm, second: EventTerm) -> int:
        """Whether `first ~> second`, both by name: TRUE in every completion, FALSE in none, else INCOMPLETE.

        Rows that are added only add edges.
        """
        if self.doubt:
            return FALSE if first == second else self.doubt
        if self.cycle:
            return Reason.CYCLE
        one, other = self.named(first), self.named(second)
        if one is not None and other is not None and other in self._certainly_after(one):
            return TRUE
        return FALSE if self._never(first, second) else Reason.INCOMPLETE

    def _never(self, first: EventTerm, second: EventTerm) -> bool:
        """Whether `second` is `first`, or comes before it wherever there are both: a completion has no cycle."""
        one, other = self.named(first), self.named(second)
        if first == second and _names_all(first):
            return True
        if one is None:
            # What was not recorded comes after its send, if it is a delivery, and after nothing else.
            if not isinstance(first, DeliveryEvent) or not isinstance(first.message, MessageNamed):
                return False
            if second == SendEvent(first.message):
                return True
            one = self.send(first.message.name)
            if one is None:
                return False
        if other is not None:
            return one == other or one in self._certainly_after(other)
        if not isinstance(second, SendEvent) or not isinstance(second.message, MessageNamed):
            return False
        return any(one == n or one in self._certainly_after(n) for n in self._deliveries(second.message.name))

    def _deliveries(self, message: str) -> list[int]:
        return [
            n
            for n, event in enumerate(self.events)
            if event.kind is self._delivery and event.message == message
        ]

    def chain(self, first: int, second: int) -> tuple[Occurrence, ...]:
        """Events that make `first ~> second`: the two, and the sends and deliveries between them, over the
        fewest messages.

        Empty where it is not certain.
        """
        if self.doubt or self.cycle or second not in self._certainly_after(first):
            return ()
        origin: dict[int, int] = {}
        settled: set[int] = set()
        waiting = deque([(first, first)])
        while waiting:
            number, source = waiting.popleft()
            if number in settled:
                continue
            settled.add(number)
            origin[number] = source
            for following in self._certain[number]:
                if self.events[following].entity == self.events[number].entity:
                    waiting.appendleft((following, number))
                else:
                    waiting.append((following, number))
        path = [second]
        while path[-1] != first:
            path.append(origin[path[-1]])
        path.reverse()
        return tuple(self.events[number] for number in _turning_points(path, self.events))

    def _certainly_after(self, number: int) -> frozenset[int]:
        key = (number, None)
        if key not in self._reached:
            self._reached[key] = _reachable(number, [self._certain])
        return self._reached[key]

    def _possibly_after(self, number: int, *reasons: Reason) -> frozenset[int]:
        key = (number, reasons[0] if len(reasons) == 1 else Reason(0))
        if key not in self._reached:
            self._reached[key] = _reachable(
                number, [self._certain, *(self._possible[reason] for reason in reasons)]
            )
        return self._reached[key]

    @cached_property
    def _possible(self) -> dict[Reason, Edges]:
        """The edges of unknown direction, both ways, without those that would close a cycle with the certain
        ones."""
        possible: dict[Reason, Edges] = {}
        for reason, pairs in self._open.items():
            edges: Edges = {}
            for pair in pairs:
                for first, second in (pair, pair[::-1]):
                    if first not in self._certainly_after(second):
                        edges.setdefault(first, []).append(second)
            possible[reason] = edges
        return possible


def _names_all(event: EventTerm) -> bool:
    return isinstance(event, SendEvent) or isinstance(event.entity, EntityNamed)


def _reachable(start: int, graphs: Sequence[Edges]) -> frozenset[int]:
    """What one edge or more of the graphs lead to."""
    reached: set[int] = set()
    waiting = [start]
    while waiting:
        number = waiting.pop()
        for graph in graphs:
            for following in graph.get(number, ()):
                if following not in reached:
                    reached.add(following)
                    waiting.append(following)
    return frozenset(reached)


def _turning_points(path: Sequence[int], events: Sequence[Occurrence]) -> Iterable[int]:
    """The ends of a path and of every step in it from one entity to another."""
    for place, number in enumerate(path):
        at_end = place in (0, len(path) - 1)
        if at_end or any(events[path[place + step]].entity != events[number].entity for step in (-1, 1)):
            yield number
