"""What keeps and breaks names of the library: every file of specs/library comes out as it states."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.core.verdict import Verdict
from precedes.language.loader import CompiledFile, compile_text
from tests.language.judging import wrong

LIBRARY = Path(__file__).parents[2] / "specs" / "library"
FILES = sorted(path.name for path in LIBRARY.glob("*.prec"))
DELIVERIES = (
    "every_delivery_in_order",
    "repeats_in_place",
    "only_in_flight_repeats",
    "ordered_until_acknowledged",
    "positions_never_go_back",
    "one_position_one_message",
    "generic_order(p, q: key(p) = key(q))",
)


def compiled(name: str) -> CompiledFile:
    return compile_text((LIBRARY / name).read_text(encoding="utf-8"), name)


@pytest.mark.parametrize("name", FILES)
def test_the_scenarios_come_out_as_they_state(name: str) -> None:
    assert wrong(compiled(name)) == []


@pytest.mark.parametrize("name", DELIVERIES)
def test_every_name_about_deliveries_is_kept_by_a_scenario_and_broken_by_another(name: str) -> None:
    expected = {
        expectation.expected
        for scenario in compiled("deliveries.prec").scenarios
        for expectation in scenario.expectations
        if expectation.requirement.name == name
    }
    assert {Verdict.HOLDS, Verdict.VIOLATED} <= expected
