"""docs/performance.md says what was measured, and nothing else."""

from __future__ import annotations

import copy
import re
from pathlib import Path

from benchmarks import page


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


def test_a_miss_is_told_by_how_much() -> None:
    measured = copy.deepcopy(page.read())
    (row,) = (row for row in measured["bench"]["ratios"] if row["name"] == "in-process, against DuckDB")
    row |= {"ratio": 4.0, "reached": False}
    assert "at least 5 (**missed** by 25 %)" in page.generated(measured)
    (row,) = (row for row in measured["bench"]["ratios"] if row["name"] == "Spark, against in-process")
    row |= {"ratio": 2.5, "reached": False}
    assert "at most 2 (**missed** by 25 %)" in page.generated(measured)
