"""Groups and views, on executions built by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import (
    FALSEHOOD,
    TRUTH,
    AddressedTo,
    And,
    ArrivalEvent,
    Comparison,
    Constant,
    DeliveryEvent,
    DeliveryNamed,
    Dimension,
    EntityNamed,
    EntityVariable,
    Exists,
    FailureLine,
    Forall,
    Formula,
    GroupNamed,
    GroupVariable,
    Implies,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsDestination,
    IsMember,
    MessageNamed,
    MessageVariable,
    Not,
    Or,
    Position,
    Precedes,
    ReceiptLog,
    Relation,
    Requirement,
    SameGroup,
    SameView,
    Sender,
    SendEvent,
    SendLog,
    Size,
    ViewNamed,
    ViewOf,
    ViewVariable,
)
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.reference import evaluate, explain
from precedes.engines.reference.cut import cut
from tests.reference import scenarios as s

E1, E2, E3, E9 = (EntityNamed(f"E{number}") for number in (1, 2, 3, 9))
A, B, C, NEW = (MessageNamed(name) for name in ("a", "b", "c", "new"))
V1, V2, V9 = (ViewNamed(name) for name in ("v1", "v2", "v9"))
PAIR, ALL, NOBODY = (GroupNamed(name) for name in ("pair", "all", "nobody"))
I, J, P, G = EntityVariable("i"), EntityVariable("j"), MessageVariable("p"), GroupVariable("g")  # noqa: E741
V, W = ViewVariable("v"), ViewVariable("w")
CHOOSES, OPEN, UNNAMED = Reason.GROUP_CHOOSES, Reason.INCOMPLETE, Reason.NO_VIEWS


def view(name: str | None, *members: str) -> Event:
    return Event(EventKind.VIEW, members=members, view=name)


def send(message: str) -> Event:
    return Event(EventKind.SEND, message)


def deliver(message: str) -> Event:
    return Event(EventKind.DELIVER, message)


def execution(
    histories: Mapping[str, tuple[Event, ...]],
    *messages: Message,
    groups: Mapping[str, frozenset[str]] | None = None,
) -> Execution:
    return Execution(
        "memberships",
        tuple(History(entity, events) for entity, events in histories.items()),
        {message.name: message for message in messages},
        groups=groups or {},
    )


def to(message: str, sender: str, *destinations: str, groups: tuple[str, ...] = ()) -> Message:
    return Message(message, sender, frozenset(destinations), groups=frozenset(groups))


VIEWS = execution(
    {
        "E1": (send("a"), view("v1", "E1", "E2"), send("b"), deliver("b"), view("v2", "E1")),
        "E2": (view("v1", "E1", "E2"), deliver("b"), view("v1", "E1", "E2"), deliver("b"), deliver("c")),
        "E3": (deliver("b"),),
    },
    to("a", "E1", "E2"),
    to("b", "E1", "E1", "E2", "E3"),
    Message("c", "E1", None),
)
"""E1 sends a before it installs a view, and b in v1; nobody logged that it sent c."""

GROUPS = execution(
    {"E1": (send("a"), send("b"), send("c")), "E2": (deliver("a"), deliver("b")), "E3": ()},
    to("a", "E1", groups=("pair",)),
    to("b", "E1", "E2", groups=("pair", "all")),
    to("c", "E1", "E3"),
    groups={"pair": frozenset({"E2", "E3"}), "all": frozenset({"E1", "E2", "E3"})},
)


def view_of(message: MessageNamed, at: EntityNamed) -> ViewOf:
    return ViewOf(DeliveryEvent(message, at))


VIEW_ATOMS: list[tuple[Formula, int, int]] = [
    (Installs(E1, V1), TRUE, TRUE),
    (Installs(E2, V2), FALSE, OPEN),
    (Installs(E2, V9), FALSE, OPEN),
    (Installs(E9, V1), FALSE, OPEN),
    (Installs(Sender(B), V2), TRUE, TRUE),
    (Installs(E1, view_of(B, E2)), TRUE, OPEN),
    (Installs(E1, view_of(A, E2)), FALSE, OPEN),
    (InstallsBefore(V1, V2, E1), TRUE, TRUE),
    (InstallsBefore(V2, V1, E1), FALSE, FALSE),
    (InstallsBefore(V1, V1, E1), FALSE, FALSE),
    (InstallsBefore(V1, V2, E2), FALSE, OPEN),
    (InstallsBefore(V1, V2, E9), FALSE, OPEN),
    (InstallsAgain(E2, V1), TRUE, TRUE),
    (InstallsAgain(E1, V1), FALSE, OPEN),
    (InstallsAgain(E3, V1), FALSE, OPEN),
    (IsMember(E2, V1), TRUE, TRUE),
    (IsMember(E2, V2), FALSE, FALSE),
    (IsMember(E9, V1), FALSE, OPEN),
    (IsMember(E1, V9), FALSE, OPEN),
    (IsMember(E2, view_of(B, E1)), TRUE, OPEN),
    (IsMember(E2, view_of(B, E3)), FALSE, OPEN),
    (SameView(V1, V1), TRUE, TRUE),
    (SameView(V1, V2), FALSE, FALSE),
    (SameView(V9, V9), FALSE, OPEN),
    (SameView(V9, V1), FALSE, FALSE),
    (SameView(ViewOf(SendEvent(B)), V1), TRUE, OPEN),
    (SameView(ViewOf(SendEvent(A)), V1), FALSE, OPEN),
    (SameView(ViewOf(SendEvent(A)), ViewOf(SendEvent(A))), FALSE, OPEN),
    (SameView(ViewOf(SendEvent(C)), V1), Reason.SEND_NOT_LOGGED, OPEN),
    (SameView(ViewOf(SendEvent(C)), V9), FALSE, OPEN),
    (SameView(ViewOf(SendEvent(NEW)), V1), FALSE, OPEN),
    (SameView(ViewOf(ArrivalEvent(B, E1)), V1), Reason.NO_ARRIVAL, OPEN),
    (SameView(view_of(B, E1), view_of(B, E2)), TRUE, OPEN),
    (SameView(view_of(B, E1), view_of(B, E3)), FALSE, OPEN),
    (SameView(view_of(A, E1), V1), FALSE, OPEN),
    (SameView(ViewOf(DeliveryNamed("b", "E2", 2)), V1), TRUE, OPEN),
    (SameView(ViewOf(DeliveryNamed("b", "E2", 3)), V1), FALSE, OPEN),
]


@pytest.mark.parametrize(("atom", "complete", "incomplete"), VIEW_ATOMS)
def test_atoms_about_views(atom: Formula, complete: int, incomplete: int) -> None:
    assert evaluate(atom, VIEWS) == complete
    assert evaluate(atom, replace(VIEWS, complete=False)) == incomplete


GROUP_ATOMS: list[tuple[Formula, int, int]] = [
    (IsMember(E2, PAIR), TRUE, TRUE),
    (IsMember(E1, PAIR), FALSE, FALSE),
    (IsMember(E9, PAIR), FALSE, OPEN),
    (IsMember(E1, NOBODY), FALSE, FALSE),
    (IsMember(Sender(NEW), ALL), FALSE, OPEN),
    (AddressedTo(A, PAIR), TRUE, TRUE),
    (AddressedTo(A, ALL), FALSE, FALSE),
    (AddressedTo(A, NOBODY), FALSE, FALSE),
    (AddressedTo(NEW, PAIR), FALSE, OPEN),
    (AddressedTo(NEW, NOBODY), FALSE, OPEN),
    (SameGroup(PAIR, PAIR), TRUE, TRUE),
    (SameGroup(PAIR, ALL), FALSE, FALSE),
    (SameGroup(NOBODY, NOBODY), FALSE, OPEN),
    (IsDestination(E2, A), CHOOSES, CHOOSES),
    (IsDestination(E1, A), FALSE, FALSE),
    (IsDestination(E2, B), TRUE, TRUE),
    (IsDestination(E1, B), CHOOSES, CHOOSES),
    (IsDestination(E3, C), TRUE, TRUE),
    (InLog(A, SendLog(E1, E2)), CHOOSES, CHOOSES),
    (InLog(B, SendLog(E1, E2)), TRUE, TRUE),
    (InLog(A, SendLog(E2, E3)), FALSE, FALSE),
    (Precedes(A, B, SendLog(E1, E2)), CHOOSES, CHOOSES),
    (Precedes(B, A, SendLog(E1, E2)), FALSE, FALSE),
    (Precedes(A, C, SendLog(E1, E2)), FALSE, FALSE),
]


@pytest.mark.parametrize(("atom", "complete", "incomplete"), GROUP_ATOMS)
def test_atoms_about_groups(atom: Formula, complete: int, incomplete: int) -> None:
    assert evaluate(atom, GROUPS) == complete
    assert evaluate(atom, replace(GROUPS, complete=False)) == incomplete


def test_a_message_without_a_logged_send_may_be_addressed_to_a_group() -> None:
    given = replace(GROUPS, messages={**GROUPS.messages, "new": Message("new", "E1", None)})
    for complete in (True, False):
        assert evaluate(AddressedTo(NEW, PAIR), replace(given, complete=complete)) == Reason.SEND_NOT_LOGGED


def equal(left: Size | Position, right: int) -> Formula:
    return Comparison(Relation.EQUAL, left, Constant(right, Dimension.NUMBER), Dimension.NUMBER)  # type: ignore[arg-type]


def test_a_group_chooses_what_a_send_log_to_a_member_counts() -> None:
    assert evaluate(equal(Size(SendLog(E1, E2)), 1), GROUPS) == CHOOSES
    assert evaluate(equal(Position(B, SendLog(E1, E2)), 1), GROUPS) == CHOOSES
    assert evaluate(equal(Position(C, SendLog(E1, E2)), 1), GROUPS) == FALSE
    assert evaluate(equal(Size(SendLog(E1)), 3), GROUPS) == TRUE


def test_a_failure_line_is_unknown_where_a_group_chooses_what_was_lost() -> None:
    marked = replace(GROUPS, marks={"E2": 1})
    assert evaluate(FailureLine(), marked) == CHOOSES
    by_name = {name: replace(message, groups=frozenset()) for name, message in GROUPS.messages.items()}
    assert evaluate(FailureLine(), replace(marked, messages=by_name)) in (TRUE, FALSE)


# ---- quantifiers -------------------------------------------------------------------------------------------


def some(variable: GroupVariable | ViewVariable, body: Formula) -> Formula:
    return Exists(variable, TRUTH, body)


def each(variable: GroupVariable | ViewVariable, body: Formula) -> Formula:
    return Forall(variable, TRUTH, body)


QUANTIFIED: list[tuple[Formula, int, int]] = [
    (each(V, Installs(E1, V)), TRUE, OPEN),
    (each(V, Installs(E2, V)), FALSE, OPEN),
    (each(V, IsMember(E1, V)), TRUE, OPEN),
    (each(V, IsMember(E2, V)), FALSE, FALSE),
    (some(V, Installs(E2, V)), TRUE, TRUE),
    (some(V, InstallsAgain(E1, V)), FALSE, OPEN),
    (some(V, Not(IsMember(E2, V))), TRUE, TRUE),
    (each(V, Not(InstallsAgain(E2, V))), FALSE, FALSE),
    (each(V, SameView(V, V)), TRUE, TRUE),
    (each(V, Not(InstallsBefore(V, V, E1))), TRUE, TRUE),
    (each(V, some(W, SameView(V, W))), TRUE, TRUE),
    (some(V, each(W, SameView(V, W))), FALSE, FALSE),
    (each(V, each(W, Not(And((InstallsBefore(V, W, E1), InstallsBefore(W, V, E1)))))), TRUE, OPEN),
    (some(V, some(W, InstallsBefore(V, W, E1))), TRUE, TRUE),
    (each(V, SameView(V, V1)), FALSE, FALSE),
    (some(V, SameView(V, V1)), TRUE, TRUE),
    (some(V, SameView(V, V9)), FALSE, OPEN),
    (some(V, SameView(V, ViewOf(SendEvent(B)))), TRUE, OPEN),
    (each(G, FALSEHOOD), TRUE, OPEN),
    (some(G, TRUTH), FALSE, OPEN),
]


@pytest.mark.parametrize(("formula", "complete", "incomplete"), QUANTIFIED)
def test_quantifiers_over_views(formula: Formula, complete: int, incomplete: int) -> None:
    assert evaluate(formula, VIEWS) == complete
    assert evaluate(formula, replace(VIEWS, complete=False)) == incomplete


ADDRESSED = each(G, Implies(AddressedTo(A, G), Exists(I, IsMember(I, G), InLog(A, ReceiptLog(I)))))
OVER_GROUPS: list[tuple[Formula, int, int]] = [
    (each(G, IsMember(E2, G)), TRUE, OPEN),
    (each(G, IsMember(E1, G)), FALSE, FALSE),
    (some(G, And((IsMember(E1, G), Not(AddressedTo(A, G))))), TRUE, TRUE),
    (each(G, AddressedTo(B, G)), TRUE, OPEN),
    (each(G, AddressedTo(NEW, G)), FALSE, OPEN),
    (Forall(G, AddressedTo(B, G), IsMember(E1, G)), FALSE, FALSE),
    (ADDRESSED, TRUE, OPEN),
    (Forall(P, TRUTH, each(G, Implies(AddressedTo(P, G), IsMember(E2, G)))), TRUE, OPEN),
    (Forall(I, IsMember(I, PAIR), InLog(A, ReceiptLog(I))), FALSE, OPEN),
]


@pytest.mark.parametrize(("formula", "complete", "incomplete"), OVER_GROUPS)
def test_quantifiers_over_groups(formula: Formula, complete: int, incomplete: int) -> None:
    assert evaluate(formula, GROUPS) == complete
    assert evaluate(formula, replace(GROUPS, complete=False)) == incomplete


def test_an_unrecorded_entity_may_be_in_a_group_that_a_message_is_addressed_to() -> None:
    only_recorded = Forall(I, IsDestination(I, A), Or((IsMember(I, PAIR), IsMember(I, ALL))))
    nobody_else = Exists(I, Not(IsMember(I, ALL)), IsDestination(I, A))
    for formula in (only_recorded, Not(nobody_else)):
        assert evaluate(formula, replace(GROUPS, complete=False)) not in (TRUE, FALSE)
    no_group = Exists(I, Not(IsMember(I, ALL)), IsDestination(I, C))
    assert evaluate(no_group, replace(GROUPS, complete=False)) == FALSE


# ---- what is not known -------------------------------------------------------------------------------------

ABOUT_VIEWS: list[Formula] = [
    Installs(E1, V1),
    Installs(E9, V1),
    InstallsBefore(V1, V1, E1),
    InstallsAgain(E1, V9),
    SameView(V1, V1),
    IsMember(E1, V1),
    IsMember(E1, ViewOf(SendEvent(NEW))),
    each(V, Installs(E1, V)),
    some(V, FALSEHOOD),
]


@pytest.mark.parametrize("formula", ABOUT_VIEWS)
def test_whatever_is_said_of_views_is_unknown_where_one_has_no_id(formula: Formula) -> None:
    *others, last = VIEWS.histories
    unnamed = replace(VIEWS, histories=(*others, replace(last, events=(*last.events, view(None, "E3")))))
    assert evaluate(formula, unnamed) == UNNAMED
    explanation = explain(Requirement("views", formula), unnamed)
    assert explanation.value == UNNAMED
    assert explanation.undecided
    assert not explanation.witnesses
    assert evaluate(formula, replace(unnamed, complete=False)) > TRUE


def test_what_is_said_of_groups_is_known_where_a_view_has_no_id() -> None:
    unnamed = replace(GROUPS, histories=(*GROUPS.histories[:2], History("E3", (view(None, "E3"),))))
    for formula, value, _ in OVER_GROUPS:
        assert evaluate(formula, unnamed) == value


def test_a_part_that_is_unknown_for_want_of_an_id_hides_no_violation() -> None:
    unnamed = replace(VIEWS, histories=(*VIEWS.histories[:2], History("E3", (view(None, "E3"),))))
    formula = Forall(P, InLog(P, ReceiptLog(E2)), Or((some(V, Installs(E1, V)), InLog(P, ReceiptLog(E1)))))
    assert evaluate(formula, unnamed) == UNNAMED
    stronger = Forall(P, InLog(P, ReceiptLog(E2)), And((some(V, Installs(E1, V)), InLog(P, ReceiptLog(E1)))))
    assert evaluate(stronger, unnamed) == FALSE
    assert [witness.messages for witness in explain(Requirement("r", stronger), unnamed).witnesses] == [
        ("c",)
    ]


def test_where_the_order_of_events_is_in_doubt_so_is_that_of_views() -> None:
    first, *others = VIEWS.histories
    doubtful = replace(VIEWS, histories=(replace(first, doubt=Reason.ROW_ORDER), *others))
    for complete in (True, False):
        given = replace(doubtful, complete=complete)
        assert evaluate(InstallsBefore(V1, V2, E1), given) == Reason.ROW_ORDER
        assert evaluate(InstallsBefore(V1, V1, E1), given) == FALSE
        assert evaluate(InstallsAgain(E2, V1), given) == TRUE
        assert evaluate(Installs(E1, V2), given) == TRUE
    assert evaluate(SameView(ViewOf(SendEvent(B)), V1), doubtful) == Reason.ROW_ORDER
    assert evaluate(SameView(view_of(B, E2), V1), doubtful) == TRUE
    assert evaluate(InstallsAgain(E1, V1), doubtful) == FALSE


def test_an_entity_that_installs_nothing_has_no_view_in_whatever_order() -> None:
    *others, last = VIEWS.histories
    doubtful = replace(VIEWS, histories=(*others, replace(last, doubt=Reason.ROW_ORDER)))
    assert evaluate(SameView(view_of(B, E3), V1), doubtful) == FALSE


def test_the_view_of_a_send_is_unknown_where_only_logs_are_known() -> None:
    events = (send("a"), view("v1", "E1"), deliver("a"))
    given = Execution("logs", (History("E1", events, interleaved=False),), {"a": to("a", "E1", "E1")})
    in_view = SameView(ViewOf(SendEvent(A)), V1)
    assert evaluate(in_view, given) == Reason.INTERLEAVING
    assert evaluate(SameView(view_of(A, E1), V1), given) == TRUE
    # However sends and deliveries follow each other, a message is sent before it is delivered.
    last = replace(given, histories=(History("E1", (send("a"), deliver("a"), view("v1", "E1")), False),))
    assert evaluate(in_view, last) == FALSE


# ---- witnesses ---------------------------------------------------------------------------------------------


def test_a_witness_names_the_views_and_shows_the_events() -> None:
    same_view = Forall(
        I,
        TRUTH,
        Forall(
            P,
            InLog(P, ReceiptLog(I)),
            Exists(V, TRUTH, SameView(ViewOf(DeliveryEvent(P, I)), V)),
        ),
    )
    found = explain(Requirement("initial_view_event", same_view), VIEWS)
    (witness,) = found.witnesses
    assert witness.bindings == (("i", "E3"), ("p", "b"))
    assert witness.messages == ("b",)
    assert evaluate(same_view, cut(VIEWS, witness)) == FALSE


def test_a_witness_binds_views_and_groups() -> None:
    once = each(V, Forall(I, TRUTH, Not(InstallsAgain(I, V))))
    (witness,) = explain(Requirement("once", once), VIEWS).witnesses
    assert witness.bindings == (("v", "v1"), ("i", "E2"))
    assert [fact.formula for fact in witness.facts] == [InstallsAgain(E2, V1)]
    assert evaluate(once, cut(VIEWS, witness)) == FALSE
    kept = each(G, Exists(I, IsMember(I, G), InLog(C, ReceiptLog(I))))
    (witness,) = explain(Requirement("kept", kept), GROUPS).witnesses
    assert witness.bindings[0] == ("g", "pair")


def test_what_speaks_of_views_is_unknown_where_none_is_installed() -> None:
    formula = Requirement("once", each(V, Forall(I, TRUTH, Not(InstallsAgain(I, V)))))
    assert evaluate(formula.formula, GROUPS) == Reason.NO_VIEWS
    assert not explain(formula, execution({"E1": (view("v1", "E1"),)})).vacuous


def test_what_speaks_of_groups_alone_is_vacuous_where_there_is_none() -> None:
    of_groups = Requirement("in", each(G, IsMember(E2, G)))
    assert explain(of_groups, s.OWN_MESSAGES).vacuous
    assert not explain(of_groups, GROUPS).vacuous
