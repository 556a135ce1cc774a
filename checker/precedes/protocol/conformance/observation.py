"""A recorded execution in the words of a model: which entity is which, which message is which request, and what is to
be seen at each entity.

A message is named by its sender and by how many it sent before. So two executions that differ only in names are one,
and are judged once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Final, TypeAlias

from precedes.core.execution import Event, EventKind, Execution
from precedes.core.verdict import NO_REASON, Reason
from precedes.protocol.conformance.state_values import Shown, recorded
from precedes.protocol.exploration.histories import Entry
from precedes.protocol.model import TICK, Message, Protocol
from precedes.protocol.network import SingleChannel, Timed

IGNORABLE: Final = ("arrive", "discard", "view", "clock", "time")
"""What may stand in a trace and mean something else than in the model."""

MODELED: Final = frozenset(EventKind) - {EventKind.LOCAL, EventKind.ACK, EventKind.NACK}
"""The kinds of events that a model has."""
_ALWAYS: Final = frozenset(
    {EventKind.SEND, EventKind.DELIVER, EventKind.CRASH, EventKind.RECOVER, EventKind.VIEW}
)
"""The kinds that are taken to be recorded also where none occurs."""
_NUMBERED: Final = re.compile(r"\d{1,3}$")


@dataclass(frozen=True, slots=True)
class Expected:
    """One recorded event. `time` is in ticks, and only where the network has time. `state`: what was recorded of the
    entity's state after the event, fields and values.
    """

    kind: EventKind
    message: Message | None = None
    members: frozenset[int] | None = None
    clock: tuple[int, ...] | None = None
    time: int | None = None
    state: tuple[tuple[str, Shown], ...] = ()

    def is_met_by(self, entry: Entry) -> bool:
        """Whether what a model logs is this event. A clock counts where both have one."""
        return (
            self.kind is entry.kind
            and self.message == entry.message
            and self.members == entry.members
            and (self.clock is None or entry.clock is None or self.clock == entry.clock)
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """What of an execution is compared with a model.

    `entities`: how many there are at least. `ignored`: what of a trace is not the model's business, of `IGNORABLE`.
    `state`: fields of the model's states, each with the attribute of events that has its value after the event.
    """

    entities: int = 0
    ignored: frozenset[str] = frozenset()
    state: tuple[tuple[str, str], ...] = ()

    def is_seen(self, event: Event) -> bool:
        """Whether a model has to make the event."""
        return event.kind in MODELED and event.kind.value not in self.ignored


EVERYTHING_READ: Final = Reading()

Histories: TypeAlias = tuple[tuple[Expected, ...], ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """What is to be seen: the events of each entity in their order, and the kinds of events that were recorded.

    `ranks` has the place of each event in one order of all that agrees with what happened before what and, as far as it
    can, with times. It guides the search and decides nothing. `names` has the trace's name of each message.
    """

    histories: Histories
    kinds: frozenset[EventKind]
    ranks: tuple[tuple[int, ...], ...]
    entities: tuple[str, ...]
    names: tuple[tuple[Message, str], ...]

    @property
    def shape(self) -> tuple[Histories, frozenset[EventKind]]:
        """What the answer depends on."""
        return self.histories, self.kinds


class Unfit(Exception):
    """A recorded execution of which a model can say nothing; the text says why."""


def observed(protocol: Protocol[Any], execution: Execution, reading: Reading = EVERYTHING_READ) -> Observed:
    """The execution in the words of the model. Raises Unfit."""
    if not execution.complete:
        raise Unfit("rows may be missing")
    for history in execution.histories:
        if history.doubt != NO_REASON or not history.interleaved:
            raise Unfit(f"the order of the events at {history.entity} is not known")
    named = places(protocol, execution.entities, reading.entities)
    messages = _messages(execution, named)
    timed = isinstance(protocol.network, Timed) and "time" not in reading.ignored
    translation = _Translation(named, messages, reading, timed)
    histories, times = [], []
    by_entity = {history.entity: history.events for history in execution.histories}
    for name in named:
        events = [event for event in by_entity.get(name, ()) if reading.is_seen(event)]
        histories.append(tuple(map(translation.expected, events)))
        times.append([event.time for event in events])
    _know_states(histories, reading)
    kinds = _ALWAYS | {each.kind for history in histories for each in history}
    kinds -= {kind for kind in kinds if kind.value in reading.ignored}
    shapes = tuple(histories)
    ordered = isinstance(protocol.network, SingleChannel)
    return Observed(
        shapes,
        kinds,
        _ranks(shapes, times, ordered=ordered),
        tuple(named),
        tuple((message, name) for name, message in messages.items() if message.name != name),
    )


def _know_states(histories: Iterable[Sequence[Expected]], reading: Reading) -> None:
    """Raise Unfit where a field of states is to be compared, and no event has its value."""
    found = {name for history in histories for each in history for name, _ in each.state}
    for field, name in reading.state:
        if field not in found:
            raise Unfit(f"no event has {name}, which is to be {field}")


def places(protocol: Protocol[Any], recorded: Sequence[str], least: int) -> dict[str, int]:
    """The place of each entity: by its name where the names are the model's, else in the order of the trace."""
    found = {protocol.name_of(place): place for place in range(max(least, len(recorded)))}
    while not found.keys() >= set(recorded) and len(found) < _own_names(recorded):
        found[protocol.name_of(len(found))] = len(found)
    if found.keys() >= set(recorded):
        return found
    named = {name: place for place, name in enumerate(recorded)}
    while len(named) < least:
        named[f"entity {len(named) + 1}, of which nothing was recorded"] = len(named)
    return named


