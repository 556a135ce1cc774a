"""What logic says of formulas about groups and views."""

from __future__ import annotations

from dataclasses import replace

import pytest

from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import (
    FALSEHOOD,
    TRUTH,
    AddressedTo,
    And,
    Attribute,
    AttributeSort,
    Comparison,
    DeliveryEvent,
    DeliveryVariable,
    Dimension,
    EntityNamed,
    EntityVariable,
    Exists,
    Forall,
    Formula,
    GroupNamed,
    GroupVariable,
    Implies,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsMember,
    MessageVariable,
    Not,
    Or,
    Per,
    ReceiptLog,
    Relation,
    Requirement,
    SameGroup,
    SameView,
    SendEvent,
    ViewNamed,
    ViewNumber,
    ViewOf,
    ViewTerm,
    ViewVariable,
)
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE, Reason, Verdict
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.reference import evaluate
from precedes.engines.reference.offenders import offenders
from precedes.engines.scan.partials import judge, report
from precedes.logic.canonical_form import canonical
from precedes.logic.completion import UNRECORDED, opened
from precedes.logic.contents import groups_in, names_in, view_numbers_in, views_in
from precedes.logic.plan import plan
from precedes.logic.premises import premise
from precedes.logic.prerequisites import EVERYTHING, NOTHING, Seen, lacking, possible
from precedes.logic.refutation import refutations
from precedes.protocol.exploration.stability import lasts, stays_false

I, J, P, Q = EntityVariable("i"), EntityVariable("j"), MessageVariable("p"), MessageVariable("q")  # noqa: E741
G, H, V, W = GroupVariable("g"), GroupVariable("h"), ViewVariable("v"), ViewVariable("w")
D, E1 = DeliveryVariable("d"), EntityNamed("E1")
KEY = Attribute("key", AttributeSort.TEXT)


def each(
    variables: tuple[EntityVariable | MessageVariable | GroupVariable | ViewVariable, ...], body: Formula
) -> Formula:
    for variable in reversed(variables):
        body = Forall(variable, TRUTH, body)
    return body


ONE_ORDER = each((V, W, I, J), Not(And((InstallsBefore(V, W, I), InstallsBefore(W, V, J)))))
ONCE = each((V, I), Not(InstallsAgain(I, V)))


def less(one: ViewTerm, other: ViewTerm) -> Formula:
    return Comparison(Relation.LESS, ViewNumber(one), ViewNumber(other), Dimension.NUMBER)


IN_ORDER = each((V, W, I), Implies(InstallsBefore(V, W, I), less(V, W)))
SELF_INCLUSION = Forall(V, TRUTH, Forall(I, Installs(I, V), IsMember(I, V)))
SAME_VIEW = Forall(
    P,
    TRUTH,
    Forall(
        I,
        InLog(P, ReceiptLog(I)),
        Forall(
            J, InLog(P, ReceiptLog(J)), SameView(ViewOf(DeliveryEvent(P, I)), ViewOf(DeliveryEvent(P, J)))
        ),
    ),
)
KEPT = Forall(P, TRUTH, Forall(G, AddressedTo(P, G), Exists(I, IsMember(I, G), InLog(P, ReceiptLog(I)))))


def renamed(formula: Formula) -> Formula:
    """The same with other names, and its two sides changed about."""
    match formula:
        case Forall(ViewVariable() as v, _, Forall(ViewVariable() as w, _, body)):
            return Forall(w, TRUTH, Forall(v, TRUTH, body))
        case _:
            raise AssertionError(formula)


