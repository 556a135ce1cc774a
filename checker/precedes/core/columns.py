"""Executions in columns: the twin of `precedes.core.execution` for engines that scan millions of them.

A `Batch` holds whole executions only, each with everything that was recorded. All lists are in compressed form:
`offsets[k]:offsets[k + 1]` are the entries of item k. Entities and messages have local numbers, from 0 within their
execution, in the order of their names (by code point), so that nothing depends on the order in which rows were read. N
counts entities over all executions, M messages; entity e of execution x has global number `entity_offsets[x] + e`,
messages likewise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from precedes.core.clock_order import ClockEdges, Clocks, Histories, compared, histories, own_counts
from precedes.core.execution import (
    ACKNOWLEDGEMENTS,
    EVENT_CODES,
    Event,
    EventKind,
    Execution,
    History,
    Message,
    view_number,
)
from precedes.core.formula import Attribute, AttributeSort, Carrier
from precedes.core.verdict import NO_REASON, Reason

MISSING_TIME: Final = np.iinfo(np.int64).min
NOT_RECORDED: Final = np.iinfo(np.int64).min
NOBODY: Final = -1

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Int8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]
Names = npt.NDArray[np.object_]

_KINDS: Final = tuple(EventKind)
_ACKNOWLEDGEMENTS: Final = [EVENT_CODES[kind] for kind in ACKNOWLEDGEMENTS]


@dataclass(frozen=True, slots=True)
class Members:
    """The members that events name, aligned with a batch's events. They need not be in the cluster.

    offsets              events + 1
    names
    """

    offsets: Int64
    names: Names


@dataclass(frozen=True, slots=True)
class Views:
    """The V views that the entities of a batch install.

    view                 events: local number of the view that it installs; NOBODY for any other event, and for a
                         view without an id
    offsets              E + 1  into the V views, which are in the order of their ids
    names                V      their ids
    member_offsets       V + 1
    members                     local entities, ascending; those that are not in the cluster are left out
    """

    view: Int32
    offsets: Int64
    names: Names
    member_offsets: Int64
    members: Int32

    @property
    def numbers(self) -> Int64:
        """The numbers of the V views; NOT_RECORDED where an id is no number."""
        found = map(view_number, self.names)
        return np.array([NOT_RECORDED if number is None else number for number in found], np.int64)


@dataclass(frozen=True, slots=True)
class Groups:
    """The G groups of entities, and which messages are addressed to them.

    offsets              E + 1  into the G groups, which are in the order of their names
    names                G
    member_offsets       G + 1
    members                     local entities, ascending
    addressed_offsets    M + 1
    addressed                   local groups, ascending: those that the message is addressed to by name
    """

    offsets: Int64
    names: Names
    member_offsets: Int64
    members: Int32
    addressed_offsets: Int64
    addressed: Int32


@dataclass(frozen=True, slots=True)
class Attributes:
    """What the M messages and the events of a batch carry.

    declared             A           the attributes of messages
    values               A x M       numbers, nanoseconds, or places in `texts`; NOT_RECORDED where there is none
    texts                            every text of the batch once, in any order; shared by the attributes
    of_events            B           the attributes of events
    event_values         B x events  as `values`
    """

    declared: tuple[Attribute, ...]
    values: Int64
    texts: Names
    of_events: tuple[Attribute, ...] = ()
    event_values: Int64 = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    def of(self, attribute: Attribute) -> Int64 | None:
        """The values (M, or events) of an attribute; None where it was not asked for when rows were read."""
        if attribute in self.of_events:
            found: Int64 = self.event_values[self.of_events.index(attribute)]
            return found
        return self.values[self.declared.index(attribute)] if attribute in self.declared else None


NO_ATTRIBUTES: Final = Attributes((), np.zeros((0, 0), np.int64), np.zeros(0, np.object_))


def of_carrier(attributes: Iterable[Attribute], carrier: Carrier) -> tuple[Attribute, ...]:
    """Those of some attributes that messages carry, or those that events carry."""
    return tuple(attribute for attribute in attributes if attribute.carrier is carrier)


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the rows of events were read, aligned with a batch's events.

    files                the files, each once
    file                 events: place in `files`
    row                  events: number of the row in its file, as its reader counts
    """

    files: tuple[str, ...]
    file: Int32
    row: Int64


