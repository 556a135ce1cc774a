"""The numbers of views, on executions built by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from precedes.core.execution import Event, EventKind, Execution, History, Message, view_number
from precedes.core.formula import (
    TRUTH,
    Comparison,
    Constant,
    DeliveryEvent,
    Dimension,
    EntityNamed,
    Exists,
    Forall,
    Formula,
    InstallsBefore,
    MessageNamed,
    NumberTerm,
    Position,
    ReceiptLog,
    Relation,
    SendEvent,
    ViewNamed,
    ViewNumber,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.reference import evaluate

V, W = ViewVariable("v"), ViewVariable("w")
E1, E2, E3 = (EntityNamed(name) for name in ("E1", "E2", "E3"))
M = MessageNamed("m")
OPEN, NONE, UNNAMED = Reason.INCOMPLETE, Reason.NO_VIEW_NUMBER, Reason.NO_VIEWS


def view(name: str | None) -> Event:
    return Event(EventKind.VIEW, members=("E1",), view=name)


GIVEN = Execution(
    "views",
    (
        History("E1", (view("2"), Event(EventKind.SEND, "m"), view("10"))),
        History("E2", (view("-7"), Event(EventKind.DELIVER, "m"))),
        History("E3", (view("k+1"), Event(EventKind.DELIVER, "m"))),
    ),
    {"m": Message("m", "E1", frozenset({"E2", "E3"}))},
)
NUMBERED = replace(GIVEN, histories=GIVEN.histories[:2])


def number(of: ViewTerm | str) -> NumberTerm:
    return ViewNumber(ViewNamed(of) if isinstance(of, str) else of)


def less(left: NumberTerm, right: NumberTerm) -> Formula:
    return Comparison(Relation.LESS, left, right, Dimension.NUMBER)


def equal(left: NumberTerm, right: NumberTerm | int) -> Formula:
    other = Constant(Fraction(right), Dimension.NUMBER) if isinstance(right, int) else right
    return Comparison(Relation.EQUAL, left, other, Dimension.NUMBER)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("0", 0),
        ("1", 1),
        ("-1", -1),
        ("10", 10),
        (str(2**63 - 1), 2**63 - 1),
        (str(1 - 2**63), 1 - 2**63),
        (str(-(2**63)), None),
        (str(2**63), None),
        ("1" * 5_000, None),
        *(
            (name, None)
            for name in ("", "-", "-0", "00", "007", "+1", " 1", "1 ", "1\n", "1.0", "1_0", "٣", "v1")
        ),
    ],
)
def test_the_number_of_an_id_is_written_in_one_way(name: str, found: int | None) -> None:
    assert view_number(name) == found


AT_E2, AT_E3 = ViewOf(DeliveryEvent(M, E2)), ViewOf(DeliveryEvent(M, E3))
PLACE = Position(M, ReceiptLog(E1))

VALUES: list[tuple[Formula, int, int]] = [
    (less(number("2"), number("10")), TRUE, TRUE),
    (less(number("10"), number("2")), FALSE, FALSE),
    (equal(number("-7"), -7), TRUE, TRUE),
    (equal(number("2"), number("2")), TRUE, TRUE),
    (equal(number(ViewOf(SendEvent(M))), 2), TRUE, OPEN),
    (equal(number(AT_E2), -7), TRUE, OPEN),
    (equal(number(AT_E2), number(AT_E2)), TRUE, OPEN),
    (equal(number("3"), 3), FALSE, OPEN),
    (equal(number("v9"), 3), FALSE, OPEN),
    (equal(number("k+1"), 1), NONE, NONE),
    (equal(number("k+1"), number("k+1")), NONE, NONE),
    (less(number("k+1"), number("3")), FALSE, NONE | OPEN),
    (equal(number(AT_E3), 1), NONE, OPEN),
    # What is not there is compared with nothing, whatever else is not known.
    (less(number("k+1"), PLACE), FALSE, NONE),
    (Exists(V, TRUTH, less(number(V), number("-7"))), NONE, NONE | OPEN),
    (Exists(V, TRUTH, less(number("2"), number(V))), TRUE, TRUE),
]


@pytest.mark.parametrize(("formula", "complete", "incomplete"), VALUES)
def test_what_is_said_of_numbers(formula: Formula, complete: int, incomplete: int) -> None:
    assert evaluate(formula, GIVEN) == complete
    assert evaluate(formula, replace(GIVEN, complete=False)) == incomplete


@pytest.mark.parametrize("formula", [formula for formula, _, _ in VALUES])
def test_nothing_is_known_where_a_view_has_no_id(formula: Formula) -> None:
    first, *others = GIVEN.histories
    unnamed = replace(GIVEN, histories=(replace(first, events=(*first.events, view(None))), *others))
    assert evaluate(formula, unnamed) == (FALSE if formula == less(number("k+1"), PLACE) else UNNAMED)


def test_views_in_the_order_of_their_numbers() -> None:
    before = InstallsBefore(V, W, E1)
    ordered = Forall(V, TRUTH, Forall(W, before, less(number(V), number(W))))
    assert evaluate(ordered, GIVEN) == TRUE
    back, *others = NUMBERED.histories
    turned = replace(NUMBERED, histories=(replace(back, events=back.events[::-1]), *others))
    assert evaluate(ordered, turned) == FALSE
    assert evaluate(ordered, replace(turned, complete=False)) == FALSE
    assert evaluate(ordered, replace(NUMBERED, complete=False)) == OPEN
