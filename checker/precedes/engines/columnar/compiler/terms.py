"""Terms and atoms as expressions over columns and tables.

An entity, message or event is its local number, -1 where it does not exist. An atom becomes a Python
condition where it can only be true or false, else a three-valued integer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, assert_never

from precedes.core.formula import (
    Acknowledged,
    AddressedTo,
    ArrivalEvent,
    Attribute,
    DeliveredAt,
    DeliveredBefore,
    DeliveryEvent,
    DeliveryNamed,
    DeliveryTerm,
    DeliveryText,
    DeliveryVariable,
    EntityNamed,
    EntityTerm,
    EntityVariable,
    EventTerm,
    FailureLine,
    Faulty,
    GroupNamed,
    GroupTerm,
    GroupVariable,
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
    MessageOf,
    MessageTerm,
    MessageVariable,
    Precedes,
    Quiescent,
    ReceiverOf,
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
    Text,
    TextOf,
    TextTerm,
    Truth,
    Undetermined,
    ViewNamed,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.core.verdict import Reason
from precedes.engines.columnar.compiler.source_text import NO, YES, Carried, Code, Source, all_of, guarded
from precedes.engines.columnar.execution_source import Sort
from precedes.engines.columnar.runtime import logs, memberships
from precedes.native.codes import (
    GROUP_CHOOSES,
    NO_ACKNOWLEDGEMENT,
    NO_ATTRIBUTE,
    NO_VALUE,
    NO_VIEWS,
)

SimpleAtom = (
    Truth
    | Undetermined
    | InLog
    | Precedes
    | Repeated
    | Sent
    | IsDestination
    | SameEntity
    | SameMessage
    | SameText
    | SamePart
    | DeliveredAt
    | DeliveredBefore
    | SameDelivery
    | InFlight
    | Acknowledged
    | Faulty
    | HappensBefore
    | FailureLine
    | Quiescent
    | MembershipAtom
)

UNLOGGED: Final = int(Reason.SEND_NOT_LOGGED)
NO_ARRIVAL: Final = int(Reason.NO_ARRIVAL)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of all executions of a batch before code for it is written: no trace is incomplete, no
    named send is missing, the order of no entity's events is in doubt, no message is addressed to a group. `clocked`:
    some event may have a clock, or nobody asks for one.
    """

    complete: bool
    logged: bool
    ordered: bool
    direct: bool
    clocked: bool = True


@dataclass(frozen=True, slots=True)
class Operand:
    """A local number. `certain`: it exists, so that the number is not -1."""

    text: str
    certain: bool

    @property
    def exists(self) -> str:
        """The condition that it exists."""
        return "True" if self.certain else f"{self.text} >= 0"