EQUAL: list[tuple[Formula, Formula]] = [
    (ONE_ORDER, renamed(ONE_ORDER)),
    (IN_ORDER, each((W, V, J), Implies(InstallsBefore(V, W, J), less(V, W)))),
    (each((V, W), SameView(V, W)), each((W, V), SameView(V, W))),
    (each((G, H), SameGroup(G, H)), each((G, H), SameGroup(H, G))),
    (each((G,), Forall(I, IsMember(I, G), Installs(I, ViewNamed("v")))),
     each((G, I), Implies(IsMember(I, G), Installs(I, ViewNamed("v"))))),
    (each((V,), And((Installs(E1, V), IsMember(E1, V)))),
     And((each((V,), Installs(E1, V)), each((W,), IsMember(E1, W))))),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_the_same_in_other_words_has_one_form(one: Formula, other: Formula) -> None:
    assert canonical(one) == canonical(other)


DIFFERENT: list[tuple[Formula, Formula]] = [
    (each((V,), Installs(E1, V)), each((V,), InstallsAgain(E1, V))),
    (each((V,), IsMember(E1, V)), each((G,), IsMember(E1, G))),
    (IN_ORDER, each((V, W, I), Implies(InstallsBefore(V, W, I), less(W, V)))),
    (IsMember(E1, ViewNamed("x")), IsMember(E1, GroupNamed("x"))),
    (
        each((V, P), SameView(V, ViewOf(SendEvent(P)))),
        each((V, P), SameView(V, ViewOf(DeliveryEvent(P, E1)))),
    ),
    # These differ where a view has no id: then a quantifier over views is unknown, whatever stands in it.
    (Or((Installs(E1, ViewNamed("x")), each((V,), FALSEHOOD))), each((V,), Installs(E1, ViewNamed("x")))),
    (each((V,), TRUTH), TRUTH),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_says_something_else_has_another_form(one: Formula, other: Formula) -> None:
    assert canonical(one) != canonical(other)


def test_an_equal_form_has_an_equal_verdict_where_a_view_has_no_id() -> None:
    unnamed = Execution(
        "x", (History("E1", (Event(EventKind.VIEW, members=("E1",)),)),), {}, groups={"g": frozenset()}
    )
    for one, other in EQUAL:
        assert evaluate(one, unnamed) == evaluate(other, unnamed)
    assert evaluate(each((V,), TRUTH), unnamed) == Reason.NO_VIEWS


def test_a_view_that_comes_before_another_does_not_come_after_it() -> None:
    asymmetric = each((V, W, I), Not(And((InstallsBefore(V, W, I), InstallsBefore(W, V, I)))))
    irreflexive = each((V, I), Not(InstallsBefore(V, V, I)))
    installed = each((V, W, I), Implies(InstallsBefore(V, W, I), And((Installs(I, V), Installs(I, W)))))
    again = each((V, I), Implies(InstallsAgain(I, V), Installs(I, V)))
    for formula in (
        asymmetric,
        irreflexive,
        installed,
        again,
        each((V,), SameView(V, V)),
        each((G,), SameGroup(G, G)),
    ):
        assert refutations(formula) == ()
        assert premise(formula) == FALSEHOOD
    for formula in (ONE_ORDER, ONCE, SELF_INCLUSION, SAME_VIEW, KEPT):
        assert refutations(formula)


def test_what_must_be_there_for_a_violation() -> None:
    assert lacking(premise(ONE_ORDER), NOTHING) == Seen.VIEW
    assert lacking(premise(ONCE), NOTHING) == Seen.VIEW
    assert lacking(premise(IN_ORDER), NOTHING) == Seen.VIEW
    assert lacking(premise(SELF_INCLUSION), Seen.SENT) == Seen.VIEW
    assert lacking(premise(KEPT), NOTHING) == Seen.SENT | Seen.GROUP
    assert not possible(premise(KEPT), EVERYTHING & ~Seen.GROUP)
    # A delivery in no view violates it, and needs none.
    assert lacking(premise(SAME_VIEW), NOTHING) == Seen.DELIVERED


def test_the_premise_of_one_order_is_two_views_of_one_entity() -> None:
    both = History("E1", (installs("v"), installs("w")))
    one = History("E2", (installs("v"),))
    met = premise(ONE_ORDER)
    assert evaluate(met, Execution("x", (both, replace(both, entity="E2")), {})) == TRUE
    assert evaluate(met, Execution("x", (one,), {})) == FALSE
    in_order = premise(IN_ORDER)
    assert evaluate(in_order, Execution("x", (History("E1", (installs("1"), installs("2"))),), {})) == TRUE
    assert evaluate(in_order, Execution("x", (History("E1", (installs("1"),)),), {})) == FALSE


def installs(view: str | None) -> Event:
    return Event(EventKind.VIEW, members=("E1", "E2"), view=view)


SENT = Event(EventKind.SEND, "a")
NO_VIEW = Execution("none", (History("E1", (SENT,)),), {"a": Message("a", "E1", frozenset({"E1"}))})
ONE_VIEW = Execution("one", (History("E1", (installs("v"),)),), {})
NO_ID = Execution("no id", (History("E1", (installs(None),)),), {})


@pytest.mark.parametrize(
    ("formula", "given", "verdict", "untested"),
    [
        (ONCE, NO_VIEW, Verdict.UNKNOWN, None),
        (ONCE, ONE_VIEW, Verdict.HOLDS, None),
        (ONCE, NO_ID, Verdict.UNKNOWN, None),
        (KEPT, NO_VIEW, Verdict.HOLDS, Seen.GROUP),
        (KEPT, replace(NO_VIEW, groups={"g": frozenset({"E1"})}), Verdict.HOLDS, None),
    ],
)
def test_a_scan_says_what_it_had_nothing_to_check_of(
    formula: Formula, given: Execution, verdict: Verdict, untested: Seen | None
) -> None:
    asked = plan([Requirement("asked", formula)])
    partial, _ = judge(BatchSource(batch_of([given])), asked, 1)
    found = report(partial, asked)
    assert found.counts["asked"].verdict is verdict
    assert found.untested.get("asked") == untested


def test_what_a_formula_speaks_of() -> None:
    assert views_in(SAME_VIEW)
    assert view_numbers_in(IN_ORDER)
    assert not view_numbers_in(SAME_VIEW)
    assert not views_in(KEPT)
    assert groups_in(KEPT)
    assert not groups_in(SAME_VIEW)
    assert names_in(And((IsMember(E1, GroupNamed("g")), Installs(E1, ViewNamed("v"))))) == {"E1", "g", "v"}


# ---- parts, completions, stability -------------------------------------------------------------------------


def test_views_and_groups_are_those_of_the_whole_in_every_part() -> None:
    messages = {
        name: Message(name, "E1", frozenset(), {KEY: key}, frozenset({"g"}))
        for name, key in (("a", "x"), ("b", "y"))
    }
    sends = (installs("v"), Event(EventKind.SEND, "a"), installs("w"), Event(EventKind.SEND, "b"))
    given = Execution("x", (History("E1", sends),), messages, groups={"g": frozenset({"E1"})})
    one_view = each((P, Q), SameView(ViewOf(SendEvent(P)), ViewOf(SendEvent(Q))))
    assert evaluate(one_view, given) == FALSE
    assert evaluate(Per((KEY,), one_view), given) == TRUE
    assert evaluate(Per((KEY,), each((V,), Installs(E1, V))), given) == TRUE
    assert evaluate(Per((KEY,), each((P, G), AddressedTo(P, G))), given) == TRUE


def test_a_group_or_a_view_may_not_have_been_recorded() -> None:
    for one in (G, V):
        assert opened(each((one,), FALSEHOOD)) != each((one,), FALSEHOOD)
    nobody = Execution("x", (History("E1", ()),), {}, complete=False)
    assert evaluate(each((G,), FALSEHOOD), nobody) == Reason.INCOMPLETE
    assert evaluate(each((G,), TRUTH), nobody) == TRUE
    assert evaluate(IsMember(E1, GroupNamed("g")), nobody) == Reason.INCOMPLETE
    two = replace(nobody, groups={"g": frozenset({"E1"}), "h": frozenset({"E2"})})
    assert [evaluate(IsMember(E1, GroupNamed(name)), two) for name in "gh"] == [TRUE, FALSE]
    assert opened(each((V, I), InstallsAgain(I, V))) == UNRECORDED


@pytest.mark.parametrize(
    ("formula", "stays"),
    [
        (each((V, I), Not(InstallsAgain(I, V))), True),
        (ONE_ORDER, True),
        (SELF_INCLUSION, True),
        (IN_ORDER, True),
        (less(ViewNamed("1"), ViewNamed("2")), False),
        (less(ViewOf(SendEvent(P)), ViewOf(DeliveryEvent(P, I))), False),
        (less(ViewOf(SendEvent(P)), ViewOf(D)), True),
        (SAME_VIEW, True),
        (KEPT, False),
        (Installs(E1, ViewNamed("v")), False),
        (Exists(V, TRUTH, IsMember(E1, V)), False),
        (Not(each((V,), IsMember(E1, V))), False),
        (IsMember(E1, ViewNamed("v")), False),
        (IsMember(E1, GroupNamed("g")), True),
        (SameView(ViewOf(DeliveryEvent(P, I)), V), False),
        (SameView(ViewOf(D), V), True),
        (SameView(ViewNamed("v"), V), False),
    ],
)
def test_whether_later_deliveries_can_undo_a_violation(formula: Formula, stays: bool) -> None:
    assert stays_false(formula) is stays
    assert lasts(formula) is stays


def test_views_and_groups_are_no_offenders() -> None:
    given = Execution("x", (History("E1", (installs("v"), installs("v"), installs("w"), installs("w"))),), {})
    assert [(one.entities, one.messages) for one in offenders(ONCE, given)] == [(("E1",), ())]
