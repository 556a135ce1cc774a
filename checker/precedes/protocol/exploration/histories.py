"""Histories during an exploration: what an entity logs, how much of it a state keeps, and the resulting
execution.

The formulas that are asked determine how much a state keeps: two states that no formula can distinguish are
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, assert_never

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.execution import Event, EventKind, Execution, History
from precedes.core.execution import Message as Logged
from precedes.core.formula import (
    ArrivalEvent,
    Attribute,
    DeliveryTime,
    Faulty,
    Formula,
    HappensBefore,
    RecordedClock,
    TimeOf,
    VectorTime,
    ViewNamed,
    ViewOf,
    ViewVariable,
)
from precedes.core.traversal import walk
from precedes.protocol.model import (
    TICK,
    Arrive,
    Deliver,
    Discard,
    Message,
    Protocol,
    Step,
    Transmit,
    View,
)
from precedes.protocol.moves import (
    Arrived,
    Began,
    Crashed,
    Expired,
    Lost,
    Move,
    Recovered,
    Requested,
    Ticked,
    Vanished,
)
from precedes.protocol.validation.carried_values import CarriedValues

_STOPS: Final = (EventKind.CRASH, EventKind.RECOVER)


class Entry(NamedTuple):
    """One event in the history of an entity; `time` in ticks."""

    kind: EventKind
    message: Message | None = None
    time: int | None = None
    clock: tuple[int, ...] | None = None
    members: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """What is kept of a history: nothing; or sends and deliveries, and with them how they follow each other, when
    they were, the clocks recorded with them, crashes and recoveries, views, and all other events.
    """

    logs: bool = True
    interleaving: bool = True
    times: bool = True
    clocks: bool = True
    crashes: bool = True
    others: bool = True
    views: bool = True


_OF_VIEWS: Final = frozenset({ViewVariable, ViewNamed, ViewOf})


def needed(formulas: Iterable[Formula]) -> Recording:
    """What the verdicts of the formulas depend on."""
    met: set[type] = set()
    asked = list(formulas)
    for formula in asked:
        met |= {type(node) for node in walk(formula)}
    clocks = RecordedClock in met
    return Recording(
        logs=bool(asked),
        interleaving=clocks or not met.isdisjoint({HappensBefore, VectorTime, ViewOf}),
        times=TimeOf in met or DeliveryTime in met,
        clocks=clocks,
        crashes=Faulty in met or ArrivalEvent in met,
        others=ArrivalEvent in met,
        views=not met.isdisjoint(_OF_VIEWS),
    )


def entries(
    step: Step[Any], request: Message | None, recording: Recording, now: int | None, rearranges: bool
) -> tuple[Entry, ...]:
    """What a step adds to the history. `request` is the message where it accepts one; `rearranges`: deliveries are not
    what its actions say.
    """
    if not recording.logs:
        return ()
    time = now if recording.times else None
    found: list[Entry] = []
    if request is not None:
        found.append(Entry(EventKind.SEND, request, time, step.clock if recording.clocks else None))
    for action in step.actions:
        match action:
            case Deliver(message, clock):
                if not rearranges:
                    found.append(Entry(EventKind.DELIVER, message, time, clock if recording.clocks else None))
            case Arrive(message):
                if recording.others:
                    found.append(Entry(EventKind.ARRIVE, message, time))
            case Discard(message):
                if recording.others:
                    found.append(Entry(EventKind.DISCARD, message, time))
            case View(members):
                if recording.views:
                    found.append(Entry(EventKind.VIEW, None, time, None, members))
            case Transmit():
                pass
            case _:
                assert_never(action)
    return tuple(found)


class Histories:
    """Executions of one protocol from the histories of its entities; a history that occurs again is made once."""

    def __init__(self, protocol: Protocol[Any], entities: int) -> None:
        self.protocol = protocol
        self.names = [protocol.name_of(entity) for entity in range(entities)]
        self._carried = CarriedValues(protocol)
        self._made: dict[tuple[int, tuple[Entry, ...], bool], tuple[History, dict[str, Logged]]] = {}

    def carried(self, message: Message) -> Mapping[Attribute, str | int]:
        """What a message carries."""
        return self._carried.of(message)

    def execution(
        self, logs: Sequence[tuple[Entry, ...]], name: str, *, interleaved: bool = True
    ) -> Execution:
        """The execution of a cluster, from the history of each entity.

        Raises PrecedesError where a message is delivered that nobody was asked to send.
        """
        made = [self._history(entity, log, interleaved) for entity, log in enumerate(logs)]
        messages: dict[str, Logged] = {}
        for _, sent in made:
            messages |= sent
        for entity, (history, _) in enumerate(made):
            for event in history.events:
                if event.message is not None and event.message not in messages:
                    raise never_sent(self.protocol, self.names[entity], event)
        lifetime = self.protocol.lifetime
        delta = None if lifetime is None else lifetime * TICK
        return Execution(name, tuple(history for history, _ in made), messages, delta=delta)

    def _history(
        self, entity: int, log: tuple[Entry, ...], interleaved: bool
    ) -> tuple[History, dict[str, Logged]]:
        key = (entity, log, interleaved)
        made = self._made.get(key)
        if made is None:
            events = tuple(_event(entry, self.names) for entry in log)
            sent = {
                entry.message.name: Logged(
                    entry.message.name,
                    self.names[entry.message.sender],
                    frozenset(self.names[k] for k in entry.message.destinations),
                    self._carried.of(entry.message),
                )
                for entry in log
                if entry.kind is EventKind.SEND and entry.message is not None
            }
            made = self._made[key] = History(self.names[entity], events, interleaved), sent
        return made


def never_sent(protocol: Protocol[Any], entity: str, event: Event) -> PrecedesError:
    """The error of a model that invents a message."""
    return PrecedesError(
        (
            Diagnostic(
                "M008",
                f"{protocol.name}: {entity} has {event.kind.value} of {event.message}, which nobody was asked to send",
                hint="a handler may name only messages that came to it in requests and packets",
            ),
        )
    )


def _event(entry: Entry, names: Sequence[str]) -> Event:
    clock = None
    if entry.clock is not None:
        clock = {names[k]: count for k, count in enumerate(entry.clock)}
    members = entry.members
    return Event(
        entry.kind,
        entry.message.name if entry.message is not None else None,
        entry.time * TICK if entry.time is not None else None,
        clock,
        tuple(names[k] for k in sorted(members)) if members is not None else (),
        view=view_id(members, names) if members is not None else None,
    )


def view_id(members: frozenset[int], names: Sequence[str]) -> str:
    """What a view of a model is called: by its members, in the order of the cluster, as in a scenario that gives no id.

    So the same members are the same view.
    """
    return f"{{{', '.join(names[k] for k in sorted(members))}}}"


EVERYTHING: Final = Recording()


def replayed(
    protocol: Protocol[Any], entities: int, behavior: Sequence[Move], *, timed: bool, name: str
) -> Execution:
    """The execution that a behavior comes to, with everything that can be recorded."""
    logs: list[tuple[Entry, ...]] = [()] * entities
    receipts: list[tuple[Message, ...] | None] = [None] * entities
    now = 0 if timed else None
    for move in behavior:
        match move:
            case Requested(entity, message, step):
                logs[entity] += entries(step, message, EVERYTHING, now, rearranges=False)
                receipts[entity] = protocol.receipt_log(step.state)
            case Arrived(entity=entity, step=step) | Expired(entity=entity, step=step):
                logs[entity] += entries(step, None, EVERYTHING, now, rearranges=False)
                receipts[entity] = protocol.receipt_log(step.state)
            case Began(stopped=stopped):
                for entity in sorted(stopped):
                    logs[entity] += (Entry(EventKind.CRASH, None, now),)
            case Crashed(entity, shown):
                logs[entity] += (Entry(EventKind.CRASH, None, now),)
                receipts[entity] = None if shown is None else protocol.receipt_log(shown)
            case Recovered(entity, step):
                logs[entity] += (Entry(EventKind.RECOVER, None, now),)
                logs[entity] += entries(step, None, EVERYTHING, now, rearranges=False)
                receipts[entity] = protocol.receipt_log(step.state)
            case Ticked(tick):
                now = tick
            case Lost() | Vanished():
                pass
            case _:
                assert_never(move)
    rearranged = any(receipt is not None for receipt in receipts)
    if rearranged:
        logs = [with_receipts(log, receipt or ()) for log, receipt in zip(logs, receipts, strict=True)]
    return Histories(protocol, entities).execution(logs, name, interleaved=not rearranged)


def with_receipts(log: tuple[Entry, ...], receipts: tuple[Message, ...]) -> tuple[Entry, ...]:
    """The sends of a history, RL as a state says it is, and in the end the crashes and recoveries."""
    sends = tuple(entry for entry in log if entry.kind is EventKind.SEND)
    stops = tuple(entry for entry in log if entry.kind in _STOPS)
    return (*sends, *(Entry(EventKind.DELIVER, message) for message in receipts), *stops)


def rearrange(
    history: list[Entry], known: tuple[Message, ...], log: tuple[Message, ...], now: int | None
) -> None:
    """Bring the deliveries of a history from RL as it was `known` to RL as a state has it now: a delivery stands where
    the message came to its place.
    """
    kept = 0
    while kept < min(len(log), len(known)) and log[kept] == known[kept]:
        kept += 1
    if kept < len(known):
        places = [k for k, entry in enumerate(history) if entry.kind is EventKind.DELIVER]
        gone = frozenset(places[kept:])
        history[:] = [entry for k, entry in enumerate(history) if k not in gone]
    history += [Entry(EventKind.DELIVER, message, now) for message in log[kept:]]
