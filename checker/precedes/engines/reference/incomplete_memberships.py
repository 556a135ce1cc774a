"""Groups and views on one incomplete execution: atoms are true or false only where they are so in every completion.

What was installed stays installed, and the order of two installations at an entity stays. Views may be installed in
between, so that the view of an event is never certain. Who is in a recorded view is known of recorded entities. The
groups of an entity are said once, on any of its rows: they are known where they were recorded, and else may be any.
"""

from __future__ import annotations

from typing import assert_never

from precedes.core.formula import (
    AddressedTo,
    GroupTerm,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsMember,
    MembershipAtom,
    SameGroup,
    SameView,
)
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.reference.incomplete_names import INCOMPLETE, IncompleteNames
from precedes.engines.reference.memberships import is_about_views
from precedes.engines.reference.terms import Terms


class IncompleteMemberships:
    """The groups and views of one incomplete execution, under the bindings of its terms."""

    def __init__(self, terms: Terms, names: IncompleteNames) -> None:
        self._terms = terms
        self._names = names
        self._recorded = terms.recorded
        self._execution = terms.recorded.execution

    def value(self, atom: MembershipAtom) -> int:
        """The value of an atom under the current bindings."""
        if is_about_views(atom) and self._execution.views_unknown:
            return Reason.NO_VIEWS
        match atom:
            case IsMember(entity, members_of):
                if isinstance(members_of, GroupTerm):
                    return self._in_group(self._names.entity(entity), members_of)
                return self._in_view(self._names.entity(entity), self._names.view(members_of))
            case AddressedTo(message, group):
                return self._addressed_to(self._names.message(message), group)
            case SameGroup(one_group, other_group):
                found = self._terms.group(one_group)
                if found is None and one_group == other_group:
                    return INCOMPLETE
                return TRUE if found is not None and found == self._terms.group(other_group) else FALSE
            case Installs(entity, view):
                return self._at_least(self._names.entity(entity), self._names.view(view), 1)
            case InstallsAgain(entity, view):
                return self._at_least(self._names.entity(entity), self._names.view(view), 2)
            case InstallsBefore(first, second, entity):
                return self._installs_before(
                    self._names.view(first), self._names.view(second), self._names.entity(entity)
                )
            case SameView(left, right):
                return self._same_view(self._names.view(left), self._names.view(right))
            case _:
                assert_never(atom)

    def _in_group(self, entity: str | None, group: GroupTerm) -> int:
        if entity not in self._recorded.place:
            return INCOMPLETE
        said = [name for name, inside in self._execution.groups.items() if entity in inside]
        if self._terms.group(group) in said:
            return TRUE
        return FALSE if said else INCOMPLETE

    def _in_view(self, entity: str | None, view: str | None) -> int:
        members = None if view is None else self._execution.views.get(view)
        if members is None or entity not in self._recorded.place:
            return INCOMPLETE
        return TRUE if entity in members else FALSE

    def _addressed_to(self, message: str, group: GroupTerm) -> int:
        if self._recorded.sender(message) is None:
            return INCOMPLETE
        if self._recorded.destinations(message) is None:
            return Reason.SEND_NOT_LOGGED
        return TRUE if self._terms.group(group) in self._execution.messages[message].groups else FALSE

    def _at_least(self, entity: str | None, view: str | None, times: int) -> int:
        """Whether the entity installed the view so often."""
        if entity is None or view is None or entity not in self._recorded.place:
            return INCOMPLETE
        return TRUE if self._recorded.times_installed(entity, view) >= times else INCOMPLETE

    def _installs_before(self, first: str | None, second: str | None, entity: str | None) -> int:
        """The order of two views that were recorded to be installed stays."""
        if first is None or second is None:
            return INCOMPLETE
        if first == second:
            return FALSE
        if entity is None or entity not in self._recorded.place:
            return INCOMPLETE
        log = self._execution.installed(entity)
        if first not in log or second not in log:
            return INCOMPLETE
        return self._recorded.doubt[entity] or (TRUE if log.index(first) < log.index(second) else FALSE)

    def _same_view(self, one: str | None, other: str | None) -> int:
        """Two different ids are two views; one that was not recorded may not be there."""
        if one is None or other is None:
            return INCOMPLETE
        if one != other:
            return FALSE
        return TRUE if one in self._execution.views else INCOMPLETE
