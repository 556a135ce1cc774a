"""What all experiments stand on: tables, intervals, figures, and the command that runs them."""

from __future__ import annotations

import random
import statistics
from pathlib import Path

import pytest

from experiments.__main__ import found, main
from experiments.drawing import curve, figure, label, save, styles
from experiments.intervals import mean, proportion, ratio, t_quantile
from experiments.table import Table


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(4, 2.776), (5, 2.571), (9, 2.262), (19, 2.093), (30, 2.042), (1000, 1.962)]
)
def test_quantiles_of_t_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert t_quantile(freedom) == pytest.approx(quantile, rel=4e-3)


def test_too_few_runs_have_no_interval() -> None:
    with pytest.raises(ValueError, match="5 or more"):
        mean([1.0, 2.0, 3.0, 4.0])


def test_intervals_hold_what_they_should_nineteen_times_of_twenty() -> None:
    chance = random.Random(1)
    means = ratios = proportions = 0
    for _ in range(400):
        runs = [chance.gauss(3, 1) for _ in range(8)]
        means += mean(runs).low <= 3 <= mean(runs).high
        wholes = [chance.uniform(50, 150) for _ in range(20)]
        parts = [whole * 0.3 + chance.gauss(0, 5) for whole in wholes]
        ratios += ratio(parts, wholes).low <= 0.3 <= ratio(parts, wholes).high
        hits = sum(chance.random() < 0.02 for _ in range(200))
        proportions += proportion(hits, 200).low <= 0.02 <= proportion(hits, 200).high
    assert all(360 < count < 398 for count in (means, ratios, proportions))


def test_an_estimate_is_in_its_interval() -> None:
    one = mean([1.0, 2.0, 3.0, 4.0, 5.0])
    assert one.value == 3.0
    assert one.half == pytest.approx(2.776 * statistics.stdev([1, 2, 3, 4, 5]) / 5**0.5, rel=4e-3)
    assert proportion(0, 50).low == 0.0
    assert proportion(50, 50).high == 1.0


def test_a_table_is_written_with_its_notes_and_read_by_name(tmp_path: Path) -> None:
    table = Table(("n", "kind", "x"), ((1, "a", 0.123456789), (2, "a", None), (3, "b", 7.0)), ("assumed",))
    table.write(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(
        encoding="utf-8"
    ) == "# assumed\nn,kind,x\n1,a,0.123457\n2,a,\n3,b,7\n"
    assert table.series("n", "x", kind="a") == ([1.0], [0.123456789])
    assert table.distinct("kind") == ["a", "b"]
    with pytest.raises(ValueError, match="a row of 1 cells under 2 names"):
        Table(("n", "x"), ((1,),))


def test_the_same_numbers_give_the_same_figure(tmp_path: Path) -> None:
    written = []
    for name in ("a", "b"):
        drawn = figure(1, 2, title="T")
        curve(drawn.axes[0], [1, 2], [1, 4], [0, 3], [2, 5], label="measured", style=next(styles()))
        curve(drawn.axes[1], [1, 2], [1, 4], label="computed", style=next(styles()), computed=True)
        label(drawn.axes[0], "P", "x (s)", "y (%)")
        save(drawn, tmp_path / f"{name}.svg")
        written.append((tmp_path / f"{name}.svg").read_bytes())
    assert written[0] == written[1]
    assert written[0].startswith(b"<?xml")


def test_every_experiment_has_a_name_and_says_what_it_is() -> None:
    there = found()
    assert {"delta-causal-max-cb", "cmd-s-records"} <= set(there)
    assert all(one.about and one.name == name for name, one in there.items())


def test_an_unknown_name_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing", "--out", str(tmp_path / "out")]) == 2
    assert "no experiment is called nothing; there are" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main(["--list"]) == 0
    assert "cmd-s-records" in capsys.readouterr().out
