"""What formulas say of groups and views, as propositions of an encoding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from precedes.core.formula import (
    AddressedTo,
    EntityTerm,
    GroupNamed,
    GroupVariable,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsMember,
    SameGroup,
    SameView,
    ViewNamed,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.engines.solver.logic import Element, Proposition, both, same, some
from precedes.engines.solver.structure import Structure
from precedes.engines.solver.term_cases import Bindings, TermCases, together

OfGroups = AddressedTo | SameGroup
OfViews = Installs | InstallsBefore | InstallsAgain | SameView


class Membership:
    """The atoms of a formula about groups and views in one encoding."""

    def __init__(self, structure: Structure, terms: TermCases) -> None:
        self._structure = structure
        self._terms = terms

    def holds(self, formula: IsMember | OfGroups | OfViews, bindings: Bindings) -> Proposition:
        """The atom is true: what is undefined is false."""
        terms, structure = self._terms, self._structure
        match formula:
            case IsMember():
                return self._member(formula, bindings)
            case AddressedTo(message, group):
                pairs = together(terms.message(message, bindings), terms.group(group, bindings))
                return some(both(*guards, structure.addressed_to_group(m, g)) for guards, (m, g) in pairs)
            case SameGroup(left, right):
                pairs = together(terms.group(left, bindings), terms.group(right, bindings))
                return some(both(*guards, same(one, other)) for guards, (one, other) in pairs)
            case Installs() | InstallsBefore() | InstallsAgain() | SameView():
                return self._of_views(formula, bindings)
            case _:
                assert_never(formula)

    def _member(self, formula: IsMember, bindings: Bindings) -> Proposition:
        entities = self._terms.entity(formula.entity, bindings)
        match formula.members_of:
            case GroupVariable() | GroupNamed():
                pairs = together(entities, self._terms.group(formula.members_of, bindings))
                return some(both(*guards, self._structure.in_group(i, g)) for guards, (i, g) in pairs)
            case ViewVariable() | ViewNamed() | ViewOf():
                pairs = together(entities, self._terms.view(formula.members_of, bindings))
                return some(both(*guards, self._structure.in_view(i, v)) for guards, (i, v) in pairs)
            case _:
                assert_never(formula.members_of)

    def _of_views(self, formula: OfViews, bindings: Bindings) -> Proposition:
        terms, structure = self._terms, self._structure
        match formula:
            case Installs(entity, view):
                pairs = self._installations(entity, view, bindings)
                return some(both(guard, structure.installs(here, v)) for guard, here, v in pairs)
            case InstallsAgain(entity, view):
                pairs = self._installations(entity, view, bindings)
                return some(both(guard, structure.installs_again(here, v)) for guard, here, v in pairs)
            case InstallsBefore(first, second, entity):
                views = list(together(terms.view(first, bindings), terms.view(second, bindings)))
                return some(
                    both(there, *guards, structure.installs_before(one, other, here))
                    for there, here in terms.entity(entity, bindings)
                    for guards, (one, other) in views
                )
            case SameView(left, right):
                views = list(together(terms.view(left, bindings), terms.view(right, bindings)))
                return some(both(*guards, same(one, other)) for guards, (one, other) in views)
            case _:
                assert_never(formula)

    def _installations(
        self, entity: EntityTerm, view: ViewTerm, bindings: Bindings
    ) -> Iterator[tuple[Proposition, Element, Element]]:
        pairs = together(self._terms.entity(entity, bindings), self._terms.view(view, bindings))
        for guards, (here, v) in pairs:
            yield both(*guards), here, v
