"""What keeps and breaks names of the library: every file of specs/library comes out as it states."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.core.verdict import Verdict
from precedes.language.library import Library, standard_library
from precedes.language.loader import CompiledFile, compile_text
from precedes.language.parsing.parser import parse
from tests.language.judging import wrong

LIBRARY = Path(__file__).parents[2] / "specs" / "library"
DEFINITIONS = LIBRARY.parent / "precedes_specs"
FILES = sorted(path.name for path in LIBRARY.glob("*.prec"))
NAMES = {
    "deliveries.prec": (
        "every_delivery_in_order",
        "repeats_in_place",
        "only_in_flight_repeats",
        "ordered_until_acknowledged",
        "positions_never_go_back",
        "one_position_one_message",
        "generic_order",
    ),
    "groups.prec": ("once_per_group", "kept_by_groups"),
    "views.prec": (
        "self_inclusion",
        "local_monotonicity",
        "initial_view_event",
        "same_view_delivery",
        "sending_view_delivery",
        "virtual_synchrony",
        "self_delivery",
        "extended_virtual_synchrony",
        "next_view",
    ),
}


def compiled(name: str) -> CompiledFile:
    return compile_text((LIBRARY / name).read_text(encoding="utf-8"), name)


@pytest.mark.parametrize("name", FILES)
def test_the_scenarios_come_out_as_they_state(name: str) -> None:
    assert wrong(compiled(name)) == []


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, names in NAMES.items() for name in names])
def test_every_name_is_kept_by_a_scenario_and_broken_by_another(file: str, name: str) -> None:
    expected = {
        expectation.expected
        for scenario in compiled(file).scenarios
        for expectation in scenario.expectations
        if expectation.requirement.name.partition("(")[0] == name
    }
    assert {Verdict.HOLDS, Verdict.VIOLATED} <= expected


def test_the_files_have_the_names_of_the_library() -> None:
    for file in ("groups.prec", "views.prec"):
        own = Library([parse((DEFINITIONS / file).read_text(encoding="utf-8"))], standard_library())
        assert set(own.own()) == set(NAMES[file])
