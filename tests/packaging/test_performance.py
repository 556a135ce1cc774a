"""docs/performance.md says what was measured, and nothing else."""

from __future__ import annotations

import copy
import re
from pathlib import Path

from benchmarks import page
from benchmarks.__main__ import Ratio
from benchmarks.comparisons import ALWAYS, DUCKDB, longer
from benchmarks.measuring import Measured


def test_the_page_is_current() -> None:
    above, mark, _ = page.PAGE.read_text(encoding="utf-8").partition(page.MARK)
    assert mark
    assert above == page.generated(page.read()) + "\n", "python -m benchmarks.page"


def test_its_plots_are_current(tmp_path: Path) -> None:
    page.draw(page.read(), tmp_path)
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert drawn == {path.name: path.read_bytes() for path in page.PLOTS.iterdir()}
    shown = re.findall(r"\(performance/([^)]+)\)", page.PAGE.read_text(encoding="utf-8"))
    assert set(shown) == set(drawn)


def test_every_comparison_has_words_in_a_quick_run_too() -> None:
    measured = copy.deepcopy(page.read())
    bench = measured["bench"]
    assert [row["name"] for row in bench["ratios"]] == [
        *(each.name for each in ALWAYS[:6]),
        longer(8).name,
        *(each.name for each in ALWAYS[6:]),
    ]
    (row,) = (row for row in bench["ratios"] if row["name"] == longer(8).name)
    row["name"] = longer(2).name
    bench["peak MiB"] = {"x1": 100.0, "x2": 110.0}
    assert f"| {longer(2).words} |" in page.generated(measured)


def test_what_was_measured_is_written_as_it_was_compared() -> None:
    ratio = Ratio(DUCKDB, Measured(1.0, (1.0,), 0.5), Measured(4.0, (4.0,), 0.5))
    written = ratio.written()
    assert (written["name"], written["ratio"], written["reached"]) == (DUCKDB.name, 4.0, False)
    assert set(written) == set(page.read()["bench"]["ratios"][0])


def test_a_miss_is_told_by_how_much() -> None:
    measured = copy.deepcopy(page.read())
    (row,) = (row for row in measured["bench"]["ratios"] if row["name"] == "in-process, against DuckDB")
    row |= {"ratio": 4.0, "reached": False}
    assert "at least 5 (**missed** by 25 %)" in page.generated(measured)
    (row,) = (row for row in measured["bench"]["ratios"] if row["name"] == "Spark, against in-process")
    row |= {"ratio": 2.5, "reached": False}
    assert "at most 2 (**missed** by 25 %)" in page.generated(measured)
