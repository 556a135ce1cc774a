"""All that is so in an execution, as formulas: no other execution of its size satisfies them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from precedes.core import formula as f
from precedes.core.execution import ACKNOWLEDGEMENTS, Event, EventKind, Execution, History, Message
from precedes.core.traversal import attributes_in, walk

MADE_WITH = frozenset({f.DeliveryAttribute, f.DeliveryText})
"""What asks for attributes of deliveries."""

OF_VIEWS = frozenset({f.ViewVariable, f.ViewNamed, f.ViewOf})
OF_GROUPS = frozenset({f.GroupVariable, f.GroupNamed})


def facts(execution: Execution, formula: f.Formula) -> Iterator[f.Formula]:
    """Everything that is so in an execution, by the names of its entities and messages: no other of its size has it
    all. Times, arrivals, crashes, attributes and the interleaving of sends and deliveries where the question speaks of
    them."""
    speaking = {type(node) for node in walk(formula)}
    attributes = attributes_in(formula)
    messages = [f.MessageNamed(name) for name in execution.messages]
    yield from (f.SameMessage(message, message) for message in messages)
    for history in execution.histories:
        here = f.EntityNamed(history.entity)
        yield f.SameEntity(here, here)
        logs = (
            (f.SendLog(here), execution.sent(history.entity)),
            (f.ReceiptLog(here), execution.delivered(history.entity)),
        )
        for log, entries in logs:
            yield from (stated(f.InLog(m, log), m.name in entries) for m in messages)
            yield from (
                f.Precedes(f.MessageNamed(one), f.MessageNamed(other), log)
                for one, other in pairwise(entries)
            )
        for message in messages:
            to = execution.messages[message.name].destinations or frozenset()
            if history.entity not in chosen(execution, message.name):
                yield stated(f.IsDestination(here, message), history.entity in to)
            if speaking & {f.Repeated, f.VectorTime}:
                delivered = [e.message for e in history.events if e.kind is execution.delivery]
                twice = delivered.count(message.name) > 1
                yield stated(f.Repeated(message, f.ReceiptLog(here)), twice)
        if f.Faulty in speaking:
            yield stated(f.Faulty(here), history.crashed)
        yield from order_of(history, messages, speaking)
        if not speaking.isdisjoint({f.DeliveryVariable, f.Acknowledged}):
            yield from deliveries_of(history, messages, formula, execution.delivery)
    for message in messages:
        yield from attributes_of(execution.messages[message.name], attributes)
    if not speaking.isdisjoint(OF_VIEWS):
        yield from views_of(execution, speaking)
    if not speaking.isdisjoint(OF_GROUPS):
        yield from groups_of(execution)
    if f.Delta in speaking:
        yield equal(f.Delta(), execution.delta or 0, f.Dimension.DURATION)
    if f.Epsilon in speaking:
        yield equal(f.Epsilon(), execution.epsilon, f.Dimension.DURATION)


def order_of(
    history: History, messages: Sequence[f.MessageNamed], speaking: set[type]
) -> Iterator[f.Formula]:
    """The order of the events at an entity, each at its first occurrence, and their times."""
    here = f.EntityNamed(history.entity)
    arrivals = f.ArrivalEvent in speaking
    first: dict[f.EventTerm, int | None] = {}
    for event in history.events:
        if event.message is None:
            continue
        about = f.MessageNamed(event.message)
        if event.kind is EventKind.SEND:
            first.setdefault(f.SendEvent(about), event.time)
        elif event.kind is EventKind.DELIVER:
            first.setdefault(f.DeliveryEvent(about, here), event.time)
        elif event.kind is EventKind.ARRIVE and arrivals:
            first.setdefault(f.ArrivalEvent(about, here), event.time)
    if speaking & {f.HappensBefore, f.VectorTime, f.TimeOf, f.ArrivalEvent}:
        yield from (f.HappensBefore(one, other) for one, other in pairwise(first))
    if arrivals:
        for message in messages:
            # Not by its time, which is not known to be itself where epsilon is asked for.
            clock = f.RecordedClock(f.ArrivalEvent(message, here), here)
            took_place = f.Comparison(f.Relation.EQUAL, clock, clock, f.Dimension.NUMBER)
            yield stated(took_place, clock.event in first)
    if f.TimeOf in speaking:
        for event, time in first.items():
            if time is not None:
                yield equal(f.TimeOf(event), time, f.Dimension.TIME)


def attributes_of(message: Message, attributes: Sequence[f.Attribute]) -> Iterator[f.Formula]:
    """What a message carries of these attributes."""
    about = f.MessageNamed(message.name)
    for attribute, value in message.attributes.items():
        if attribute not in attributes:
            continue
        if isinstance(value, str):
            yield f.SameText(f.TextOf(attribute, about), f.Text(value))
        else:
            yield equal(f.AttributeOf(attribute, about), value, f.Dimension(attribute.sort.value))


def attributes_of_delivery(event: Event, attributes: Sequence[f.Attribute]) -> Iterator[f.Formula]:
    """What a delivery carries of these attributes."""
    about = f.DeliveryVariable("d")
    for attribute, value in event.attributes.items():
        if attribute not in attributes:
            continue
        if isinstance(value, str):
            yield f.SameText(f.DeliveryText(attribute, about), f.Text(value))
        else:
            yield equal(f.DeliveryAttribute(attribute, about), value, f.Dimension(attribute.sort.value))


def deliveries_of(
    history: History, messages: Sequence[f.MessageNamed], formula: f.Formula, delivery: EventKind
) -> Iterator[f.Formula]:
    """Every delivery at an entity, how they follow each other, their times, and what was acknowledged when."""
    speaking = {type(node) for node in walk(formula)}
    here = f.EntityNamed(history.entity)
    made: list[tuple[str, int, int]] = []
    for place, event in enumerate(history.events):
        if event.kind is delivery and event.message is not None:
            made.append((event.message, 1 + sum(m == event.message for m, _, _ in made), place))
    for name in (message.name for message in messages):
        times = sum(m == name for m, _, _ in made)
        yield f.Not(some_delivery("d", here, name, times + 1, f.TRUTH))
        accepted = any(e.kind is EventKind.ACK and e.message == name for e in history.events)
        if f.Acknowledged in speaking or f.InFlight in speaking:
            yield stated(f.Acknowledged(f.MessageNamed(name), here), accepted)
    for message, nth, place in made:
        time = history.events[place].time
        if time is not None and f.DeliveryTime in speaking:
            happened = equal(f.DeliveryTime(f.DeliveryVariable("d")), time, f.Dimension.TIME)
            yield some_delivery("d", here, message, nth, happened)
        if not speaking.isdisjoint(MADE_WITH):
            made_with = f.And(tuple(attributes_of_delivery(history.events[place], attributes_in(formula))))
            yield some_delivery("d", here, message, nth, made_with)
        for other, again, later in made:
            if later > place:
                d, e = f.DeliveryVariable("d"), f.DeliveryVariable("e")
                between = history.events[place:later]
                flying = all(each.kind not in ACKNOWLEDGEMENTS or each.message != message for each in between)
                said: f.Formula = f.DeliveredBefore(d, e, here)
                if f.InFlight in speaking:
                    said = f.And((said, stated(f.InFlight(d, e), flying)))
                following = some_delivery("e", here, other, again, said)
                yield some_delivery("d", here, message, nth, following)


def views_of(execution: Execution, speaking: set[type]) -> Iterator[f.Formula]:
    """Which views there are, who is in them and who installs them in which order, and the view of each event."""
    views = [f.ViewNamed(name) for name in execution.views]
    any_view = f.ViewVariable("v")
    one_of_these = one_of(*(f.SameView(any_view, view) for view in views))
    yield f.Forall(any_view, f.TRUTH, one_of_these)
    for history in execution.histories:
        here = f.EntityNamed(history.entity)
        installed = [event.view for event in history.events if event.view is not None]
        for view in views:
            yield stated(f.IsMember(here, view), history.entity in execution.views[view.name])
            yield stated(f.Installs(here, view), view.name in installed)
            if f.InstallsAgain in speaking:
                yield stated(f.InstallsAgain(here, view), installed.count(view.name) > 1)
        for one, other in pairwise(execution.installed(history.entity)):
            yield f.InstallsBefore(f.ViewNamed(one), f.ViewNamed(other), here)
        if f.ViewOf in speaking:
            yield from views_at(history, views, speaking)


def views_at(history: History, views: Sequence[f.ViewNamed], speaking: set[type]) -> Iterator[f.Formula]:
    """The view of each event at an entity."""
    here = f.EntityNamed(history.entity)
    current: str | None = None
    made: dict[tuple[EventKind, str], int] = {}
    for event in history.events:
        current = event.view or current
        if event.message is None:
            continue
        nth = made[event.kind, event.message] = made.get((event.kind, event.message), 0) + 1
        about = f.MessageNamed(event.message)
        found: f.EventTerm
        if event.kind is EventKind.SEND:
            found = f.SendEvent(about)
        elif event.kind is EventKind.DELIVER:
            found = f.DeliveryEvent(about, here)
        elif event.kind is EventKind.ARRIVE and f.ArrivalEvent in speaking:
            found = f.ArrivalEvent(about, here)
        else:
            continue
        for view in views:
            if nth == 1:
                yield stated(f.SameView(f.ViewOf(found), view), view.name == current)
            if event.kind is EventKind.DELIVER and f.DeliveryVariable in speaking:
                same = stated(f.SameView(f.ViewOf(f.DeliveryVariable("d")), view), view.name == current)
                yield some_delivery("d", here, event.message, nth, same)


def groups_of(execution: Execution) -> Iterator[f.Formula]:
    """Which groups there are, who is in them, and which messages are addressed to them."""
    any_group = f.GroupVariable("g")
    these = [f.GroupNamed(name) for name in execution.groups]
    yield f.Forall(any_group, f.TRUTH, one_of(*(f.SameGroup(any_group, group) for group in these)))
    for group in these:
        yield f.SameGroup(group, group)
        for entity in execution.entities:
            yield stated(f.IsMember(f.EntityNamed(entity), group), entity in execution.groups[group.name])
        for message in execution.messages.values():
            yield stated(f.AddressedTo(f.MessageNamed(message.name), group), group.name in message.groups)


def some_delivery(variable: str, here: f.EntityNamed, message: str, nth: int, body: f.Formula) -> f.Formula:
    """There is the `nth` delivery of a message at an entity, and the body is so of it."""
    d = f.DeliveryVariable(variable)
    which = f.And(
        (
            f.DeliveredAt(d, here),
            f.SameMessage(f.MessageOf(d), f.MessageNamed(message)),
            equal(f.Nth(d), nth, f.Dimension.NUMBER),
        )
    )
    return f.Exists(d, which, body)


def one_of(*atoms: f.Formula) -> f.Formula:
    """Some atom is so."""
    return f.Not(f.conjunction(*map(f.Not, atoms)))


def stated(atom: f.Formula, so: bool) -> f.Formula:
    """The atom, or that it is not so."""
    return atom if so else f.Not(atom)


def equal(term: f.NumberTerm, value: int, dimension: f.Dimension) -> f.Formula:
    """The term is the value."""
    return f.Comparison(f.Relation.EQUAL, term, f.Constant(Fraction(value), dimension), dimension)


def chosen(execution: Execution, message: str) -> frozenset[str]:
    """The members of the groups that a message is addressed to, but for those that it is addressed to by name."""
    about = execution.messages[message]
    found = frozenset[str]().union(*(execution.groups[group] for group in about.groups))
    return found - (about.destinations or frozenset())
