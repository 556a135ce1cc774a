"""`F per key`, written out with quantifiers, for whoever judges formulas node by node.

`F` of the part that a message is in is `F` with every message that it speaks of in that part. A quantifier over
messages or deliveries gets this into its range. An atom about a message that is named, or bound around `F`, is false
unless the message is in the part: in any other it does not exist. Positions and sizes count the part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from precedes.core.formula import (
    FALSEHOOD,
    TRUTH,
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    Attribute,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryNamed,
    DeliveryPosition,
    DeliveryVariable,
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
    MessageNamed,
    MessageOf,
    MessageTerm,
    MessageVariable,
    Not,
    Or,
    Part,
    Per,
    Position,
    Precedes,
    Quiescent,
    Repeated,
    SameDelivery,
    SameEntity,
    SameGroup,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    Sent,
    Size,
    Truth,
    Undetermined,
    Variable,
    conjunction,
)
from precedes.core.traversal import Node, rebuilt, walk
from precedes.core.verdict import Reason


def written_out(per: Per) -> Formula:
    """What it means: the body holds in the part of every message, and there is a part if there is a message.

    No variable of it is captured: the one that stands for a part has a name that nothing inside has.
    """
    asked = asked_of_each(per)
    names = " and ".join(attribute.name for attribute in per.attributes)
    without = Undetermined(f"no message has {names}", Reason.NO_ATTRIBUTE)
    nothing = Forall(asked.variable, TRUTH, FALSEHOOD)
    return And((asked, Or((nothing, Exists(asked.variable, asked.range, TRUTH), without))))


def asked_of_each(per: Per) -> Forall:
    """What is asked of each part, without asking that there is one. It is false where the whole is, and only there.

    What the body asks per value is asked in full: negated, an unknown that became true would be false.
    """
    body = _replaced(per.body, written_out)
    whose = MessageVariable(_unused(body))
    part = Part(per.attributes, whose)
    return Forall(whose, SamePart(whose, part), _within(body, part, frozenset()))


def in_some_part(per: Per, formula: Formula) -> Exists:
    """That another formula is true of one of the parts."""
    inside = without_parts(formula)
    whose = MessageVariable(_unused(inside))
    part = Part(per.attributes, whose)
    return Exists(whose, SamePart(whose, part), _within(inside, part, frozenset()))


def of_its_own(variable: MessageVariable, extent: Formula, body: Formula) -> tuple[Attribute, ...]:
    """The attributes whose values a variable stands for that ranges over parts; none where it ranges over messages.

    What is said of it is then so of every message with the same values: it only names parts by these attributes.
    """
    conjuncts = extent.parts if isinstance(extent, And) else (extent,)
    asked = [part for part in conjuncts if isinstance(part, SamePart) and part.message == variable]
    if not any(one.part.message == variable for one in asked):
        return ()
    attributes = tuple(dict.fromkeys(attribute for one in asked for attribute in one.part.attributes))
    named = [
        node for node in walk(And((extent, body))) if isinstance(node, Part) and node.message == variable
    ]
    others = sum(node == variable for node in walk(And((extent, body)))) - len(named) - len(asked)
    return attributes if not others and all(set(node.attributes) <= set(attributes) for node in named) else ()


def without_parts(formula: Formula) -> Formula:
    """The formula where every message has every attribute: what is asked per value written out."""
    return _replaced(formula, asked_of_each)


def _replaced(formula: Formula, write: Callable[[Per], Formula]) -> Formula:
    """The formula with what is asked per value written out, the innermost first."""

    def change(node: Node) -> Node:
        found: Node = rebuilt(node, change)
        return write(found) if isinstance(found, Per) else found

    result: Formula = change(formula)  # type: ignore[assignment]
    return result


def _within(formula: Formula, part: Part, inside: frozenset[Variable]) -> Formula:
    """The formula, in which nothing is asked per value, asked of a part; `inside` are the variables of messages and
    deliveries that are in it already.
    """
    match formula:
        case Forall(MessageVariable() | DeliveryVariable() as variable, extent, body) | Exists(
            MessageVariable() | DeliveryVariable() as variable, extent, body
        ):
            known = inside | {variable}
            message = MessageOf(variable) if isinstance(variable, DeliveryVariable) else variable
            here = conjunction(SamePart(message, part), _within(extent, part, known))
            return replace(formula, range=here, body=_within(body, part, known))
        case Acyclic(first, second, body):
            known = inside | {first, second}
            here = conjunction(SamePart(first, part), SamePart(second, part), _within(body, part, known))
            return replace(formula, body=here)
        case FailureLine():
            return Undetermined("the failure line is that of a whole execution")
        case Not() | And() | Or() | Implies() | Iff() | Forall() | Exists():
            narrowed: Formula = rebuilt(
                formula, lambda child: _within(child, part, inside) if isinstance(child, Formula) else child
            )
            return narrowed
        case Per():
            raise AssertionError("what is asked per value inside has been written out")
        case (
            Truth() | Undetermined() | InLog() | Precedes() | Repeated() | Sent() | IsDestination()
            | SameEntity() | SameMessage() | SameText() | SamePart() | Faulty() | HappensBefore() | Comparison()
            | Quiescent() | DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged()
            | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
        ):  # fmt: skip
            return _atom(formula, part, inside)
        case _:
            assert_never(formula)


def _atom(atom: Formula, part: Part, inside: frozenset[Variable]) -> Formula:
    outside: dict[MessageTerm, None] = {}
    for node in walk(atom):
        if isinstance(node, MessageNamed | MessageVariable) and node not in inside:
            outside[node] = None
        elif isinstance(node, DeliveryNamed | DeliveryVariable) and node not in inside:
            outside[MessageOf(node)] = None
    return conjunction(*(SamePart(message, part) for message in outside), _counted(atom, part))


def _counted(node: Node, part: Part) -> Formula:
    """An atom whose positions and sizes count the messages of the part."""

    def change(each: Node) -> Node:
        if isinstance(each, Position | Size | DeliveryPosition):
            return replace(each, part=_both(each.part, part))
        if isinstance(each, SamePart):
            return each
        changed: Node = rebuilt(each, change)
        return changed

    result: Formula = change(node)  # type: ignore[assignment]
    return result


def _both(inner: Part | None, outer: Part) -> Part:
    """The messages of both parts. The message of the inner one is in the outer one."""
    if inner is None:
        return outer
    return Part(tuple(dict.fromkeys((*inner.attributes, *outer.attributes))), inner.message)


def _unused(body: Formula) -> str:
    taken = {node.name for node in walk(body) if isinstance(node, MessageVariable)}
    name, number = "part", 1
    while name in taken:
        number += 1
        name = f"part_{number}"
    return name
