"""All possible executions of one size, exactly: a number of entities and a number of messages.

Messages are numbered by sender, and each sender's messages in the order of its send log. Messages that nobody
sent come last. Entities are numbered by their first message. This loses no generality, and leaves few copies
of each execution. The order of events at an entity has one proposition for each pair. Happens-before between
sends is the closure of its steps. For a fixed number of messages, this is a formula without quantifiers, and
it describes exactly the least relation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Final, assert_never

from precedes.core.execution import view_number
from precedes.core.formula import Attribute, AttributeSort, Relation
from precedes.engines.solver import event_order
from precedes.engines.solver.features import Features
from precedes.engines.solver.group_tables import GroupTables, group_count
from precedes.engines.solver.logic import (
    Element,
    Linear,
    Proposition,
    Sort,
    Symbol,
    boolean,
    both,
    compared,
    count,
    either,
    equivalent,
    every,
    implied,
    integer,
    negated,
    number,
    some,
)
from precedes.engines.solver.structure import Cases, Happening, Kind, Log, Sharing, in_log, shares
from precedes.engines.solver.view_tables import ViewTables, view_count

Place = tuple[Kind, int]
DELIVERIES: Final = 2
"""Deliveries of a message at an entity, in executions in which the place of a repeated one matters."""
_ZERO, _ONE = Linear(Fraction(0)), Linear(Fraction(1))


class Bounded:
    """All executions of one size. Elements are numbers from 0."""

    def __init__(self, wanted: Features, entities: int, messages: int) -> None:
        self.wanted = wanted
        self.entities = range(entities)
        self.messages = range(messages)
        self.sender = self._table("sender")
        self.dest = self._table("dest")
        self.delivered = self._table("delivered")
        self.arrived = self._table("arrived") if wanted.arrivals else None
        self.repeats = self._table("repeated") if wanted.repeats else None
        self.acknowledgements = self._table("acknowledged") if wanted.acknowledgements else None
        self.given_back = self._table("given back") if wanted.acknowledgements else None
        self.discarded = [boolean(f"{m} only discarded") for m in self.messages]
        self.crashed = [boolean(f"faulty {e}") for e in self.entities] if wanted.crashes else None
        self.views = ViewTables(wanted, self.entities)
        self.groups = GroupTables(wanted, self.entities, self.messages)
        self._sent = [some(row) for row in self.sender]
        kinds = [Kind.SEND] if wanted.interleaving else []
        kinds += [Kind.ARRIVAL] if wanted.arrivals else []
        kinds.append(Kind.DELIVERY)
        kinds += [Kind.REPEAT] if wanted.placed_repeats else []
        kinds += [Kind.ACKNOWLEDGEMENT, Kind.NEGATIVE_ACKNOWLEDGEMENT] if wanted.acknowledgements else []
        self.places: list[Place] = [(Kind.INSTALLATION, v) for v in self.views.views]
        self.places += product(kinds, self.messages)
        self._rank = {place: rank for rank, place in enumerate(self.places)}
        self.orders: dict[tuple[int, Place, Place], Symbol] = {
            (e, a, b): boolean(f"{a[0].value} {a[1]} before {b[0].value} {b[1]} at {e}")
            for e in self.entities
            for a, b in combinations(self.places, 2)
            if not (a[0] is Kind.SEND and b[0] is Kind.SEND)
        }
        self.entity_names = self._names("entity", wanted.entities, self.entities)
        self.message_names = self._names("message", wanted.messages, self.messages)
        self.view_names = self._names("view", wanted.view_names, self.views.views)
        self.group_names = self._names("group", wanted.group_names, self.groups.groups)
        self.line = boolean("failure line")
        self._caused: dict[tuple[Happening, Happening], Proposition] = {}
        self._entered: dict[tuple[Element, Happening], Proposition] = {}
        self._view_at: dict[Happening, Cases] = {}
        self._numbers: dict[str, Symbol] = {}
        self.attributes: dict[tuple[Attribute, int], Symbol] = {}

    def _table(self, name: str) -> list[list[Symbol]]:
        return [[boolean(f"{name} {m} {e}") for e in self.entities] for m in self.messages]

    @staticmethod
    def _names(noun: str, names: Sequence[str], numbers: Sequence[int]) -> dict[str, list[Symbol]]:
        return {name: [boolean(f"{noun} {name} is {number}") for number in numbers] for name in names}

    # ---- structure --------------------------------------------------------------------------------------

    def quantified(self, universal: bool, sort: Sort, body: Callable[[Element], Proposition]) -> Proposition:
        """See `Structure`."""
        match sort:
            case Sort.ENTITY:
                elements = self.entities
            case Sort.MESSAGE:
                elements = self.messages
            case Sort.DELIVERY:
                return _of_those(
                    universal, ((self.happened(self._made(d)), d) for d in self._every_delivery), body
                )
            case Sort.GROUP:
                return _of_those(universal, zip(self.groups.exist, self.groups.groups, strict=True), body)
            case Sort.VIEW:
                return _of_those(universal, ((self.views.exists(v), v) for v in self.views.views), body)
            case _:
                assert_never(sort)
        return (every if universal else some)(body(element) for element in elements)

    @property
    def _every_delivery(self) -> range:
        return range(DELIVERIES * len(self.messages) * len(self.entities))

    def _made(self, delivery: Element) -> Happening:
        """A delivery by its number: the first ones of all messages at all entities, then the repeats."""
        place, entity = divmod(_number(delivery), len(self.entities))
        nth, message = divmod(place, len(self.messages))
        return Happening(Kind.REPEAT if nth else Kind.DELIVERY, message, entity)

    def message_of(self, delivery: Element) -> Element:
        """See `Structure`."""
        return self._made(delivery).message

    def receiver_of(self, delivery: Element) -> Element:
        """See `Structure`."""
        return self._made(delivery).entity

    def delivered_before(self, first: Element, second: Element) -> Proposition:
        """See `Structure`."""
        return self.earlier(self._made(first), self._made(second))

    def in_flight(self, first: Element, second: Element) -> Proposition:
        """See `Structure`."""
        before, one, other = self.delivered_before(first, second), self._made(first), self._made(second)
        settling = (
            Happening(kind, one.message, one.entity)
            for kind in (Kind.ACKNOWLEDGEMENT, Kind.NEGATIVE_ACKNOWLEDGEMENT)
        )
        settled = some(both(self.earlier(one, done), self.earlier(done, other)) for done in settling)
        return both(before, negated(settled))

    def acknowledged(self, message: Element, entity: Element) -> Proposition:
        """See `Structure`."""
        return self.happened(Happening(Kind.ACKNOWLEDGEMENT, message, entity))

    def acknowledgements_recorded(self) -> Proposition:
        """See `Structure`."""
        tables = (self.acknowledgements or [], self.given_back or [])
        return some(symbol for table in tables for row in table for symbol in row)

    def nth(self, delivery: Element) -> Linear:
        """See `Structure`."""
        return Linear(Fraction(2 if self._made(delivery).kind is Kind.REPEAT else 1))

    def delivery_time(self, delivery: Element) -> Linear:
        """See `Structure`."""
        return self.time(self._made(delivery))

    def entity_named(self, name: str) -> Cases:
        """See `Structure`."""
        return list(zip(self.entity_names[name], self.entities, strict=True))

    def message_named(self, name: str) -> Cases:
        """See `Structure`."""
        return list(zip(self.message_names[name], self.messages, strict=True))

    def group_named(self, name: str) -> Cases:
        """See `Structure`."""
        return list(zip(self.group_names[name], self.groups.groups, strict=True))

    def view_named(self, name: str) -> Cases:
        """See `Structure`."""
        return list(zip(self.view_names[name], self.views.views, strict=True))

    def senders(self, message: Element) -> Cases:
        """See `Structure`."""
        return list(zip(self.sender[_number(message)], self.entities, strict=True))

    def sent(self, message: Element) -> Proposition:
        """See `Structure`."""
        return self._sent[_number(message)]

    def addressed(self, message: Element, entity: Element) -> Proposition:
        """See `Structure`; who is addressed by nobody is nobody."""
        return self.dest[_number(message)][_number(entity)]

    def chosen(self, message: Element, entity: Element) -> Proposition:
        """See `Structure`."""
        return self.groups.chosen(_number(message), _number(entity))

    def addressed_to_group(self, message: Element, group: Element) -> Proposition:
        """See `Structure`."""
        return self.groups.addressed[_number(message)][_number(group)]

    def in_group(self, entity: Element, group: Element) -> Proposition:
        """See `Structure`."""
        return self.groups.members[_number(group)][_number(entity)]

    def in_view(self, entity: Element, view: Element) -> Proposition:
        """See `Structure`."""
        return self.views.members[_number(view)][_number(entity)]

    def installs(self, entity: Element, view: Element) -> Proposition:
        """See `Structure`."""
        return self.happened(Happening(Kind.INSTALLATION, view, entity))

    def installs_before(self, first: Element, second: Element, entity: Element) -> Proposition:
        """See `Structure`."""
        return self.earlier(
            Happening(Kind.INSTALLATION, first, entity), Happening(Kind.INSTALLATION, second, entity)
        )

    def installs_again(self, entity: Element, view: Element) -> Proposition:
        """See `Structure`."""
        return self.views.again(_number(view), _number(entity))

    def view_at(self, event: Happening) -> Cases:
        """See `Structure`: the view that was installed before the event, with no other in between."""
        if event not in self._view_at:
            installations = [Happening(Kind.INSTALLATION, v, event.entity) for v in self.views.views]
            self._view_at[event] = [
                (
                    both(
                        self.earlier(last, event),
                        *(
                            negated(both(self.earlier(last, other), self.earlier(other, event)))
                            for other in installations
                        ),
                    ),
                    last.message,
                )
                for last in installations
            ]
        return self._view_at[event]

    def view_of_delivery(self, delivery: Element) -> Cases:
        """See `Structure`."""
        return self.view_at(self._made(delivery))

    def view_number(self, view: Element) -> Linear:
        """See `Structure`."""
        return number(self.views.numbers[_number(view)])

    def is_numbered(self, view: Element) -> Proposition:
        """See `Structure`."""
        other_ids = (row for name, row in self.view_names.items() if view_number(name) is None)
        return negated(some(row[_number(view)] for row in other_ids))

    def happened(self, event: Happening) -> Proposition:
        """See `Structure`."""
        message, entity = _number(event.message), _number(event.entity)
        match event.kind:
            case Kind.SEND:
                return self.sender[message][entity]
            case Kind.DELIVERY:
                return self.delivered[message][entity]
            case Kind.ARRIVAL:
                return False if self.arrived is None else self.arrived[message][entity]
            case Kind.REPEAT:
                return self.repeated(message, entity)
            case Kind.INSTALLATION:
                return self.views.installed[message][entity]
            case Kind.ACKNOWLEDGEMENT:
                return False if self.acknowledgements is None else self.acknowledgements[message][entity]
            case Kind.NEGATIVE_ACKNOWLEDGEMENT:
                return False if self.given_back is None else self.given_back[message][entity]

    def earlier(self, first: Happening, second: Happening) -> Proposition:
        """See `Structure`."""
        if first.entity != second.entity:
            return False
        here = _number(first.entity)
        before = self.ordered(
            here, (first.kind, _number(first.message)), (second.kind, _number(second.message))
        )
        return False if before is False else both(self.happened(first), self.happened(second), before)

    def ordered(self, entity: int, first: Place, second: Place) -> Proposition:
        """The first comes before the second, if both happen at the entity."""
        if first == second:
            return False
        if first[0] is Kind.SEND and second[0] is Kind.SEND:
            return first[1] < second[1]
        if self._rank[first] < self._rank[second]:
            return self.orders[entity, first, second]
        return negated(self.orders[entity, second, first])

    def reaches(self, first: Element, second: Element) -> Proposition:
        """See `Structure`."""
        return self._closure[_number(first)][_number(second)]

    def happens_before(self, first: Happening, second: Happening) -> Proposition:
        """See `Structure`."""
        key = (first, second)
        if key not in self._caused:
            self._caused[key] = event_order.happens_before(self, first, second)
        return self._caused[key]

    def entered(self, source: Element, event: Happening) -> Proposition:
        """See `Structure`."""
        key = (source, event)
        if key not in self._entered:
            self._entered[key] = event_order.entered(self, source, event)
        return self._entered[key]

    def faulty(self, entity: Element) -> Proposition:
        """See `Structure`; a crash stands at the end of a history."""
        return False if self.crashed is None else self.crashed[_number(entity)]

    def repeated(self, message: Element, entity: Element) -> Proposition:
        """See `Structure`."""
        return False if self.repeats is None else self.repeats[_number(message)][_number(entity)]

    def arrivals_recorded(self) -> Proposition:
        """See `Structure`."""
        return some(symbol for row in self.arrived or [] for symbol in row)

    def failure_line(self) -> Proposition:
        """See `Structure`: marks can be put there, or elsewhere where something was delivered."""
        return self.line

    def acyclic(
        self, want: bool, _: Sequence[Element], body: Callable[[Element, Element, bool], Proposition]
    ) -> Proposition:
        """See `Structure`."""
        # Acyclic for certain is what has no possible cycle.
        related = [
            [negated(body(p, q, False)) if want else body(p, q, True) for q in self.messages]
            for p in self.messages
        ]
        closed = _closed(related)
        cyclic = some(closed[m][m] for m in self.messages)
        return negated(cyclic) if want else cyclic

    def time(self, event: Happening) -> Linear:
        """See `Structure`; in units."""
        return self._whole(f"time of {event.kind.value} {event.message} at {event.entity}")

    def duration(self, nanoseconds: Linear) -> Linear:
        """See `Structure`."""
        return nanoseconds.times(Fraction(1, self.wanted.unit))

    def delta(self) -> Linear:
        """See `Structure`; in units."""
        return self._whole("delta")

    def epsilon(self) -> Linear:
        """See `Structure`; in units."""
        return self._whole("epsilon")

    def clock(self, event: Happening, of: Element) -> Linear:
        """See `Structure`."""
        return self._whole(f"clock of {event.kind.value} {event.message} at {event.entity} for {of}")

    def vector_time(self, event: Happening, of: Element) -> Linear:
        """See `Structure`."""
        kinds = (Kind.SEND, Kind.DELIVERY, Kind.REPEAT)
        counted = [Happening(kind, m, of) for kind in kinds for m in self.messages]
        return count(self.happened(event) if e == event else self.happens_before(e, event) for e in counted)

    def position(self, message: Element, log: Log, part: Sharing | None) -> Linear:
        """See `Structure`."""
        kind = Kind.DELIVERY if log.received else Kind.SEND
        this = Happening(kind, message, log.entity)
        before = (
            both(self._counted(other, log, part), self.earlier(Happening(kind, other, log.entity), this))
            for other in self.messages
        )
        return count(before).plus(_ONE)

    def size(self, log: Log, part: Sharing | None) -> Linear:
        """See `Structure`."""
        return count(self._counted(message, log, part) for message in self.messages)

    def _counted(self, message: Element, log: Log, part: Sharing | None) -> Proposition:
        inside = in_log(self, message, log)
        return inside if part is None else both(inside, shares(self, message, part))

    def attribute(self, attribute: Attribute, message: Element) -> Linear:
        """See `Structure`; times and durations in units."""
        key = (attribute, _number(message))
        if key not in self.attributes:
            self.attributes[key] = integer(f"{attribute.name} of {message}")
        return number(self.attributes[key])

    def delivery_position(self, delivery: Element, part: Sharing | None) -> Linear:
        """See `Structure`."""
        others = (each for each in self._every_delivery if each != delivery)
        before = (
            both(
                self.delivered_before(other, delivery),
                True if part is None else shares(self, self.message_of(other), part),
            )
            for other in others
        )
        return count(before).plus(_ONE)

    def delivery_attribute(self, attribute: Attribute, delivery: Element) -> Linear:
        """See `Structure`; times and durations in units."""
        key = (attribute, _number(delivery))
        if key not in self.attributes:
            self.attributes[key] = integer(f"{attribute.name} of delivery {delivery}")
        return number(self.attributes[key])

    def delivery_number(self, event: Happening) -> int | None:
        """The number of a delivery; None for any other event."""
        if event.kind not in (Kind.DELIVERY, Kind.REPEAT):
            return None
        place = len(self.messages) * (event.kind is Kind.REPEAT) + _number(event.message)
        return place * len(self.entities) + _number(event.entity)

    def text(self, value: str) -> Linear:
        """See `Structure`; other texts have other numbers."""
        return Linear(Fraction(self.wanted.texts.index(value)))

    def _whole(self, name: str) -> Linear:
        return number(self._numbers.setdefault(name, integer(name)))

    # ---- happens-before ---------------------------------------------------------------------------------

    @cached_property
    def _closure(self) -> list[list[Proposition]]:
        return _closed([[self._step(p, q) for q in self.messages] for p in self.messages])

    def _step(self, first: int, second: int) -> Proposition:
        cases = []
        for e in self.entities:
            delivery, send = Happening(Kind.DELIVERY, first, e), Happening(Kind.SEND, second, e)
            cases.append(both(self._sent[first], self.earlier(delivery, send)))
            cases.append(self.earlier(Happening(Kind.SEND, first, e), send))
        return some(cases)

    # ---- what holds of every execution ------------------------------------------------------------------

    def constraints(self) -> Iterator[Proposition]:
        """What makes it an execution, and of several copies of one the first. To be read after the
        translation.
        """
        for m in self.messages:
            yield from self._one_of(self.sender[m])
            # Each message is in some event. One that is in no other was discarded.
            events = [symbol for table in self._events_by_message() for symbol in table[m]]
            yield equivalent(self.discarded[m], every(map(negated, events)))
            for e in self.entities:
                yield implied(self.dest[m][e], self._sent[m])
                if self.repeats is not None:
                    yield implied(self.repeats[m][e], self.delivered[m][e])
                if self.wanted.placed_repeats:
                    in_order = self.ordered(e, (Kind.DELIVERY, m), (Kind.REPEAT, m))
                    yield implied(self.repeated(m, e), in_order)
        yield from self._first_copy()
        for e in self.entities:
            yield from self._orders_at(e)
        if self.wanted.interleaving:
            yield from (negated(self.reaches(m, m)) for m in self.messages)
        if self.wanted.failure_line:
            yield either(self.line, *(symbol for row in self.delivered for symbol in row))
        for names in (self.entity_names, self.message_names, self.view_names, self.group_names):
            for row in names.values():
                yield from self._one_of(row)
            for column in zip(*names.values(), strict=True):
                yield from self._one_of(column)
        for row in self.view_names.values():
            yield from (implied(is_it, self.views.exists(v)) for v, is_it in enumerate(row))
        for row in self.group_names.values():
            yield from map(implied, row, self.groups.exist)
        yield from self.views.constraints()
        yield from self.views.numbering(self.view_names)
        yield from self.groups.constraints(self._sent, self.dest)
        yield from self._times_fit()

    def _events_by_message(self) -> list[list[list[Symbol]]]:
        """What happens to messages at entities, a table for each kind of event; repeats are left out."""
        tables = (self.sender, self.delivered, self.arrived, self.acknowledgements, self.given_back)
        return [table for table in tables if table is not None]

    @staticmethod
    def _one_of(row: Sequence[Symbol]) -> Iterator[Proposition]:
        """At most one."""
        yield from (either(negated(a), negated(b)) for a, b in combinations(row, 2))

    def _first_copy(self) -> Iterator[Proposition]:
        for m in self.messages:
            earlier = self.sender[m - 1] if m else None
            for e in self.entities:
                if earlier is None:
                    yield implied(self.sender[m][e], e == 0)
                else:
                    yield implied(self.sender[m][e], some(earlier[max(0, e - 1) : e + 1]))

    def _orders_at(self, entity: int) -> Iterator[Proposition]:
        happened = [self.happened(Happening(kind, m, entity)) for kind, m in self.places]
        for (a, one), (b, other) in combinations(zip(self.places, happened, strict=True), 2):
            # Where one did not happen their order is of no account: it is fixed, to have one copy.
            yield either(both(one, other), self.ordered(entity, a, b))
        for (a, one), (b, other), (c, third) in combinations(zip(self.places, happened, strict=True), 3):
            ab, bc, ac = self.ordered(entity, a, b), self.ordered(entity, b, c), self.ordered(entity, a, c)
            out = [negated(part) for part in (one, other, third)]
            yield either(*out, negated(ab), negated(bc), ac)
            yield either(*out, ab, bc, negated(ac))

    def _times_fit(self) -> Iterator[Proposition]:
        slack = self.epsilon() if self.wanted.epsilon else _ZERO
        if self.wanted.times:
            for m, i, e in product(self.messages, self.entities, self.entities):
                sent, received = Happening(Kind.SEND, m, i), Happening(Kind.DELIVERY, m, e)
                fits = compared(self.time(sent), Relation.AT_MOST, self.time(received).plus(slack))
                yield implied(both(self.happened(sent), self.happened(received)), fits)
        if self.wanted.delta:
            self.delta()
        texts = [s for (attribute, _), s in self.attributes.items() if attribute.sort is AttributeSort.TEXT]
        for symbol in (*self._numbers.values(), *texts):
            yield compared(_ZERO, Relation.AT_MOST, number(symbol))

    # ---- what is preferred ------------------------------------------------------------------------------

    def length(self) -> list[Proposition]:
        """The entries of all logs: the total is how many of these are true. Sends are left out, there is one
        of each message; an execution is no shorter for a message that nobody sent.
        """
        tables = [*self._events_by_message()[1:], *([] if self.repeats is None else [self.repeats])]
        entries = (symbol for table in tables for row in table for symbol in row)
        return [*entries, *self.discarded, *self.views.entries()]

    def oddities(self) -> list[Proposition]:
        """What an engineer would wonder at: crashes, messages nobody sent, or to nobody, or only discarded, loss,
        deliveries to strangers; arrivals before the send, or after the delivery or without; acknowledgements without
        a delivery before them, and what is given back.
        """
        odd: list[Proposition] = [*(self.crashed or []), *self.views.oddities(), *self.groups.oddities()]
        for m in self.messages:
            to = (*self.dest[m], *self.groups.addressed[m])
            odd += [negated(self._sent[m]), every(negated(symbol) for symbol in to), self.discarded[m]]
            for e in self.entities:
                odd.append(both(self.dest[m][e], negated(self.delivered[m][e])))
                stranger = both(negated(self.dest[m][e]), negated(self.groups.chosen(m, e)))
                odd.append(both(self.delivered[m][e], stranger))
                if self.arrived is not None:
                    arrival, delivery = Happening(Kind.ARRIVAL, m, e), Happening(Kind.DELIVERY, m, e)
                    odd.append(both(self.delivered[m][e], negated(self.earlier(arrival, delivery))))
                    odd.append(self.earlier(arrival, Happening(Kind.SEND, m, e)))
                if self.given_back is not None:
                    odd.append(self.given_back[m][e])
                    for kind in (Kind.ACKNOWLEDGEMENT, Kind.NEGATIVE_ACKNOWLEDGEMENT):
                        done, delivery = Happening(kind, m, e), Happening(Kind.DELIVERY, m, e)
                        odd.append(both(self.happened(done), negated(self.earlier(delivery, done))))
        return odd

    def in_order(self, how: Relation) -> Proposition:
        """Times grow (`LESS`), or do not fall, along a history and from a send to what is received."""
        parts: list[Proposition] = []
        for e in self.entities:
            events = [Happening(kind, m, e) for kind, m in self.places]
            for a, b in product(events, repeat=2):
                if a != b:
                    fits = compared(self.time(a), how, self.time(b))
                    parts.append(implied(self.earlier(a, b), fits))
            for m, i, kind in product(self.messages, self.entities, (Kind.DELIVERY, Kind.ARRIVAL)):
                sent, received = Happening(Kind.SEND, m, i), Happening(kind, m, e)
                took_place = both(self.happened(sent), self.happened(received))
                if took_place is not False:
                    parts.append(implied(took_place, compared(self.time(sent), how, self.time(received))))
        return every(parts)

    def choices(self) -> Iterator[Proposition]:
        """Propositions to make true where that is possible, one after the other: what is left is one
        execution.
        """
        if self.wanted.failure_line:
            yield self.line
        for names in (self.entity_names, self.message_names, self.view_names, self.group_names):
            for row in names.values():
                yield from row
        yield from (symbol for row in self.sender for symbol in row)
        for table in (self.dest, *self._events_by_message()[1:]):
            yield from (symbol for row in table for symbol in row)
        for row in self.repeats or []:
            yield from (negated(symbol) for symbol in row)
        yield from (negated(symbol) for symbol in self.crashed or [])
        yield from self.views.choices()
        yield from self.groups.choices()
        yield from self.orders.values()

    def numbers(self) -> dict[str, Symbol]:
        """The numbers that the formula and the constraints speak of, by name."""
        return dict(self._numbers)


def limits(wanted: Features) -> tuple[str, ...]:
    """What executions of a bounded size have at most, beside entities and messages, where a formula could tell that
    there is more.
    """
    found = []
    if wanted.views:
        found.append(f"{view_count(wanted)} views")
    if wanted.views_of_events:
        found.append("1 installation of a view at an entity")
    if wanted.groups:
        found.append(f"{group_count(wanted)} groups")
    if wanted.placed_repeats:
        acts = ["1 ack", "1 nack"] if wanted.deliveries and wanted.acknowledgements else []
        *others, last = [f"{DELIVERIES} deliveries", *acts]
        found += [*others, f"{last} of a message at an entity"]
    return tuple(found)


def _closed(related: list[list[Proposition]]) -> list[list[Proposition]]:
    """The transitive closure, by Warshall's algorithm over propositions."""
    size = range(len(related))
    for middle in size:
        related = [
            [either(related[a][b], both(related[a][middle], related[middle][b])) for b in size] for a in size
        ]
    return related


def _of_those(
    universal: bool,
    elements: Iterable[tuple[Proposition, Element]],
    body: Callable[[Element], Proposition],
) -> Proposition:
    """For all, or some, of the elements that are there."""
    judged = ((there, body(element)) for there, element in elements)
    if universal:
        return every(implied(there, holds) for there, holds in judged)
    return some(both(there, holds) for there, holds in judged)


def _number(element: Element) -> int:
    assert isinstance(element, int)
    return element
