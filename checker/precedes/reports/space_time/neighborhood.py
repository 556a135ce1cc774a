"""The part of a large execution that a picture shows: what is marked and the events around it.

Lifelines and arrows of thousands of events are a black page. What is left out is counted, and said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from precedes.core.counts import counted
from precedes.core.execution import Event, EventKind, Execution, History
from precedes.reports.places import place_of
from precedes.reports.space_time.layout import EventPlace
from precedes.reports.space_time.marks import Marks

MOST_EVENTS: Final = 60
"""Events of an execution that is drawn whole."""
MOST_ENTITIES: Final = 6
"""Lifelines of what is drawn, if no more are marked."""
FEW_ENTITIES: Final = 5
"""Lifelines that are legible beside other things on a page; up to so many are shown that nothing is marked at."""
_FAR: Final = 12
"""Events before and after a marked one that are looked at."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of an execution. `gaps` says of an event how many were left out between the one before it and itself, and
    of the place after the last one how many are left out there. `left_out` is the sentence about all of them.
    """

    execution: Execution
    gaps: Mapping[EventPlace, int] = field(default_factory=dict)
    left_out: str = ""


def neighborhood(
    execution: Execution, marks: Marks, most: int = MOST_EVENTS, lifelines: int = MOST_ENTITIES
) -> Excerpt:
    """An execution of up to `most` events and `lifelines` entities, or about a third of the events of a larger one:
    those around what is marked, or at its beginning where nothing is.
    """
    events = sum(len(history.events) for history in execution.histories)
    if events <= most and len(execution.entities) <= lifelines:
        return Excerpt(execution)
    return _Choice(execution, marks, most // 3).excerpt(events)


@dataclass(slots=True)
class _Choice:
    execution: Execution
    marks: Marks
    most: int
    entities: set[str] = field(default_factory=set)
    messages: set[str] = field(default_factory=set)
    cluster: frozenset[str] = frozenset()
    of_message: dict[str, Counter[str]] = field(default_factory=dict)
    """How many events of a message each entity has."""

    def excerpt(self, events: int) -> Excerpt:
        for history in self.execution.histories:
            for event in history.events:
                if event.message is not None:
                    self.of_message.setdefault(event.message, Counter())[history.entity] += 1
        self.cluster = frozenset(self.execution.entities)
        self.entities = set(self.marks.entities & self.cluster) or set(self._first())
        for name in sorted(self.marks.messages & self.execution.messages.keys()):
            self._take(name, first=True)
        for name in self._nearest():
            self._take(name)
        self._fill_up()
        shown, gaps = self._histories()
        messages = {name: each for name, each in self.execution.messages.items() if name in self.messages}
        part = replace(
            self.execution,
            histories=shown,
            messages=messages,
            marks={},
            acknowledging=self.execution.has_acknowledgements,
        )
        return Excerpt(part, gaps, self._said(events, part))

    def _first(self) -> Iterable[str]:
        """The entities with the most to show, where nothing is marked."""
        by_events = sorted(self.execution.histories, key=lambda history: -len(history.events))
        return [history.entity for history in by_events[:MOST_ENTITIES]]

    def _take(self, name: str, *, first: bool = False) -> None:
        """Take a message in with its sender, if there is room; what is marked, in any case."""
        sender = self.execution.messages[name].sender
        entities = self.entities | ({sender} if sender in self.cluster else set())
        messages = self.messages | {name}
        if first or (len(entities) <= MOST_ENTITIES and self._size(entities, messages) <= self.most):
            self.entities, self.messages = entities, messages

    def _size(self, entities: set[str], messages: set[str]) -> int:
        """How many events these messages have at these entities."""
        return sum(self.of_message[name][entity] for name in messages for entity in entities)

    def _nearest(self) -> Iterator[str]:
        """The messages of the events around those that are marked, the nearest first."""
        near: dict[str, int] = {}
        for history in self.execution.histories:
            if history.entity not in self.entities:
                continue
            centers = [number for number, event in enumerate(history.events) if self._marks(history, event)]
            for center in centers or ([] if self.marks.pointed_out else [0]):
                reach = _FAR if self.marks.pointed_out else self.most
                for number in range(max(0, center - reach), min(len(history.events), center + reach + 1)):
                    name = history.events[number].message
                    if name is not None:
                        near[name] = min(near.get(name, reach + 1), abs(number - center))
        yield from sorted(near, key=lambda name: near[name])

    def _marks(self, history: History, event: Event) -> bool:
        return place_of(history.entity, event) in self.marks.pointed_out

    def _fill_up(self) -> None:
        """Show more entities of the messages that are shown, while there is room."""
        others = dict.fromkeys(entity for name in self.messages for entity in self.of_message[name])
        for entity in sorted(others.keys() - self.entities):
            more = self.entities | {entity}
            if len(more) <= FEW_ENTITIES and self._size(more, self.messages) <= self.most:
                self.entities = more

    def _histories(self) -> tuple[tuple[History, ...], dict[EventPlace, int]]:
        shown: list[History] = []
        gaps: dict[EventPlace, int] = {}
        for history in self.execution.histories:
            if history.entity not in self.entities:
                continue
            with_message = [n for n, event in enumerate(history.events) if event.message in self.messages]
            low, high = (with_message[0], with_message[-1]) if with_message else (0, 0)
            kept = [
                n for n, event in enumerate(history.events) if self._stays(history, n, event, (low, high))
            ]
            before = -1
            for place, number in enumerate(kept):
                if number > before + 1:
                    gaps[len(shown), place] = number - before - 1
                before = number
            if len(history.events) > before + 1:
                gaps[len(shown), len(kept)] = len(history.events) - before - 1
            shown.append(replace(history, events=tuple(history.events[n] for n in kept)))
        return tuple(shown), gaps

    def _stays(self, history: History, number: int, event: Event, window: tuple[int, int]) -> bool:
        if event.message is not None:
            return event.message in self.messages
        near = window[0] - 1 <= number <= window[1] + 1
        return self._marks(history, event) or (near and event.kind is not EventKind.LOCAL)

    def _said(self, events: int, part: Execution) -> str:
        """`Not shown: 9,940 of 10,000 events, 392 of 400 entities.`"""
        whole = (
            (events, sum(len(history.events) for history in part.histories), ("event", "events")),
            (len(self.execution.entities), len(part.entities), ("entity", "entities")),
        )
        parts = [
            f"{every - shown:,} of {counted(every, *nouns)}" for every, shown, nouns in whole if every > shown
        ]
        return f"Not shown: {', '.join(parts)}." if parts else ""
