"""The outermost universal quantifiers of a formula: what it says of which things.

A formula is the conjunction of its clauses, each of which says one thing of everything in some ranges: a
`selectively_information_preserving` of every receipt log has two, one about each message in the log and one about each
message that was sent to its owner. What a clause is false of are its offenders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from precedes.core.formula import (
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
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
    MessageVariable,
    Not,
    Or,
    Per,
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
    Truth,
    Undetermined,
    Variable,
)
from precedes.core.mode import always
from precedes.logic.completion import opened_instance
from precedes.logic.parts import asked_of_each, of_its_own
from precedes.logic.variables import distinct

Binder = tuple[Variable, Formula]
"""A variable and its range."""


@dataclass(frozen=True, slots=True)
class Clause:
    """`body` of everything that the `binders` range over; of the execution itself where there are none."""

    binders: tuple[Binder, ...]
    body: Formula


def clauses(formula: Formula, *, complete: bool) -> tuple[Clause, ...]:
    """The clauses of what a closed formula asks of a quiescent execution, all variables being different.

    Of an incomplete one as they are judged of what was recorded: what is false in every completion.
    """
    found = tuple(_clauses(distinct(always(formula))))
    return found if complete else tuple(map(_opened, found))


def _opened(clause: Clause) -> Clause:
    binders = tuple((variable, opened_instance(extent)) for variable, extent in clause.binders)
    return Clause(binders, opened_instance(clause.body))


def _clauses(formula: Formula) -> Iterator[Clause]:
    match formula:
        case Forall(variable, extent, body):
            for clause in _clauses(body):
                yield Clause(((variable, extent), *clause.binders), clause.body)
        case And(parts):
            for part in parts:
                yield from _clauses(part)
        case Not(Exists(variable, extent, body)):
            yield from _clauses(Forall(variable, extent, Not(body)))
        case Not(Or(parts)):
            for part in parts:
                yield from _clauses(Not(part))
        case Not(Implies(left, right)):
            yield from _clauses(left)
            yield from _clauses(Not(right))
        case Not(Not(body)):
            yield from _clauses(body)
        case Per():
            # Its variable has a name that no other has.
            yield from _clauses(asked_of_each(formula))
        case (
            Not() | Or() | Implies() | Iff() | Exists() | Acyclic() | Truth() | Undetermined() | InLog()
            | Precedes() | Repeated() | Sent() | IsDestination() | SameEntity() | SameMessage() | SameText()
            | DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight() | Acknowledged()
            | SamePart() | Faulty() | Quiescent() | HappensBefore() | Comparison() | FailureLine()
            | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore() | InstallsAgain() | SameView()
        ):  # fmt: skip
            yield Clause((), formula)
        case _:
            assert_never(formula)


def naming_parts(clause: Clause) -> frozenset[Variable]:
    """The variables that only name parts of the execution. What names a part is no offender."""
    found: set[Variable] = set()
    inner = clause.body
    for variable, extent in reversed(clause.binders):
        if isinstance(variable, MessageVariable) and of_its_own(variable, extent, inner):
            found.add(variable)
        inner = Forall(variable, extent, inner)
    return frozenset(found)


def universal(clause: Clause) -> Formula:
    """The clause as a formula."""
    formula = clause.body
    for variable, extent in reversed(clause.binders):
        formula = Forall(variable, extent, formula)
    return formula
