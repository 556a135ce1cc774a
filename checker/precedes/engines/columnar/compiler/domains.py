"""What a quantifier needs to go through: the guards of its instances, and the shortest range in which none
of them is false.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from precedes.core.columns import NOBODY
from precedes.core.formula import (
    FALSEHOOD,
    And,
    Attribute,
    AttributeOf,
    Comparison,
    DeliveredAt,
    DeliveryVariable,
    EntityTerm,
    EntityVariable,
    Exists,
    Forall,
    Formula,
    GroupTerm,
    GroupVariable,
    Implies,
    InLog,
    Installs,
    IsMember,
    LogTerm,
    MessageOf,
    MessageTerm,
    MessageVariable,
    Not,
    Per,
    Precedes,
    ReceiptLog,
    Relation,
    SameEntity,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    Sender,
    SendLog,
    TextOf,
    Variable,
    ViewTerm,
    ViewVariable,
    conjunction,
)
from precedes.core.traversal import bound, free_variables, walk
from precedes.engines.columnar.compiler.source_text import Carried, Code, Extent, all_of
from precedes.engines.columnar.compiler.terms import Operand, Terms
from precedes.logic.parts import of_its_own

_KINDS: Final[Mapping[type[LogTerm], tuple[str, Extent]]] = {
    SendLog: ("sent", "sends"),
    ReceiptLog: ("delivered", "receipts"),
}
"""The columns of logs, and how long a log may be."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition of an instance; `ranged` where it stands in the range of the quantifier."""

    formula: Formula
    ranged: bool


@dataclass(frozen=True, slots=True)
class Domain:
    """The arguments of `range`, and what they are: places in `column`, or, without one, the numbers
    themselves; these also where `listed` is given and not met.

    `extent` says how many these may be. Where `condition` is not met there is nothing to go through. The guard
    `exact` is true of all that is gone through.
    """

    bounds: str
    extent: Extent
    column: str | None = None
    listed: str | None = None
    condition: str | None = None
    exact: Guard | None = None

    def value(self, index: str) -> str:
        """What is gone through at a place."""
        if self.column is None:
            return index
        listed = f"{self.column}[{index}]"
        return listed if self.listed is None else f"({listed} if {self.listed} else {index})"


def guards_and_body(formula: Forall | Exists) -> tuple[list[Guard], Formula]:
    """The guards of a quantifier's instances, and what is left to be judged of an instance where none of
    them is false.
    """
    guards = [Guard(part, True) for part in _conjuncts(formula.range)]
    body = formula.body
    if isinstance(formula, Forall):
        if isinstance(body, Not) and isinstance(body.body, SameView):
            body = Implies(body.body, FALSEHOOD)
        while isinstance(body, Implies):
            plain, rest = _split(body.left)
            guards += plain
            if rest:
                return guards, Implies(conjunction(*rest), body.right)
            body = body.right
    elif isinstance(body, And | SameView):
        plain, rest = _split(body)
        guards += plain
        body = conjunction(*rest)
    return guards, body


def parts_named(formula: Forall | Exists) -> tuple[Attribute, ...]:
    """The attributes by which the variable names parts, where it does no more than that."""
    if not isinstance(formula.variable, MessageVariable):
        return ()
    return of_its_own(formula.variable, formula.range, formula.body)


def domain(
    variable: Variable, guards: Sequence[Guard], naming: tuple[Attribute, ...], terms: Terms
) -> Domain:
    """What to go through for the variable. Statements that compute its bounds are written.

    A variable that only names parts by some attributes is one message of each.

    On incomplete executions only what is in a range is certain: a premise may be unknown of what is in no log.
    """
    guards = [guard for guard in guards if guard.ranged or terms.facts.complete]
    if isinstance(variable, EntityVariable):
        return _entities(variable, guards, terms)
    if isinstance(variable, DeliveryVariable):
        return _deliveries(variable, guards, terms)
    if isinstance(variable, GroupVariable):
        named = terms.source.column("named_group_offsets")
        return Domain(f"{named}[x], {named}[x + 1]", "groups", terms.source.column("named_groups"))
    if isinstance(variable, ViewVariable):
        return _views(variable, guards, terms)
    if naming:
        starts, firsts = (terms.source.carried(Carried(kind, naming)) for kind in ("starts", "firsts"))
        return Domain(f"{starts}[x], {starts}[x + 1]", "parts", firsts)
    for guard in sorted(guards, key=_from_a_receipt_log):
        found = _messages(variable, guard, terms)
        if found is not None:
            return found
    return Domain("m", "messages")


def _from_a_receipt_log(guard: Guard) -> bool:
    """Whether a guard names a receipt log, which has messages of all senders: other ranges are shorter."""
    return isinstance(guard.formula, InLog | Precedes) and isinstance(guard.formula.log, ReceiptLog)


