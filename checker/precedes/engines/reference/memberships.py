"""Groups and views on one complete execution: the values of atoms about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from precedes.core.formula import (
    AddressedTo,
    EntityTerm,
    GroupTerm,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsMember,
    MembershipAtom,
    MessageTerm,
    SameGroup,
    SameView,
    ViewTerm,
)
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.reference.terms import Terms, Unknown


def is_about_views(atom: MembershipAtom) -> bool:
    """Whether the atom speaks of views, and not of groups."""
    match atom:
        case IsMember(_, members_of):
            return isinstance(members_of, ViewTerm)
        case Installs() | InstallsBefore() | InstallsAgain() | SameView():
            return True
        case AddressedTo() | SameGroup():
            return False
        case _:
            assert_never(atom)


class Memberships:
    """The groups and views of one complete execution, under the bindings of its terms."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._recorded = terms.recorded
        self._execution = terms.recorded.execution

    def value(self, atom: MembershipAtom) -> int:
        """The value of an atom under the current bindings."""
        if is_about_views(atom) and self._execution.views_unknown:
            return Reason.NO_VIEWS
        match atom:
            case IsMember(entity, members_of):
                return self._is_member(entity, members_of)
            case AddressedTo(message, group):
                return self._addressed_to(message, group)
            case SameGroup(one_group, other_group):
                found = self._terms.group(one_group)
                return _truth(found is not None and found == self._terms.group(other_group))
            case Installs(entity, view):
                return self._of_entity(
                    entity, (view,), lambda here, ids: _truth(ids[0] in self._execution.installed(here))
                )
            case InstallsBefore(first, second, entity):
                return self._of_entity(entity, (first, second), self._installs_before)
            case InstallsAgain(entity, view):
                return self._of_entity(
                    entity,
                    (view,),
                    lambda here, ids: _truth(self._recorded.times_installed(here, ids[0]) > 1),
                )
            case SameView(left, right):
                ids = self._ids(left, right)
                return ids if isinstance(ids, int) else _truth(ids[0] == ids[1])
            case _:
                assert_never(atom)

    def _is_member(self, entity: EntityTerm, members_of: GroupTerm | ViewTerm) -> int:
        if isinstance(members_of, GroupTerm):
            members = self._execution.groups.get(self._terms.group(members_of) or "", ())
            return _truth(self._terms.entity(entity) in members)
        views = self._execution.views
        return self._of_entity(entity, (members_of,), lambda here, ids: _truth(here in views[ids[0]]))

    def _addressed_to(self, message: MessageTerm, group: GroupTerm) -> int:
        sent, named = self._terms.message(message), self._terms.group(group)
        if sent is None or named is None or self._recorded.sender(sent) is None:
            return FALSE
        if self._recorded.destinations(sent) is None:
            return Reason.SEND_NOT_LOGGED
        return _truth(named in self._execution.messages[sent].groups)

    def _installs_before(self, here: str, ids: tuple[str, ...]) -> int:
        log = self._execution.installed(here)
        first, second = ids
        if first == second or first not in log or second not in log:
            return FALSE
        return self._recorded.doubt[here] or _truth(log.index(first) < log.index(second))

    def _of_entity(
        self, term: EntityTerm, views: tuple[ViewTerm, ...], judge: Callable[[str, tuple[str, ...]], int]
    ) -> int:
        """The value of an atom about an entity and views: that of `judge` where all of them are there and known."""
        entity, ids = self._terms.entity(term), self._ids(*views)
        if entity is None:
            return FALSE
        return ids if isinstance(ids, int) else judge(entity, ids)

    def _ids(self, *views: ViewTerm) -> tuple[str, ...] | int:
        """The ids of views; where one is not there or not known, the value of an atom about them."""
        ids: list[str] = []
        missing, reasons = False, 0
        for found in map(self._terms.view, views):
            if isinstance(found, Unknown):
                reasons |= found.reasons
            elif found is None:
                missing = True
            else:
                ids.append(found)
        return FALSE if missing else reasons or tuple(ids)


def _truth(true: bool) -> int:
    return TRUE if true else FALSE
