"""Groups and views in the language: what is read, what a formula about them is, and what is printed."""

from __future__ import annotations

import pytest

from precedes.core import formula as core
from precedes.core.execution import Event, EventKind
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.requirements import requirement
from precedes.language.scenario_printer import as_scenario

I, J = core.EntityVariable("i"), core.EntityVariable("j")  # noqa: E741 - as they are written
P = core.MessageVariable("p")
D = core.DeliveryVariable("d")
G = core.GroupVariable("g")
V, W = core.ViewVariable("v"), core.ViewVariable("w")

OFFICE = """
scenario office
cluster n1 n2 n3
group billing: n1 2
group "late shift":
H1: < view v1{1,2,3} !a{2,group:billing} !b !c{group:"late shift",group:billing} view{1,2} ]
H2: < view v1{1,2,3} ?a view "my view"{2} crash ]
"""


def lowered(text: str) -> core.Formula:
    return requirement(text, standard_library()).formula


def every(variable: core.Variable, body: core.Formula, range_: core.Formula = core.TRUTH) -> core.Formula:
    return core.Forall(variable, range_, body)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (
            "forall i: forall v in VL[i]: i in members(v)",
            every(I, every(V, core.IsMember(I, V), core.Installs(I, V))),
        ),
        ("forall i: forall v: installs(i, v)", every(I, every(V, core.Installs(I, V)))),
        ("forall i: forall v, w: v <[VL[i]] w", every(I, every(V, every(W, core.InstallsBefore(V, W, I))))),
        ("forall i: forall v: repeated(v, VL[i])", every(I, every(V, core.InstallsAgain(I, V)))),
        ("forall v in views: v = v", every(V, core.SameView(V, V))),
        ("forall v: v in views implies v = v", every(V, core.SameView(V, V))),
        ("forall g in groups: g != g", every(G, core.Not(core.SameGroup(G, G)))),
        (
            "forall p: forall i in dest(p): i = i",
            every(P, every(I, core.SameEntity(I, I), core.IsDestination(I, P))),
        ),
        ("forall g in groups: forall p: g in dest(p)", every(G, every(P, core.AddressedTo(P, G)))),
        (
            "forall g in groups: forall i in members(g): i = i",
            every(G, every(I, core.SameEntity(I, I), core.IsMember(I, G))),
        ),
        (
            "forall v, w in views: number(v) < number(w)",
            every(
                V,
                every(
                    W,
                    core.Comparison(
                        core.Relation.LESS, core.ViewNumber(V), core.ViewNumber(W), core.Dimension.NUMBER
                    ),
                ),
            ),
        ),
        (
            'forall d: number(view(d)) = number("7")',
            every(
                D,
                core.Comparison(
                    core.Relation.EQUAL,
                    core.ViewNumber(core.ViewOf(D)),
                    core.ViewNumber(core.ViewNamed("7")),
                    core.Dimension.NUMBER,
                ),
            ),
        ),
        ('forall d: view(d) = "v1"', every(D, core.SameView(core.ViewOf(D), core.ViewNamed("v1")))),
        ("forall p: view(send(p)) in views", every(P, core.SameView(*[core.ViewOf(core.SendEvent(P))] * 2))),
        (
            "forall i: forall p: view(deliver(p, i)) = view(arrive(p, i))",
            every(
                I,
                every(
                    P,
                    core.SameView(
                        core.ViewOf(core.DeliveryEvent(P, I)), core.ViewOf(core.ArrivalEvent(P, I))
                    ),
                ),
            ),
        ),
        (
            'forall p: "n1" in members(view(send(p)))',
            every(P, core.IsMember(core.EntityNamed("n1"), core.ViewOf(core.SendEvent(P)))),
        ),
        (
            "forall i: view(deliver(top(RL[i]), i)) in VL[i]",
            every(
                I,
                core.Exists(
                    core.MessageVariable("top"),
                    core.InLog(core.MessageVariable("top"), core.ReceiptLog(I)),
                    core.conjunction(
                        lowered("forall i: top(RL[i]) = top(RL[i])").body.body.parts[0],  # type: ignore[union-attr]
                        core.Installs(I, core.ViewOf(core.DeliveryEvent(core.MessageVariable("top"), I))),
                    ),
                ),
            ),
        ),
    ],
)
def test_what_a_formula_is(text: str, formula: core.Formula) -> None:
    assert lowered(text) == formula


