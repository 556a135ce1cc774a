"""Executions of every size: entities and messages as uninterpreted sorts, logs as strict orders, and what
holds of all of them.

Everything asserted here is true of every execution that is possible, so that what is unsatisfiable has no
counterexample of any size. The converse does not hold: an infinite structure, or one whose happens-before is
larger than the least, is no execution. Counterexamples are looked for elsewhere (`bounded`).

Most of it is in the decidable fragment EPR: the only function between the sorts goes from a message to its
sender. Happens-before between sends is *some* transitive and irreflexive relation that has the steps of
Definition 1 (Δ-causal paper): a send, and a later send of the same entity; a send, and a send at an entity
that has delivered the message. That it is the *least* is no first-order statement. Its instances are: for a
relation R that has the steps and is closed under one more, happens-before is within R. `inductions` are those
for the relations that the proofs on paper use.

Likewise a relation without a cycle is contained in a strict order, which is exact where it is assumed; and
one with a cycle is contained in none, of which the instances for a few definable orders are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import assert_never

from precedes.core.formula import Attribute, AttributeSort, Relation
from precedes.engines.solver import event_order
from precedes.engines.solver.delivery_order import DeliveryOrder
from precedes.engines.solver.features import Features
from precedes.engines.solver.group_relations import GroupRelations
from precedes.engines.solver.logic import (
    Element,
    Function,
    Linear,
    Proposition,
    Sort,
    Symbol,
    both,
    compared,
    constant,
    either,
    equivalent,
    implied,
    mapping,
    measure,
    negated,
    number,
    quantified,
    relation,
    same,
    sort_of,
)
from precedes.engines.solver.structure import Cases, Happening, Kind, Log, Sharing
from precedes.engines.solver.view_relations import ViewRelations

E, G, M, V = Sort.ENTITY, Sort.GROUP, Sort.MESSAGE, Sort.VIEW
_ZERO, _ONE = Fraction(0), Fraction(1)
Related = Callable[[Element, Element], Proposition]


class Unbounded:
    """Executions of every size; `messages` is False for those without a message, which Z3's sorts, never
    empty, leave out.
    """

    def __init__(self, wanted: Features, messages: bool) -> None:
        self._wanted = wanted
        self._messages = messages
        self._fresh = 0
        self._sender = mapping("sender", E, M)
        self._sent = relation("sent", M)
        self._dest = relation("dest", M, E)
        self._repeated = relation("repeated", M, E)
        self._faulty = relation("faulty", E)
        self._took_place = {
            Kind.DELIVERY: relation("delivered", M, E),
            Kind.ARRIVAL: relation("arrived", M, E),
        }
        self._kinds = [Kind.SEND, Kind.DELIVERY, *([Kind.ARRIVAL] if wanted.arrivals else [])]
        self._before = {
            pair: relation(f"{pair[0].value} before {pair[1].value}", M, M, E)
            for pair in product(self._kinds, repeat=2)
        }
        self._reaches = relation("reaches", M, M)
        self._named = {
            (sort, name): (relation(f"has {sort.value} {place}")(), constant(f"{sort.value} {place}", sort))
            for sort, names in (
                (E, wanted.entities),
                (M, wanted.messages),
                (V, wanted.view_names),
                (G, wanted.group_names),
            )
            for place, name in enumerate(names)
        }
        self._orders: list[tuple[Function, tuple[Sort, ...]]] = []
        self._line = relation("failure line")()
        self._deliveries = DeliveryOrder(self, self._variable)
        self._views = ViewRelations(self, self._deliveries, self._kinds, self._variable)
        self._groups = GroupRelations(self._variable)

    # ---- structure --------------------------------------------------------------------------------------

    def quantified(self, universal: bool, sort: Sort, body: Callable[[Element], Proposition]) -> Proposition:
        """See `Structure`."""
        if sort in (M, Sort.DELIVERY) and not self._messages:
            return universal
        variable = self._variable(sort)
        there = self._there(sort, variable)
        found = implied(there, body(variable)) if universal else both(there, body(variable))
        return quantified(universal, [variable], found)

    def _there(self, sort: Sort, element: Element) -> Proposition:
        """An element of the sort is one of the execution's."""
        match sort:
            case Sort.ENTITY | Sort.MESSAGE:
                return True
            case Sort.DELIVERY:
                return self._deliveries.made(element)
            case Sort.VIEW:
                return self._views.exists(element)
            case Sort.GROUP:
                return self._groups.exists(element)
            case _:
                assert_never(sort)

    def entity_named(self, name: str) -> Cases:
        """See `Structure`."""
        return [self._named[E, name]]

    def message_named(self, name: str) -> Cases:
        """See `Structure`."""
        return [self._named[M, name]] if self._messages else []

    def group_named(self, name: str) -> Cases:
        """See `Structure`."""
        return [self._named[G, name]]

    def view_named(self, name: str) -> Cases:
        """See `Structure`."""
        return [self._named[V, name]]

    def senders(self, message: Element) -> Cases:
        """See `Structure`."""
        return [(self._sent(message), self._sender(message))]

    def sent(self, message: Element) -> Proposition:
        """See `Structure`."""
        return self._sent(message)

    def addressed(self, message: Element, entity: Element) -> Proposition:
        """See `Structure`."""
        return both(self._sent(message), self._dest(message, entity))

    def chosen(self, message: Element, entity: Element) -> Proposition:
        """See `Structure`."""
        return self._groups.chosen(message, entity) if self._wanted.groups else False

    def addressed_to_group(self, message: Element, group: Element) -> Proposition:
        """See `Structure`."""
        return self._groups.addressed(message, group)

    def in_group(self, entity: Element, group: Element) -> Proposition:
        """See `Structure`."""
        return self._groups.member(group, entity)

    def in_view(self, entity: Element, view: Element) -> Proposition:
        """See `Structure`."""
        return self._views.member(view, entity)

    def installs(self, entity: Element, view: Element) -> Proposition:
        """See `Structure`."""
        return self._views.installs(view, entity)

    def installs_before(self, first: Element, second: Element, entity: Element) -> Proposition:
        """See `Structure`."""
        return self._views.before(first, second, entity)

    def installs_again(self, entity: Element, view: Element) -> Proposition:
        """See `Structure`."""
        return self._views.again(view, entity)

    def view_at(self, event: Happening) -> Cases:
        """See `Structure`."""
        return self._views.view_at(event)

    def view_of_delivery(self, delivery: Element) -> Cases:
        """See `Structure`."""
        return self._views.view_of_delivery(delivery)

    def view_number(self, view: Element) -> Linear:
        """See `Structure`."""
        return self._views.number(view)

    def is_numbered(self, view: Element) -> Proposition:  # noqa: ARG002 - whichever view it is
        """See `Structure`; to assume it makes the statement weaker, which a proof may."""
        return True

    def happened(self, event: Happening) -> Proposition:
        """See `Structure`."""
        if event.kind is Kind.SEND:
            return both(self._sent(event.message), same(self._sender(event.message), event.entity))
        return self._took_place[event.kind](event.message, event.entity)

    def earlier(self, first: Happening, second: Happening) -> Proposition:
        """See `Structure`."""
        return self._before[first.kind, second.kind](first.message, second.message, first.entity)

    def reaches(self, first: Element, second: Element) -> Proposition:
        """See `Structure`."""
        return self._reaches(first, second)

    def happens_before(self, first: Happening, second: Happening) -> Proposition:
        """See `Structure`."""
        return event_order.happens_before(self, first, second)

    def entered(self, source: Element, event: Happening) -> Proposition:
        """See `Structure`."""
        return event_order.entered(self, source, event)

    def faulty(self, entity: Element) -> Proposition:
        """See `Structure`."""
        return self._faulty(entity)

    def repeated(self, message: Element, entity: Element) -> Proposition:
        """See `Structure`."""
        return self._repeated(message, entity)

    def arrivals_recorded(self) -> Proposition:
        """See `Structure`; to assume it makes the statement weaker, which a proof may."""
        return True

    def failure_line(self) -> Proposition:
        """See `Structure`."""
        return self._line

    def acyclic(
        self, want: bool, parameters: Sequence[Element], body: Callable[[Element, Element, bool], Proposition]
    ) -> Proposition:
        """See `Structure`; a consequence of it, see the module."""
        if not self._messages:
            return want
        sorts = tuple(self._sort(parameter) for parameter in parameters)
        self._fresh += 1
        if want:
            order = relation(f"order {self._fresh}", *sorts, M, M)
            self._orders.append((order, sorts))
            p, q = self._variable(M), self._variable(M)
            # What may be related is within the order: a formula that is acyclic for certain has no possible
            # cycle.
            return quantified(True, [p, q], either(body(p, q, False), order(*parameters, p, q)))
        cyclic = [
            either(
                self._some(1, lambda p: body(p, p, True)),
                self._some(
                    3, lambda p, q, r: both(body(p, q, True), body(q, r, True), negated(body(p, r, True)))
                ),
            )
        ]
        cyclic += [
            self._some(2, lambda p, q, order=order: both(body(p, q, True), negated(order(p, q))))
            for order, of in self._orders
            if not of
        ]
        if self._wanted.causality:
            cyclic.append(self._some(2, lambda p, q: both(body(p, q, True), negated(self._reaches(p, q)))))
        return both(*cyclic)

    def time(self, event: Happening) -> Linear:
        """See `Structure`."""
        return number(
            measure(f"time of {event.kind.value}", (M, E), whole=False)(event.message, event.entity)
        )

    def duration(self, nanoseconds: Linear) -> Linear:
        """See `Structure`."""
        return nanoseconds

    def delta(self) -> Linear:
        """See `Structure`."""
        return number(measure("delta", (), whole=False)())

    def epsilon(self) -> Linear:
        """See `Structure`."""
        return number(measure("epsilon", (), whole=False)())

    def clock(self, event: Happening, of: Element) -> Linear:
        """See `Structure`."""
        return number(
            measure(f"clock of {event.kind.value}", (M, E, E), whole=True)(event.message, event.entity, of)
        )

    def vector_time(self, event: Happening, of: Element) -> Linear:
        """See `Structure`."""
        name = f"vector time of {event.kind.value}"
        return number(measure(name, (M, E, E), whole=True)(event.message, event.entity, of))

    def position(self, message: Element, log: Log, part: Sharing | None) -> Linear:
        """See `Structure`. Of places in a part no more is known than that they are numbers."""
        name, of = _log(log)
        if part is None:
            return number(measure(f"position in {name}", (M, *[E] * len(of)), whole=True)(message, *of))
        name = f"position in {name} of {_names(part)}"
        return number(measure(name, (M, M, *[E] * len(of)), whole=True)(part.message, message, *of))

    def size(self, log: Log, part: Sharing | None) -> Linear:
        """See `Structure`. Of the size of a part no more is known than that it is a number."""
        name, of = _log(log)
        if part is None:
            return number(measure(f"size of {name}", [E] * len(of), whole=True)(*of))
        name = f"size of {name} of {_names(part)}"
        return number(measure(name, (M, *[E] * len(of)), whole=True)(part.message, *of))

    def message_of(self, delivery: Element) -> Element:
        """See `Structure`."""
        return self._deliveries.message_of(delivery)

    def receiver_of(self, delivery: Element) -> Element:
        """See `Structure`."""
        return self._deliveries.receiver_of(delivery)

    def delivered_before(self, first: Element, second: Element) -> Proposition:
        """See `Structure`."""
        return self._deliveries.before(first, second)

    def in_flight(self, first: Element, second: Element) -> Proposition:
        """See `Structure`."""
        return self._deliveries.in_flight(first, second)

    def acknowledged(self, message: Element, entity: Element) -> Proposition:
        """See `Structure`."""
        return self._deliveries.acknowledged(message, entity)

    def acknowledgements_recorded(self) -> Proposition:
        """See `Structure`; to assume it makes the statement weaker, which a proof may."""
        return True

    def nth(self, delivery: Element) -> Linear:
        """See `Structure`."""
        return self._deliveries.nth(delivery)

    def delivery_time(self, delivery: Element) -> Linear:
        """See `Structure`."""
        return self._deliveries.time(delivery)

    def attribute(self, attribute: Attribute, message: Element) -> Linear:
        """See `Structure`; in nanoseconds."""
        whole = attribute.sort in (AttributeSort.TEXT, AttributeSort.NUMBER)
        return number(measure(f"attribute {attribute.name}", (M,), whole)(message))

    def delivery_position(self, delivery: Element, part: Sharing | None) -> Linear:
        """See `Structure`. Of places in a part no more is known than that they are numbers."""
        if part is None:
            return self._deliveries.position(delivery)
        name = f"position in DL of {_names(part)}"
        return number(measure(name, (M, Sort.DELIVERY), whole=True)(part.message, delivery))

    def delivery_attribute(self, attribute: Attribute, delivery: Element) -> Linear:
        """See `Structure`; in nanoseconds."""
        whole = attribute.sort in (AttributeSort.TEXT, AttributeSort.NUMBER)
        return number(measure(f"attribute {attribute.name}", (Sort.DELIVERY,), whole)(delivery))

    def text(self, value: str) -> Linear:
        """See `Structure`; other texts have other numbers."""
        return Linear(Fraction(self._wanted.texts.index(value)))

    # ---- what holds of every execution ------------------------------------------------------------------

    def axioms(self) -> Iterator[Proposition]:
        """What is true of all executions that are possible. To be read after the translation, which may add
        relations.
        """
        yield from self._names()
        if self._wanted.views:
            yield from self._views.axioms()
        if self._wanted.view_numbers:
            called = {name: self._named[V, name] for name in self._wanted.view_names}
            yield from self._views.axioms_of_numbers(called)
        if not self._messages:
            yield from self._numbers()
            return
        yield from self._local_orders()
        yield self._all(
            "me", lambda m, i: implied(self._repeated(m, i), self._took_place[Kind.DELIVERY](m, i))
        )
        if self._wanted.deliveries:
            yield from self._deliveries.axioms(
                times=self._wanted.times, numbers=self._wanted.numbered, places=self._wanted.places
            )
        if self._wanted.views_of_events:
            yield from self._views.axioms_of_events(deliveries=self._wanted.deliveries)
        if self._wanted.groups:
            yield from self._groups.axioms(self._sent)
        if self._wanted.causality:
            yield from self._causality()
        for order, sorts in self._orders:
            yield from self._strict_order(order, sorts)
        yield from self._numbers()

    def _local_orders(self) -> Iterator[Proposition]:
        kinds = self._kinds if self._wanted.causality else []
        pairs = list(product(kinds, repeat=2)) or [(kind, kind) for kind in self._kinds]
        for first, second in pairs:
            before, after = self._before[first, second], self._before[second, first]
            yield self._all(
                "mme",
                lambda p, q, i, first=first, second=second, before=before: implied(
                    before(p, q, i),
                    both(self.happened(Happening(first, p, i)), self.happened(Happening(second, q, i))),
                ),
            )
            if first is second:
                yield self._all("me", lambda p, i, before=before: negated(before(p, p, i)))
            # Where arrivals count as deliveries, the two are one event.
            one_event = first is second or Kind.SEND not in (first, second)
            yield self._all(
                "mme",
                lambda p, q, i, first=first, second=second, before=before, after=after, one_event=one_event: (
                    either(
                        negated(self.happened(Happening(first, p, i))),
                        negated(self.happened(Happening(second, q, i))),
                        both(one_event, same(p, q)),
                        before(p, q, i),
                        after(q, p, i),
                    )
                ),
            )
            for third in kinds or [first]:
                then, whole = self._before.get((second, third)), self._before.get((first, third))
                if (not kinds and third is not first) or then is None or whole is None:
                    continue
                yield self._all(
                    "mmme",
                    lambda p, q, r, i, before=before, then=then, whole=whole: implied(
                        both(before(p, q, i), then(q, r, i)), whole(p, r, i)
                    ),
                )

    def step(self, first: Element, second: Element) -> Proposition:
        """One step of happens-before between sends: at one entity, or by a delivery."""
        return either(self._sent_then(first, second), self._told(first, second))

    def _sent_then(self, first: Element, second: Element) -> Proposition:
        place = self._sender(second)
        return self._before[Kind.SEND, Kind.SEND](first, second, place)

    def _told(self, first: Element, second: Element) -> Proposition:
        place = self._sender(second)
        return both(self._sent(first), self._before[Kind.DELIVERY, Kind.SEND](first, second, place))

    def _causality(self) -> Iterator[Proposition]:
        yield from self._strict_order(self._reaches, ())
        yield self._all("mm", lambda p, q: implied(self._reaches(p, q), both(self._sent(p), self._sent(q))))
        yield self._all("mm", lambda p, q: implied(self._sent_then(p, q), self._reaches(p, q)))
        yield self._all("mm", lambda p, q: implied(self._told(p, q), self._reaches(p, q)))

    def inductions(self) -> Iterator[list[Proposition]]:
        """Happens-before is the least relation of its kind: groups of instances of that, to be tried one
        after the other.

        A group is induction over the steps for one relation, appending a step or prepending one; the last
        group is all of these with the last step of a chain from one entity to another, whose quantifiers
        leave the decidable fragment.
        """
        if not self._messages or not self._wanted.causality:
            return
        delivered = self._took_place[Kind.DELIVERY]
        order = self._before[Kind.DELIVERY, Kind.DELIVERY]

        def everywhere(p: Element, q: Element) -> Proposition:
            return self._all("e", lambda i: implied(delivered(q, i), order(p, q, i)))

        def where_both(p: Element, q: Element) -> Proposition:
            return self._all("e", lambda i: implied(both(delivered(q, i), delivered(p, i)), order(p, q, i)))

        def where_addressed(p: Element, q: Element) -> Proposition:
            return self._all("e", lambda i: implied(both(delivered(q, i), self._dest(p, i)), order(p, q, i)))

        groups = [
            list(self._induction(within)) for within in (self.step, everywhere, where_both, where_addressed)
        ]
        yield from groups
        yield [*(instance for group in groups for instance in group), self._last_step()]

    def _induction(self, within: Related) -> Iterator[Proposition]:
        """Happens-before between sends is within a relation that has its steps and, with each pair, what is
        one step more.
        """
        contained = self._all("mm", lambda p, q: implied(self._reaches(p, q), within(p, q)))
        outside = self._some(2, lambda p, q: both(self.step(p, q), negated(within(p, q))))
        yield either(
            contained,
            outside,
            self._some(3, lambda p, q, r: both(self.step(p, q), within(q, r), negated(within(p, r)))),
        )
        yield either(
            contained,
            outside,
            self._some(3, lambda p, q, r: both(within(p, q), self.step(q, r), negated(within(p, r)))),
        )

    def _last_step(self) -> Proposition:
        """A chain between sends stays at one entity, or enters that of its end by some delivery."""
        return self._all(
            "mm",
            lambda p, q: implied(
                self._reaches(p, q),
                either(
                    self._sent_then(p, q),
                    self._some(1, lambda u: both(either(same(p, u), self._reaches(p, u)), self._told(u, q))),
                ),
            ),
        )

    def _strict_order(self, order: Function, sorts: tuple[Sort, ...]) -> Iterator[Proposition]:
        of = [self._variable(sort) for sort in sorts]
        p, q, r = (self._variable(M) for _ in range(3))
        yield quantified(True, [*of, p], negated(order(*of, p, p)))
        yield quantified(
            True, [*of, p, q, r], implied(both(order(*of, p, q), order(*of, q, r)), order(*of, p, r))
        )

    def _names(self) -> Iterator[Proposition]:
        named = list(self._named.items())
        for place, ((sort, _), (here, one)) in enumerate(named):
            for (other_sort, _), (there, other) in named[:place]:
                if sort is other_sort:
                    yield negated(both(here, there, same(one, other)))
        yield from (implied(here, self._there(sort, one)) for (sort, _), (here, one) in named)

    # ---- numbers ----------------------------------------------------------------------------------------

    def _numbers(self) -> Iterator[Proposition]:
        nothing = Linear(_ZERO)
        if self._wanted.delta:
            yield compared(nothing, Relation.AT_MOST, self.delta())
        if self._wanted.epsilon:
            yield compared(nothing, Relation.AT_MOST, self.epsilon())
        if not self._messages:
            if self._wanted.places:
                yield from self._places(empty=True)
            return
        if self._wanted.times:
            slack = self.epsilon() if self._wanted.epsilon else nothing

            def in_order(m: Element, i: Element) -> Proposition:
                sent = self.time(Happening(Kind.SEND, m, self._sender(m)))
                received = self.time(Happening(Kind.DELIVERY, m, i)).plus(slack)
                took_place = both(self._sent(m), self._took_place[Kind.DELIVERY](m, i))
                return implied(took_place, compared(sent, Relation.AT_MOST, received))

            yield self._all("me", in_order)
        if self._wanted.vector_times:
            yield from self._vector_times()
        if self._wanted.places:
            yield from self._places(empty=False)

    def _vector_times(self) -> Iterator[Proposition]:
        """The events of an entity that happen before an event are the first so many: CMD paper, Lemmas 2 and
        4.
        """
        kinds = (Kind.SEND, Kind.DELIVERY)
        for kind, other in product(kinds, repeat=2):

            def counted(
                p: Element, i: Element, q: Element, j: Element, kind: Kind = kind, other: Kind = other
            ) -> Proposition:
                here, there = Happening(kind, p, i), Happening(other, q, j)
                the_same = both(kind is other, same(p, q), same(i, j))
                before = either(the_same, self.happens_before(here, there))
                much = compared(self.vector_time(here, i), Relation.AT_MOST, self.vector_time(there, i))
                return implied(both(self.happened(here), self.happened(there)), equivalent(before, much))

            yield self._all("meme", counted)
        nothing = Linear(_ZERO)
        for kind in kinds:

            def natural(p: Element, i: Element, k: Element, kind: Kind = kind) -> Proposition:
                return compared(nothing, Relation.AT_MOST, self.vector_time(Happening(kind, p, i), k))

            yield self._all("mee", natural)

    def _places(self, empty: bool) -> Iterator[Proposition]:
        one, nothing = Linear(_ONE), Linear(_ZERO)
        for received, partial in ((True, False), (False, False), (False, True)):

            def log(i: Element, j: Element, received: bool = received, partial: bool = partial) -> Log:
                return Log(received, i, j if partial else None)

            if empty:
                yield self._all(
                    "ee", lambda i, j, log=log: compared(self.size(log(i, j), None), Relation.EQUAL, nothing)
                )
                continue
            kind = Kind.DELIVERY if received else Kind.SEND

            def inside(
                m: Element, i: Element, j: Element, kind: Kind = kind, partial: bool = partial
            ) -> Proposition:
                return both(self.happened(Happening(kind, m, i)), self.addressed(m, j) if partial else True)

            yield self._all(
                "ee", lambda i, j, log=log: compared(nothing, Relation.AT_MOST, self.size(log(i, j), None))
            )
            yield self._all(
                "mee",
                lambda m, i, j, log=log, inside=inside: implied(
                    inside(m, i, j),
                    both(
                        compared(one, Relation.AT_MOST, self.position(m, log(i, j), None)),
                        compared(
                            self.position(m, log(i, j), None), Relation.AT_MOST, self.size(log(i, j), None)
                        ),
                    ),
                ),
            )
            yield self._all(
                "mmee",
                lambda p, q, i, j, log=log, inside=inside, kind=kind: implied(
                    both(inside(p, i, j), inside(q, i, j)),
                    equivalent(
                        self._before[kind, kind](p, q, i),
                        compared(
                            self.position(p, log(i, j), None),
                            Relation.LESS,
                            self.position(q, log(i, j), None),
                        ),
                    ),
                ),
            )

    # ---- binding ----------------------------------------------------------------------------------------

    def _variable(self, sort: Sort) -> Symbol:
        self._fresh += 1
        return constant(f"{sort.value[0]}{self._fresh}", sort)

    def _sort(self, element: Element) -> Sort:
        assert not isinstance(element, int)
        return sort_of(element)

    def _all(self, sorts: str, body: Callable[..., Proposition]) -> Proposition:
        """For all messages (m) and entities (e)."""
        variables = [self._variable(M if letter == "m" else E) for letter in sorts]
        return quantified(True, variables, body(*variables))

    def _some(self, messages: int, body: Callable[..., Proposition]) -> Proposition:
        variables = [self._variable(M) for _ in range(messages)]
        return quantified(False, variables, body(*variables))


def _names(part: Sharing) -> str:
    return ", ".join(sorted(attribute.name for attribute in part.attributes))


def _log(log: Log) -> tuple[str, tuple[Element, ...]]:
    if log.received:
        return "RL", (log.entity,)
    return ("SL", (log.entity,)) if log.to is None else ("SL to", (log.entity, log.to))
