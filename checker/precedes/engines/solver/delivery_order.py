"""Deliveries of every number, as an uninterpreted sort: whose they are, of which message, and their order.

A sort of Z3 is never empty, but nothing need be delivered: only some of the sort were `made`. Everything asserted is
true of every execution. That a message which was delivered has a first delivery is, too; that there are finitely many
before it is no first-order statement, and is not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Protocol

from precedes.core.formula import Relation
from precedes.engines.solver.logic import (
    Element,
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
from precedes.engines.solver.structure import Happening, Kind

D, E, M = Sort.DELIVERY, Sort.ENTITY, Sort.MESSAGE
_ONE = Linear(Fraction(1))


class Executions(Protocol):
    """What the order of deliveries has to agree with."""

    def happened(self, event: Happening) -> Proposition:
        """The event took place."""

    def earlier(self, first: Happening, second: Happening) -> Proposition:
        """Both took place, at one entity, the first before the second."""

    def repeated(self, message: Element, entity: Element) -> Proposition:
        """It was delivered there more than once."""

    def time(self, event: Happening) -> Linear:
        """When the event happened."""


class DeliveryOrder:
    """The deliveries of executions of every size; `variable` makes a new one of a sort."""

    def __init__(self, executions: Executions, variable: Callable[[Sort], Symbol]) -> None:
        self._executions = executions
        self._variable = variable
        self.message_of = mapping("message of", M, D)
        self.receiver_of = mapping("receiver of", E, D)
        self.made = relation("made", D)
        self._before = relation("delivered before", D, D)
        self._in_flight = relation("in flight", D, D)
        self.acknowledged = relation("acknowledged", M, E)

    def before(self, first: Element, second: Element) -> Proposition:
        """Both are deliveries of one entity, and the first comes first."""
        return self._before(first, second)

    def in_flight(self, first: Element, second: Element) -> Proposition:
        """The first comes before the second, and was neither acknowledged nor given back in between."""
        return both(self._before(first, second), self._in_flight(first, second))

    def is_first(self, delivery: Element) -> Proposition:
        """It is the first delivery of its message at its entity."""
        other = self._variable(D)
        earlier = both(self.made(other), self._alike(delivery, other), self._before(other, delivery))
        return quantified(True, [other], negated(earlier))

    def nth(self, delivery: Element) -> Linear:
        """Which delivery of its message at its entity it is."""
        return number(measure("nth", (D,), whole=True)(delivery))

    def time(self, delivery: Element) -> Linear:
        """When it happened."""
        return number(measure("time of delivery", (D,), whole=False)(delivery))

    def position(self, delivery: Element) -> Linear:
        """Its place among all deliveries of its entity."""
        return number(measure("position in DL", (D,), whole=True)(delivery))

    def axioms(self, *, times: bool, numbers: bool, places: bool) -> Iterator[Proposition]:
        """What is true of the deliveries of every possible execution."""
        if places:
            yield from self._in_places()
        yield from self._of_one_entity()
        yield from self._of_one_message(numbers=numbers)
        yield from self._as_in_the_log(times=times)
        yield self._all(
            "ddd",
            lambda d, e, f: implied(
                both(self._before(d, e), self._before(e, f), self._in_flight(d, f)), self._in_flight(d, e)
            ),
        )

    def _of_one_entity(self) -> Iterator[Proposition]:
        """A strict order of the deliveries of each entity."""
        yield self._all("d", lambda d: negated(self._before(d, d)))
        yield self._all(
            "ddd",
            lambda d, e, f: implied(both(self._before(d, e), self._before(e, f)), self._before(d, f)),
        )
        yield self._all(
            "dd", lambda d, e: implied(self._before(d, e), same(self.receiver_of(d), self.receiver_of(e)))
        )
        yield self._all(
            "dd",
            lambda d, e: either(
                negated(same(self.receiver_of(d), self.receiver_of(e))),
                same(d, e),
                self._before(d, e),
                self._before(e, d),
            ),
        )

    def _in_places(self) -> Iterator[Proposition]:
        """Deliveries of one entity are counted in their order."""
        yield self._all("d", lambda d: compared(_ONE, Relation.AT_MOST, self.position(d)))
        yield self._all(
            "dd",
            lambda d, e: implied(
                same(self.receiver_of(d), self.receiver_of(e)),
                equivalent(self._before(d, e), compared(self.position(d), Relation.LESS, self.position(e))),
            ),
        )

    def _of_one_message(self, *, numbers: bool) -> Iterator[Proposition]:
        """Deliveries of one message at one entity are numbered in their order."""
        yield self._all(
            "dd",
            lambda d, e: implied(both(self._alike(d, e), negated(same(d, e))), self._repeats(d)),
        )

        def twice(m: Element, i: Element) -> Proposition:
            d, e = self._variable(D), self._variable(D)
            found = both(
                self.made(d),
                self.made(e),
                self._alike(d, e),
                self._before(d, e),
                same(self.message_of(d), m),
                same(self.receiver_of(d), i),
            )
            return implied(self._executions.repeated(m, i), quantified(False, [d, e], found))

        yield self._all("me", twice)
        if numbers:
            yield self._all(
                "d", lambda d: implied(self.is_first(d), compared(self.nth(d), Relation.EQUAL, _ONE))
            )
            yield self._all("d", lambda d: compared(_ONE, Relation.AT_MOST, self.nth(d)))
            yield self._all(
                "dd",
                lambda d, e: implied(
                    self._alike(d, e),
                    equivalent(self._before(d, e), compared(self.nth(d), Relation.LESS, self.nth(e))),
                ),
            )

    def _as_in_the_log(self, *, times: bool) -> Iterator[Proposition]:
        """Whatever is delivered has a first delivery, which stands for it in the receipt log."""

        def made(d: Element) -> Happening:
            return Happening(Kind.DELIVERY, self.message_of(d), self.receiver_of(d))

        def has_first(m: Element, i: Element) -> Proposition:
            d = self._variable(D)
            found = both(
                self.made(d), same(self.message_of(d), m), same(self.receiver_of(d), i), self.is_first(d)
            )
            return implied(
                self._executions.happened(Happening(Kind.DELIVERY, m, i)), quantified(False, [d], found)
            )

        yield self._all("d", lambda d: self._executions.happened(made(d)))
        yield self._all("me", has_first)
        yield self._all(
            "dd",
            lambda d, e: implied(
                both(
                    self.is_first(d),
                    same(self.receiver_of(d), self.receiver_of(e)),
                    self._executions.earlier(made(d), made(e)),
                ),
                self._before(d, e),
            ),
        )
        if times:
            yield self._all(
                "d",
                lambda d: implied(
                    self.is_first(d), compared(self.time(d), Relation.EQUAL, self._executions.time(made(d)))
                ),
            )

    def _alike(self, first: Element, second: Element) -> Proposition:
        return both(
            same(self.message_of(first), self.message_of(second)),
            same(self.receiver_of(first), self.receiver_of(second)),
        )

    def _repeats(self, delivery: Element) -> Proposition:
        return self._executions.repeated(self.message_of(delivery), self.receiver_of(delivery))

    def _all(self, sorts: str, body: Callable[..., Any]) -> Proposition:
        """For all deliveries (d), messages (m) and entities (e)."""
        variables = [self._variable({"d": D, "m": M, "e": E}[letter]) for letter in sorts]
        made = [
            self.made(variable) for letter, variable in zip(sorts, variables, strict=True) if letter == "d"
        ]
        return quantified(True, variables, implied(both(*made), body(*variables)))