@dataclass(frozen=True, slots=True)
class Batch:
    """E executions with N entities and M messages in all.

    names                E      the executions' ids
    unknown              E      bits of `Reason` that make all of an execution unknown: contradictions; else 0
    contradictions       {x: text}  for those executions, what contradicts what, both rows named
    entity_offsets       E + 1  into the N entities
    entity_names         N
    message_offsets      E + 1  into the M messages
    message_names        M
    sender               M      local entity, NOBODY for a message that nobody sent
    send_logged          M      whether the send stands in the sender's history
    send_position        M      place in SL of the sender, from 0 (NOBODY where not logged)
    send_time            M      nanoseconds or MISSING_TIME
    to_all               M      addressed to every entity; its list of destinations is then empty
    destination_offsets  M + 1
    destinations                local entities, ascending
    sent_offsets         N + 1  SL per entity: local messages in order of sending
    sent
    delivered_offsets    N + 1  RL per entity: local messages in order of their first delivery
    delivered
    delivered_time              aligned with `delivered`: nanoseconds or MISSING_TIME
    repeated                    aligned with `delivered`: delivered there more than once
    event_offsets        N + 1  whole histories, in order
    event_kind                  index into `EventKind` in its order of definition
    event_message               local message, NOBODY where the event has none
    event_time                  nanoseconds or MISSING_TIME
    delta, epsilon              nanoseconds, of every execution of the batch; delta None where not given
    complete                    False: what was not recorded may yet have happened
    delivery                    the kind of event that counts as delivery
    interleaved          N      False where only SL and RL are known (see `History`); None: known everywhere
    marks                N      deliveries before the entity's failure mark, NOBODY without; None: no marks
    clocks                      None: no clock is recorded
    by_clocks                   recorded clocks are evidence of what happened before what
    clock_edges                 None: these clocks add nothing to the order of rows
    history_doubt        N      reasons why the order of the entity's events is not known; None: known everywhere
    order_doubt          E      reasons why happens-before is not known; None: known everywhere
    acknowledging        E      it is a part of an execution of which acknowledgements are recorded; None: none is
    members                     None: no event names members
    views                       None: no view is installed
    groups                      None: there are no groups
    attributes                  what messages and events carry, of what was asked for
    origins                     None: it was not kept where rows were read
    """

    names: Names
    unknown: Int32
    contradictions: dict[int, str]
    entity_offsets: Int64
    entity_names: Names
    message_offsets: Int64
    message_names: Names
    sender: Int32
    send_logged: Bool
    send_position: Int32
    send_time: Int64
    to_all: Bool
    destination_offsets: Int64
    destinations: Int32
    sent_offsets: Int64
    sent: Int32
    delivered_offsets: Int64
    delivered: Int32
    delivered_time: Int64
    repeated: Bool
    event_offsets: Int64
    event_kind: Int8
    event_message: Int32
    event_time: Int64
    delta: int | None = None
    epsilon: int = 0
    complete: bool = True
    delivery: EventKind = EventKind.DELIVER
    interleaved: Bool | None = None
    marks: Int32 | None = None
    clocks: Clocks | None = None
    by_clocks: bool = False
    clock_edges: ClockEdges | None = None
    history_doubt: Int32 | None = None
    order_doubt: Int32 | None = None
    acknowledging: Bool | None = None
    members: Members | None = None
    views: Views | None = None
    groups: Groups | None = None
    attributes: Attributes = NO_ATTRIBUTES
    origins: Origins | None = None

    @property
    def acknowledgements(self) -> Int64:
        """The numbers of the events by which an entity accepted a message or gave it back."""
        return np.flatnonzero(np.isin(self.event_kind, _ACKNOWLEDGEMENTS))

    @property
    def executions(self) -> int:
        """E."""
        return len(self.names)


