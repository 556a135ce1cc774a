"""Every delivery in the language: `DL`, deliveries as things, acknowledgements, relations as parameters."""

from __future__ import annotations

import pytest

from precedes.core import formula as core
from precedes.core.diagnostics import PrecedesError
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.requirements import requirement
from tests.language.judging import as_stated

D, F = core.DeliveryVariable("d"), core.DeliveryVariable("e")
I = core.EntityVariable("i")  # noqa: E741 - as it is written

REWOUND = """
scenario rewound
cluster app worker
SL1: < b1{2}[position=1] b2{2}[position=2] b3{2}[position=3] ]
RL2: < b1 b2 b3 b2 b1 b3 ]
"""

ACKNOWLEDGED = """
scenario acknowledged
cluster app worker
H1: < !b1{2}@0 !b2{2}@1 !b3{2}@2 ]
H2: < ?b1@3 ack(b1)@4 ?b2@5 ?b3@6 ack(b2)@7 ?b3@8 nack(b3)@9 ]
"""


def lowered(text: str) -> core.Formula:
    return requirement(text, standard_library()).formula


def test_what_is_said_of_deliveries() -> None:
    text = "forall i: forall d, e in DL[i]: d <[DL[i]] e implies message(d) != message(e)"
    different = core.Not(core.SameMessage(core.MessageOf(D), core.MessageOf(F)))
    body = core.Implies(core.DeliveredBefore(D, F, I), different)
    inner = core.Forall(D, core.DeliveredAt(D, I), core.Forall(F, core.DeliveredAt(F, I), body))
    assert lowered(text) == core.Forall(I, core.TRUTH, inner)


def test_a_delivery_without_a_log_is_one_of_all() -> None:
    body = core.SameEntity(core.ReceiverOf(D), core.EntityNamed("a"))
    assert lowered('forall d: receiver(d) = "a"') == core.Forall(D, core.TRUTH, body)


@pytest.mark.parametrize(
    "expectation",
    [
        "expect not every_delivery_in_order",
        "expect order_preserving",
        "expect not repeats_in_place",
        "expect unknown only_in_flight_repeats",
        "expect unknown ordered_until_acknowledged",
        "expect unknown acknowledged(b1, worker)",
        "expect not positions_never_go_back",
        "expect one_position_one_message",
        "expect exists d in DL2: nth(d) = 2 and message(d) = b1 and receiver(d) = worker",
        "expect not exists d: nth(d) = 3",
        "expect forall d in DL1: false",
        "expect forall d, e: d = e or message(d) != message(e) or nth(d) != nth(e)",
        "expect unknown forall d in DL2: time(d) - time(d) <= 1s",
        "expect not forall d, e in DL2: in_flight(d, e)",
    ],
)
def test_repeats(expectation: str) -> None:
    as_stated(REWOUND + expectation)


@pytest.mark.parametrize(
    "expectation",
    [
        "expect acknowledged(b1, worker) and not acknowledged(b3, worker) and not acknowledged(b1, app)",
        "expect not ordered_until_acknowledged",
        "expect only_in_flight_repeats",
        "expect forall d, e in DL2: in_flight(d, e) implies message(d) != b1",
        "expect exists d, e in DL2: in_flight(d, e) and message(d) = b2 and message(e) = b3",
        "expect not exists d, e in DL2: in_flight(d, e) and message(d) = b2 and time(e) - time(d) > 2s",
        "expect forall d in DL2: time(d) > send_time(message(d))",
    ],
)
def test_acknowledgements(expectation: str) -> None:
    as_stated(ACKNOWLEDGED + expectation)


def test_a_repeat_after_its_acknowledgement() -> None:
    text = """
    scenario late
    cluster app worker
    H1: < !b1{2} ]
    H2: < ?b1 ack(b1) ?b1 ]
    expect not only_in_flight_repeats
    expect repeats_in_place
    """
    as_stated(text)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("forall i: forall d in DL[i]: d in RL[i]", "N005", "a delivery"),
        ("forall i: order_preserving(DL[i])", "N005", "a log"),
        ("forall i: forall d in DL[i] & DL[i]: nth(d) = 1", "N005", "a log"),
        ("forall i: forall d in DL[i]: d ~> d", "N005", "a message or an event"),
        ("forall i: forall p in RL[i]: p <[DL[i]] p", "N005", "a delivery"),
        ("forall d: size(DL[receiver(d)]) = 1", "N005", "a log"),
        ("in_flight", "N004", "in_flight needs arguments"),
        ('forall i: forall d in DL[i]: d = "a"', "N005", ""),
        ("generic_order", "N004", "one is a relation"),
        ("generic_order(p: sent(p))", "P017", "between two messages"),
        ("generic_order(p, q, r: sent(p))", "P017", "between two messages"),
        ("generic_order(p, sender(q): sent(p))", "P017", "between two messages"),
        ("generic_order(p, q: p in dest(q))", "N005", ""),
        ("generic_order(ST)", "N002", "ST is a predicate"),
        ("order_preserving(p, q: p = q)", "N005", "a relation"),
    ],
)
def test_mistakes(text: str, code: str, said: str) -> None:
    with pytest.raises(PrecedesError) as caught:
        requirement(text, standard_library())
    (first, *_) = caught.value.diagnostics
    assert (first.code, said in first.message or said in (first.hint or "")) == (code, True), first


def test_a_log_of_deliveries_is_not_written() -> None:
    with pytest.raises(PrecedesError) as caught:
        compile_text("scenario s\ncluster a\nDL1: < ]\n")
    assert [each.code for each in caught.value.diagnostics] == ["P011"]


RELATIONS = """
predicate both_ways(R) := generic_order(p, q: R(p, q) or R(q, p))
scenario commuting
cluster R0 R1
H1: < !x[key=a] ?x ?y ]
H2: < !y[key=b] ?y ?x ]
"""


@pytest.mark.parametrize(
    "expectation",
    [
        "expect generic_order(p, q: key(p) = key(q))",
        "expect not generic_order(p, q: true)",
        "expect generic_order(p, q: false)",
        "expect not both_ways(p, q: p = x)",
        "expect both_ways(p, q: p = q)",
        "expect generic_order(p, q: exists p: key(p) != key(q) and false)",
        "expect forall q: generic_order(p, r: p = q and r = q)",
    ],
)
def test_a_relation_is_a_parameter(expectation: str) -> None:
    as_stated(RELATIONS + expectation)


def test_names_in_a_relation_are_those_of_where_it_stands() -> None:
    """The predicate binds p and q itself; a relation that speaks of another p means that one."""
    text = "forall p: generic_order(q, r: q = p and r != p)"
    p, q, r = (core.MessageVariable(name) for name in ("p", "p_2", "q"))
    found = lowered(text)
    assert isinstance(found, core.Forall)
    atoms = {node for node in _atoms(found) if isinstance(node, core.SameMessage)}
    assert atoms == {core.SameMessage(q, p), core.SameMessage(r, p)}


def _atoms(formula: core.Formula) -> list[core.Formula]:
    from precedes.core.traversal import walk

    return [node for node in walk(formula) if isinstance(node, core.Atom)]


def test_a_service_is_asked_of_every_delivery_per_session() -> None:
    text = """
    scenario groups
    cluster app worker
    SL1: < a1{2}[session=s1] a2{2}[session=s1] b1{2}[session=s2] ]
    H2: < ?a1 ?b1 ack(a1) ?a2 ack(b1) ack(a2) ]
    expect ordered_until_acknowledged per session
    expect not ordered_until_acknowledged
    """
    as_stated(text)
