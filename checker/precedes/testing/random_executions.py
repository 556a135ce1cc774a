"""Random small executions, with everything that goes wrong in real ones.

Loss, duplication, creation, reordering, misdelivery, silent entities, messages to nobody, sends that were
not logged, times that are present, partly missing or do not fit together, recorded clocks right and wrong,
arrivals, local events, crashes, incomplete traces, and impossible executions (a delivery before its send, a cycle of
happens-before).

`execution(Seeded(seed))` gives the execution of a seed. `Shape` says what may occur.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Final, assert_never

from precedes.core.clock_order import compared, counted_events, has_cycle
from precedes.core.columns import histories_of
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import Attribute, AttributeSort
from precedes.core.transposition import batch_of
from precedes.core.verdict import NO_REASON, Reason
from precedes.testing.choices import Choices, chance, pick, shuffled
from precedes.testing.random_membership import Step, grouped, installing


@dataclass(frozen=True, slots=True)
class Shape:
    """What may occur in a random execution.

    entities, messages   at most so many; an execution with none of either is among them
    scenarios            also what only a scenario has: logs without a known interleaving, failure marks
    odd                  creation, duplication, misdelivery, unlogged sends, impossible orders
    arrival_delivery     executions whose delivery is the arrival (`--delivery arrive`)
    evidence             clocks that are evidence, and doubts about the order of events
    contradictions       events after a crash that no recovery precedes, which rows of a trace may not have
    attributes           what messages may carry; most of them carry it
    event_attributes     what deliveries may carry; most of them carry it
    acknowledgements     messages that are accepted or given back, and delivered again at any time
    membership           groups, messages that are addressed to them, and views with ids and members of their own
    """

    entities: int = 4
    messages: int = 5
    scenarios: bool = False
    odd: bool = True
    arrival_delivery: bool = True
    evidence: bool = True
    contradictions: bool = True
    attributes: tuple[Attribute, ...] = ()
    event_attributes: tuple[Attribute, ...] = ()
    acknowledgements: bool = False
    membership: bool = False


LARGEST: Final = (2**63 - 1, 1 - 2**63)
"""Numbers whose differences are beyond what the columns of a trace can hold."""

SETTLING: Final[tuple[EventKind, ...]] = (EventKind.ACK, EventKind.NACK)
"""How a delivery is settled."""

TRACES = Shape()
"""What a trace can hold."""

ROWS = Shape(evidence=False)
"""What the rows of a trace alone make."""

SCENARIOS = Shape(scenarios=True)
"""What a scenario can hold, which is more."""


def execution(choices: Choices, shape: Shape = TRACES, name: str = "x") -> Execution:
    """One random execution of the shape."""
    entities = tuple(f"E{number}" for number in range(1, choices.integer(0, shape.entities) + 1))
    odd = shape.odd and chance(choices, 60)
    messages = _messages(choices, entities, shape.messages, odd) if entities else {}
    arrivals = chance(choices, 25)
    steps = _schedule(choices, entities, messages, odd, arrivals)
    steps = [
        step
        for step in steps
        if not (step[1].kind is EventKind.SEND and not messages[step[1].message or ""].logged)
    ]
    if shape.acknowledgements:
        steps = _acknowledged(choices, steps, entities, messages)
    if shape.membership:
        steps = [step for step in steps if step[1].kind is not EventKind.VIEW]
        steps = installing(choices, steps, entities)
    if not shape.contradictions:
        steps = _without_contradictions(steps)
    complete = not chance(choices, 15)
    delivery = (
        EventKind.ARRIVE if arrivals and shape.arrival_delivery and chance(choices, 25) else EventKind.DELIVER
    )
    steps = _timed(choices, steps)
    steps = _clocked(choices, steps, entities, delivery)
    seen = {event.message for _, event in steps}
    histories = tuple(_history(choices, entity, steps, shape) for entity in entities)
    marks = {}
    if shape.scenarios and chance(choices, 25):
        for history in histories:
            if chance(choices, 70):
                marks[history.entity] = choices.integer(0, len(history.messages(delivery)))
    made = Execution(
        name,
        histories,
        {name: message for name, message in messages.items() if name in seen},
        delta=pick(choices, (None, 10, 25, 40)),
        epsilon=pick(choices, (0, 0, 3, 8)),
        complete=complete,
        marks=marks,
        delivery=delivery,
    )
    if shape.attributes:
        made = carrying(choices, made, shape.attributes)
    if shape.membership:
        made = grouped(choices, made)
    if shape.event_attributes:
        made = marking(choices, made, shape.event_attributes)
    if shape.scenarios or not shape.evidence:
        return made
    return doubted(choices, with_evidence(made) if chance(choices, 50) else made)


def carrying(choices: Choices, execution: Execution, attributes: tuple[Attribute, ...]) -> Execution:
    """The execution with attributes of its messages, now and then without those of some."""
    missing = pick(choices, (0, 0, 15, 40, 100))
    messages = {
        name: replace(of, attributes=_carried(choices, attributes, missing))
        for name, of in execution.messages.items()
    }
    return replace(execution, messages=messages)


def marking(choices: Choices, execution: Execution, attributes: tuple[Attribute, ...]) -> Execution:
    """The execution with attributes of its deliveries, now and then without those of some."""
    missing = pick(choices, (0, 0, 15, 40, 100))

    def marked(event: Event) -> Event:
        if event.kind not in (EventKind.DELIVER, EventKind.ARRIVE):
            return event
        return replace(event, attributes=_carried(choices, attributes, missing))

    histories = tuple(replace(h, events=tuple(map(marked, h.events))) for h in execution.histories)
    return replace(execution, histories=histories)


def _carried(choices: Choices, attributes: tuple[Attribute, ...], missing: int) -> dict[Attribute, str | int]:
    """Values of attributes, of which so many in a hundred are missing."""
    return {attribute: _value(choices, attribute) for attribute in attributes if not chance(choices, missing)}


def _value(choices: Choices, attribute: Attribute) -> str | int:
    """One of few values, so that messages share them; a number may be among the largest that there are."""
    match attribute.sort:
        case AttributeSort.TEXT:
            return pick(choices, ("k1", "k2", "k3"))
        case AttributeSort.TIME | AttributeSort.DURATION:
            return choices.integer(0, 60)
        case AttributeSort.NUMBER:
            return pick(choices, LARGEST) if chance(choices, 10) else choices.integer(0, 4)
        case _:
            assert_never(attribute.sort)


def with_evidence(execution: Execution) -> Execution:
    """The execution with its clocks as evidence, and with the doubts where they disagree with the rows."""
    batch = batch_of([execution])
    if batch.clocks is None:
        return execution
    events = histories_of(batch)
    counted = counted_events(events, batch.clocks)
    found = compared(events, replace(batch.clocks, counted=counted))
    across = len(found.within.second) or len(found.across.second) or has_cycle(events, found.edges, 0)
    within = {int(entity) for entity in events.entity[found.within.second]}
    known = iter(counted.tolist())
    histories = {
        name: replace(
            history,
            events=tuple(replace(event, counted=next(known)) for event in history.events),
            doubt=Reason.CLOCK_ORDER if place in within else NO_REASON,
        )
        for place, (name, history) in enumerate(
            (name, execution.history(name)) for name in batch.entity_names.tolist()
        )
    }
    return replace(
        execution,
        histories=tuple(histories[name] for name in execution.entities),
        by_clocks=True,
        doubt=Reason.CLOCK_ORDER if across else NO_REASON,
    )


def doubted(choices: Choices, execution: Execution, percent: int = 15) -> Execution:
    """Times that run against the rows of some entity, now and then."""
    if not execution.histories or not chance(choices, percent):
        return execution
    histories = tuple(
        replace(history, doubt=history.doubt | Reason.ROW_ORDER) if chance(choices, 50) else history
        for history in execution.histories
    )
    doubt = reduce(or_, (history.doubt for history in histories), execution.doubt)
    return replace(execution, histories=histories, doubt=doubt)


def senderless(choices: Choices, execution: Execution) -> Execution:
    """Now and then it is not known who sent the messages that nobody is said to have sent."""
    if not any(m.sender is None for m in execution.messages.values()) or chance(choices, 60):
        return execution
    return replace(execution, doubt=execution.doubt | Reason.SEND_NOT_LOGGED)


def _messages(choices: Choices, entities: tuple[str, ...], most: int, odd: bool) -> dict[str, Message]:
    found = {}
    for number in range(1, choices.integer(0, most) + 1):
        name = f"m{number}"
        kind = choices.integer(0, 9) if odd else 0
        sender: str | None = pick(choices, entities)
        destinations: frozenset[str] | None = None
        if kind == 9:
            sender = None
        elif kind < 7 or chance(choices, 30):
            spread = choices.integer(0, 3)
            if spread == 0:
                destinations = frozenset(entities)
            elif spread < 3:
                destinations = frozenset(entity for entity in entities if chance(choices, 60))
            else:
                destinations = frozenset()
        found[name] = Message(name, sender, destinations)
    return found


def _schedule(
    choices: Choices, entities: tuple[str, ...], messages: dict[str, Message], odd: bool, arrivals: bool
) -> list[Step]:
    """Events in a global order in which, but for odd cases, nothing is delivered before it was sent."""
    waiting: list[Step] = []
    ready: list[Step] = []
    impossible = odd and chance(choices, 20)
    lossy = chance(choices, 50)
    for message in messages.values():
        deliveries: list[Step] = []
        reached = (
            entities if message.destinations is None else [e for e in entities if e in message.destinations]
        )
        for entity in entities:
            if entity not in reached and not (odd and chance(choices, 10)):
                continue
            if lossy and chance(choices, 25):
                continue
            for _ in range(2 if odd and chance(choices, 10) else 1):
                if arrivals and not chance(choices, 10):
                    deliveries.append((entity, Event(EventKind.ARRIVE, message.name)))
                    if chance(choices, 15):
                        deliveries.append((entity, Event(EventKind.DISCARD, message.name)))
                        continue
                deliveries.append((entity, Event(EventKind.DELIVER, message.name)))
        if message.sender is None or impossible:
            ready.extend(deliveries)
        else:
            waiting.extend(deliveries)
        if message.sender is not None:
            ready.append((message.sender, Event(EventKind.SEND, message.name)))
    if chance(choices, 25):
        for entity in entities:
            event = pick(
                choices,
                (Event(EventKind.CRASH), Event(EventKind.RECOVER), Event(EventKind.VIEW, members=entities)),
            )
            ready.append((entity, event))
            if chance(choices, 30):
                ready.append((entity, pick(choices, (Event(EventKind.RECOVER), Event(EventKind.CRASH)))))
    if chance(choices, 20):
        ready.extend(
            (entity, Event(EventKind.LOCAL)) for entity in entities for _ in range(choices.integer(0, 2))
        )
    order: list[Step] = []
    in_order = chance(choices, 30)
    while ready:
        step = ready.pop(0 if in_order else choices.integer(0, len(ready) - 1))
        order.append(step)
        if step[1].kind is EventKind.SEND:
            ready.extend(other for other in waiting if other[1].message == step[1].message)
            waiting = [other for other in waiting if other[1].message != step[1].message]
    return order


def _acknowledged(
    choices: Choices, steps: list[Step], entities: tuple[str, ...], messages: dict[str, Message]
) -> list[Step]:
    """Deliveries are repeated and acknowledged later, at once or in any place; now and then nothing is acknowledged, or
    what was never delivered.
    """
    repeated, settled = pick(choices, (15, 40, 0)), pick(choices, (60, 90, 20, 0))
    at_once = chance(choices, 40)
    for entity, event in list(steps):
        if event.kind not in (EventKind.DELIVER, EventKind.ARRIVE):
            continue
        place = next(k for k, step in enumerate(steps) if step[1] is event) + 1
        turns: tuple[tuple[EventKind | None, int], ...] = (
            (event.kind, repeated),
            (None, settled),
            (event.kind, repeated // 2),
        )
        for kind, percent in turns:
            if not chance(choices, percent):
                continue
            place = place if at_once else choices.integer(place, len(steps))
            steps.insert(place, (entity, Event(kind or pick(choices, SETTLING), event.message)))
            place += 1
    if settled and messages and chance(choices, 20):
        made = pick(choices, SETTLING)
        step = (pick(choices, entities), Event(made, pick(choices, tuple(messages))))
        steps.insert(choices.integer(0, len(steps)), step)
    return steps


def _timed(choices: Choices, steps: list[Step]) -> list[Step]:
    mode = choices.integer(0, 3)
    if mode == 0:
        return steps
    timed = []
    now = choices.integer(0, 5)
    for entity, event in steps:
        now += choices.integer(0, 12)
        time: int | None = now
        if mode == 2 and chance(choices, 20):
            time = None
        elif mode == 3 and chance(choices, 15):
            time = now - choices.integer(0, 30)
        timed.append((entity, replace(event, time=time)))
    return timed


def _clocked(
    choices: Choices,
    steps: list[Step],
    entities: tuple[str, ...],
    delivery: EventKind,
) -> list[Step]:
    """Vector times as an implementation of the CMD paper would record them, now and then wrong or missing."""
    mode = choices.integer(0, 3)
    if mode < 2:
        return steps
    current: dict[str, dict[str, int]] = {entity: {} for entity in entities}
    sent: dict[str, dict[str, int]] = {}
    clocked = []
    for entity, event in steps:
        mine = current[entity]
        found = event
        if event.kind in (EventKind.SEND, delivery, EventKind.LOCAL):
            if event.kind is delivery:
                for other, count in sent.get(event.message or "", {}).items():
                    mine[other] = max(mine.get(other, 0), count)
            mine[entity] = mine.get(entity, 0) + 1
            if event.kind is EventKind.SEND:
                sent[event.message or ""] = dict(mine)
            clock = dict(mine)
            if mode == 3 and chance(choices, 15):
                clock[pick(choices, entities)] = choices.integer(0, 5)
            if not (mode == 3 and chance(choices, 10)):
                found = replace(event, clock=clock)
        clocked.append((entity, found))
    return clocked


def _without_contradictions(steps: list[Step]) -> list[Step]:
    """A crash that is followed by anything but a recovery is the entity's last event instead."""
    kept: list[Step] = []
    last: dict[str, Event] = {}
    for place, (entity, event) in enumerate(steps):
        after = next((later.kind for owner, later in steps[place + 1 :] if owner == entity), None)
        if event.kind is EventKind.CRASH and after is not EventKind.RECOVER:
            last[entity] = event
        else:
            kept.append((entity, event))
    return [*kept, *last.items()]


def _history(choices: Choices, entity: str, steps: list[Step], shape: Shape) -> History:
    events = [event for owner, event in steps if owner == entity]
    if not (shape.scenarios and chance(choices, 30)):
        return History(entity, tuple(events))
    sends = [event for event in events if event.kind is EventKind.SEND]
    others = [event for event in events if event.kind is not EventKind.SEND]
    return History(entity, (*sends, *others), interleaved=False)


def renamed(choices: Choices, of: Execution) -> Execution:
    """The same execution with its entities in another order: what no verdict may depend on."""
    return replace(of, histories=tuple(shuffled(choices, of.histories)))
