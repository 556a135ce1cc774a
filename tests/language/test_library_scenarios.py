"""What keeps the definitions of deliveries, views, groups and crashes, and what breaks them, by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.core.verdict import Verdict
from precedes.engines.reference import explain
from precedes.language.library import standard_library
from precedes.language.loader import CompiledFile, compile_text
from precedes.language.parsing.parser import parse
from precedes.language.scenario_printer import as_scenario
from precedes.language.syntax import Definition
from precedes.reports.figure import figure, sentence
from tests.language.judging import wrong

SPECS = Path(__file__).parents[2] / "specs"
FILES = ("deliveries", "views", "groups", "crashes")


def compiled(name: str) -> CompiledFile:
    path = SPECS / "library" / f"{name}.prec"
    return compile_text(path.read_text(encoding="utf-8"), path.name)


@pytest.mark.parametrize("name", FILES)
def test_the_scenarios_come_out_as_they_state(name: str) -> None:
    assert wrong(compiled(name)) == []


@pytest.mark.parametrize("name", FILES)
def test_every_name_is_kept_by_a_scenario_and_broken_by_another(name: str) -> None:
    source = (SPECS / "precedes_specs" / f"{name}.prec").read_text(encoding="utf-8")
    defined = [each for each in parse(source).statements if isinstance(each, Definition)]
    assert defined
    for definition in defined:
        assert definition.title
        assert definition.source
        found = {
            expectation.expected
            for scenario in compiled(name).scenarios
            for expectation in scenario.expectations
            if expectation.requirement.name.split("(")[0] == definition.name.text
        }
        assert found >= {Verdict.HOLDS, Verdict.VIOLATED}, definition.name.text


@pytest.mark.parametrize("name", FILES)
def test_what_is_printed_of_them_reads_back(name: str) -> None:
    library = standard_library()
    for scenario in compiled(name).scenarios:
        statements = [expectation.text for expectation in scenario.expectations]
        printed = as_scenario(scenario.execution, scenario.name, statements)
        [again] = compile_text(printed, library=library).scenarios
        assert again.execution == scenario.execution
        for expectation in scenario.expectations:
            explained = explain(expectation.requirement, scenario.execution)
            for witness in explained.witnesses:
                assert sentence(expectation.requirement, explained.execution, witness)
                cluster = "cluster " + " ".join(scenario.execution.entities)
                drawn = figure(explained.execution, witness, whole=True).removeprefix(cluster)
                [pasted] = compile_text(f"scenario pasted\n{cluster}\n{drawn}").scenarios
                assert pasted.execution.groups.items() <= scenario.execution.groups.items()
                assert pasted.execution.messages == scenario.execution.messages


def test_generic_order_is_kept_by_a_scenario_and_broken_by_another() -> None:
    found = {
        expectation.expected
        for scenario in compiled("deliveries").scenarios
        for expectation in scenario.expectations
        if expectation.requirement.name == "generic_order(p, q: key(p) = key(q))"
    }
    assert found >= {Verdict.HOLDS, Verdict.VIOLATED}