def execution_of(batch: Batch, x: int, messages: Collection[int] | None = None) -> Execution:
    """Execution number x as values, its entities in the order of their names.

    `messages` (local numbers) leaves out the events of all others, and keeps those that have no message.
    """
    first_entity, end_entity = int(batch.entity_offsets[x]), int(batch.entity_offsets[x + 1])
    entities: list[str] = batch.entity_names[first_entity:end_entity].tolist()
    first_message = int(batch.message_offsets[x])
    kept = range(int(batch.message_offsets[x + 1]) - first_message) if messages is None else sorted(messages)
    names: list[str] = batch.message_names[first_message : int(batch.message_offsets[x + 1])].tolist()
    wanted = None if messages is None else frozenset(kept)
    histories: list[History] = []
    marks: dict[str, int] = {}
    for e, entity in enumerate(entities):
        start, stop = (
            int(batch.event_offsets[first_entity + e]),
            int(batch.event_offsets[first_entity + e + 1]),
        )
        numbers = batch.event_message[start:stop].tolist()
        events = tuple(
            _event_of(batch, x, k, None if m == NOBODY else names[m], entities)
            for k, m in enumerate(numbers, start)
            if wanted is None or m == NOBODY or m in wanted
        )
        known = batch.interleaved is None or bool(batch.interleaved[first_entity + e])
        histories.append(History(entity, events, known, _reasons(batch.history_doubt, first_entity + e)))
        if batch.marks is not None and batch.marks[first_entity + e] != NOBODY:
            marks[entity] = int(batch.marks[first_entity + e])
    return Execution(
        name=str(batch.names[x]),
        histories=tuple(histories),
        messages={names[m]: _message_of(batch, x, first_message + m, names[m], entities) for m in kept},
        delta=batch.delta,
        epsilon=batch.epsilon,
        complete=batch.complete,
        marks=marks,
        delivery=batch.delivery,
        by_clocks=batch.by_clocks,
        doubt=_reasons(batch.order_doubt, x),
        acknowledging=_acknowledging(batch, x, cut=messages is not None),
        groups=_groups_of(batch.groups, x, entities),
    )


def _groups_of(groups: Groups | None, x: int, entities: Sequence[str]) -> dict[str, frozenset[str]]:
    if groups is None:
        return {}
    return {
        str(groups.names[g]): frozenset(
            entities[e]
            for e in groups.members[groups.member_offsets[g] : groups.member_offsets[g + 1]].tolist()
        )
        for g in range(int(groups.offsets[x]), int(groups.offsets[x + 1]))
    }


def _reasons(doubt: Int32 | None, place: int) -> Reason:
    return NO_REASON if doubt is None else Reason(int(doubt[place]))


def _acknowledging(batch: Batch, x: int, *, cut: bool) -> bool:
    if batch.acknowledging is not None and batch.acknowledging[x]:
        return True
    start, stop = batch.event_offsets[batch.entity_offsets[x : x + 2]].tolist()
    return cut and bool(np.isin(batch.event_kind[start:stop], _ACKNOWLEDGEMENTS).any())


def _event_of(batch: Batch, x: int, k: int, message: str | None, entities: Sequence[str]) -> Event:
    time = int(batch.event_time[k])
    clock: dict[str, int] | None = None
    counted = batch.clocks is not None and bool(batch.clocks.counted[k])
    if batch.clocks is not None and batch.clocks.recorded[k]:
        part = slice(int(batch.clocks.offsets[k]), int(batch.clocks.offsets[k + 1]))
        components = zip(
            batch.clocks.entities[part].tolist(), batch.clocks.counts[part].tolist(), strict=True
        )
        clock = {entities[e]: count for e, count in components}
    members: tuple[str, ...] = ()
    if batch.members is not None:
        members = tuple(
            batch.members.names[int(batch.members.offsets[k]) : int(batch.members.offsets[k + 1])].tolist()
        )
    view: str | None = None
    if batch.views is not None and batch.views.view[k] != NOBODY:
        view = str(batch.views.names[int(batch.views.offsets[x]) + int(batch.views.view[k])])
    kind = _KINDS[int(batch.event_kind[k])]
    carried = _recorded(batch.attributes, batch.attributes.of_events, batch.attributes.event_values, k)
    return Event(
        kind, message, None if time == MISSING_TIME else time, clock, members, counted, view, carried
    )


def _message_of(batch: Batch, x: int, m: int, name: str, entities: Sequence[str]) -> Message:
    sender = int(batch.sender[m])
    carried = _recorded(batch.attributes, batch.attributes.declared, batch.attributes.values, m)
    if sender == NOBODY:
        return Message(name, None, None, carried)
    if not batch.send_logged[m]:
        return Message(name, entities[sender], None, carried)
    if batch.to_all[m]:
        return Message(name, entities[sender], frozenset(entities), carried)
    part = batch.destinations[int(batch.destination_offsets[m]) : int(batch.destination_offsets[m + 1])]
    to = frozenset(entities[e] for e in part.tolist())
    return Message(name, entities[sender], to, carried, _addressed(batch.groups, x, m))


def _addressed(groups: Groups | None, x: int, m: int) -> frozenset[str]:
    if groups is None:
        return frozenset()
    part = groups.addressed[groups.addressed_offsets[m] : groups.addressed_offsets[m + 1]]
    return frozenset(str(groups.names[int(groups.offsets[x]) + g]) for g in part.tolist())


