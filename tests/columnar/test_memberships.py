"""Groups and views in columns: every atom, quantifier and kernel against the reference evaluator."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from precedes.core import formula as f
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import Requirement
from precedes.core.transposition import batch_of
from precedes.core.traversal import free_variables
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.columnar.installations import views_of_events
from precedes.engines.columnar.kernels.choice import TUNED, reads_destinations
from precedes.engines.columnar.offenders import OffenderSearch
from precedes.engines.reference import evaluate
from precedes.logic.plan import plan
from precedes.logic.recognition import DEFINITIONS
from tests.columnar.agreement import Case, values
from tests.sampling import one_in

SEND, DELIVER = EventKind.SEND, EventKind.DELIVER
E = f.EntityVariable("i")
P = f.MessageVariable("p")
D = f.DeliveryVariable("d")
G = f.GroupVariable("g")
V, W = f.ViewVariable("v"), f.ViewVariable("w")


def view(name: str | None, members: str) -> Event:
    return Event(EventKind.VIEW, members=tuple(members.split()), view=name)


def event(kind: EventKind, message: str) -> Event:
    return Event(kind, message)


RUN = Execution(
    "x",
    (
        History(
            "a",
            (
                event(SEND, "early"),
                view("v1", "a b"),
                event(SEND, "m"),
                view("v2", "a b c"),
                event(SEND, "n"),
                view("v1", "a b"),
            ),
        ),
        History(
            "b",
            (
                view("v1", "a b"),
                event(DELIVER, "m"),
                view("v2", "a b c"),
                event(DELIVER, "m"),
                event(DELIVER, "n"),
            ),
        ),
        History("c", (view("v2", "a b c"), event(DELIVER, "n"), event(DELIVER, "late"))),
    ),
    {
        "early": Message("early", "a", frozenset("a")),
        "m": Message("m", "a", frozenset("b")),
        "n": Message("n", "a", frozenset("c"), groups=frozenset({"billing"})),
        "late": Message("late", "b", None),
    },
    groups={"billing": frozenset("bc"), "nobody": frozenset()},
)
UNNAMED = replace(RUN, histories=(*RUN.histories[:2], History("c", (view(None, "a c"), event(DELIVER, "n")))))
DOUBTED = replace(
    RUN,
    histories=tuple(replace(one, doubt=Reason.ROW_ORDER) for one in RUN.histories),
    doubt=Reason.ROW_ORDER,
)
RUNS = [replace(run, complete=complete) for run in (RUN, UNNAMED, DOUBTED) for complete in (True, False)]

ENTITIES: tuple[f.EntityTerm, ...] = (E, f.EntityNamed("b"), f.EntityNamed("z"), f.Sender(P))
VIEWS: tuple[f.ViewTerm, ...] = (
    V,
    f.ViewNamed("v2"),
    f.ViewNamed("v9"),
    f.ViewOf(f.SendEvent(P)),
    f.ViewOf(f.DeliveryEvent(P, E)),
    f.ViewOf(f.ArrivalEvent(P, E)),
)
GROUPS: tuple[f.GroupTerm, ...] = (G, f.GroupNamed("billing"), f.GroupNamed("z"))
MESSAGES: tuple[f.MessageTerm, ...] = (P, f.MessageNamed("n"), f.MessageNamed("z"))
ATOMS: list[f.Formula] = [
    *(f.IsMember(*pair) for pair in product(ENTITIES, (*GROUPS, *VIEWS))),
    *(f.AddressedTo(*pair) for pair in product(MESSAGES, GROUPS)),
    *(f.SameGroup(*pair) for pair in product(GROUPS, GROUPS)),
    *(f.Installs(*pair) for pair in product(ENTITIES, VIEWS)),
    *(f.InstallsAgain(*pair) for pair in product(ENTITIES, VIEWS)),
    *(f.InstallsBefore(*pair, E) for pair in product(VIEWS, VIEWS)),
    *(f.SameView(*pair) for pair in product(VIEWS, VIEWS)),
    *(f.IsDestination(*pair) for pair in product(ENTITIES, MESSAGES)),
    *(f.InLog(P, f.SendLog(f.EntityNamed("a"), to)) for to in ENTITIES[:3]),
]


def closed(atom: f.Formula, *, universal: bool) -> f.Formula:
    """The atom of everything, or of something."""
    for variable in sorted(free_variables(atom), key=lambda each: each.name):
        binder = f.Forall if universal else f.Exists
        atom = binder(variable, f.TRUTH, atom)
    return atom


@pytest.mark.parametrize(
    "run", RUNS, ids=["plain", "plain, open", "unnamed", "unnamed, open", "doubted", "doubted, open"]
)
def test_atoms_are_judged_as_they_are_defined(run: Execution) -> None:
    met: set[int] = set()
    for atom in ATOMS:
        for universal in (True, False):
            found, meant = values(Case(closed(atom, universal=universal), run))
            assert found == meant, atom
            met.add(found)
    assert len(met) > 1


def renamed(run: Execution, ids: dict[str, str]) -> Execution:
    """The execution with other ids for its views."""
    return replace(
        run,
        histories=tuple(
            replace(one, events=tuple(replace(e, view=ids.get(e.view or "", e.view)) for e in one.events))
            for one in run.histories
        ),
    )


NUMBERED = [
    renamed(run, ids)
    for run in RUNS
    for ids in ({"v1": "9", "v2": "10"}, {"v1": "-5"}, {"v1": str(2**63 - 1), "v2": str(1 - 2**63)})
]
NUMBERS: list[f.NumberTerm] = [
    *map(f.ViewNumber, (*VIEWS, f.ViewNamed("9"), f.ViewOf(D))),
    f.Position(P, f.ReceiptLog(E)),
    f.Constant(Fraction(9), f.Dimension.NUMBER),
    f.Constant(Fraction(2**64), f.Dimension.NUMBER),
    f.Difference(f.ViewNumber(f.ViewNamed("9")), f.ViewNumber(V)),
    f.Scaled(Fraction(-2), f.ViewNumber(W)),
]


@pytest.mark.parametrize("relation", one_in(6, f.Relation))
def test_numbers_of_views_are_compared_as_they_are_defined(relation: f.Relation) -> None:
    met: set[int] = set()
    for left, right in product(NUMBERS[:-5], NUMBERS):
        of = closed(f.Comparison(relation, left, right, f.Dimension.NUMBER), universal=False)
        for run in NUMBERED:
            found, meant = values(Case(of, run))
            assert found == meant, (of, run)
            met.add(found)
    assert {TRUE, FALSE, Reason.NO_VIEW_NUMBER, Reason.NO_VIEWS, Reason.INCOMPLETE} <= met


@pytest.mark.slow
def test_numbers_of_views_are_the_same_as_machine_code() -> None:
    order = f.Comparison(f.Relation.LESS, f.ViewNumber(V), f.ViewNumber(W), f.Dimension.NUMBER)
    of = closed(f.Implies(f.InstallsBefore(V, W, E), order), universal=True)
    for run in NUMBERED:
        assert values(Case(of, run), jit=True) == values(Case(of, run))


QUANTIFIED: list[f.Formula] = [
    f.Forall(G, f.TRUTH, f.Exists(E, f.IsMember(E, G), f.TRUTH)),
    f.Forall(V, f.TRUTH, f.Forall(E, f.IsMember(E, V), f.Installs(E, V))),
    f.Forall(E, f.TRUTH, f.Forall(V, f.Installs(E, V), f.IsMember(E, V))),
    f.Forall(E, f.IsMember(E, f.ViewNamed("v1")), f.Installs(E, f.ViewNamed("v2"))),
    f.Forall(E, f.IsMember(E, f.GroupNamed("z")), f.FALSEHOOD),
    f.Exists(V, f.Installs(f.EntityNamed("c"), V), f.InstallsAgain(f.EntityNamed("a"), V)),
    f.Forall(D, f.TRUTH, f.SameView(f.ViewOf(D), f.ViewOf(f.SendEvent(f.MessageOf(D))))),
    f.Forall(V, f.TRUTH, f.Forall(W, f.TRUTH, f.Not(f.InstallsBefore(V, W, f.EntityNamed("a"))))),
    f.Forall(E, f.Not(f.IsMember(E, f.GroupNamed("billing"))), f.Forall(V, f.TRUTH, f.Installs(E, V))),
]


@pytest.mark.parametrize("formula", QUANTIFIED)
def test_quantifiers_go_through_groups_and_views(formula: f.Formula) -> None:
    for run in RUNS:
        found, meant = values(Case(formula, run))
        assert found == meant, run


def test_the_loops_are_the_same_as_machine_code() -> None:
    formula = f.conjunction(
        QUANTIFIED[2], QUANTIFIED[6], f.Forall(P, f.TRUTH, f.IsDestination(f.EntityNamed("b"), P))
    )
    for run in (RUN, DOUBTED):
        assert values(Case(formula, run), jit=True) == values(Case(formula, run))


def test_positions_in_a_log_are_unknown_where_a_group_chooses() -> None:
    for to in "abc":
        log = f.SendLog(f.EntityNamed("a"), f.EntityNamed(to))
        one = f.Constant(Fraction(1), f.Dimension.NUMBER)
        for number in (
            f.Size(log),
            f.Position(f.MessageNamed("n"), log),
            f.Position(f.MessageNamed("m"), log),
        ):
            formula = f.Comparison(f.Relation.EQUAL, number, one, f.Dimension.NUMBER)
            for run in RUNS:
                found, meant = values(Case(formula, run))
                assert found == meant, (to, number)


@pytest.mark.parametrize("name", [name for name in TUNED if reads_destinations(name)])
def test_kernels_that_read_destinations_leave_groups_to_the_formula(name: str) -> None:
    """`lost` is delivered by nobody, and `undue` by nobody whom it is addressed to but a member of a group."""
    lost = Execution(
        "lost",
        (History("a", (event(SEND, "m"),)), History("b"), History("c")),
        {"m": Message("m", "a", frozenset(), groups=frozenset({"billing"}))},
        groups={"billing": frozenset("bc")},
    )
    undue = replace(
        lost,
        name="undue",
        histories=(lost.histories[0], History("b", (event(DELIVER, "m"),)), History("c")),
    )
    named = replace(undue, name="named", messages={"m": Message("m", "a", frozenset("abc"))}, groups={})
    for complete in (True, False):
        runs = [replace(run, complete=complete) for run in (lost, undue, named)]
        definition = DEFINITIONS[name]
        found = scan(batch_of(runs), plan([Requirement(name, definition)]), jit=False)
        meant = [int(evaluate(definition, run)) for run in runs]
        assert [min(value, 1) for value in found.values[:, 0].tolist()] == [min(value, 1) for value in meant]
        assert FALSE not in meant[:2] or name == "broadcast"


def test_a_violation_about_views_has_its_entities_and_offenders() -> None:
    formula = QUANTIFIED[1]
    batch = batch_of([RUN, UNNAMED])
    found = scan(batch, plan([Requirement("everywhere", formula)]), jit=False)
    assert found.values[:, 0].tolist() == [TRUE, Reason.NO_VIEWS]
    broken = replace(RUN, histories=(*RUN.histories[:2], History("c", (event(DELIVER, "n"),))))
    batch = batch_of([broken])
    found = scan(batch, plan([Requirement("everywhere", formula)]), jit=False)
    assert found.values[:, 0].tolist() == [FALSE]
    assert found.witness(0, "everywhere").entities == (2,)
    offenders = OffenderSearch(batch, jit=False).of(formula, 0, 10)
    assert [one.entities for one in offenders.first] == [("c",)]


def test_the_view_of_an_event_is_the_last_one_before_it() -> None:
    view_of = views_of_events(np.array([-1, 1, -1, 0, -1, -1, 2], np.int32), np.array([0, 5, 5, 7]))
    assert view_of.tolist() == [-1, -1, 1, 1, 0, -1, -1]
    assert views_of_events(np.zeros(0, np.int32), np.array([0])).tolist() == []