def _messages(variable: MessageVariable, guard: Guard, terms: Terms) -> Domain | None:
    """The messages of which a guard is not false, where it names them; None where it does not."""
    atom = guard.formula
    if isinstance(atom, SamePart) and (atom.message == variable) != (atom.part.message == variable):
        other = atom.part.message if atom.message == variable else atom.message
        return _members(atom.part.attributes, terms.message(other), terms, guard)
    if isinstance(atom, InLog) and atom.message == variable and not _mentions(atom.log.entity, variable):
        whole = isinstance(atom.log, ReceiptLog) or atom.log.to is None
        return _log(atom.log, terms, guard if whole else None)
    if isinstance(atom, Precedes) and variable in (atom.first, atom.second):
        return None if _mentions(atom.log.entity, variable) else _log(atom.log, terms, None)
    if (found := _valued_alike(variable, atom)) is not None and terms.facts.complete:
        return _alike(*found, terms)
    if isinstance(atom, SameMessage) and (atom.left == variable) != (atom.right == variable):
        return _single(terms.message(atom.right if atom.left == variable else atom.left), terms, guard)
    return None


def _entities(variable: EntityVariable, guards: Sequence[Guard], terms: Terms) -> Domain:
    for guard in guards:
        atom = guard.formula
        if isinstance(atom, InLog) and isinstance(atom.log, SendLog) and atom.log.entity == variable:
            whole = atom.log.to is None
            return _single(terms.entity(Sender(atom.message)), terms, guard if whole else None)
        if isinstance(atom, Precedes) and isinstance(atom.log, SendLog) and atom.log.entity == variable:
            return _single(terms.entity(Sender(atom.first)), terms, None)
        if isinstance(atom, SameEntity) and (atom.left == variable) != (atom.right == variable):
            return _single(terms.entity(atom.right if atom.left == variable else atom.left), terms, guard)
        # A view that is named may be unknown, and so may the view of an event.
        if (
            isinstance(atom, IsMember)
            and atom.entity == variable
            and isinstance(atom.members_of, GroupTerm | ViewVariable)
        ):
            return _inside(atom.members_of, terms, guard)
    return Domain("n", "entities")


def _inside(members_of: GroupTerm | ViewVariable, terms: Terms, exact: Guard) -> Domain:
    """The members of a group or of a view."""
    if isinstance(members_of, GroupTerm):
        kind, number = "group", terms.group(members_of).text
    else:
        kind, number = "view", terms.view(members_of)
    name = terms.source.assigned(Code(number, False), "of").text
    first, offsets = (terms.source.column(f"{kind}_{column}") for column in ("offsets", "member_offsets"))
    bounds = f"{offsets}[{first}[x] + {name}], {offsets}[{first}[x] + {name} + 1]"
    return Domain(
        bounds, "members", terms.source.column(f"{kind}_members"), condition=f"{name} >= 0", exact=exact
    )


def _views(variable: ViewVariable, guards: Sequence[Guard], terms: Terms) -> Domain:
    """The views that an entity installs, where a guard names it; those of all otherwise."""
    for guard in guards:
        atom = guard.formula
        if isinstance(atom, Installs) and atom.view == variable and not _mentions(atom.entity, variable):
            entity = terms.entity(atom.entity)
            name = terms.source.assigned(Code(entity.text, False), "of").text
            offsets = terms.source.column("installed_offsets")
            bounds = f"{offsets}[first_entity + {name}], {offsets}[first_entity + {name} + 1]"
            condition = None if entity.certain else f"{name} >= 0"
            return Domain(
                bounds, "views", terms.source.column("installed_views"), condition=condition, exact=guard
            )
        if isinstance(atom, SameView) and (atom.left == variable) != (atom.right == variable):
            other = atom.right if atom.left == variable else atom.left
            if not _mentions(other, variable):
                return _one_view(terms.view(other), terms)
    return Domain(_count("view_offsets", terms), "views")


def _one_view(view: str, terms: Terms) -> Domain:
    """A view that another term stands for; none where there is none, and all where it is not known which it is."""
    name = terms.source.assigned(Code(view, False), "only").text
    stop = f"{name} + 1 if {name} >= {NOBODY} else {_count('view_offsets', terms)}"
    return Domain(f"max({name}, 0), {stop}", "one")


def _count(column: str, terms: Terms) -> str:
    """How many entries there are for the execution."""
    offsets = terms.source.column(column)
    return f"{offsets}[x + 1] - {offsets}[x]"


def _deliveries(variable: DeliveryVariable, guards: Sequence[Guard], terms: Terms) -> Domain:
    """The deliveries of an entity, where a guard names it; those of all otherwise."""
    offsets = terms.source.column("made_offsets")
    for guard in guards:
        atom = guard.formula
        if (
            isinstance(atom, DeliveredAt)
            and atom.delivery == variable
            and not _mentions(atom.entity, variable)
        ):
            entity = terms.entity(atom.entity)
            name = terms.source.assigned(Code(entity.text, False), "at").text
            start, stop = f"{offsets}[first_entity + {name}]", f"{offsets}[first_entity + {name} + 1]"
            if (other := _of_one_message(variable, guards)) is not None:
                # At its own entity, a delivery that is not repeated is the only one of its message.
                first = terms.delivery(other)
                here = f"{terms.of_delivery('entity', other)} == {name}"
                unrepeated = f"{here} and not {terms.of_delivery('repeated', other)}"
                alone = terms.source.assigned(Code(unrepeated, False), "alone").text
                start, stop = f"({first} if {alone} else {start})", f"({first} + 1 if {alone} else {stop})"
            return Domain(
                f"{start}, {stop}",
                "receipts",
                condition=None if entity.certain else f"{name} >= 0",
                exact=guard,
            )
    return Domain(f"{offsets}[first_entity], {offsets}[first_entity + n]", "events")


