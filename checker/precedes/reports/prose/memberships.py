"""Groups and views in words: who is in them, who installs them, and in which view something happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from precedes.core.execution import EventKind
from precedes.core.formula import (
    AddressedTo,
    ArrivalEvent,
    DeliveryEvent,
    DeliveryNamed,
    DeliveryTerm,
    DeliveryVariable,
    EntityNamed,
    EventTerm,
    GroupTerm,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsMember,
    MembershipAtom,
    SameGroup,
    SameView,
    SendEvent,
    ViewNamed,
    ViewOf,
    ViewTerm,
)
from precedes.core.verdict import TRUE
from precedes.engines.reference.memberships import Memberships
from precedes.engines.reference.terms import Terms
from precedes.reports.prose.identifiers import Identifiers


@dataclass(frozen=True, slots=True)
class MembershipStatements:
    """Puts what is true of the groups and views of one execution in words."""

    terms: Terms
    ids: Identifiers

    def statement(self, atom: MembershipAtom, true: bool) -> str:
        """An atom as a statement, or as its denial."""
        denied = "" if true else "not "
        match atom:
            case IsMember(entity, of):
                return f"{self.ids.of_entity(entity)} is {denied}in {self.of_members(of)}"
            case AddressedTo(message, group):
                return f"{self.ids.of_message(message)} was {denied}addressed to {self.ids.of_group(group)}"
            case SameGroup(left, right):
                return f"{self.ids.of_group(left)} is {denied}{self.ids.of_group(right)}"
            case Installs(entity, view):
                verb = "installs" if true else "does not install"
                return f"{self.ids.of_entity(entity)} {verb} {self.ids.of_view(view)}"
            case InstallsBefore(first, second, entity):
                verb = "installs" if true else "does not install"
                order = f"{self.ids.of_view(first)} before {self.ids.of_view(second)}"
                return f"{self.ids.of_entity(entity)} {verb} {order}"
            case InstallsAgain(entity, view):
                often = "more than once" if true else "not more than once"
                return f"{self.ids.of_entity(entity)} installs {self.ids.of_view(view)} {often}"
            case SameView(ViewOf(event), ViewOf(other)):
                return f"{self.in_its_view(event)}, {self.in_its_view(other)}"
            case SameView(ViewOf(event), view) | SameView(view, ViewOf(event)):
                return self._in_view(event, view, true)
            case SameView(left, right):
                return f"{self.ids.of_view(left)} is {denied}{self.ids.of_view(right)}"
            case _:
                assert_never(atom)

    def of_members(self, members_of: GroupTerm | ViewTerm) -> str:
        """The group or the view that somebody is in."""
        if isinstance(members_of, GroupTerm):
            return self.ids.of_group(members_of)
        return self.ids.of_view(members_of)

    def in_its_view(self, event: EventTerm | DeliveryTerm) -> str:
        """`E1 delivers m in view v1`, or `in no view`."""
        if not self._is_there(event):
            return self._does_not_happen(event)
        view = self._view_of(event)
        return f"{self._happens(event)} in {'no view' if view is None else self.ids.view(view)}"

    def _in_view(self, event: EventTerm | DeliveryTerm, view: ViewTerm, true: bool) -> str:
        if true:
            return f"{self._happens(event)} in {self.ids.of_view(view)}"
        if not self._is_there(event):
            return f"{self._does_not_happen(event)} in {self.ids.of_view(view)}"
        where = self.in_its_view(event)
        return where if self._view_of(event) is None else f"{where}, not in {self.ids.of_view(view)}"

    def _view_of(self, event: EventTerm | DeliveryTerm) -> str | None:
        """The view in which something happened; None where it did not, or in none that is known."""
        memberships = Memberships(self.terms)
        views = self.terms.recorded.execution.views
        there = (
            view for view in views if memberships.value(SameView(ViewOf(event), ViewNamed(view))) == TRUE
        )
        return next(there, None)

    def _is_there(self, event: EventTerm | DeliveryTerm) -> bool:
        """Whether something happened, so that it may have a view."""
        recorded = self.terms.recorded
        match event:
            case SendEvent(message):
                return recorded.logged(message.name)
            case DeliveryEvent(message, EntityNamed(here)):
                return (recorded.execution.delivery, message.name, here) in recorded.first_place
            case ArrivalEvent(message, EntityNamed(here)):
                return (EventKind.ARRIVE, message.name, here) in recorded.first_place
            case DeliveryNamed():
                return self.terms.delivery_reader(event)() is not None
            case DeliveryEvent() | ArrivalEvent() | DeliveryVariable():
                return True
            case _:
                assert_never(event)

    def _happens(self, event: EventTerm | DeliveryTerm) -> str:
        who, verb, what = self._parts(event)
        return f"{who} {verb}s {what}"

    def _does_not_happen(self, event: EventTerm | DeliveryTerm) -> str:
        who, verb, what = self._parts(event)
        return f"{who} does not {verb} {what}"

    def _parts(self, event: EventTerm | DeliveryTerm) -> tuple[str, str, str]:
        """Who does what to which message."""
        ids = self.ids
        match event:
            case SendEvent(message):
                sender = self.terms.recorded.sender(message.name)
                return ("somebody" if sender is None else ids.entity(sender)), "send", ids.of_message(message)
            case DeliveryEvent(message, entity):
                return ids.of_entity(entity), "deliver", ids.of_message(message)
            case ArrivalEvent(message, entity):
                return ids.of_entity(entity), "receive", ids.of_message(message)
            case DeliveryNamed(name, here, nth):
                again = "" if nth == 1 else " again"
                return ids.entity(here), "deliver", f"{ids.message(name)}{again}"
            case DeliveryVariable(name):
                return f"the entity of {name}", "deliver", f"the message of {name}"
            case _:
                assert_never(event)
