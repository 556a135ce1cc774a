"""Executions as columns, and back: two forms of one thing, for scenarios, witnesses and tests. Traces become columns
without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from precedes.core.clock_order import Clocks
from precedes.core.columns import (
    MISSING_TIME,
    NO_ATTRIBUTES,
    NOBODY,
    NOT_RECORDED,
    Attributes,
    Batch,
    Groups,
    Int32,
    Int64,
    Members,
    Names,
    Views,
    clock_edges,
    offsets_of,
)
from precedes.core.execution import (
    ACKNOWLEDGEMENT_CODES,
    EVENT_CODES,
    Event,
    EventKind,
    Execution,
    History,
    Message,
)
from precedes.core.formula import Attribute, AttributeSort
from precedes.core.verdict import NO_REASON, Reason

_KINDS: Final = tuple(EventKind)


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
    return cut and bool(np.isin(batch.event_kind[start:stop], ACKNOWLEDGEMENT_CODES).any())


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


def _names(names: Iterable[str]) -> Names:
    listed = list(names)
    array = np.empty(len(listed), np.object_)
    array[:] = listed
    return array
