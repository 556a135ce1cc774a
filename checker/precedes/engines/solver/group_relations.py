"""Groups of every number, as an uninterpreted sort: who is in them, and what is addressed to them.

A sort of Z3 is never empty, but there need be no group: only some of the sort exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from precedes.engines.solver.logic import (
    Element,
    Proposition,
    Sort,
    Symbol,
    both,
    implied,
    quantified,
    relation,
)

E, G, M = Sort.ENTITY, Sort.GROUP, Sort.MESSAGE


class GroupRelations:
    """The groups of executions of every size; `variable` makes a new one of a sort."""

    def __init__(self, variable: Callable[[Sort], Symbol]) -> None:
        self._variable = variable
        self.exists = relation("is group", G)
        self.member = relation("member of group", G, E)
        self.addressed = relation("addressed to group", M, G)

    def chosen(self, message: Element, entity: Element) -> Proposition:
        """The message is addressed to a group that the entity is in."""
        g = self._variable(G)
        return quantified(
            False, [g], both(self.exists(g), self.addressed(message, g), self.member(g, entity))
        )

    def axioms(self, sent: Callable[[Element], Proposition]) -> Iterator[Proposition]:
        """What is true of the groups of every execution that has a message."""
        m, g = self._variable(M), self._variable(G)
        yield quantified(True, [m, g], implied(self.addressed(m, g), both(sent(m), self.exists(g))))
