"""The table of faults, and what is written beside it: fields, and the numbers that machine code computes with."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields

import msgspec
import pytest

from precedes.core.faults import COUNTS, IN_ANY_STATE, RATES
from precedes.gate import config
from precedes.protocol.bounds import Bounds, Conditions
from precedes.protocol.exploration import compiled_tables, expansion, state_space


def test_every_fault_is_a_field_of_what_counts_and_of_what_draws() -> None:
    """In the order of the table; and nothing that stands among them is another field."""
    for names, kind in ((COUNTS, Bounds), (RATES, Conditions)):
        every = tuple(field.name for field in fields(kind))
        first = every.index(names[0])
        assert every[first : first + len(names)] == names
    for names, struct in ((COUNTS, config.Model), (RATES, config.Simulation)):
        every = tuple(field.name for field in msgspec.structs.fields(struct))
        first = every.index(names[0])
        assert every[first : first + len(names)] == names


def test_each_fault_spends_the_digit_that_the_budget_has_for_it() -> None:
    """The digits before those of faults are whose turn it is and requests."""
    digits = ("turn", "messages", *state_space.LATER)
    assert digits[expansion.LOSSES] == "losses"
    assert digits[expansion.EARLY_DIGIT] == "early"
    worked_out = [getattr(compiled_tables, f"OF_{count.upper()}") for count in IN_ANY_STATE]
    assert worked_out == list(range(compiled_tables.OF_LOSSES, compiled_tables.OF_LOSSES + len(IN_ANY_STATE)))
    assert digits[expansion.LOSSES : expansion.EARLY_DIGIT] == IN_ANY_STATE


@pytest.mark.parametrize(
    ("table", "module"), [("IN_ANY_STATE", "compiled_tables"), ("AT_TIMEOUTS", "expansion")]
)
def test_a_fault_that_no_code_works_out_ends_the_import(table: str, module: str) -> None:
    """Its digit would be spent for another fault, or for none."""
    program = (
        "from precedes.core import faults\n"
        f"faults.{table} = ('outages', *faults.{table})\n"
        "import precedes.protocol.exploration.state_space"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = done.stderr.split("File ")[-1]
    assert f"{module}.py" in last
    assert "ValueError: too many values to unpack" in last