def _own_names(recorded: Sequence[str]) -> int:
    """How many entities there are if the digits at the end of a name are its number."""
    numbers = (_NUMBERED.search(name) for name in recorded)
    return max((int(number[0]) for number in numbers if number), default=0)


def _messages(execution: Execution, places: Mapping[str, int]) -> dict[str, Message]:
    """The message of the model for each recorded one."""
    found: dict[str, Message] = {}
    for history in execution.histories:
        sender = places[history.entity]
        for number, name in enumerate(history.messages(EventKind.SEND), 1):
            destinations = execution.messages[name].destinations
            if destinations is None or execution.messages[name].groups:
                raise Unfit(f"it is not known to which entities {name} was sent")
            found[name] = Message(sender, number, frozenset(places[each] for each in destinations))
    for name, message in execution.messages.items():
        if name not in found and (message.sender is not None or execution.doubt & Reason.SEND_NOT_LOGGED):
            raise Unfit(f"the send of {name} was not recorded")
        # A message that nobody sent is one that no model has.
        found.setdefault(name, Message(len(places), len(found) + 1, frozenset()))
    return found


@dataclass(frozen=True, slots=True)
class _Translation:
    """How events come to be in the words of the model."""

    places: Mapping[str, int]
    messages: Mapping[str, Message]
    reading: Reading
    timed: bool

    def expected(self, event: Event) -> Expected:
        """The event in the words of the model."""
        clock, members = None, None
        if event.clock is not None and "clock" not in self.reading.ignored:
            clock = tuple(event.clock.get(name, 0) for name in self.places)
        if event.kind is EventKind.VIEW:
            members = frozenset(self.places.get(name, -1) for name in event.members)
        time = None if event.time is None or not self.timed else event.time // TICK
        message = None if event.message is None else self.messages[event.message]
        carried = {attribute.name: value for attribute, value in event.attributes.items()}
        state = tuple(
            (field, recorded(carried[name])) for field, name in self.reading.state if name in carried
        )
        return Expected(event.kind, message, members, clock, time, state)


def _ranks(
    histories: Histories, times: Sequence[Sequence[int | None]], *, ordered: bool
) -> tuple[tuple[int, ...], ...]:
    """One order of all events. `ordered`: sends are in the order in which they are delivered, where that can be."""
    sends = {
        each.message: (entity, place)
        for entity, history in enumerate(histories)
        for place, each in enumerate(history)
        if each.kind is EventKind.SEND
    }
    after: dict[tuple[int, int], list[tuple[int, int]]] = {}
    before = {(entity, place): 0 for entity, history in enumerate(histories) for place in range(len(history))}

    def first_then(first: tuple[int, int], then: tuple[int, int]) -> None:
        after.setdefault(first, []).append(then)
        before[then] += 1

    for entity, history in enumerate(histories):
        last: tuple[int, int] | None = None
        for place, each in enumerate(history):
            if place:
                first_then((entity, place - 1), (entity, place))
            sent = sends.get(each.message)
            if sent is None or each.kind is EventKind.SEND:
                continue
            first_then(sent, (entity, place))
            if ordered and each.kind is EventKind.DELIVER:
                if last is not None and last != sent:
                    first_then(last, sent)
                last = sent
    return _in_order(histories, times, after, before)


def _in_order(
    histories: Histories,
    times: Sequence[Sequence[int | None]],
    after: Mapping[tuple[int, int], Sequence[tuple[int, int]]],
    before: dict[tuple[int, int], int],
) -> tuple[tuple[int, ...], ...]:
    """The place of each event in an order that goes by times, and by `after` before that. What stands in a circle comes
    in the order of its times."""
    heap: list[tuple[int, int, tuple[int, int]]] = []
    found: dict[tuple[int, int], int] = {}

    def ready(event: tuple[int, int]) -> None:
        time = times[event[0]][event[1]]
        heappush(heap, (-1 if time is None else time, event[1], event))

    for event, number in before.items():
        if not number:
            ready(event)
    waiting = sorted(before, key=lambda event: (times[event[0]][event[1]] or 0, event[1], event[0]))
    while len(found) < len(before):
        if not heap:
            ready(next(event for event in waiting if event not in found))
        event = heappop(heap)[2]
        if event in found:
            continue
        found[event] = len(found)
        for then in after.get(event, ()):
            before[then] -= 1
            if not before[then]:
                ready(then)
    return tuple(
        tuple(found[entity, place] for place in range(len(history)))
        for entity, history in enumerate(histories)
    )
