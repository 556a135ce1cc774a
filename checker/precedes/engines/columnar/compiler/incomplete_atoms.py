"""Atoms on incomplete executions as expressions over columns and tables.

They say what `precedes.engines.reference.incomplete_atoms` says: true or false only where it is so in every
completion. An entity, message or event that was not recorded is -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, assert_never

from precedes.core.formula import (
    Acknowledged,
    AddressedTo,
    ArrivalEvent,
    DeliveredAt,
    DeliveredBefore,
    DeliveryEvent,
    DeliveryText,
    EntityNamed,
    EntityTerm,
    EventTerm,
    FailureLine,
    Faulty,
    GroupTerm,
    HappensBefore,
    InFlight,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsDestination,
    IsMember,
    MembershipAtom,
    MessageNamed,
    MessageTerm,
    Precedes,
    Quiescent,
    ReceiptLog,
    Repeated,
    SameDelivery,
    SameEntity,
    SameGroup,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    Sender,
    SendEvent,
    SendLog,
    Sent,
    Truth,
    Undetermined,
    ViewNamed,
    ViewOf,
    ViewTerm,
)
from precedes.core.verdict import Reason
from precedes.engines.columnar.compiler.source_text import NO, YES, Code, all_of
from precedes.engines.columnar.compiler.terms import (
    NO_ARRIVAL,
    UNLOGGED,
    Operand,
    SimpleAtom,
    Terms,
    settled,
)
from precedes.engines.columnar.runtime import incomplete, memberships
from precedes.native.codes import NO_ATTRIBUTE, NO_VALUE

OPEN: Final = int(Reason.INCOMPLETE)


@dataclass(frozen=True, slots=True)
class IncompleteAtoms:
    """Expressions for the atoms of a formula, under the local names that its variables have."""

    terms: Terms

    def atom(self, atom: SimpleAtom, placed: bool) -> Code:
        """Any atom but a comparison of numbers. `placed`: of a `Precedes`, both messages are in the log."""
        terms = self.terms
        match atom:
            case Truth() | Quiescent() | Undetermined() | FailureLine():
                return settled(atom)
            case InLog(message, log):
                if isinstance(log, SendLog):
                    return Code(self.in_send_log(terms.message(message), log), False)
                return _either_way(self._delivered(terms.message(message), terms.entity(log.entity)))
            case Precedes(first, second, log):
                return self._precedes(first, second, log, placed)
            case Repeated(message, log):
                # A send repeated unchanged is one send.
                if isinstance(log, SendLog):
                    return NO
                return _either_way(terms.is_repeated(terms.message(message), terms.entity(log.entity)))
            case Sent(message):
                p = terms.message(message)
                return _either_way(all_of([p.exists, f"{terms.of_message('sender', p)} >= 0"]))
            case IsDestination(entity, message):
                return Code(self.addressed(terms.message(message), terms.entity(entity)), False)
            case SameEntity(left, right):
                return self._same_entity(left, right)
            case SameMessage(left, right):
                return self._same_message(left, right)
            case SameText(left_text, right_text):
                same = terms.same_text(left_text, right_text, OPEN).value
                for text in (left_text, right_text):
                    if isinstance(text, DeliveryText):
                        made = terms.made_with(text.attribute, text.delivery)
                        same = f"({NO_ATTRIBUTE} if {made} == {NO_VALUE} else {same})"
                return Code(same, False)
            case SamePart(message, part):
                p, q = terms.message(message), terms.message(part.message)
                each = (
                    f"same_values({terms.carried(a, p)}, {terms.carried(a, q)}, {OPEN})"
                    for a in part.attributes
                )
                return Code(f"({' | '.join(each)})", False)
            case DeliveredAt(delivery, entity):
                return Code(self._delivered_at(terms.of_delivery("entity", delivery), entity), False)
            case DeliveredBefore(earlier, later, entity):
                there = (
                    self._delivered_at(terms.of_delivery("entity", delivery), entity)
                    for delivery in (earlier, later)
                )
                return Code(f"({' | '.join(there)} | {terms.made_before(earlier, later).value})", False)
            case SameDelivery():
                return terms.atom(atom)
            case InFlight(earlier, later):
                before = terms.source.assigned(terms.made_before(earlier, later), "before").value
                flying = f"(-1 if {terms.is_settled(earlier, later)} else {OPEN})"
                return Code(f"({flying} if {before} == 0 else {before})", False)
            case Acknowledged(message, entity):
                p, i = terms.message(message), terms.entity(entity)
                return _either_way(all_of([p.exists, i.exists, terms.is_acknowledged(p, i)]))
            case Faulty():
                return Code(str(OPEN), False)
            case HappensBefore(first_event, second_event):
                return self._happens_before(first_event, second_event)
            case (
                IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
            ):  # fmt: skip
                return self._membership(atom)
            case _:
                assert_never(atom)

    # ---- groups and views --------------------------------------------------------------------------------

    def _membership(self, atom: MembershipAtom) -> Code:
        """The view of an event is never certain: there may be others in between."""
        terms = self.terms
        match atom:
            case IsMember(entity, members_of):
                i = terms.entity(entity)
                if isinstance(members_of, GroupTerm):
                    return self._in_group(i, terms.group(members_of))
                view = self.recorded_view(members_of)
                there = terms.source.call(memberships.in_view, f"{i.text}, {view}, x, columns")
                return terms.of_views(f"({there} if {all_of([i.exists, f'{view} >= 0'])} else {OPEN})")
            case AddressedTo(message, group):
                p, g = terms.message(message), terms.group(group)
                sent = all_of([p.exists, f"{terms.of_message('sender', p)} >= 0"])
                addressed = f"({terms.addresses_group(p, g).value} if {sent} else {OPEN})"
                return Code(addressed, False)
            case SameGroup(one_group, other_group):
                if one_group != other_group:
                    return terms.atom(atom)
                return Code(f"(0 if {terms.group(one_group).exists} else {OPEN})", False)
            case Installs(entity, view_term) | InstallsAgain(entity, view_term):
                again = isinstance(atom, InstallsAgain)
                made = terms.installs(terms.entity(entity), self.recorded_view(view_term), again=again)
                return terms.of_views(f"(0 if {made} == 0 else {OPEN})")
            case InstallsBefore(first, second, entity):
                views = f"{self.recorded_view(first)}, {self.recorded_view(second)}"
                arguments = f"{views}, {terms.entity(entity).text}, here, columns"
                order = terms.source.call(memberships.ordered_views, arguments)
                return terms.of_views(_unless(self._is_one_view(first, second), order).text)
            case SameView(left, right):
                return self._same_view(left, right)
            case _:
                assert_never(atom)

    def _in_group(self, entity: Operand, group: Operand) -> Code:
        """Who is in another group than this one is not in this one, for an entity says its groups once."""
        arguments = f"{entity.text}, {group.text}, x, columns"
        inside = self.terms.source.call(memberships.in_group_for_sure, arguments)
        return Code(f"({inside} if {entity.exists} else {OPEN})", False)

    def recorded_view(self, term: ViewTerm) -> str:
        """The number of a view by its id."""
        return "-1" if isinstance(term, ViewOf) else self.terms.view(term)

    def _is_one_view(self, left: ViewTerm, right: ViewTerm) -> str:
        """The condition that two ids are equal, whether or not the view was recorded."""
        if isinstance(left, ViewOf) or isinstance(right, ViewOf):
            return "False"
        if left == right:
            return "True"
        if isinstance(left, ViewNamed) and isinstance(right, ViewNamed):
            return "False"
        return f"{self.terms.view(left)} == {self.terms.view(right)}"

    def _same_view(self, left: ViewTerm, right: ViewTerm) -> Code:
        if isinstance(left, ViewOf) or isinstance(right, ViewOf):
            return self.terms.of_views(str(OPEN))
        same = self._is_one_view(left, right)
        recorded = f"(0 if {self.terms.view(left)} >= 0 else {OPEN})"
        return self.terms.of_views(f"({recorded} if {same} else -1)")

    # ---- logs --------------------------------------------------------------------------------------------

    def _delivered(self, message: Operand, entity: Operand) -> str:
        """The condition that the delivery was recorded."""
        return all_of([message.exists, entity.exists, f"{self.terms.received(message, entity)} >= 0"])

    def _delivered_at(self, receiver: str, entity: EntityTerm) -> str:
        """A delivery that was recorded is where it was recorded, and at no entity that was not."""
        i = self.terms.entity(entity)
        there = f"(0 if {receiver} == {i.text} else -1)"
        return f"({there} if {i.exists} else {OPEN})" if isinstance(entity, Sender) else there

    def addressed(self, message: Operand, entity: Operand) -> str:
        """Whether the entity is a destination of the message."""
        known = all_of([message.exists, entity.exists, f"{self.terms.of_message('sender', message)} >= 0"])
        text = self.terms.addressed(message, entity)
        if not self.terms.facts.logged:
            text = f"({text} if {self.terms.of_message('send_logged', message)} else {UNLOGGED})"
        return f"({text} if {known} else {OPEN})"

    def in_send_log(self, message: Operand, log: SendLog) -> str:
        """Whether the message is in SL of an entity, or in the part of it that goes to another."""
        entity, sender = self.terms.entity(log.entity), self.terms.of_message("sender", message)
        conditions = [message.exists, f"{sender} >= 0"]
        if isinstance(log.entity, Sender):
            conditions.append(entity.exists)
        by = f"((0 if {sender} == {entity.text} else -1) if {all_of(conditions)} else {OPEN})"
        return by if log.to is None else f"({by} | {self.addressed(message, self.terms.entity(log.to))})"

    def _precedes(
        self, first: MessageTerm, second: MessageTerm, log: SendLog | ReceiptLog, placed: bool
    ) -> Code:
        terms, source = self.terms, self.terms.source
        same = self._is_same(first, second)
        if same == "True":
            return NO
        p, q = terms.message(first), terms.message(second)
        if isinstance(log, SendLog):
            both = f"{self.in_send_log(p, log)} | {self.in_send_log(q, log)}"
            doubt = "0" if terms.facts.ordered else self._sender_doubt(p)
            arguments = f"{both}, {p.text}, {q.text}, here, columns, {doubt}"
            return _unless(same, source.call(incomplete.ordered_by_sending, arguments))
        i = terms.entity(log.entity)
        before, after = terms.received(p, i), terms.received(q, i)
        doubt = terms.doubt(i)
        if placed and terms.facts.ordered:
            return Code(f"{before} < {after}", True)
        if placed:
            return Code(f"({doubt} if {doubt} > 0 else (0 if {before} < {after} else -1))", False)
        source.table("past")
        places = [
            f"({place} if {all_of([message.exists, i.exists])} else -1)"
            for place, message in ((before, p), (after, q))
        ]
        delivery = terms.event(DeliveryEvent(second, log.entity)).text
        known = "0" if terms.facts.ordered else f"({doubt} if {i.exists} else 0)"
        receipt = f"Receipt({places[0]}, {places[1]}, {p.text}, {delivery})"
        return _unless(same, f"ordered_by_receipt({receipt}, {known}, past)")

    def _sender_doubt(self, message: Operand) -> str:
        """Why the order of the sender's events is not known, or 0."""
        sender = self.terms.of_message("sender", message)
        known = all_of([message.exists, f"{sender} >= 0"])
        return f"({self.terms.doubt(Operand(sender, False))} if {known} else 0)"

    # ---- what is the same --------------------------------------------------------------------------------

    def _is_same(self, left: MessageTerm, right: MessageTerm) -> str:
        """The condition that two terms are one message, whether or not it was recorded."""
        if left == right:
            return "True"
        if isinstance(left, MessageNamed) and isinstance(right, MessageNamed):
            return "False"
        p, q = self.terms.message(left), self.terms.message(right)
        return f"{p.text} == {q.text}"

    def _same_message(self, left: MessageTerm, right: MessageTerm) -> Code:
        same = self._is_same(left, right)
        if same == "True":
            return _either_way(self.terms.message(left).exists)
        return NO if same == "False" else Code(same, True)

    def _same_entity(self, left: EntityTerm, right: EntityTerm) -> Code:
        i, j = self.terms.entity(left), self.terms.entity(right)
        if isinstance(left, EntityNamed) and isinstance(right, EntityNamed):
            return _either_way(i.exists) if left == right else NO
        known = [each.exists for term, each in ((left, i), (right, j)) if isinstance(term, Sender)]
        if not known:
            return Code(f"{i.text} == {j.text}", True)
        return Code(f"((0 if {i.text} == {j.text} else -1) if {all_of(known)} else {OPEN})", False)

    # ---- events ------------------------------------------------------------------------------------------

    def _happens_before(self, first: EventTerm, second: EventTerm) -> Code:
        terms = self.terms
        e, f = terms.event(first), terms.event(second)
        p, q = terms.message(first.message), terms.message(second.message)
        terms.source.table("past")
        message = self._is_same(first.message, second.message)
        own_send = message if isinstance(second, SendEvent) else "False"
        meant = f"Meant({e.text}, {_kind(first)}, {p.text}), Meant({f.text}, {_kind(second)}, {q.text})"
        same = self._is_one_event(first, second, message)
        text = f"happens_before_openly({meant}, {same}, {own_send}, past)"
        if isinstance(first, ArrivalEvent) or isinstance(second, ArrivalEvent):
            terms.source.table("arrivals")
            text = f"({text} if arrivals else {NO_ARRIVAL})"
        return Code(text, False)

    def _is_one_event(self, first: EventTerm, second: EventTerm, same_message: str) -> str:
        """The condition that two events of one message are the same event."""
        if type(first) is not type(second):
            return "False"
        if isinstance(first, SendEvent) or isinstance(second, SendEvent):
            return same_message
        here, there = first.entity, second.entity
        if isinstance(here, EntityNamed) and isinstance(there, EntityNamed):
            return all_of([same_message, str(here == there)])
        i, j = self.terms.entity(here), self.terms.entity(there)
        return all_of([same_message, i.exists, f"{i.text} == {j.text}"])


def _either_way(condition: str) -> Code:
    """True where the condition is, else unknown."""
    return YES if condition == "True" else Code(f"(0 if {condition} else {OPEN})", False)


def _unless(condition: str, text: str) -> Code:
    return Code(text if condition == "False" else f"(-1 if {condition} else {text})", False)


def _kind(event: EventTerm) -> int:
    match event:
        case SendEvent():
            return incomplete.SENDS
        case DeliveryEvent():
            return incomplete.DELIVERS
        case ArrivalEvent():
            return incomplete.ARRIVES
        case _:
            assert_never(event)
