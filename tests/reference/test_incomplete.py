"""What is said of incomplete executions, on executions built by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from precedes.core.execution import Execution
from precedes.core.formula import (
    FALSEHOOD,
    TRUTH,
    Acyclic,
    And,
    Comparison,
    Constant,
    DeliveryEvent,
    Difference,
    Dimension,
    EntityNamed,
    EntityVariable,
    Exists,
    Forall,
    Formula,
    HappensBefore,
    Iff,
    InLog,
    IsDestination,
    MessageNamed,
    MessageVariable,
    Not,
    NumberTerm,
    Or,
    Position,
    Precedes,
    ReceiptLog,
    Relation,
    Repeated,
    SameEntity,
    SameMessage,
    Sender,
    SendEvent,
    SendLog,
    Sent,
    Size,
    TimeOf,
    VectorTime,
)
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.reference import evaluate, explain
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from tests.reference import definitions as d
from tests.reference import scenarios as s

OPEN = Reason.INCOMPLETE
E1, E2, E3, E9 = (EntityNamed(f"E{number}") for number in (1, 2, 3, 9))
A, B, C, NEW = (MessageNamed(name) for name in ("a", "b", "c", "new"))
P, Q, HERE = MessageVariable("p"), MessageVariable("q"), EntityVariable("i")
RL1, RL2, RL9, SL1, SL2 = ReceiptLog(E1), ReceiptLog(E2), ReceiptLog(E9), SendLog(E1), SendLog(E2)


def incomplete(cluster: str, *lines: str, senders: dict[str, str] | None = None) -> Execution:
    return s.histories(cluster, *lines, senders=senders, complete=False)


def number(relation: Relation, left: NumberTerm, right: int) -> Formula:
    return Comparison(relation, left, Constant(Fraction(right), Dimension.NUMBER), Dimension.NUMBER)


def at_most(left: NumberTerm, right: int) -> Formula:
    return number(Relation.AT_MOST, left, right)


ONE = incomplete("E1 E2 E3", "!a{2} !b{2,3} ?x", "?b ?c", "")
"""E1 sends a and b and delivers x, which nobody is known to have sent; E2 delivers b and c."""

ATOMS: list[tuple[Formula, int]] = [
    (InLog(B, RL2), TRUE),
    (InLog(A, RL2), OPEN),
    (InLog(A, RL9), OPEN),
    (InLog(NEW, RL2), OPEN),
    (InLog(A, SL1), TRUE),
    (InLog(A, SL2), FALSE),
    (InLog(A, SendLog(E9)), FALSE),
    (InLog(A, SendLog(E1, E2)), TRUE),
    (InLog(A, SendLog(E1, E3)), FALSE),
    (InLog(A, SendLog(E1, E9)), OPEN),
    (InLog(C, SL1), OPEN),
    (InLog(NEW, SL1), OPEN),
    (InLog(A, SendLog(Sender(C))), OPEN),
    (Sent(A), TRUE),
    (Sent(C), OPEN),
    (Sent(NEW), OPEN),
    (IsDestination(E2, A), TRUE),
    (IsDestination(E1, A), FALSE),
    (IsDestination(E1, C), OPEN),
    (Repeated(B, RL2), OPEN),
    (Repeated(B, SL1), FALSE),
    (SameMessage(A, B), FALSE),
    (SameMessage(A, A), TRUE),
    (SameMessage(NEW, NEW), OPEN),
    (SameMessage(NEW, A), FALSE),
    (SameEntity(E9, E1), FALSE),
    (SameEntity(E9, E9), OPEN),
    (SameEntity(Sender(A), E1), TRUE),
    (SameEntity(Sender(C), E1), OPEN),
    (Precedes(B, C, RL2), TRUE),
    (Precedes(C, B, RL2), FALSE),
    (Precedes(A, B, RL2), OPEN),
    (Precedes(B, A, RL2), OPEN),
    (Precedes(A, A, RL2), FALSE),
    (Precedes(A, B, SL1), TRUE),
    (Precedes(B, A, SL1), FALSE),
    (Precedes(A, C, SL1), OPEN),
    (Precedes(A, C, SL2), FALSE),
    (HappensBefore(SendEvent(A), SendEvent(B)), TRUE),
    (HappensBefore(SendEvent(B), SendEvent(A)), FALSE),
    (HappensBefore(SendEvent(A), DeliveryEvent(B, E2)), TRUE),
    (HappensBefore(SendEvent(A), DeliveryEvent(A, E2)), OPEN),
    (HappensBefore(DeliveryEvent(A, E2), SendEvent(A)), FALSE),
    (HappensBefore(DeliveryEvent(B, E3), SendEvent(A)), FALSE),
    (HappensBefore(SendEvent(C), DeliveryEvent(C, E2)), OPEN),
    (HappensBefore(DeliveryEvent(C, E2), SendEvent(C)), FALSE),
    (HappensBefore(SendEvent(NEW), SendEvent(NEW)), FALSE),
    (HappensBefore(DeliveryEvent(C, E2), DeliveryEvent(MessageNamed("x"), E1)), OPEN),
]


@pytest.mark.parametrize(("atom", "value"), ATOMS)
def test_an_atom(atom: Formula, value: int) -> None:
    assert evaluate(atom, ONE) == value
    opposite = TRUE if value == FALSE else FALSE if value == TRUE else value
    assert evaluate(Not(atom), ONE) == opposite


BEFORE_ITS_SEND = incomplete("E1 E2 E3", "?a !b{1,2,3}", "?b ?a", "!a{1,2,3}")
"""E1 sends b after it delivered a; E2 delivers b first."""


def test_what_was_sent_later_was_not_delivered_before() -> None:
    assert evaluate(Precedes(B, A, RL1), BEFORE_ITS_SEND) == FALSE
    assert evaluate(Precedes(A, B, RL1), BEFORE_ITS_SEND) == OPEN
    assert evaluate(HappensBefore(DeliveryEvent(B, E1), DeliveryEvent(A, E1)), BEFORE_ITS_SEND) == FALSE
    # E2 has b before a, which E1 has without b: with b it would have them the other way round.
    for name in ("gap_free_order", "prefix_order", "ST"):
        assert evaluate(requirement(name, standard_library()).formula, BEFORE_ITS_SEND) == FALSE, name


def test_missing_deliveries_are_hidden_and_disorder_is_not() -> None:
    hidden = replace(s.FIG6, complete=False)
    assert evaluate(d.SELECTIVELY_INFORMATION_PRESERVING.formula, hidden) == OPEN
    assert evaluate(d.ORDER_EQUIVALENT.formula, replace(s.FIG3, complete=False)) == FALSE


def test_a_quantifier_ranges_over_what_nobody_recorded() -> None:
    one = incomplete("E1 E2", "!a{2}", "")
    assert evaluate(Exists(P, InLog(P, RL2), TRUTH), one) == OPEN
    assert evaluate(Forall(P, InLog(P, RL2), FALSEHOOD), one) == OPEN
    assert evaluate(Forall(HERE, InLog(A, ReceiptLog(HERE)), FALSEHOOD), one) == OPEN
    assert evaluate(Forall(P, TRUTH, Sent(P)), one) == OPEN
    assert evaluate(Exists(HERE, TRUTH, IsDestination(HERE, A)), one) == TRUE
    # A message has one sender, whoever else there is; one with destinations has no others.
    assert evaluate(Exists(HERE, Not(SameEntity(HERE, E1)), InLog(A, SendLog(HERE))), one) == FALSE
    assert (
        evaluate(Exists(HERE, TRUTH, And((IsDestination(HERE, A), Not(SameEntity(HERE, E2))))), one) == FALSE
    )
    to_all = incomplete("E1 E2", "!a{1,2}", "")
    known = Or((SameEntity(HERE, E1), SameEntity(HERE, E2)))
    assert evaluate(Forall(HERE, IsDestination(HERE, A), known), to_all) == OPEN


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        (Forall(P, TRUTH, SameMessage(P, P)), TRUE),
        (Exists(HERE, TRUTH, Not(SameEntity(HERE, HERE))), FALSE),
        (Forall(P, TRUTH, Exists(Q, TRUTH, SameMessage(P, Q))), TRUE),
        (Exists(P, TRUTH, Forall(Q, TRUTH, Not(SameMessage(P, Q)))), FALSE),
        (Forall(P, TRUTH, Forall(Q, TRUTH, SameMessage(P, Q))), FALSE),
        (Forall(P, TRUTH, Forall(HERE, TRUTH, Not(Precedes(P, P, ReceiptLog(HERE))))), TRUE),
        (Forall(P, TRUTH, Not(HappensBefore(SendEvent(P), SendEvent(P)))), TRUE),
        (Forall(HERE, TRUTH, Forall(P, TRUTH, Not(Repeated(P, SendLog(HERE))))), TRUE),
        (
            Forall(HERE, TRUTH, Forall(P, TRUTH, Not(HappensBefore(DeliveryEvent(P, HERE), SendEvent(P))))),
            TRUE,
        ),
        (Acyclic(P, Q, Precedes(P, Q, SL1)), OPEN),
        (Acyclic(P, Q, And((SameMessage(P, Q), Not(SameMessage(P, Q))))), TRUE),
        (Acyclic(P, Q, FALSEHOOD), TRUE),
        (Exists(HERE, TRUTH, Iff(InLog(A, ReceiptLog(HERE)), TRUTH)), OPEN),
    ],
)
def test_what_is_so_whatever_there_is(formula: Formula, value: int) -> None:
    assert evaluate(formula, ONE) == value


def test_numbers_only_grow() -> None:
    many = incomplete("E1 E2", "!a !b !c", "?a ?b ?c")
    place = {name: Position(name, RL2) for name in (A, B, C)}
    assert evaluate(at_most(place[C], 2), many) == FALSE
    assert evaluate(at_most(place[C], 3), many) == OPEN
    assert evaluate(Not(at_most(place[C], 2)), many) == TRUE
    assert evaluate(number(Relation.EQUAL, place[C], 2), many) == FALSE
    assert evaluate(number(Relation.EQUAL, place[C], 4), many) == OPEN
    assert evaluate(at_most(Size(RL2), 2), many) == FALSE
    assert evaluate(at_most(Size(SL1), 3), many) == OPEN
    assert evaluate(at_most(VectorTime(DeliveryEvent(B, E2), E1), 1), many) == FALSE
    assert evaluate(at_most(VectorTime(DeliveryEvent(B, E2), E1), 2), many) == OPEN
    # What is added moves both, or the later one, or what comes after both.
    assert evaluate(number(Relation.LESS, Difference(place[A], place[C]), 0), many) == TRUE
    assert evaluate(at_most(Difference(place[C], place[A]), 1), many) == FALSE
    assert evaluate(at_most(Difference(place[C], place[A]), 2), many) == OPEN
    assert evaluate(number(Relation.LESS, Difference(Size(RL2), place[C]), 0), many) == FALSE
    assert evaluate(number(Relation.EQUAL, Difference(place[A], place[A]), 0), many) == TRUE
    # What was not recorded need not be there: then no comparison is true of it.
    assert evaluate(number(Relation.LESS, Position(C, RL1), 1), many) == FALSE
    assert evaluate(Not(number(Relation.LESS, Position(C, RL1), 1)), many) == TRUE
    assert evaluate(number(Relation.LESS, Constant(Fraction(0), Dimension.NUMBER), 9), many) == TRUE
    assert evaluate(number(Relation.LESS, Difference(Position(C, RL1), Position(C, RL1)), 1), many) == OPEN


def test_the_time_of_a_delivery_that_was_not_recorded_is_unknown() -> None:
    timed = incomplete("E1 E2", "!a{2}@0 !b{2}@10", "?b@12")

    def late(message: MessageNamed) -> Formula:
        taken = Difference(TimeOf(DeliveryEvent(message, E2)), TimeOf(SendEvent(message)))
        return Comparison(
            Relation.AT_MOST, taken, Constant(Fraction(1), Dimension.DURATION), Dimension.DURATION
        )

    assert evaluate(late(A), timed) == OPEN
    assert evaluate(late(B), timed) == FALSE


def test_what_needs_happens_before_is_unknown_where_it_has_a_cycle() -> None:
    impossible = incomplete("E1 E2", "?a !b", "?b !a")
    assert evaluate(HappensBefore(SendEvent(A), SendEvent(B)), impossible) == Reason.CYCLE
    assert evaluate(Precedes(B, A, RL1), impossible) == OPEN


def test_what_follows_is_shown_where_no_part_is_violated() -> None:
    """Everybody delivers everything in one order: then not in these."""
    cycle = incomplete("E1 E2 E3", "!a ?a ?b", "!b ?b ?c", "!c ?c ?a")
    total = requirement("TO", standard_library())
    for part in total.parts:
        assert evaluate(part.formula, cycle) == OPEN
    explanation = explain(total, cycle)
    assert explanation.value == FALSE
    (witness,) = explanation.witnesses
    assert witness.part == "TO"
    assert set(witness.messages) == {"a", "b", "c"}
