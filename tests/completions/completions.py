"""Completions of a recorded execution, made at random: rows are added, none is taken away.

Nothing here knows how an incomplete execution is judged. A completion is a complete execution, and is judged as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.testing.choices import Choices, chance, pick

NEW_ENTITY, NEW_MESSAGES = "E8", ("m7", "m9")
"""What a completion may add; random formulas name m9 (and E9, which is nowhere)."""

NEW_GROUP, NEW_VIEW = "G9", "V9"
"""A group that a completion may add, and a view where some are recorded; random formulas name them, too."""


def completion(choices: Choices, recorded: Execution, most: int = 5) -> Execution | None:
    """One completion by up to `most` rows; None where what was made is impossible."""
    rows = _Rows(choices, recorded)
    if chance(choices, 25):
        rows.add_entity()
    rows.add_groups()
    for _ in range(choices.integer(0, most)):
        rows.add()
    found = rows.execution()
    return found if possible(found) else None


def completions(choices: Choices, recorded: Execution, number: int) -> Iterator[Execution]:
    """Some completions, the one that adds nothing first."""
    trivial = replace(recorded, complete=True)
    if not possible(trivial):
        return
    yield trivial
    for _ in range(number):
        found = completion(choices, recorded)
        if found is not None:
            yield found


class _Rows:
    def __init__(self, choices: Choices, recorded: Execution) -> None:
        self.choices = choices
        self.recorded = recorded
        self.histories = {history.entity: list(history.events) for history in recorded.histories}
        self.messages = dict(recorded.messages)
        self.views = dict(recorded.views)
        self.groups = dict(recorded.groups)

    def execution(self) -> Execution:
        names = {event.message for events in self.histories.values() for event in events}
        histories = tuple(History(entity, tuple(events)) for entity, events in self.histories.items())
        messages = {name: message for name, message in self.messages.items() if name in names}
        return replace(
            self.recorded, histories=histories, messages=messages, groups=self.groups, complete=True
        )

    def add_entity(self) -> None:
        """An entity that has no row, and what goes to everybody goes to it; all recorded ones may have been named,
        too. It may be in a group, and in a view that is recorded."""
        everybody = frozenset(self.histories)
        self.histories[NEW_ENTITY] = []
        widen = chance(self.choices, 50)
        for name, message in self.messages.items():
            if widen and message.destinations == everybody:
                self.messages[name] = replace(message, destinations=everybody | {NEW_ENTITY})
        for group, inside in self.groups.items():
            self.groups[group] = inside | {NEW_ENTITY} if chance(self.choices, 40) else inside
        for view, inside in self.views.items():
            if chance(self.choices, 40):
                self.views[view] = inside | {NEW_ENTITY}
        for events in self.histories.values():
            events[:] = [
                event if event.view is None else replace(event, members=tuple(sorted(self.views[event.view])))
                for event in events
            ]

    def add_groups(self) -> None:
        """Who is in no recorded group may be in some: the row that says it is missing."""
        said = {entity for inside in self.groups.values() for entity in inside}
        for entity in self.histories.keys() - said:
            if chance(self.choices, 30):
                group = pick(self.choices, (*self.groups, NEW_GROUP))
                self.groups[group] = self.groups.get(group, frozenset()) | {entity}

    def add(self) -> None:
        """One row, or none where there is nobody to have it."""
        if not self.histories:
            return
        if self.views and chance(self.choices, 30):
            self.install()
            return
        kind = self.choices.integer(0, 9)
        if kind < 4:
            self.deliver(self.any_message())
        elif kind < 6:
            self.send(self.any_message())
        elif kind < 7:
            self.relay()
        elif kind < 8:
            self.insert(EventKind.ARRIVE, self.any_message(), self.any_entity())
        else:
            entity = self.any_entity()
            at = self.choices.integer(0, len(self.histories[entity]))
            self.histories[entity][at:at] = [Event(EventKind.CRASH), Event(EventKind.RECOVER)]

    def any_entity(self) -> str:
        return pick(self.choices, tuple(self.histories))

    def any_message(self) -> str:
        return pick(self.choices, (*self.messages, *NEW_MESSAGES))

    def deliver(self, name: str) -> None:
        self.insert(self.recorded.delivery, name, self.any_entity())

    def send(self, name: str) -> None:
        message = self.messages.get(name)
        if message is not None and message.logged:
            return
        known = None if message is None else message.sender
        entity = known or self.any_entity()
        everybody = tuple(self.histories)
        to = everybody if chance(self.choices, 40) else [e for e in everybody if chance(self.choices, 50)]
        carried = {} if message is None else message.attributes
        groups = frozenset(group for group in self.groups if chance(self.choices, 30))
        self.messages[name] = Message(name, entity, frozenset(to), carried, groups)
        self.insert(EventKind.SEND, name, entity)

    def install(self) -> None:
        """A view after the first time that an entity installs it, where there is one."""
        events = self.histories[self.any_entity()]
        view = pick(self.choices, (*self.views, NEW_VIEW))
        if view not in self.views:
            self.views[view] = frozenset(entity for entity in self.histories if chance(self.choices, 60))
        first = next((n + 1 for n, event in enumerate(events) if event.view == view), 0)
        members = tuple(sorted(self.views[view]))
        at = self.choices.integer(first, len(events))
        events.insert(at, Event(EventKind.VIEW, members=members, view=view))

    def relay(self) -> None:
        """A new message from one entity to another: what happened at one then happens before."""
        name = NEW_MESSAGES[0]
        if name not in self.messages:
            self.send(name)
            self.insert(self.recorded.delivery, name, self.any_entity())

    def insert(self, kind: EventKind, name: str, entity: str) -> None:
        """An event after the first one of its kind there about the message, where there is one."""
        if name not in self.messages:
            self.messages[name] = Message(name, pick(self.choices, (None, *self.histories)), None)
        events = self.histories[entity]
        first = next((n + 1 for n, e in enumerate(events) if (e.kind, e.message) == (kind, name)), 0)
        at = self.choices.integer(first, len(events))
        time = None if chance(self.choices, 30) else self.choices.integer(0, 60)
        clock = None
        if chance(self.choices, 30):
            clock = {entity: self.choices.integer(0, 4) for entity in self.histories}
        events.insert(at, Event(kind, name, time, clock))


def possible(execution: Execution) -> bool:
    """Whether happens-before has no cycle: by taking away events that nothing before them keeps waiting."""
    waiting = [list(history.events) for history in execution.histories]
    sends = {e.message for events in waiting for e in events if e.kind is EventKind.SEND}
    sent: set[str | None] = set()
    moved = True
    while moved:
        moved = False
        for events in waiting:
            while events:
                event = events[0]
                if event.kind is execution.delivery and event.message in sends - sent:
                    break
                if event.kind is EventKind.SEND:
                    sent.add(event.message)
                events.pop(0)
                moved = True
    return not any(waiting)
