"""The standard library, and libraries on top of it."""

import pytest

from precedes.core import formula as core
from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict, verdict
from precedes.engines.reference import explain
from precedes.language.errors import Mistakes
from precedes.language.library import Library, standard_library
from precedes.language.loader import compile_text
from precedes.language.parsing.parser import parse
from precedes.language.requirements import requirement
from precedes.language.syntax import DefinitionKind

# The table of the design.
NAMES = [
    "order_equivalent",
    "information_equivalent",
    "equivalent",
    "order_preserving",
    "information_preserving",
    "correct",
    "preserving",
    "selectively_information_preserving",
    "selectively_correct",
    "selectively_correct_literal",
    "no_creation",
    "no_duplication",
    "delivered_where_addressed",
    "broadcast",
    "acyclic_order",
    "failure_line",
    "reliable",
    "causal_order",
    "process_causal_order",
    "causal_delivery",
    "fifo_delivery",
    "delta_causal_order",
    "deadline",
    "timely_delivery",
    "vector_time",
    "prefix_order",
    "gap_free_order",
    "agreement",
    "uniform_agreement",
    "validity",
    "local_order",
]
SERVICES = ["1C", "PO", "TO", "SP", "ST", "CO", "extended_virtual_synchrony"]


def test_every_name_of_the_design_is_there() -> None:
    library = standard_library()
    assert set(NAMES) | set(SERVICES) <= set(library.names())
    kinds = {name: library.definition(name).kind for name in library.names()}
    assert {name for name, kind in kinds.items() if kind is DefinitionKind.SERVICE} == set(SERVICES)


@pytest.mark.parametrize("name", standard_library().names())
def test_every_definition_says_what_it_means_and_where_it_is_from(name: str) -> None:
    definition = standard_library().definition(name)
    assert definition.title
    assert definition.source
    assert all(parameter.sort is not None for parameter in definition.parameters)


def test_the_library_has_no_mistakes() -> None:
    mistakes = Mistakes(None, ())
    standard_library().check(mistakes)
    assert mistakes.found == []


@pytest.mark.parametrize("name", [*NAMES, *SERVICES])
def test_every_name_is_a_closed_requirement(name: str) -> None:
    found = requirement(name, standard_library())
    assert found.name == name
    assert standard_library().closed[name] is found


def tree(found: Requirement) -> dict[str, object]:
    return {part.name: tree(part) for part in found.parts}


def test_services_are_told_with_their_parts() -> None:
    assert tree(requirement("ST", standard_library())) == {
        "SP": {"selectively_correct": {"order_preserving": {}, "selectively_information_preserving": {}}},
        "order_equivalent": {},
    }
    assert tree(requirement("TO", standard_library()))["PO"] == {
        "correct": {"order_preserving": {}, "information_preserving": {}}
    }
    assert tree(requirement("reliable", standard_library())) == {}
    assert tree(requirement("ST and broadcast", standard_library())).keys() == {"ST", "broadcast"}


def test_a_requirement_is_the_conjunction_of_its_parts() -> None:
    def check(found: Requirement) -> None:
        if found.parts:
            assert core.conjunction(*(part.formula for part in found.parts)) == found.formula
        for part in found.parts:
            check(part)

    for name in standard_library().names():
        if name not in ("in_time", "begins", "generic_order", "next_view", "bounded_disorder"):
            check(requirement(name, standard_library()))


def test_parts_of_a_named_log() -> None:
    text = "scenario s\ncluster E1 E2\nexpect selectively_correct(RL2)"
    [expectation] = compile_text(text).scenarios[0].expectations
    assert [part.name for part in expectation.requirement.parts] == [
        "order_preserving(RL2)",
        "selectively_information_preserving(RL2)",
    ]


def test_a_file_may_define_a_name_anew_and_the_library_keeps_its_own() -> None:
    text = "predicate order_equivalent(L: log, M: log) := forall p in L: p in M\nclaim order_equivalent\nclaim ST"
    compiled = compile_text(text)
    standard = requirement("order_equivalent", standard_library())
    assert compiled.claims[0].requirement.formula != standard.formula
    assert compiled.claims[1].requirement == requirement("ST", standard_library())
    assert requirement("order_equivalent", standard_library()) == standard
    assert requirement("order_equivalent", compiled.library) == compiled.claims[0].requirement


def test_a_definition_may_stand_after_its_use() -> None:
    compiled = compile_text(
        "claim late\nservice late := later and TO\npredicate later(L) := forall p in L: sent(p)"
    )
    assert tree(compiled.claims[0].requirement).keys() == {"later", "TO"}


def test_libraries_on_libraries() -> None:
    first = Library([parse("predicate a := TO")], standard_library())
    second = Library([parse("predicate b := a and ST")], first)
    assert second.names()[:2] == ("b", "a")
    assert "ST" in second
    assert second.home("a") is first
    assert tree(requirement("b", second)).keys() == {"a", "ST"}
    with pytest.raises(KeyError):
        first.definition("b")


def test_undetermined_definitions_parse_and_have_their_reason() -> None:
    library = Library([parse('predicate later(L: log) := undetermined "needs clocks"')], standard_library())
    found = requirement("later", library)
    assert found.formula == core.Forall(
        core.EntityVariable("L"), core.TRUTH, core.Undetermined("needs clocks")
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nonsense", "N001"),
        ("RL1 = RL1", "N010"),
        ("forall p in RL[E1]: sent(p)", "N002"),
        ("in_time", "N004"),
        ("TO and", "P004"),
        ("", "P004"),
        ('TO "', "P002"),
        ("expect TO", "P004"),
    ],
)
def test_requirements_that_are_refused(text: str, code: str) -> None:
    with pytest.raises(PrecedesError) as caught:
        requirement(text, standard_library())
    assert caught.value.diagnostics[0].code == code


def test_without_a_scenario_names_are_quoted() -> None:
    found = requirement('order_equivalent(RL["n1"], RL["n 2"]) among "n1" "n 2"', standard_library())
    named = {node.name for node in _entities(found.formula)}
    assert named == {"n1", "n 2"}
    assert found.name == 'order_equivalent(RL["n1"], RL["n 2"]) among "n1" "n 2"'


def _entities(formula: core.Formula) -> list[core.EntityNamed]:
    from precedes.core.traversal import walk

    return [node for node in walk(formula) if isinstance(node, core.EntityNamed)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cluster E1 E2\nSL1: < a{2} ]\nRL2: < a ]\n", Verdict.HOLDS),
        ("cluster E1 E2\nSL1: < a{2} ]\nRL1: < a ]\n", Verdict.VIOLATED),
        ("cluster E1 E2\nSL1: < a{} ]\nRL2: < a ]\n", Verdict.VIOLATED),
        # Sent to everybody; sent by nobody.
        ("cluster E1 E2\nSL1: < a ]\nRL2: < a ]\n", Verdict.HOLDS),
        ("cluster E1 E2\nRL2: < a ]\n", Verdict.HOLDS),
    ],
)
def test_delivered_where_addressed(text: str, expected: Verdict) -> None:
    (found,) = compile_text(f"scenario s\n{text}expect delivered_where_addressed\n").scenarios
    asked = found.expectations[0].requirement
    assert verdict(explain(asked, found.execution).value) is expected
