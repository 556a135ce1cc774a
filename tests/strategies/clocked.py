"""Random runs of which only a part is recorded: what truly happened, and the rows and clocks that are left of it.

A run has messages that no row is about, and local events that none records. Its clocks count every event, or
sends and deliveries, or sends only. So what the clocks say can be compared with what was so.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.testing.choices import Choices, chance, pick

EVERYTHING = frozenset({EventKind.SEND, EventKind.DELIVER, EventKind.LOCAL})
COUNTS = (EVERYTHING, EVERYTHING - {EventKind.LOCAL}, frozenset({EventKind.SEND}))
"""What clocks count."""


@dataclass
class Run:
    """An execution, and for every recorded event, by entity and place, the set of those that truly came before."""

    execution: Execution
    before: dict[tuple[str, int], frozenset[tuple[str, int]]] = field(default_factory=dict)


@dataclass
class _Happened:
    entity: str
    event: Event
    known: set[int]
    recorded: bool


def run(
    choices: Choices,
    *,
    clocks: int = 100,
    hidden: int = 30,
    events: int = 9,
    counted: frozenset[EventKind] | None = None,
) -> Run:
    """A run of which `clocks` per cent of the recorded events have their clocks, and `hidden` per cent of the messages
    and all local events of some runs are in no row; of at most so many `events`. `counted`: what clocks count; any of
    `COUNTS` where that is None.
    """
    entities = [f"E{k}" for k in range(1, choices.integer(2, 4) + 1)]
    counts = pick(choices, COUNTS) if counted is None else counted
    locals_recorded = chance(choices, 50)
    current: dict[str, dict[str, int]] = {entity: {} for entity in entities}
    seen: dict[str, set[int]] = {entity: set() for entity in entities}
    under_way: list[tuple[str, str, dict[str, int], set[int], bool]] = []
    happened: list[_Happened] = []
    messages: dict[str, Message] = {}

    def do(entity: str, kind: EventKind, message: str | None, recorded: bool) -> None:
        if kind in counts:
            current[entity][entity] = current[entity].get(entity, 0) + 1
        clock = dict(current[entity]) if chance(choices, clocks) else None
        happened.append(_Happened(entity, Event(kind, message, None, clock), set(seen[entity]), recorded))
        seen[entity].add(len(happened) - 1)

    for number in range(choices.integer(2, events)):
        kind = choices.integer(0, 3)
        entity = pick(choices, entities)
        if kind == 0:
            do(entity, EventKind.LOCAL, None, locals_recorded)
        elif kind == 1 or not under_way:
            name, recorded = f"m{number}", not chance(choices, hidden)
            do(entity, EventKind.SEND, name, recorded)
            to = [other for other in entities if chance(choices, 60)]
            messages[name] = Message(name, entity, frozenset(to))
            under_way += [(other, name, dict(current[entity]), set(seen[entity]), recorded) for other in to]
        else:
            place = choices.integer(0, len(under_way) - 1)
            receiver, name, clock, known, recorded = under_way.pop(place)
            for other, count in clock.items():
                current[receiver][other] = max(current[receiver].get(other, 0), count)
            seen[receiver] |= known
            do(receiver, EventKind.DELIVER, name, recorded)
    return _recorded(entities, messages, happened)


def _recorded(entities: list[str], messages: dict[str, Message], happened: list[_Happened]) -> Run:
    places: dict[int, tuple[str, int]] = {}
    logs: dict[str, list[Event]] = {entity: [] for entity in entities}
    for number, one in enumerate(happened):
        if one.recorded:
            places[number] = (one.entity, len(logs[one.entity]))
            logs[one.entity].append(one.event)
    names = {event.message for log in logs.values() for event in log if event.message is not None}
    execution = Execution(
        "x",
        tuple(History(entity, tuple(log)) for entity, log in logs.items()),
        {name: message for name, message in messages.items() if name in names},
        by_clocks=True,
    )
    before = {
        places[number]: frozenset(places[other] for other in one.known if other in places)
        for number, one in enumerate(happened)
        if one.recorded
    }
    return Run(execution, before)


def spoiled(choices: Choices, of: Execution) -> Execution:
    """The execution with two rows of an entity exchanged, or a clock that is not what it was."""
    histories = list(of.histories)
    k = choices.integer(0, len(histories) - 1)
    events = list(histories[k].events)
    if len(events) > 1 and chance(choices, 50):
        place = choices.integer(0, len(events) - 2)
        events[place], events[place + 1] = events[place + 1], events[place]
    elif events:
        place = choices.integer(0, len(events) - 1)
        clock = dict(events[place].clock or {})
        clock[pick(choices, of.entities)] = choices.integer(0, 4)
        events[place] = replace(events[place], clock=clock)
    histories[k] = replace(histories[k], events=tuple(events))
    return replace(of, histories=tuple(histories))