def _of_one_message(variable: DeliveryVariable, guards: Sequence[Guard]) -> DeliveryVariable | None:
    """The first other delivery of which a guard says that it is of the variable's message."""
    for guard in guards:
        atom = guard.formula
        if (
            isinstance(atom, SameMessage)
            and isinstance(atom.left, MessageOf)
            and isinstance(atom.right, MessageOf)
            and variable in (atom.left.delivery, atom.right.delivery)
        ):
            other = atom.right.delivery if atom.left.delivery == variable else atom.left.delivery
            if isinstance(other, DeliveryVariable) and other != variable:
                return other
    return None


def _single(operand: Operand, terms: Terms, exact: Guard | None) -> Domain:
    name = terms.source.assigned(Code(operand.text, False), "only").text
    return Domain(
        f"{name}, {name} + 1", "one", condition=None if operand.certain else f"{name} >= 0", exact=exact
    )


def _log(log: LogTerm, terms: Terms, exact: Guard | None) -> Domain:
    entity = terms.entity(log.entity)
    name = terms.source.assigned(Code(entity.text, False), "of").text
    condition = None if entity.certain else f"{name} >= 0"
    if isinstance(log, SendLog) and not terms.facts.logged:
        terms.source.table("send_log")
        bounds = f"send_log_offsets[{name}], send_log_offsets[{name} + 1]"
        return Domain(bounds, "sends", "send_log", condition=condition, exact=exact)
    kind, extent = _KINDS[type(log)]
    offsets = terms.source.column(f"{kind}_offsets")
    bounds = f"{offsets}[first_entity + {name}], {offsets}[first_entity + {name} + 1]"
    return Domain(bounds, extent, terms.source.column(kind), condition=condition, exact=exact)


def _members(attributes: tuple[Attribute, ...], message: Operand, terms: Terms, exact: Guard) -> Domain:
    """The messages of the part that a message is in."""
    starts = terms.source.carried(Carried("starts", attributes))
    stops = terms.source.carried(Carried("member_starts", attributes))
    part = f"{terms.part(attributes, message)}"
    if not message.certain:
        part = f"({part} if {message.exists} else -1)"
    name = terms.source.assigned(Code(part, False), "part").text
    bounds = f"{stops}[{starts}[x] + {name}], {stops}[{starts}[x] + {name} + 1]"
    members = terms.source.carried(Carried("members", attributes))
    return Domain(bounds, "part", members, condition=f"{name} >= 0", exact=exact)


def _valued_alike(variable: MessageVariable, atom: Formula) -> tuple[Attribute, MessageTerm] | None:
    """The attribute of which an atom says that the variable has the value of another message, and this message."""
    if not isinstance(atom, SameText | Comparison):
        return None
    if isinstance(atom, Comparison) and atom.relation is not Relation.EQUAL:
        return None
    left, right = atom.left, atom.right
    if not (isinstance(left, TextOf | AttributeOf) and isinstance(right, TextOf | AttributeOf)):
        return None
    if left.attribute != right.attribute or variable not in (left.message, right.message):
        return None
    message = right.message if left.message == variable else left.message
    return None if _mentions(message, variable) else (left.attribute, message)


def _alike(attribute: Attribute, message: MessageTerm, terms: Terms) -> Domain:
    """The messages with the value of another one. Where some message has none, all: of these it is not known."""
    starts, stops, members = (
        terms.source.carried(Carried(kind, (attribute,))) for kind in ("starts", "member_starts", "members")
    )
    other = terms.message(message)
    some = all_of([other.exists, f"{stops}[{starts}[x + 1]] - {stops}[{starts}[x]] == m"])
    part = f"({terms.part((attribute,), other)} if {some} else -1)"
    name = terms.source.assigned(Code(part, False), "part").text
    ends = (f"{stops}[{starts}[x] + {name} + {k}]" for k in (0, 1))
    start, stop = (f"({end} if {name} >= 0 else {all_})" for end, all_ in zip(ends, ("0", "m"), strict=True))
    return Domain(f"{start}, {stop}", "part", members, listed=f"{name} >= 0")


def _mentions(term: EntityTerm | MessageTerm | ViewTerm, variable: Variable) -> bool:
    return variable in free_variables(term)


def _conjuncts(formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if isinstance(formula, And) else (formula,)


def _split(premise: Formula) -> tuple[list[Guard], list[Formula]]:
    """The quantifier-free conjuncts as guards, and the others."""
    plain, rest = [], []
    for part in _conjuncts(premise):
        if _has_binder(part):
            rest.append(part)
        else:
            plain.append(Guard(part, False))
    return plain, rest


def _has_binder(formula: Formula) -> bool:
    return any(isinstance(node, Per) or bound(node) for node in walk(formula))