@dataclass(slots=True)
class Terms:
    """Expressions for the terms and the atoms of a formula, under the local names that its variables have."""

    source: Source
    facts: Facts
    scope: dict[str, str] = field(default_factory=dict)

    # ---- terms -------------------------------------------------------------------------------------------

    def entity(self, term: EntityTerm) -> Operand:
        """The local number of an entity."""
        match term:
            case EntityVariable(name):
                return Operand(self.scope[name], True)
            case EntityNamed(name):
                return Operand(self._named("entity", name), False)
            case Sender(message):
                of = self.message(message)
                text = f"{self.source.column('sender')}[first_message + {of.text}]"
                return Operand(text if of.certain else f"({text} if {of.exists} else -1)", False)
            case ReceiverOf(delivery):
                return Operand(self.of_delivery("entity", delivery), True)
            case _:
                assert_never(term)

    def message(self, term: MessageTerm) -> Operand:
        """The local number of a message."""
        match term:
            case MessageVariable(name):
                return Operand(self.scope[name], True)
            case MessageNamed(name):
                return Operand(self._named("message", name), False)
            case MessageOf(delivery):
                return Operand(self.of_delivery("message", delivery), True)
            case _:
                assert_never(term)

    def delivery(self, term: DeliveryTerm) -> str:
        """The number of a delivery among all."""
        match term:
            case DeliveryVariable(name):
                return self.scope[name]
            case DeliveryNamed():
                raise AssertionError("no text names a delivery")
            case _:
                assert_never(term)

    def of_delivery(self, column: str, term: DeliveryTerm) -> str:
        """An entry of a column over deliveries."""
        return f"{self.source.column(f'made_{column}')}[{self.delivery(term)}]"

    def _named(self, sort: Sort, name: str) -> str:
        key: tuple[Sort, str] = (sort, name)
        named = self.source.needs.named
        if key not in named:
            named[key] = f"named_{sort}_{len(named)}"
        return named[key]

    def group(self, term: GroupTerm) -> Operand:
        """The local number of a group."""
        match term:
            case GroupVariable(name):
                return Operand(self.scope[name], True)
            case GroupNamed(name):
                return Operand(self._named("group", name), False)
            case _:
                assert_never(term)

    def view(self, term: ViewTerm) -> str:
        """The local number of a view; that of an event may be unknown (see `runtime.memberships`)."""
        match term:
            case ViewVariable(name):
                return self.scope[name]
            case ViewNamed(name):
                return self._named("view", name)
            case ViewOf(event):
                return self._view_of(event)
            case _:
                assert_never(term)

    def _view_of(self, event: EventTerm | DeliveryTerm) -> str:
        if isinstance(event, DeliveryTerm):
            made, entity = (self.of_delivery(column, event) for column in ("event", "entity"))
            place = f"{made} - {self.source.column('event_offsets')}[first_entity]"
            return self.source.call(memberships.view_at, f"{place}, {entity}, here, columns")
        self.source.table("events")
        if isinstance(event, SendEvent):
            message = self.message(event.message).text
            return self.source.call(memberships.view_of_send, f"{message}, here, columns, send_event")
        entity = self.entity(event.entity).text
        text = self.source.call(memberships.view_at, f"{self.event(event).text}, {entity}, here, columns")
        if isinstance(event, ArrivalEvent):
            self.source.table("arrivals")
            return f"({text} if arrivals else {memberships.UNKNOWN - NO_ARRIVAL})"
        return text

    def event(self, term: EventTerm) -> Operand:
        """The number of an event (see `events.event_places`)."""
        self.source.table("events")
        match term:
            case SendEvent(message):
                p = self.message(message)
                text, exists = f"send_event[{p.text}]", p.exists
            case DeliveryEvent(message, entity) | ArrivalEvent(message, entity):
                p, i = self.message(message), self.entity(entity)
                kind = "delivery" if isinstance(term, DeliveryEvent) else "arrival"
                text, exists = f"{kind}_event[{i.text} * m + {p.text}]", all_of([p.exists, i.exists])
            case _:
                assert_never(term)
        return Operand(text if exists == "True" else f"({text} if {exists} else -1)", False)

    # ---- columns of a message ----------------------------------------------------------------------------

    def of_message(self, column: str, message: Operand) -> str:
        """An entry of a column over messages."""
        return f"{self.source.column(column)}[first_message + {message.text}]"

    def received(self, message: Operand, entity: Operand) -> str:
        """The place of a message in a receipt log, or -1."""
        self.source.table("receipt_position")
        return f"receipt_position[{entity.text} * m + {message.text}]"

    def is_addressed(self, message: Operand, entity: Operand) -> Code:
        """Whether an existing entity is a destination of an existing message."""
        named = Code(f"{self.address(message, entity)} == 1", True)
        if self.facts.logged and self.facts.direct:
            return named
        known = self.addressed(message, entity)
        if self.facts.logged:
            return Code(known, False)
        logged, sent = self.of_message("send_logged", message), self.of_message("sender", message)
        return Code(f"({known} if {logged} else ({UNLOGGED} if {sent} >= 0 else -1))", False)

    def addressed(self, message: Operand, entity: Operand) -> str:
        """The same of a message whose send was logged, as an integer."""
        cell = self.address(message, entity)
        if self.facts.direct:
            return f"(0 if {cell} == 1 else -1)"
        return f"(0 if {cell} == 1 else ({GROUP_CHOOSES} if {cell} == 2 else -1))"

    def address(self, message: Operand, entity: Operand) -> str:
        """Whether an entity is a destination of a message: 1 by name, 2 if a group chooses it."""
        self.source.table("addressed" if self.facts.direct else "group_addressed")
        return f"addressed[{entity.text} * m + {message.text}]"

    def doubt(self, entity: Operand) -> str:
        """Why the order of an existing entity's events is not known, or 0."""
        return (
            "0"
            if self.facts.ordered
            else f"{self.source.column('history_doubt')}[first_entity + {entity.text}]"
        )

    def sent_by(self, message: Operand, entity: Operand) -> str:
        """The condition that an entity sent a message."""
        return all_of(
            [message.exists, entity.exists, f"{self.of_message('sender', message)} == {entity.text}"]
        )

    # ---- what a message carries --------------------------------------------------------------------------

    def carried(self, attribute: Attribute, message: Operand) -> str:
        """The value of an attribute of a message, or `NO_VALUE`; the latter of one that does not exist, too."""
        text = f"{self.source.carried(Carried('values', (attribute,)))}[first_message + {message.text}]"
        return text if message.certain else f"({text} if {message.exists} else {NO_VALUE})"

    def made_with(self, attribute: Attribute, delivery: DeliveryTerm) -> str:
        """The value of an attribute of a delivery, or `NO_VALUE`."""
        return f"{self.source.carried(Carried('made', (attribute,)))}[{self.delivery(delivery)}]"

    def part(self, attributes: tuple[Attribute, ...], message: Operand) -> str:
        """The number of the part that an existing message is in, or -1."""
        return f"{self.source.carried(Carried('part', attributes))}[first_message + {message.text}]"

    def in_part(self, message: Operand, of: Operand, attributes: tuple[Attribute, ...]) -> str:
        """The condition that two messages exist and are in one part."""
        one, other = self.part(attributes, message), self.part(attributes, of)
        if message == of:
            return all_of([message.exists, f"{one} >= 0"])
        return all_of([message.exists, of.exists, f"{one} >= 0", f"{one} == {other}"])

    def same_text(self, left: TextTerm, right: TextTerm, missing: int) -> Code:
        """Whether two texts are equal; `missing` where one of them is not known."""
        if isinstance(left, Text) and isinstance(right, Text):
            return YES if left == right else NO
        return Code(f"same_values({self._text(left)}, {self._text(right)}, {missing})", False)

    def _text(self, term: TextTerm) -> str:
        match term:
            case Text(value):
                return self.source.text_code(value)
            case TextOf(attribute, message):
                return self.carried(attribute, self.message(message))
            case DeliveryText(attribute, delivery):
                return self.made_with(attribute, delivery)
            case _:
                assert_never(term)

    # ---- atoms -------------------------------------------------------------------------------------------

    def atom(self, atom: SimpleAtom) -> Code:
        """Any atom but a comparison of numbers, on complete executions."""
        match atom:
            case Truth() | Quiescent() | Undetermined() | FailureLine():
                return settled(atom)
            case InLog(message, log):
                p = self.message(message)
                if isinstance(log, SendLog):
                    return self._in_send_log(p, log)
                return self._in_receipt_log(p, self.entity(log.entity))
            case Precedes(first, second, log):
                p, q = self.message(first), self.message(second)
                if isinstance(log, SendLog):
                    return self._precedes_in_send_log(p, q, log)
                return self._precedes_in_receipt_log(p, q, self.entity(log.entity))
            case Repeated(_, SendLog()):
                return NO  # A send repeated unchanged is one send.
            case Repeated(message, log):
                return Code(self.is_repeated(self.message(message), self.entity(log.entity)), True)
            case Sent(message):
                p = self.message(message)
                return Code(all_of([p.exists, f"{self.of_message('sender', p)} >= 0"]), True)
            case IsDestination(entity, message):
                i, p = self.entity(entity), self.message(message)
                return guarded(all_of([i.exists, p.exists]), self.is_addressed(p, i))
            case SameEntity(left_entity, right_entity):
                i, j = self.entity(left_entity), self.entity(right_entity)
                return Code(all_of([i.exists, f"{i.text} == {j.text}"]), True)
            case SameMessage(left_message, right_message):
                p, q = self.message(left_message), self.message(right_message)
                return Code(all_of([p.exists, f"{p.text} == {q.text}"]), True)
            case SameText(left_text, right_text):
                asked = [term for term in (left_text, right_text) if isinstance(term, TextOf)]
                exist = all_of([self.message(term.message).exists for term in asked])
                return guarded(exist, self.same_text(left_text, right_text, NO_ATTRIBUTE))
            case SamePart(message, part):
                of = self.message(part.message)
                return Code(self.in_part(self.message(message), of, part.attributes), True)
            case DeliveredAt(delivery, entity):
                i = self.entity(entity)
                return Code(all_of([i.exists, f"{self.of_delivery('entity', delivery)} == {i.text}"]), True)
            case DeliveredBefore(earlier, later, entity):
                i = self.entity(entity)
                there = [f"{self.of_delivery('entity', d)} == {i.text}" for d in (earlier, later)]
                return guarded(all_of([i.exists, *there]), self._made_before(earlier, later))
            case SameDelivery(left_delivery, right_delivery):
                return Code(f"{self.delivery(left_delivery)} == {self.delivery(right_delivery)}", True)
            case InFlight(earlier, later):
                return self._in_flight(earlier, later)
            case Acknowledged(message, entity):
                return self._acknowledged(self.message(message), self.entity(entity))
            case Faulty(entity):
                return self._faulty(self.entity(entity))
            case HappensBefore(first_event, second_event):
                return self._happens_before(first_event, second_event)
            case (
                IsMember()
                | AddressedTo()
                | SameGroup()
                | Installs()
                | InstallsBefore()
                | InstallsAgain()
                | SameView()
            ):
                return self._membership(atom)
            case _:
                assert_never(atom)

    def _acknowledged(self, p: Operand, i: Operand) -> Code:
        recorded = f"{self.source.column('acknowledged_recorded')}[x]"
        given = f"(0 if {self.is_acknowledged(p, i)} else -1)"
        answer = Code(f"({given} if {recorded} else {NO_ACKNOWLEDGEMENT})", False)
        return guarded(all_of([p.exists, i.exists]), answer)

    def _faulty(self, i: Operand) -> Code:
        faulty = f"{self.source.column('faulty')}[first_entity + {i.text}]"
        if self.facts.ordered:
            return Code(all_of([i.exists, faulty]), True)
        unsure = f"{self.source.column('unsure_stops')}[first_entity + {i.text}]"
        known = f"({self.doubt(i)} if {unsure} else (0 if {faulty} else -1))"
        return guarded(i.exists, Code(known, False))

    def _membership(self, atom: MembershipAtom) -> Code:
        match atom:
            case IsMember(entity, members_of):
                i = self.entity(entity).text
                if isinstance(members_of, GroupTerm):
                    return Code(self.in_group(i, self.group(members_of)), True)
                return self.of_views(
                    self.source.call(memberships.in_view, f"{i}, {self.view(members_of)}, x, columns")
                )
            case AddressedTo(message, group):
                p, g = self.message(message), self.group(group)
                there = all_of([p.exists, g.exists, f"{self.of_message('sender', p)} >= 0"])
                return guarded(there, self.addresses_group(p, g))
            case SameGroup(left, right):
                g, h = self.group(left), self.group(right)
                return Code(all_of([g.exists, f"{g.text} == {h.text}"]), True)
            case Installs(entity, view) | InstallsAgain(entity, view):
                again = isinstance(atom, InstallsAgain)
                return self.of_views(self.installs(self.entity(entity), self.view(view), again=again))
            case InstallsBefore(first, second, entity):
                views = f"{self.view(first)}, {self.view(second)}, {self.entity(entity).text}"
                return self.of_views(self.source.call(memberships.installs_before, f"{views}, here, columns"))
            case SameView(left_view, right_view):
                return self.of_views(f"same_view({self.view(left_view)}, {self.view(right_view)})")
            case _:
                assert_never(atom)

    def of_views(self, text: str) -> Code:
        """What is said of views, where they are known."""
        return Code(f"({NO_VIEWS} if {self.views_unknown()} else {text})", False)

    def views_unknown(self) -> str:
        """The condition that nothing is known of the views of the execution."""
        return f"{self.source.column('installed_unknown')}[x]"

    def in_group(self, entity: str, group: Operand) -> str:
        """The condition that an entity is in a group; both may not be there."""
        return self.source.call(memberships.in_group, f"{entity}, {group.text}, x, columns")

    def addresses_group(self, message: Operand, group: Operand) -> Code:
        """Whether a message that somebody sent is addressed to a group; both exist."""
        there = self.source.call(memberships.addresses_group, f"{message.text}, {group.text}, here, columns")
        if self.facts.logged:
            return Code(there, True)
        logged = self.of_message("send_logged", message)
        return Code(f"((0 if {there} else -1) if {logged} else {UNLOGGED})", False)

    def installs(self, entity: Operand, view: str, *, again: bool) -> str:
        """Whether an entity installs a view, or installs it again."""
        return self.source.call(memberships.installs, f"{entity.text}, {view}, {again}, here, columns")

    def _made_before(self, first: DeliveryTerm, second: DeliveryTerm) -> Code:
        """Whether, of two deliveries of one entity, the first comes first."""
        one, other = self.delivery(first), self.delivery(second)
        if self.facts.ordered:
            return Code(f"{one} < {other}", True)
        doubt = self.doubt(Operand(self.of_delivery("entity", first), True))
        known = Code(f"({doubt} if {doubt} > 0 else (0 if {one} < {other} else -1))", False)
        return guarded(f"{one} != {other}", known)

    def made_before(self, first: DeliveryTerm, second: DeliveryTerm) -> Code:
        """Whether two deliveries are of one entity, and the first comes first."""
        one, other = (self.of_delivery("entity", delivery) for delivery in (first, second))
        return guarded(f"{one} == {other}", self._made_before(first, second))

    def is_settled(self, delivery: DeliveryTerm, at: DeliveryTerm) -> str:
        """The condition that the message of a delivery was accepted, or given back, before another delivery."""
        return f"{self.of_delivery('settled', delivery)} < {self.of_delivery('event', at)}"

    def _in_flight(self, first: DeliveryTerm, second: DeliveryTerm) -> Code:
        before = self.made_before(first, second)
        recorded = f"{self.source.column('acknowledged_recorded')}[x]"
        flying = f"(-1 if {self.is_settled(first, second)} else 0)"
        answered = f"({flying} if {recorded} else {NO_ACKNOWLEDGEMENT})"
        if before.boolean:
            return guarded(before.text, Code(answered, False))
        value = self.source.assigned(before, "before").text
        return Code(f"({answered} if {value} == 0 else {value})", False)

    def is_acknowledged(self, message: Operand, entity: Operand) -> str:
        """The condition that an existing entity accepted an existing message."""
        return self.source.call(logs.acknowledges, f"{entity.text}, {message.text}, here, columns")

    def _in_receipt_log(self, message: Operand, entity: Operand) -> Code:
        there = f"{self.received(message, entity)} >= 0"
        return Code(all_of([message.exists, entity.exists, there]), True)

    def _precedes_in_receipt_log(self, first: Operand, second: Operand, entity: Operand) -> Code:
        before, after = self.received(first, entity), self.received(second, entity)
        conditions = [first.exists, second.exists, entity.exists, f"{before} >= 0"]
        if self.facts.ordered:
            return Code(all_of([*conditions, f"{before} < {after}"]), True)
        both = all_of([*conditions, f"{after} >= 0", f"{before} != {after}"])
        doubt = self.doubt(entity)
        return guarded(both, Code(f"({doubt} if {doubt} > 0 else (0 if {before} < {after} else -1))", False))

    def is_repeated(self, message: Operand, entity: Operand) -> str:
        """The condition that a message was delivered more than once."""
        place = self.received(message, entity)
        start = f"{self.source.column('delivered_offsets')}[first_entity + {entity.text}]"
        repeated = f"{self.source.column('repeated')}[{start} + {place}]"
        return all_of([message.exists, entity.exists, f"{place} >= 0", repeated])

    def _in_send_log(self, message: Operand, log: SendLog) -> Code:
        sent = self.sent_by(message, self.entity(log.entity))
        if log.to is None:
            return Code(sent, True)
        to = self.entity(log.to)
        return guarded(all_of([sent, to.exists]), self.is_addressed(message, to))

    def _precedes_in_send_log(self, first: Operand, second: Operand, log: SendLog) -> Code:
        sender = self.entity(log.entity)
        conditions = [
            self.sent_by(first, sender),
            self.sent_by(second, sender),
            f"{first.text} != {second.text}",
        ]
        place = [self.of_message("send_position", message) for message in (first, second)]
        parts = [Code(f"{place[0]} < {place[1]}", True)]
        if not self.facts.ordered:
            reasons = self.doubt(sender)
            parts = [Code(f"({reasons} if {reasons} > 0 else {parts[0].value})", False)]
        if not self.facts.logged:
            logged = [self.of_message("send_logged", message) for message in (first, second)]
            parts = [Code(f"({parts[0].value} if {all_of(logged)} else {UNLOGGED})", False)]
        if log.to is not None:
            to = self.entity(log.to)
            conditions.append(to.exists)
            parts += [self.is_addressed(message, to) for message in (first, second)]
        if all(part.boolean for part in parts):
            return Code(all_of([*conditions, *(part.text for part in parts)]), True)
        return guarded(all_of(conditions), Code(f"({' | '.join(part.value for part in parts)})", False))

    def _happens_before(self, first: EventTerm, second: EventTerm) -> Code:
        e, f = self.event(first), self.event(second)
        if self.facts.logged:
            self.source.table("past")
            text = f"happens_before({e.text}, {f.text}, past)"
        else:
            self.source.table("possible")
            text = f"happens_before_with_gaps({e.text}, {f.text}, past, possible)"
        arrivals = [isinstance(term, ArrivalEvent) for term in (first, second)]
        if any(arrivals):
            self.source.table("arrivals")
            rest = [event.exists for event, arrival in zip((e, f), arrivals, strict=True) if not arrival]
            text = f"({text} if arrivals else ({NO_ARRIVAL} if {all_of(rest)} else -1))"
        return Code(text, False)


def settled(atom: Truth | Quiescent | Undetermined | FailureLine) -> Code:
    """An atom that is the same on every recorded execution: it is quiescent, and rows have no failure marks."""
    match atom:
        case Truth(value):
            return YES if value else NO
        case Quiescent():
            return YES
        case Undetermined(_, reason):
            return Code(str(int(reason)), False)
        case FailureLine():
            return Code(str(int(Reason.NO_MARK)), False)
        case _:
            assert_never(atom)
