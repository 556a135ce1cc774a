"""The standard library as the language reads it against definitions by hand; and figures read back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.loader import compile_source
from precedes.language.parsing.parser import parse
from precedes.language.requirements import requirement
from precedes.reports.figure import figure
from precedes.testing.random_executions import SCENARIOS, Shape
from tests.reference import definitions as d
from tests.reference import scenarios as s
from tests.strategies.drawn import executions

BY_HAND = sorted(
    (value for value in vars(d).values() if isinstance(value, Requirement)), key=lambda value: value.name
)


@pytest.mark.parametrize("by_hand", BY_HAND, ids=lambda by_hand: by_hand.name)
@settings(max_examples=25)
@given(execution=executions(SCENARIOS))
def test_the_library_says_what_was_written_by_hand(by_hand: Requirement, execution: Execution) -> None:
    defined = requirement(by_hand.name, standard_library())
    assert evaluate(defined.formula, execution) == evaluate(by_hand.formula, execution)


def is_a_scenario(execution: Execution) -> bool:
    """Whether a scenario can say it, in lines of which none is cut."""
    drawn = figure(execution)
    return bool(execution.entities) and not any(word in drawn for word in ("crash", "recover", "..."))


@settings(max_examples=50)
@given(executions(Shape(odd=False, arrival_delivery=False)).filter(is_a_scenario))
def test_a_figure_is_read_back_as_the_same_execution(execution: Execution) -> None:
    read_back(execution)


@pytest.mark.parametrize(
    "execution", [s.FIG2, s.FIG3, s.FIG4, s.FIG6, s.OVERTAKING, s.BEYOND_DELTA, s.NO_INTERLEAVING]
)
def test_the_papers_figures_are_read_back(execution: Execution) -> None:
    read_back(execution)


def read_back(execution: Execution) -> None:
    """Draw an execution, read the figure as a scenario, and compare."""
    drawn = figure(execution)
    cluster = f"cluster {' '.join(execution.entities)}\n" if "cluster" not in drawn else ""
    text = f"scenario x\n{cluster}{drawn}\nexpect true\n"
    (scenario,) = compile_source(parse(text), standard_library()).scenarios
    again = scenario.execution
    assert again.messages == execution.messages
    assert again.marks == execution.marks
    assert again.entities == execution.entities
    for one, other in zip(again.histories, execution.histories, strict=True):
        assert [(e.kind, e.message, e.time, e.members) for e in one.events] == [
            (e.kind, e.message, e.time, e.members) for e in other.events
        ]