def _recorded(
    attributes: Attributes, declared: tuple[Attribute, ...], values: Int64, place: int
) -> dict[Attribute, str | int]:
    """What is recorded at a place of some values."""
    if not declared:
        return {}
    return {
        attribute: str(attributes.texts[value]) if attribute.sort is AttributeSort.TEXT else int(value)
        for attribute, value in zip(declared, values[:, place], strict=True)
        if value != NOT_RECORDED
    }


def batch_of(executions: Sequence[Execution]) -> Batch:
    """The executions as a batch, in their order.

    A loop over values, for scenarios and tests: traces do not come this way.

    Raises ValueError where they differ in delta, epsilon, completeness, what counts as delivery, or whether clocks are
    evidence, which a batch has once, and for a history that has a message that the execution has not.
    """
    settings = {(e.delta, e.epsilon, e.complete, e.delivery, e.by_clocks) for e in executions}
    if len(settings) > 1:
        raise ValueError(
            "executions with different delta, epsilon, completeness, delivery or evidence cannot be in one batch"
        )
    delta, epsilon, complete, delivery, by_clocks = (
        settings.pop() if settings else (None, 0, True, EventKind.DELIVER, False)
    )
    lists = _Lists()
    for execution in executions:
        lists.add(execution)
    columns = Batch(
        names=_names(execution.name for execution in executions),
        unknown=np.zeros(len(executions), np.int32),
        contradictions={},
        entity_offsets=offsets_of(lists.entity_counts),
        entity_names=_names(lists.entity_names),
        message_offsets=offsets_of(lists.message_counts),
        message_names=_names(lists.message_names),
        sender=np.array(lists.sender, np.int32),
        send_logged=np.array(lists.send_logged, np.bool_),
        send_position=np.array(lists.send_position, np.int32),
        send_time=np.array(lists.send_time, np.int64),
        to_all=np.array(lists.to_all, np.bool_),
        destination_offsets=offsets_of(lists.destination_counts),
        destinations=np.array(lists.destinations, np.int32),
        sent_offsets=offsets_of(lists.sent_counts),
        sent=np.array(lists.sent, np.int32),
        delivered_offsets=offsets_of(lists.delivered_counts),
        delivered=np.array(lists.delivered, np.int32),
        delivered_time=np.array(lists.delivered_time, np.int64),
        repeated=np.array(lists.repeated, np.bool_),
        event_offsets=offsets_of(lists.event_counts),
        event_kind=np.array(lists.event_kind, np.int8),
        event_message=np.array(lists.event_message, np.int32),
        event_time=np.array(lists.event_time, np.int64),
        delta=delta,
        epsilon=epsilon,
        complete=complete,
        delivery=delivery,
        interleaved=None if all(lists.interleaved) else np.array(lists.interleaved, np.bool_),
        marks=None if all(mark == NOBODY for mark in lists.marks) else np.array(lists.marks, np.int32),
        clocks=lists.clocks(),
        by_clocks=by_clocks,
        history_doubt=_doubts(lists.history_doubt),
        order_doubt=_doubts(lists.order_doubt),
        acknowledging=np.array(lists.acknowledging) if any(lists.acknowledging) else None,
        members=lists.members(),
        views=_views(executions),
        groups=_groups(executions),
        attributes=lists.attributes(),
    )
    return replace(columns, clock_edges=clock_edges(columns))


def clock_edges(batch: Batch) -> ClockEdges | None:
    """What the clocks of a batch say beyond its rows, where they are evidence and say anything."""
    if batch.clocks is None or not batch.by_clocks:
        return None
    edges = compared(histories_of(batch), batch.clocks).edges
    return edges if len(edges.earlier) else None


def own_if_counted(batch: Batch) -> Int64:
    """Of each event that its clock counts the count for its own entity, 0 of all others."""
    if batch.clocks is None:
        return np.zeros(len(batch.event_kind), np.int64)
    return np.where(batch.clocks.counted, own_counts(histories_of(batch), batch.clocks), 0)


def histories_of(batch: Batch) -> Histories:
    """The events of a batch, as the order of its clocks is found from them."""
    return histories(
        batch.entity_offsets,
        batch.message_offsets,
        batch.event_offsets,
        batch.event_kind,
        batch.event_message,
        batch.delivery,
    )


