"""Views of every number, as an uninterpreted sort: who is in them, in which order each entity installs them, and in
which view an event happens.

Only some of the sort exist: those that somebody installs. At least one does, since nothing is known of views where none
is installed, and a formula is then neither true nor false on account of them. Everything asserted is true of
every execution. The order of views at an entity, and that of a view and an event, is that of the first installation.
The view of an event is the last one before it in that order, unless it is installed again. That an event which comes
after an installation has a view at all is asserted, because there are finitely many before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Protocol

from precedes.core.execution import view_number
from precedes.core.formula import Relation
from precedes.engines.solver.delivery_order import DeliveryOrder
from precedes.engines.solver.logic import (
    Element,
    Function,
    Linear,
    Proposition,
    Sort,
    Symbol,
    both,
    compared,
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
)
from precedes.engines.solver.structure import Cases, Happening, Kind

D, E, M, V = Sort.DELIVERY, Sort.ENTITY, Sort.MESSAGE, Sort.VIEW


class Executions(Protocol):
    """What installations have to agree with."""

    def happened(self, event: Happening) -> Proposition:
        """The event took place."""

    def earlier(self, first: Happening, second: Happening) -> Proposition:
        """Both took place, at one entity, the first before the second."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Events of one kind among the installations of their entity. An event is the elements of some `sorts`; `installed`
    is that a view was installed before it, `inside` that some view was, and `view` the last one.
    """

    sorts: tuple[Sort, ...]
    happened: Callable[..., Proposition]
    entity: Callable[..., Element]
    installed: Function
    inside: Function
    view: Function


class ViewRelations:
    """The views of executions of every size; `variable` makes a new one of a sort."""

    def __init__(
        self,
        executions: Executions,
        deliveries: DeliveryOrder,
        kinds: Sequence[Kind],
        variable: Callable[[Sort], Symbol],
    ) -> None:
        self._executions = executions
        self._deliveries = deliveries
        self._variable = variable
        self.exists = relation("is view", V)
        self.member = relation("member of view", V, E)
        self.installs = relation("installs", V, E)
        self.before = relation("installed before", V, V, E)
        self.again = relation("installed again", V, E)
        self._of_kind = {kind: self._events(kind) for kind in kinds}
        self._of_deliveries = _placed("made", (D,), deliveries.made, deliveries.receiver_of)

    def _events(self, kind: Kind) -> Placed:
        def happened(message: Element, entity: Element) -> Proposition:
            return self._executions.happened(Happening(kind, message, entity))

        return _placed(kind.value, (M, E), happened, lambda _, entity: entity)

    def view_at(self, event: Happening) -> Cases:
        """The view in which an event happened, if it happened in one."""
        placed = self._of_kind[event.kind]
        inside = both(self._executions.happened(event), placed.inside(event.message, event.entity))
        return [(inside, placed.view(event.message, event.entity))]

    def view_of_delivery(self, delivery: Element) -> Cases:
        """The view in which a delivery happened, if it happened in one."""
        return [(self._of_deliveries.inside(delivery), self._of_deliveries.view(delivery))]

    def number(self, view: Element) -> Linear:
        """The number of a view."""
        return number(measure("number of view", (V,), whole=True)(view))

    # ---- what holds of every execution ------------------------------------------------------------------

    def axioms(self) -> Iterator[Proposition]:
        """What is true of the views of every execution in which some are known, whether or not it has messages."""
        v = self._variable(V)
        i = self._variable(E)
        there = quantified(False, [i], self.installs(v, i))
        yield quantified(False, [v], self.exists(v))
        yield quantified(True, [v], implied(self.exists(v), there))
        yield self._all([V, E], lambda v, i: implied(self.installs(v, i), self.exists(v)))
        yield self._all([V, E], lambda v, i: implied(self.again(v, i), self.installs(v, i)))
        yield self._all([V, E], lambda v, i: negated(self.before(v, v, i)))
        yield self._all(
            [V, V, E],
            lambda v, w, i: implied(self.before(v, w, i), both(self.installs(v, i), self.installs(w, i))),
        )
        yield self._all(
            [V, V, V, E],
            lambda u, v, w, i: implied(
                both(self.before(u, v, i), self.before(v, w, i)), self.before(u, w, i)
            ),
        )
        yield self._all(
            [V, V, E],
            lambda v, w, i: implied(
                both(self.installs(v, i), self.installs(w, i)),
                either(same(v, w), self.before(v, w, i), self.before(w, v, i)),
            ),
        )

    def axioms_of_numbers(self, names: Mapping[str, tuple[Proposition, Element]]) -> Iterator[Proposition]:
        """Different views have different numbers, and a view has the number that a formula calls it by; `names` are
        the ids of the formula, with the condition that there is such a view.
        """
        yield self._all(
            [V, V],
            lambda v, w: implied(
                both(
                    self.exists(v),
                    self.exists(w),
                    compared(self.number(v), Relation.EQUAL, self.number(w)),
                ),
                same(v, w),
            ),
        )
        for name, (there, view) in names.items():
            called = view_number(name)
            if called is not None:
                the_same = compared(self.number(view), Relation.EQUAL, Linear(Fraction(called)))
                yield implied(there, the_same)

    def axioms_of_events(self, *, deliveries: bool) -> Iterator[Proposition]:
        """What is true of the events of every execution and their views."""
        for placed in self._of_kind.values():
            yield from self._between_installations(placed)
        for first, second in product(self._of_kind, repeat=2):
            yield self._in_order(first, second)
        if deliveries:
            yield from self._between_installations(self._of_deliveries)
            yield from self._as_first()

    def _between_installations(self, placed: Placed) -> Iterator[Proposition]:
        yield self._all(
            [V, *placed.sorts],
            lambda v, *event: implied(
                placed.installed(v, *event),
                both(placed.happened(*event), self.installs(v, placed.entity(*event)), placed.inside(*event)),
            ),
        )
        yield self._all(
            [V, V, *placed.sorts],
            lambda v, w, *event: implied(
                both(self.before(v, w, placed.entity(*event)), placed.installed(w, *event)),
                placed.installed(v, *event),
            ),
        )
        yield self._all(
            placed.sorts,
            lambda *event: implied(placed.inside(*event), placed.installed(placed.view(*event), *event)),
        )
        yield self._all(
            [V, *placed.sorts],
            lambda v, *event: implied(
                placed.installed(v, *event),
                either(
                    same(v, placed.view(*event)),
                    self.before(v, placed.view(*event), placed.entity(*event)),
                    self.again(placed.view(*event), placed.entity(*event)),
                ),
            ),
        )

    def _in_order(self, first: Kind, second: Kind) -> Proposition:
        """What was installed before an event was installed before what follows it."""
        return self._all(
            [V, M, M, E],
            lambda v, p, q, i: implied(
                both(
                    self._executions.earlier(Happening(first, p, i), Happening(second, q, i)),
                    self._of_kind[first].installed(v, p, i),
                ),
                self._of_kind[second].installed(v, q, i),
            ),
        )

    def _as_first(self) -> Iterator[Proposition]:
        """Views of deliveries follow their order, and those of first deliveries are the views in the receipt log."""
        made, logged, order = self._of_deliveries, self._of_kind[Kind.DELIVERY], self._deliveries
        yield self._all(
            [V, D, D],
            lambda v, d, e: implied(both(order.before(d, e), made.installed(v, d)), made.installed(v, e)),
        )
        yield self._all(
            [V, D],
            lambda v, d: implied(
                both(order.made(d), order.is_first(d)),
                both(
                    equivalent(
                        made.installed(v, d), logged.installed(v, order.message_of(d), order.receiver_of(d))
                    ),
                    same(made.view(d), logged.view(order.message_of(d), order.receiver_of(d))),
                ),
            ),
        )

    def _all(self, sorts: Sequence[Sort], body: Callable[..., Any]) -> Proposition:
        variables = [self._variable(sort) for sort in sorts]
        return quantified(True, variables, body(*variables))


def _placed(
    name: str,
    sorts: tuple[Sort, ...],
    happened: Callable[..., Proposition],
    entity: Callable[..., Element],
) -> Placed:
    return Placed(
        sorts,
        happened,
        entity,
        installed=relation(f"view installed before {name}", V, *sorts),
        inside=relation(f"{name} in a view", *sorts),
        view=mapping(f"view of {name}", V, *sorts),
    )
