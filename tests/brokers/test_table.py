"""docs/brokers.md and traces/brokers: what the page says of recordings is what the kept ones show."""

from __future__ import annotations

import pytest

from tools.recordings import page, table
from tools.recordings.run import Fault

CELLS = table.read()
FILES = sorted({cell.file for cell in CELLS})


def test_the_page_is_made_from_the_table() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.generated(CELLS)


def test_every_broker_met_every_kind_of_fault() -> None:
    assert {cell.broker for cell in CELLS} == set(page.TITLES)
    assert {cell.fault for cell in CELLS} == {fault.value for fault in Fault}


def test_samples_are_small_and_all_are_named() -> None:
    there = sorted(path.name for path in table.SAMPLES.glob("*.gz"))
    assert there == FILES
    assert all((table.SAMPLES / name).stat().st_size < 30 * 1024 for name in there)


@pytest.mark.parametrize("file", FILES)
def test_a_sample_shows_what_the_table_says(file: str) -> None:
    rows = table.read_sample(file)
    for cell in (cell for cell in CELLS if cell.file == file):
        found = table.verdicts(table.of_fault(rows, cell.fault), list(cell.verdicts))
        assert found == cell.sample, cell.fault
        for name, (_, violated, unknown) in cell.verdicts.items():
            assert (violated > 0, unknown > 0) == (found[name][1] > 0, found[name][2] > 0), (cell.fault, name)
        assert sum(next(iter(cell.verdicts.values()))) == cell.runs