@dataclass(slots=True)
class _Lists:
    """The columns of a batch while they grow; `counts` are the lengths that offsets are made of."""

    entity_counts: list[int] = field(default_factory=list)
    entity_names: list[str] = field(default_factory=list)
    interleaved: list[bool] = field(default_factory=list)
    history_doubt: list[int] = field(default_factory=list)
    order_doubt: list[int] = field(default_factory=list)
    acknowledging: list[bool] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    message_counts: list[int] = field(default_factory=list)
    message_names: list[str] = field(default_factory=list)
    sender: list[int] = field(default_factory=list)
    send_logged: list[bool] = field(default_factory=list)
    send_position: list[int] = field(default_factory=list)
    send_time: list[int] = field(default_factory=list)
    to_all: list[bool] = field(default_factory=list)
    destination_counts: list[int] = field(default_factory=list)
    destinations: list[int] = field(default_factory=list)
    sent_counts: list[int] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    delivered_counts: list[int] = field(default_factory=list)
    delivered: list[int] = field(default_factory=list)
    delivered_time: list[int] = field(default_factory=list)
    repeated: list[bool] = field(default_factory=list)
    event_counts: list[int] = field(default_factory=list)
    event_kind: list[int] = field(default_factory=list)
    event_message: list[int] = field(default_factory=list)
    event_time: list[int] = field(default_factory=list)
    event_clock: list[dict[int, int] | None] = field(default_factory=list)
    event_counted: list[bool] = field(default_factory=list)
    event_members: list[tuple[str, ...]] = field(default_factory=list)
    event_carried: list[Mapping[Attribute, str | int]] = field(default_factory=list)
    carried: list[Mapping[Attribute, str | int]] = field(default_factory=list)

    def add(self, execution: Execution) -> None:
        entities = {name: e for e, name in enumerate(sorted(execution.entities))}
        messages = {name: m for m, name in enumerate(sorted(execution.messages))}
        self.entity_counts.append(len(entities))
        self.entity_names += entities
        self.message_counts.append(len(messages))
        self.message_names += messages
        places: dict[int, int] = {}
        times: dict[int, int] = {}
        self.order_doubt.append(execution.doubt)
        self.acknowledging.append(execution.acknowledging)
        for entity in entities:
            history = execution.history(entity)
            self.interleaved.append(history.interleaved)
            self.history_doubt.append(history.doubt)
            self.marks.append(execution.marks.get(entity, NOBODY))
            self._add_history(history, execution.delivery, entities, messages, places, times)
        for name, m in messages.items():
            self._add_message(
                execution.messages[name], entities, places.get(m, NOBODY), times.get(m, MISSING_TIME)
            )

    def _add_history(
        self,
        history: History,
        delivery: EventKind,
        entities: dict[str, int],
        messages: dict[str, int],
        places: dict[int, int],
        times: dict[int, int],
    ) -> None:
        sent: dict[int, int] = {}
        delivered: dict[int, int] = {}
        repeated: set[int] = set()
        for event in history.events:
            if event.message is not None and event.message not in messages:
                raise ValueError(
                    f"{event.message} is in the history of {history.entity}, but not in the execution"
                )
            m = NOBODY if event.message is None else messages[event.message]
            time = MISSING_TIME if event.time is None else event.time
            self.event_kind.append(EVENT_CODES[event.kind])
            self.event_message.append(m)
            self.event_time.append(time)
            clock = event.clock
            self.event_clock.append(None if clock is None else {entities[e]: n for e, n in clock.items()})
            self.event_counted.append(event.counted)
            self.event_members.append(event.members)
            self.event_carried.append(event.attributes)
            if event.kind is EventKind.SEND and m not in sent:
                places[m], times[m] = len(sent), time
                sent[m] = time
            if event.kind is delivery:
                if m in delivered:
                    repeated.add(m)
                delivered.setdefault(m, time)
        self.event_counts.append(len(history.events))
        self.sent_counts.append(len(sent))
        self.sent += sent
        self.delivered_counts.append(len(delivered))
        self.delivered += delivered
        self.delivered_time += delivered.values()
        self.repeated += [m in repeated for m in delivered]

    def _add_message(self, message: Message, entities: dict[str, int], place: int, time: int) -> None:
        destinations = sorted(entities[name] for name in message.destinations or ())
        self.sender.append(NOBODY if message.sender is None else entities[message.sender])
        self.send_logged.append(message.logged)
        self.send_position.append(place)
        self.send_time.append(time)
        self.to_all.append(False)
        self.destination_counts.append(len(destinations))
        self.destinations += destinations
        self.carried.append(message.attributes)

    def attributes(self) -> Attributes:
        texts: dict[str, int] = {}
        of_messages, of_events = (_valued(each, texts) for each in (self.carried, self.event_carried))
        if not of_messages[0] and not of_events[0]:
            return NO_ATTRIBUTES
        return Attributes(*of_messages, _names(texts), *of_events)

    def clocks(self) -> Clocks | None:
        if all(clock is None for clock in self.event_clock):
            return None
        components = [sorted(clock.items()) if clock else [] for clock in self.event_clock]
        return Clocks(
            recorded=np.array([clock is not None for clock in self.event_clock], np.bool_),
            counted=np.array(self.event_counted, np.bool_),
            offsets=offsets_of([len(component) for component in components]),
            entities=np.array([e for component in components for e, _ in component], np.int32),
            counts=np.array([count for component in components for _, count in component], np.int64),
        )

    def members(self) -> Members | None:
        if not any(self.event_members):
            return None
        return Members(
            offsets=offsets_of([len(members) for members in self.event_members]),
            names=_names(name for members in self.event_members for name in members),
        )


