"""One sentence that says how a requirement fails.

For example: "E2 delivers a before x, E3 delivers x before a; both were addressed to E2 and E3". The sentence
consists of the facts of a witness, with one clause for each fact that the other clauses do not already say.
No predicate is known by its name here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, assert_never

from precedes.core.execution import Execution
from precedes.core.formula import (
    TRUTH,
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryEvent,
    EntityNamed,
    EntityTerm,
    Exists,
    FailureLine,
    Faulty,
    Forall,
    Formula,
    HappensBefore,
    Iff,
    Implies,
    InFlight,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsDestination,
    IsMember,
    LogTerm,
    MessageNamed,
    MessageTerm,
    MessageVariable,
    Not,
    Or,
    Per,
    Precedes,
    Quiescent,
    ReceiptLog,
    Repeated,
    Requirement,
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
from precedes.core.traversal import walk
from precedes.core.verdict import FALSE, TRUE
from precedes.core.witness import Fact, Witness
from precedes.reports.prose.atoms import Statements, about_delta, listed
from precedes.reports.prose.identifiers import Identifiers, log_text
from precedes.reports.prose.times import duration_text

INSTANCES: Final = 3
"""How many things a sentence goes through where none of them does."""


def sentence(requirement: Requirement, execution: Execution, witness: Witness | None) -> str:
    """How the requirement fails at the witness; empty where there is nothing to say.

    Where a part of the requirement fails, its name comes first.
    """
    if witness is None:
        return ""
    told = _Telling(execution, witness).tell()
    return f"{witness.part}: {told}" if told and witness.part != requirement.name else told


class _Order(IntEnum):
    """Where in the sentence a clause stands. Memberships are left out where another clause implies them."""

    MEMBERSHIP = 0
    CHAIN = 1
    SENDS = 2
    RECEIPTS = 3
    REST = 4


Membership = tuple[str, str]
"""A message or a view, and the log that it is in."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """A part of the sentence, with the memberships that it implies."""

    text: str
    order: _Order
    implies: frozenset[Membership] = frozenset()


class _Telling:
    def __init__(self, execution: Execution, witness: Witness) -> None:
        self._facts = witness.facts
        self._about_events = any(isinstance(fact.formula, HappensBefore) for fact in self._facts)
        timed = self._about_events or any(isinstance(fact.formula, Comparison) for fact in self._facts)
        self._statements = Statements(execution, timed=timed)
        self._ids = self._statements.ids
        self._execution = execution

    def tell(self) -> str:
        """Chains first, then sends, then the rest; in the end what all of it shares."""
        cycle = self._statements.terms.happens_before.cycle if self._about_events else ()
        if cycle:
            return f"no such execution is possible: {self._statements.chain(cycle)}"
        clauses = _without_repetition([clause for fact in self._facts if (clause := self._clause(fact))])
        chains = [clause.text for clause in clauses if clause.order is _Order.CHAIN]
        others = ", ".join(clause.text for clause in clauses if clause.order is not _Order.CHAIN)
        tails = (self._addressed(others), self._members(), self._correct(), self._within_delta())
        told = "; ".join(part for part in (*chains, others, *tails) if part)
        if told and (values := self._part()):
            return f"among the messages with {values}: {told}"
        return told or ", ".join(self._statements.statement(fact.formula, fact.value) for fact in self._facts)

    def _part(self) -> str:
        """The values of the part that was asked; the last one, where parts have parts."""
        parts = [
            self._statements.values(fact.formula.message, fact.formula.part)
            for fact in self._facts
            if isinstance(fact.formula, SamePart) and fact.formula.message == fact.formula.part.message
        ]
        return parts[-1] if parts else ""

    def _clause(self, fact: Fact) -> _Clause | None:
        """What one fact adds to the sentence, if anything."""
        formula, value = fact.formula, fact.value
        said = self._statements.statement
        if value not in (TRUE, FALSE):
            text = f"it is not known whether {said(formula, TRUE)}"
            return _Clause(text, _Order.REST, _deliveries(formula))
        match formula:
            case HappensBefore() if value == TRUE:
                return self._happens_before(formula)
            case Comparison() if fact.context and value == TRUE and about_delta(formula):
                return None
            case InLog(message, log) if value == TRUE:
                order = _Order.MEMBERSHIP if fact.context else _Order.RECEIPTS
                return _Clause(said(formula, value), order, _membership(message, log))
            case Precedes(first, second, log):
                order = _Order.SENDS if isinstance(log, SendLog) else _Order.RECEIPTS
                return _Clause(
                    said(formula, value), order, _membership(first, log) | _membership(second, log)
                )
            case Repeated(message, log):
                return _Clause(said(formula, value), _Order.RECEIPTS, _membership(message, log))
            case Exists() if value == FALSE:
                said_there = _said_there(formula) if _sought(formula, self._ids) else frozenset()
                told = self._nothing(formula, fact.instances)
                return _Clause(told, _Order.REST, said_there | self._in_views(formula))
            case SameEntity() if not fact.context and _by_sender(formula):
                return _Clause(said(formula, value), _Order.REST)
            case IsDestination() | Sent() | SameEntity() | SameMessage() if fact.context or value == TRUE:
                return None
            case DeliveredBefore():
                return _Clause(said(formula, value), _Order.RECEIPTS)
            case DeliveredAt() | SameDelivery() if fact.context or value == TRUE:
                return None
            case Installs(entity, view) if value == TRUE:
                order = _Order.MEMBERSHIP if fact.context else _Order.RECEIPTS
                return _Clause(said(formula, value), order, _installed(entity, view))
            case InstallsBefore(first, second, entity):
                implied = _installed(entity, first) | _installed(entity, second)
                return _Clause(said(formula, value), _Order.RECEIPTS, implied)
            case InstallsAgain(entity, view):
                return _Clause(said(formula, value), _Order.RECEIPTS, _installed(entity, view))
            case SameView(ViewNamed(), ViewNamed()):
                return None
            case SameView():
                return _Clause(said(formula, value), _Order.REST, self._in_views(formula))
            case SameGroup() if fact.context or value == TRUE:
                return None
            case IsMember() if fact.context and value == TRUE:
                return None
            case AddressedTo() if fact.context and value == FALSE:
                return None
            case Faulty() if value == FALSE:
                return None
            case Truth() | Quiescent() | Not() | And() | Or() | Implies() | Iff():
                return None
            case Forall() | Exists() | Acyclic() | Per() | SamePart():
                return None
            case (
                InLog() | HappensBefore() | Comparison() | IsDestination() | Sent() | SameEntity() | SameMessage()
                | SameText() | Faulty() | FailureLine() | Undetermined() | DeliveredAt() | SameDelivery() | InFlight()
                | Acknowledged() | IsMember() | AddressedTo() | SameGroup() | Installs()
            ):  # fmt: skip
                return _Clause(said(formula, value), _Order.REST, _deliveries(formula))
            case _:
                assert_never(formula)

    def _happens_before(self, atom: HappensBefore) -> _Clause:
        """Two deliveries at one entity in their order; else the chain that leads from one event to the other."""
        first, second = atom.first, atom.second
        if isinstance(first, DeliveryEvent) and isinstance(second, DeliveryEvent):
            here = first.entity
            if isinstance(here, EntityNamed) and here == second.entity:
                text = self._statements.delivery_order(here.name, first.message.name, second.message.name)
                return _Clause(text, _Order.RECEIPTS, _deliveries(atom))
        relation = self._statements.terms.happens_before
        earlier, later = relation.named(atom.first), relation.named(atom.second)
        events = () if earlier is None or later is None else relation.chain(earlier, later)
        told = self._statements.statement(atom, TRUE)
        if events:
            chain = self._statements.chain(events)
            between_sends = isinstance(atom.first, SendEvent) and isinstance(atom.second, SendEvent)
            at_one_entity = len({event.entity for event in events}) == 1
            told = chain if at_one_entity and not between_sends else f"{told}: {chain}"
        return _Clause(told, _Order.CHAIN, _deliveries(atom))

    def _nothing(self, formula: Exists, instances: Sequence[Fact]) -> str:
        """Why nothing does what something should."""
        recorded, ids = self._statements.recorded, self._ids
        who, extent, body = formula.variable, formula.range, formula.body
        if isinstance(body, InLog) and body.log.entity == who:
            message, log = body.message, body.log
            if isinstance(log, SendLog) and extent == TRUTH:
                sender = recorded.sender(message.name)
                if sender is None or log.to is None:
                    return f"nobody sent {ids.of_message(message)}"
                return (
                    f"{ids.entity(sender)} does not send {ids.of_message(message)} to {ids.of_entity(log.to)}"
                )
            if isinstance(log, ReceiptLog) and extent == IsDestination(log.entity, message):
                reached = self._statements.entities_in_order(recorded.destinations(message.name) or ())
                return f"{ids.of_message(message)} was addressed to {self._listed(reached)}, none of them delivers it"
            if isinstance(log, ReceiptLog) and isinstance(extent, IsMember) and extent.entity == who:
                of = self._statements.memberships.of_members(extent.members_of)
                return f"no member of {of} delivers {ids.of_message(message)}"
        if isinstance(body, SameView) and isinstance(body.left, ViewOf) and body.right == who:
            return self._statements.memberships.in_its_view(body.left.event)
        sought = _sought(formula, ids)
        if sought:
            return sought
        texts = dict.fromkeys(self._statements.statement(fact.formula, fact.value) for fact in instances)
        if not texts:
            return f"there is no {formula.variable.name} in range"
        return ", ".join(list(texts)[:INSTANCES]) + (" and so on" if len(texts) > INSTANCES else "")

    def _in_views(self, formula: Formula) -> frozenset[Membership]:
        """The sends and deliveries that a formula says the views of."""
        views = [node.event for node in walk(formula) if isinstance(node, ViewOf)]
        sent = [event.message for event in views if isinstance(event, SendEvent)]
        senders = ((message, self._statements.recorded.sender(message.name)) for message in sent)
        sends = (
            _membership(message, SendLog(EntityNamed(name))) for message, name in senders if name is not None
        )
        return _deliveries(formula).union(*sends)

    # ---- what the sentence ends with -----------------------------------------------------------------------

    def _addressed(self, said: str) -> str:
        """To whom the messages were addressed: where two logs disagree, or the failure depends on it.

        Nothing where `said` has it already.
        """
        orders = [
            (atom.log.entity.name, frozenset((atom.first.name, atom.second.name)))
            for atom in (fact.formula for fact in self._facts)
            if isinstance(atom, Precedes)
            and isinstance(atom.log, ReceiptLog)
            and isinstance(atom.log.entity, EntityNamed)
        ]
        owners = list(dict.fromkeys(owner for owner, _ in orders))
        pairs = {pair for _, pair in orders}
        if len(owners) == 2 and len(pairs) == 1:
            return self._addressed_to(self._statements.messages_in_order(pairs.pop()), owners)
        asked: dict[str, list[str]] = {}
        for fact in self._facts:
            atom = fact.formula
            if (
                isinstance(atom, IsDestination)
                and isinstance(atom.entity, EntityNamed)
                and fact.value == TRUE
            ):
                name = atom.message.name
                if f"{self._ids.message(name)} was addressed to" not in said:
                    asked.setdefault(name, []).append(atom.entity.name)
        return ", ".join(
            f"{self._ids.message(name)} was addressed to {self._listed(self._statements.entities_in_order(to))}"
            for name, to in asked.items()
        )

    def _members(self) -> str:
        """Who is in a group or a view, where that is among what makes the failure one."""
        found: dict[str, list[str]] = {}
        for fact in self._facts:
            atom = fact.formula
            if not (isinstance(atom, IsMember) and isinstance(atom.entity, EntityNamed)):
                continue
            if fact.context and fact.value == TRUE:
                of = self._statements.memberships.of_members(atom.members_of)
                found.setdefault(of, []).append(atom.entity.name)
        inside = ((self._statements.entities_in_order(members), of) for of, members in found.items())
        return ", ".join(
            f"{self._listed(who)} {'is' if len(who) == 1 else 'are'} in {of}" for who, of in inside
        )

    def _correct(self) -> str:
        """Who is correct, where that is asked for and others are not."""
        found = [
            entity.name
            for fact in self._facts
            if isinstance(fact.formula, Faulty) and fact.value == FALSE
            if isinstance(entity := fact.formula.entity, EntityNamed)
        ]
        if not found or not self._statements.recorded.faulty:
            return ""
        correct = self._statements.entities_in_order(found)
        return f"{self._listed(correct)} {'is' if len(correct) == 1 else 'are'} correct"

    def _addressed_to(self, messages: Sequence[str], entities: Sequence[str]) -> str:
        recorded, ids = self._statements.recorded, self._ids
        if not all(map(recorded.logged, messages)):
            return ""
        others = [(m, e) for m in messages for e in entities if e not in (recorded.destinations(m) or ())]
        if any(recorded.group_chooses(m, e) for m, e in others):
            return ""
        if others:
            return ", ".join(f"{ids.message(m)} was not addressed to {ids.entity(e)}" for m, e in others)
        return f"both were addressed to {self._listed(entities)}"

    def _listed(self, entities: Sequence[str]) -> str:
        return listed([*map(self._ids.entity, entities)])

    def _within_delta(self) -> str:
        """Delta, where it is among what makes the failure one."""
        delta = self._execution.delta
        limited = any(
            fact.context and fact.value == TRUE and about_delta(fact.formula) for fact in self._facts
        )
        return f"all within delta ({duration_text(delta)})" if limited and delta is not None else ""


def _without_repetition(clauses: Sequence[_Clause]) -> list[_Clause]:
    """The clauses in order, without those that others imply; of two about one membership the longer says
    more.
    """
    implied = {pair for clause in clauses if clause.order is not _Order.MEMBERSHIP for pair in clause.implies}
    kept: dict[object, _Clause] = {}
    for clause in sorted(clauses, key=lambda clause: (clause.order, -len(clause.text))):
        if clause.order is not _Order.MEMBERSHIP:
            kept.setdefault(clause.text, clause)
        elif not clause.implies <= implied:
            kept.setdefault(clause.implies, clause)
    left = set(kept.values())
    return sorted(dict.fromkeys(c for c in clauses if c in left), key=lambda clause: clause.order)


def _sought(formula: Exists, ids: Identifiers) -> str:
    """`shipping delivers nothing from payments before o`: what a log was searched for in vain, where it was searched by
    the sender. What is in the log instead would only tell of messages that nobody thought of.
    """
    found, extent, body = formula.variable, formula.range, formula.body
    if not (isinstance(found, MessageVariable) and isinstance(extent, InLog) and extent.message == found):
        return ""
    log, parts = extent.log, body.parts if isinstance(body, And) else (body,)
    words = [_quality(part, found, log, ids) for part in parts]
    if None in words or not any(_by_sender(part) for part in parts):
        return ""
    does = "delivers" if isinstance(log, ReceiptLog) else "sends"
    to = f" to {ids.of_entity(log.to)}" if isinstance(log, SendLog) and log.to is not None else ""
    return f"{ids.of_entity(log.entity)} {does} nothing{to} {' '.join(filter(None, words))}".rstrip()


def _quality(formula: Formula, found: MessageVariable, log: LogTerm, ids: Identifiers) -> str | None:
    """One thing that is asked of the message to be found; None where there are no short words for it."""
    atom, denied = (formula.body, "not ") if isinstance(formula, Not) else (formula, "")
    if isinstance(atom, SameEntity) and Sender(found) in (atom.left, atom.right):
        return f"{denied}from {ids.of_entity(atom.right if atom.left == Sender(found) else atom.left)}"
    if isinstance(atom, Precedes) and not denied and atom.log == log and atom.first != atom.second:
        if atom.first == found:
            return f"before {ids.of_message(atom.second)}"
        if atom.second == found:
            return f"after {ids.of_message(atom.first)}"
    return None


def _said_there(formula: Formula) -> frozenset[Membership]:
    """The messages that a search for something before or after them takes to be in the log."""
    return frozenset().union(
        *(
            _membership(message, node.log)
            for node in walk(formula)
            if isinstance(node, Precedes)
            for message in (node.first, node.second)
            if isinstance(message, MessageNamed)
        )
    )


def _by_sender(formula: Formula) -> bool:
    return any(isinstance(node, Sender) for node in walk(formula))


def _membership(message: MessageTerm, log: LogTerm) -> frozenset[Membership]:
    whole = SendLog(log.entity) if isinstance(log, SendLog) else log
    return frozenset({(message.name, log_text(whole))})


def _installed(entity: EntityTerm, view: ViewTerm) -> frozenset[Membership]:
    """The view in `VL` of the entity; nothing where the view is that of an event."""
    if isinstance(view, ViewOf):
        return frozenset()
    return frozenset({(view.name, f"VL of {log_text(ReceiptLog(entity))}")})


def _deliveries(formula: Formula) -> frozenset[Membership]:
    """The deliveries that a formula speaks of as events."""
    events = (node for node in walk(formula) if isinstance(node, DeliveryEvent))
    return frozenset((event.message.name, log_text(ReceiptLog(event.entity))) for event in events)
