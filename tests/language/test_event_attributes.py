"""Attributes of events: how they are declared, asked, and written in scenarios."""

from __future__ import annotations

import pytest

from precedes.core import formula as core
from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Attribute, AttributeSort, Carrier
from precedes.core.traversal import walk
from precedes.language.library import Library, profile_library, standard_library
from precedes.language.loader import compile_text
from precedes.language.parsing.parser import parse
from precedes.language.printer import statement_text
from precedes.language.requirements import requirement
from precedes.language.scenario_printer import as_scenario
from tests.language.judging import wrong

ATTEMPT = Attribute("attempt", AttributeSort.NUMBER, Carrier.EVENT)
DECLARED = "attribute attempt of event: number\n"
SCENARIO = """scenario s
cluster a b
H1: < !m{2} !n{2} ]
H2: < ?m[attempt=1, redelivered="false"] ?n[attempt=1] ?m[attempt=2, redelivered="true"] ]
"""


def library() -> Library:
    return Library([parse(DECLARED)], standard_library())


def test_an_attribute_of_events_is_asked_of_deliveries() -> None:
    assert library().attribute("attempt") == ATTEMPT
    found = requirement("forall i: forall d in DL[i]: attempt(d) = nth(d)", library()).formula
    assert isinstance(found, core.Forall)
    assert isinstance(found.body, core.Forall)
    assert isinstance(found.body.body, core.Comparison)
    assert found.body.body.left == core.DeliveryAttribute(ATTEMPT, core.DeliveryVariable("d"))


def test_the_library_has_redelivered() -> None:
    found = standard_library().attribute("redelivered")
    assert found == Attribute("redelivered", AttributeSort.TEXT, Carrier.EVENT)


def test_the_place_of_a_delivery() -> None:
    found = requirement(
        "forall i: forall d in DL[i]: position(d, DL[i]) >= nth(d)", standard_library()
    ).formula
    d, i = core.DeliveryVariable("d"), core.EntityVariable("i")
    assert core.DeliveryPosition(d, i) in list(walk(found))


def test_the_declaration_is_printed_as_it_is_read() -> None:
    (statement,) = parse(DECLARED).statements
    assert statement_text(statement) == DECLARED.strip()


def test_deliveries_of_a_scenario_carry_what_is_in_their_brackets() -> None:
    compiled = compile_text(
        DECLARED
        + SCENARIO
        + """expect forall d in DL[b]: attempt(d) = nth(d)
expect exists d in DL[b]: redelivered(d) = "true" and position(d, DL[b]) = 3
expect unknown forall d in DL[b]: redelivered(d) = "true" or nth(d) = 1 and redelivered(d) = "false"
expect not forall d in DL[b]: position(d, DL[b]) < 3
""",
        "s.prec",
    )
    assert wrong(compiled) == []
    (scenario,) = compiled.scenarios
    events = scenario.execution.history("b").events
    assert [event.attributes.get(ATTEMPT) for event in events] == [1, 1, 2]
    assert '?m[attempt=2, redelivered="true"]' in as_scenario(scenario.execution, "again")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("attribute redelivered of message: text", "N008"),
        ("attribute key of event: text", "N008"),
        ("attribute attempt of group: number", "P016"),
        (DECLARED + "claim ST per attempt", "N016"),
        (DECLARED + "claim forall p: sent(p) implies attempt(p) = 1", "N005"),
        ("claim forall i: forall p in RL[i]: position(p, DL[i]) = 1", "N005"),
        ("claim forall i: forall d in DL[i]: position(d, RL[i]) = 1", "N005"),
        (DECLARED + "scenario s\ncluster a b\nSL1: < m{2}[attempt=1] ]\nexpect ST", "S018"),
    ],
)
def test_what_is_refused(text: str, code: str) -> None:
    with pytest.raises(PrecedesError) as refused:
        compile_text(text, "s.prec")
    assert [diagnostic.code for diagnostic in refused.value.diagnostics] == [code]


def test_session_guarantees_are_names_that_nobody_tries() -> None:
    assert {"monotonic_writes", "monotonic_reads"} <= set(profile_library().own())
    assert requirement("monotonic_writes", standard_library()).parts[0].name == "fifo_delivery per session"