def _valued(
    carried: Sequence[Mapping[Attribute, str | int]], texts: dict[str, int]
) -> tuple[tuple[Attribute, ...], Int64]:
    """The attributes that some things carry, and their values; the texts among these go to `texts`."""
    declared = sorted({attribute for each in carried for attribute in each}, key=lambda one: one.name)
    values = np.full((len(declared), len(carried)), NOT_RECORDED, np.int64)
    for row, attribute in enumerate(declared):
        for place, each in enumerate(carried):
            value = each.get(attribute)
            if isinstance(value, str):
                values[row, place] = texts.setdefault(value, len(texts))
            elif value is not None:
                values[row, place] = value
    return tuple(declared), values


def _views(executions: Sequence[Execution]) -> Views | None:
    installed: list[int] = []
    ids: list[list[str]] = []
    members: list[list[int]] = []
    for execution in executions:
        views = sorted(execution.views)
        entities = {name: e for e, name in enumerate(sorted(execution.entities))}
        ids.append(views)
        members += (sorted(entities[e] for e in execution.views[v] if e in entities) for v in views)
        numbers = {view: v for v, view in enumerate(views)}
        for entity in entities:
            installed += (
                NOBODY if event.view is None else numbers[event.view]
                for event in execution.history(entity).events
            )
    histories = (history for execution in executions for history in execution.histories)
    if not any(event.kind is EventKind.VIEW for history in histories for event in history.events):
        return None
    return Views(
        view=np.array(installed, np.int32),
        offsets=offsets_of([len(views) for views in ids]),
        names=_names(view for views in ids for view in views),
        member_offsets=offsets_of([len(inside) for inside in members]),
        members=np.array([e for inside in members for e in inside], np.int32),
    )


def _groups(executions: Sequence[Execution]) -> Groups | None:
    if not any(execution.groups for execution in executions):
        return None
    ids: list[list[str]] = []
    members: list[list[int]] = []
    addressed: list[list[int]] = []
    for execution in executions:
        groups = sorted(execution.groups)
        entities = {name: e for e, name in enumerate(sorted(execution.entities))}
        ids.append(groups)
        members += (sorted(entities[e] for e in execution.groups[g]) for g in groups)
        numbers = {group: g for g, group in enumerate(groups)}
        addressed += (
            sorted(numbers[g] for g in execution.messages[name].groups) for name in sorted(execution.messages)
        )
    return Groups(
        offsets=offsets_of([len(groups) for groups in ids]),
        names=_names(group for groups in ids for group in groups),
        member_offsets=offsets_of([len(inside) for inside in members]),
        members=np.array([e for inside in members for e in inside], np.int32),
        addressed_offsets=offsets_of([len(groups) for groups in addressed]),
        addressed=np.array([g for groups in addressed for g in groups], np.int32),
    )


def _doubts(reasons: Sequence[int]) -> Int32 | None:
    return np.array(reasons, np.int32) if any(reasons) else None


def offsets_of(counts: Sequence[int] | npt.NDArray[Any]) -> Int64:
    """Offsets of lists of the given lengths."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _names(names: Iterable[str]) -> Names:
    listed = list(names)
    array = np.empty(len(listed), np.object_)
    array[:] = listed
    return array
