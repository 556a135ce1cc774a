"""Attributes and what is asked per value: names of requirements and of their parts, definitions, scenarios."""

from __future__ import annotations

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind, Execution
from precedes.core.formula import Attribute, AttributeSort, Per, Requirement
from precedes.core.traversal import attributes_in
from precedes.core.verdict import TRUE
from precedes.engines.reference import evaluate
from precedes.language.library import Library, standard_library
from precedes.language.loader import compile_text
from precedes.language.parsing.parser import parse
from precedes.language.requirements import requirement
from precedes.language.scenario_printer import as_scenario, definitions
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from tests.strategies.attributes import carrying

KEY = Attribute("key", AttributeSort.TEXT)


def names(whole: Requirement) -> list[str]:
    return [whole.name, *(name for part in whole.parts for name in names(part))]


def library(text: str) -> Library:
    return Library([parse(text)], standard_library())


def test_a_service_per_value_has_its_parts_per_value() -> None:
    found = requirement("ST per key", standard_library())
    assert names(found) == [f"{name} per key" for name in names(requirement("ST", standard_library()))]
    assert names(found)[:3] == ["ST per key", "SP per key", "selectively_correct per key"]
    for part in (found, *found.parts):
        assert {attribute.name for attribute in attributes_in(part.formula)} == {"key"}
    preserving = requirement("order_preserving per key", standard_library())
    assert preserving.formula == Per((KEY,), requirement("order_preserving", standard_library()).formula)


def test_several_attributes_stand_in_the_order_in_which_they_were_written() -> None:
    found = requirement("SP per (topic, partition)", standard_library())
    assert all(name.endswith(" per (topic, partition)") for name in names(found))
    assert names(requirement("SP per (key)", standard_library()))[0] == "SP per key"


def test_a_conjunction_of_names_per_value_has_them_as_parts() -> None:
    found = requirement("SP and order_equivalent per key", standard_library())
    assert found.name == "SP and order_equivalent per key"
    assert [part.name for part in found.parts] == ["SP", "order_equivalent per key"]
    whole = requirement("(SP and order_equivalent) per key", standard_library())
    assert (whole.name, whole.parts) == ("(SP and order_equivalent) per key", ())


def test_a_service_that_is_defined_per_value_has_these_parts() -> None:
    own = library("service keyed := ST per key and no_creation\nservice twice := keyed per topic")
    assert names(requirement("keyed", own))[:3] == ["keyed", "ST per key", "SP per key"]
    assert "no_creation" in names(requirement("keyed", own))
    assert names(requirement("twice", own))[:3] == ["twice", "keyed per topic", "ST per key per topic"]
    stated = requirement("(ST per key and no_creation) per topic", own)
    asked, other = (one.formula for one in (requirement("twice", own), stated))
    for seed in range(60):
        choices = Seeded(f"defined {seed}")
        case = carrying(choices, execution(choices, Shape(entities=3, messages=5)))
        assert evaluate(asked, case) == evaluate(other, case), seed


def test_among_is_asked_of_the_parts_too() -> None:
    text = """
    scenario s
    cluster E1 E2 E3
    SL1: < a{2,3}[key=k] b{2,3}[key=k] c{2,3}[key=other] ]
    RL2: < a b c ]
    RL3: < b a c ]
    expect order_preserving per key among E1 E2
    expect not order_preserving per key among E1 E3
    expect not order_preserving per key
    """
    [scenario] = compile_text(text).scenarios
    asked = [one.requirement for one in scenario.expectations]
    assert asked[0].name == "order_preserving per key among E1 E2"
    assert [evaluate(one.formula, scenario.execution) == TRUE for one in asked] == [True, False, False]
    selective = requirement('SP per key among "E1"', standard_library())
    assert 'order_preserving per key among "E1"' in names(selective)


def test_the_standard_library_declares_what_many_systems_have() -> None:
    found = {name: standard_library().attribute(name) for name in standard_library().attributes()}
    sorts = {name: attribute.sort.value for name, attribute in found.items() if attribute is not None}
    texts = dict.fromkeys(("key", "topic", "partition", "channel", "session"), "text")
    assert sorts == {**texts, "position": "number", "priority": "number", "redelivered": "text"}


def test_a_declaration_may_be_repeated_but_not_changed() -> None:
    assert library("attribute key of message: text\nattribute key of message: text").attribute("key") == KEY
    for text in (
        "attribute key of message: number",
        "attribute hue of message: text\nattribute hue of message: time",
    ):
        with pytest.raises(PrecedesError) as caught:
            library(text)
        assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["N008"]


def test_definitions_are_written_out_with_their_attributes() -> None:
    own = library(
        "attribute tenant of message: text\nservice fair := SP per tenant\nservice other := fair and ST per key"
    )
    written = definitions(("other",), own)
    assert written.splitlines() == [
        "attribute tenant of message: text",
        "service fair := SP per tenant",
        "service other := fair and ST per key",
    ]
    assert requirement("other", library(written)) == requirement("other", own)


def test_attributes_may_be_declared_after_they_are_used() -> None:
    found = requirement("fair", library("service fair := SP per tenant\nattribute tenant of message: text"))
    assert {attribute.name for attribute in attributes_in(found.formula)} == {"tenant"}


CARRIED = """
attribute colour of message: text
attribute weight of message: number
attribute due of message: time
attribute wait of message: duration
scenario s
cluster E1 E2
SL1: < a{2}[colour=red, weight=-3] b{2}[colour="dark red"] c{2} ]
RL2: < a[due=1500ms] b[weight=2, wait=20ms] c d[colour=7] ]
"""


def test_brackets_say_what_a_message_carries() -> None:
    [scenario] = compile_text(CARRIED).scenarios
    carried = {
        m.name: {attribute.name: value for attribute, value in m.attributes.items()}
        for m in scenario.execution.messages.values()
    }
    assert carried == {
        "a": {"colour": "red", "weight": -3, "due": 1_500_000_000},
        "b": {"colour": "dark red", "weight": 2, "wait": 20_000_000},
        "c": {},
        "d": {"colour": "7"},
    }


DECLARED = "".join(
    f"attribute {name} of message: {sort}\n"
    for name, sort in (("colour", "text"), ("weight", "number"), ("due", "time"), ("wait", "duration"))
)


def carried_by(of: Execution) -> dict[str, dict[Attribute, str | int]]:
    return {message.name: dict(message.attributes) for message in of.messages.values()}


def test_what_messages_carry_is_written_and_read_again() -> None:
    [scenario] = compile_text(CARRIED).scenarios
    [again] = compile_text(DECLARED + as_scenario(scenario.execution, "again")).scenarios
    assert carried_by(again.execution) == carried_by(scenario.execution)


def test_random_executions_are_written_and_read_again() -> None:
    met = 0
    for seed in range(150):
        choices = Seeded(f"written {seed}")
        shape = Shape(scenarios=True, odd=False, contradictions=False, arrival_delivery=False)
        case = carrying(choices, execution(choices, shape))
        stops = any(e.kind in (EventKind.CRASH, EventKind.RECOVER) for h in case.histories for e in h.events)
        if stops or not case.entities:
            continue
        written = as_scenario(case, "again")
        [again] = compile_text(written).scenarios
        assert carried_by(again.execution) == carried_by(case), written
        met += any(message.attributes for message in case.messages.values())
    assert met > 50
