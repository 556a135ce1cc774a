"""The places of an execution that concern a witness: the sends, deliveries and other events that a figure
marks.
"""

from __future__ import annotations

from collections.abc import Iterator

from precedes.core.execution import Event, EventKind, Execution
from precedes.core.formula import (
    Acknowledged,
    ArrivalEvent,
    DeliveryEvent,
    DeliveryNamed,
    DeliveryPosition,
    DeliveryTime,
    EntityNamed,
    Faulty,
    HappensBefore,
    InFlight,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    MessageNamed,
    Position,
    Precedes,
    ReceiptLog,
    RecordedClock,
    Repeated,
    Sender,
    SendEvent,
    SendLog,
    TimeOf,
    VectorTime,
    ViewNamed,
    ViewOf,
)
from precedes.core.traversal import children, walk
from precedes.core.verdict import FALSE
from precedes.core.witness import Fact, Witness
from precedes.engines.reference.explanation import chain_of
from precedes.engines.reference.happens_before import HappensBeforeRelation

Place = tuple[str, EventKind, str]
"""An entity, a kind of event, and a message or the id of a view."""


def place_of(entity: str, event: Event) -> Place | None:
    """The place of an event; None where it has no message and no view."""
    about = event.view if event.kind is EventKind.VIEW else event.message
    return None if about is None else (entity, event.kind, about)


def places(execution: Execution, witness: Witness) -> frozenset[Place]:
    """What a figure marks for a witness; a place that is not in the execution is one where something is
    missing.
    """
    found = {place for fact in witness.facts for place in _places(fact, execution)}
    return frozenset(found.union(chain(execution, witness)))


def chain(execution: Execution, witness: Witness) -> tuple[Place, ...]:
    """The events of the causal chains that a witness is about, in their order."""
    if not needs_histories(witness):
        return ()
    events = chain_of(witness.facts, HappensBeforeRelation(execution))
    return tuple((event.entity, event.kind, event.message) for event in events if event.message is not None)


def needs_histories(witness: Witness) -> bool:
    """Whether a witness is about events and times, which send and receipt logs do not show."""
    return any(
        isinstance(
            node,
            HappensBefore
            | TimeOf
            | DeliveryTime
            | DeliveryPosition
            | RecordedClock
            | VectorTime
            | InFlight
            | ViewOf,
        )
        for fact in witness.facts
        for node in walk(fact.formula)
    )


def speaks_of_crashes(witness: Witness) -> bool:
    """Whether a witness is about who is faulty."""
    return any(isinstance(node, Faulty) for fact in witness.facts for node in walk(fact.formula))


def speaks_of_views(witness: Witness) -> bool:
    """Whether a witness is about views."""
    about = (ViewNamed, ViewOf)
    return any(isinstance(node, about) for fact in witness.facts for node in walk(fact.formula))


def _places(fact: Fact, execution: Execution) -> Iterator[Place]:
    """The places of one fact. Of a message that is missing from a receipt log, its send is one."""
    for instance in fact.instances:
        yield from (place for place in _places(instance, execution) if _happened(place, execution))
    for node in walk(fact.formula):
        named = [part.name for part in children(node) if isinstance(part, MessageNamed)]
        if isinstance(node, Precedes | InLog | Repeated | Position):
            for message in named:
                yield from _in_log(message, node.log, execution)
            if fact.value == FALSE and isinstance(node.log, ReceiptLog) and not isinstance(node, Precedes):
                yield from (place for message in named for place in _send(message, execution))
        elif isinstance(node, DeliveryNamed):
            yield node.entity, execution.delivery, node.message
        elif isinstance(node, Installs | InstallsBefore | InstallsAgain) and isinstance(
            node.entity, EntityNamed
        ):
            views = [part.name for part in children(node) if isinstance(part, ViewNamed)]
            yield from ((node.entity.name, EventKind.VIEW, view) for view in views)
        elif isinstance(node, Acknowledged) and isinstance(node.entity, EntityNamed):
            yield from ((node.entity.name, EventKind.ACK, message) for message in named)
        elif isinstance(node, SendEvent | Sender):
            yield from (place for message in named for place in _send(message, execution))
        elif isinstance(node, DeliveryEvent | ArrivalEvent) and isinstance(node.entity, EntityNamed):
            kind = execution.delivery if isinstance(node, DeliveryEvent) else EventKind.ARRIVE
            yield from ((node.entity.name, kind, message) for message in named)


def _happened(place: Place, execution: Execution) -> bool:
    return any(
        place_of(history.entity, event) == place
        for history in execution.histories
        if history.entity == place[0]
        for event in history.events
    )


def _in_log(message: str, log: SendLog | ReceiptLog, execution: Execution) -> Iterator[Place]:
    if isinstance(log.entity, EntityNamed):
        kind = EventKind.SEND if isinstance(log, SendLog) else execution.delivery
        yield log.entity.name, kind, message


def _send(message: str, execution: Execution) -> Iterator[Place]:
    sender = execution.messages[message].sender if message in execution.messages else None
    if sender is not None:
        yield sender, EventKind.SEND, message