def test_what_a_scenario_has() -> None:
    [scenario] = compile_text(OFFICE + "expect true").scenarios
    execution = scenario.execution
    assert execution.groups == {"billing": {"n1", "n2"}, "late shift": frozenset()}
    assert execution.messages["a"].destinations == frozenset({"n2"})
    assert execution.messages["a"].groups == {"billing"}
    assert execution.messages["b"].destinations == frozenset({"n1", "n2", "n3"})
    assert execution.messages["b"].groups == frozenset()
    assert execution.messages["c"].destinations == frozenset()
    assert execution.views == {
        "v1": {"n1", "n2", "n3"},
        "{n1, n2}": {"n1", "n2"},
        "my view": {"n2"},
    }
    assert execution.history("n1").events[0] == Event(EventKind.VIEW, members=("n1", "n2", "n3"), view="v1")


def test_a_scenario_is_printed_as_it_was_written() -> None:
    [scenario] = compile_text(OFFICE).scenarios
    printed = as_scenario(scenario.execution, "office")
    assert (
        printed
        == """scenario office
cluster n1 n2 n3
group billing: 1 2
group "late shift":
H1: < view v1{1,2,3} !a{2,group:billing} !b !c{group:billing,group:"late shift"} view{1,2} ]
H2: < view v1{1,2,3} ?a view "my view"{2} crash ]
"""
    )
    [again] = compile_text(printed).scenarios
    assert again.execution == scenario.execution


@pytest.mark.parametrize(
    ("formula", "meant"),
    [
        ("v1 in VL1", core.Installs(core.EntityNamed("n1"), core.ViewNamed("v1"))),
        ('"{n1, n2}" in VL1', core.Installs(core.EntityNamed("n1"), core.ViewNamed("{n1, n2}"))),
        ("billing in dest(a)", core.AddressedTo(core.MessageNamed("a"), core.GroupNamed("billing"))),
        ("n1 in members(billing)", core.IsMember(core.EntityNamed("n1"), core.GroupNamed("billing"))),
        ("billing in groups", core.SameGroup(core.GroupNamed("billing"), core.GroupNamed("billing"))),
        ("n2 in members(v1)", core.IsMember(core.EntityNamed("n2"), core.ViewNamed("v1"))),
    ],
)
def test_a_scenario_names_its_groups_and_views(formula: str, meant: core.Formula) -> None:
    [scenario] = compile_text(f"{OFFICE}expect {formula}").scenarios
    assert scenario.expectations[0].requirement.formula == meant


def test_group_is_a_name_as_any_other() -> None:
    text = """
    scenario s
    cluster a group
    RL1: < m groups ]
    group group: a group
    predicate in_it(group: group, groups: log) := forall p in groups: forall i in members(group): p in RL[i]
    expect forall g in groups: in_it(g, RL1)
    """
    [scenario] = compile_text(text).scenarios
    assert scenario.execution.entities == ("a", "group")
    assert scenario.execution.groups == {"group": {"a", "group"}}


def test_parameters_may_be_groups_and_views() -> None:
    text = """
    predicate installed_by(g: group, v: view) := forall i in members(g): installs(i, v)
    predicate again(L: views, v) := repeated(v, L)
    claim forall g in groups: forall v in views: installed_by(g, v)
    claim forall i: forall v: again(VL[i], v)
    """
    first, second = (claim.requirement.formula for claim in compile_text(text).claims)
    assert first == every(G, every(V, every(I, core.Installs(I, V), core.IsMember(I, G))))
    assert second == every(I, every(V, core.InstallsAgain(I, V)))


def test_among_restricts_who_installs() -> None:
    range_ = core.SameEntity(I, core.EntityNamed("n1"))
    asked = every(I, every(V, core.IsMember(I, V), core.Installs(I, V)), range_)
    assert lowered('(forall i: forall v in VL[i]: i in members(v)) among "n1"') == asked
