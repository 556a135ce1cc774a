"""`import precedes`: what it offers, and that it says what the command says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import precedes

SAMPLE = "traces/rabbitmq-fanout.jsonl.gz"
ROWS: list[dict[str, Any]] = [
    {"execution": "x", "entity": "S", "seq": 0, "event": "send", "message": "p", "dest": ["R"]},
    {"execution": "x", "entity": "S", "seq": 1, "event": "send", "message": "q", "dest": ["R"]},
    {"execution": "x", "entity": "R", "seq": 0, "event": "deliver", "message": "q"},
    {"execution": "x", "entity": "R", "seq": 1, "event": "deliver", "message": "p"},
]
SCENARIO = """scenario late
cluster A B
RL1: < ]      SL1: < a{2} b{2} ]
RL2: < b a ]  SL2: < ]
expect not order_preserving
"""


def test_every_name_is_there_and_is_documented() -> None:
    for name in precedes.__all__:
        found = getattr(precedes, name)
        assert found.__doc__, name
        assert name in dir(precedes)
    with pytest.raises(AttributeError, match="no attribute 'verfy'"):
        precedes.verfy  # noqa: B018


def test_importing_it_loads_nothing_heavy() -> None:
    code = (
        "import sys, precedes; heavy = {'lark', 'z3', 'pyspark', 'numba', 'pandas', 'pyarrow', 'numpy', 'click'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "made",
    [
        lambda: ROWS,
        lambda: (row for row in ROWS),
        lambda: pa.Table.from_pylist(ROWS),
        lambda: pa.Table.from_pylist(ROWS).to_reader(),
        lambda: pd.DataFrame(ROWS),
        lambda: duckdb.sql("select * from events"),
    ],
    ids=["rows", "generator", "table", "reader", "pandas", "duckdb"],
)
def test_events_come_from_anywhere(made: Callable[[], object]) -> None:
    duckdb.register("events", pa.Table.from_pylist(ROWS))
    report = precedes.verify(made(), ["SP", "no_creation"])
    assert report.verdict is precedes.Verdict.VIOLATED
    assert report["order_preserving"].violated == 1
    assert report["no_creation"].holds == 1
    assert report.violations[0].execution == "x"
    assert report.executions == 1


def test_a_report_is_asked_printed_made_a_table_and_raised(capsys: pytest.CaptureFixture[str]) -> None:
    report = precedes.verify(SAMPLE, "ST", max_violations=1)
    assert (report["ST"].holds, report["ST"].violated) == (19, 1)
    assert next(iter(report)) == "ST"
    assert report.text().startswith("ST ")
    assert str(report) == report.text()
    assert json.loads(report.json())["predicates"]["ST"]["violated"] == 1
    table = report.table().to_pylist()
    assert table[0] == {"predicate": "ST", "verdict": "violated", "holds": 19, "violated": 1, "unknown": 0}
    with pytest.raises(AssertionError, match="c1 delivers p3-2 before p1-6"):
        report.raise_for_violations()
    precedes.verify(SAMPLE, "SP").raise_for_violations()


def test_unknown_is_raised_unless_it_is_allowed() -> None:
    report = precedes.verify(ROWS, "deadline")
    assert report.verdict is precedes.Verdict.UNKNOWN
    with pytest.raises(AssertionError, match="unknown"):
        report.raise_for_violations()
    report.raise_for_violations(allow_unknown=True)


def test_it_says_what_the_command_says(tmp_path: Path) -> None:
    command = [
        str(Path(sys.executable).with_name("precedes")),
        "verify",
        SAMPLE,
        "--require",
        "ST",
        "--format",
        "json",
    ]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    mine = json.loads(precedes.verify(SAMPLE, "ST").json())
    assert {**told, "timings": None} == {**mine, "timings": None}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: precedes.verify(ROWS, []), "nothing is required"),
        (lambda: precedes.verify(ROWS, "SPP"), "SPP"),
        (lambda: precedes.verify(ROWS, "SP", detla="1s"), "there is no option detla"),
        (lambda: precedes.verify(7, "SP"), "a int is no trace"),
        (lambda: precedes.verify([7], "SP"), "row 1 is a int"),
        (lambda: precedes.verify([{"execution": 1}], "SP"), "row 1"),
        (lambda: precedes.verify("missing.jsonl", "SP"), "there is no such file"),
        (lambda: precedes.verify(ROWS, "SP", engine="spark"), "in this process"),
        (lambda: precedes.draw(SCENARIO, scenario="early"), "there is no scenario early"),
        (lambda: precedes.explore("cmdd"), "there is no model cmdd"),
    ],
)
def test_mistakes_are_errors_of_ours(call: Callable[[], object], said: str) -> None:
    with pytest.raises(precedes.PrecedesError, match=said):
        call()


def test_infer() -> None:
    found = precedes.infer(SAMPLE)
    assert "SP" in found.kept
    assert "order_equivalent" in found.broken
    assert found.verdict is precedes.Verdict.HOLDS
    assert {"predicate": "SP", "verdict": "holds", "strongest": True, "violated": 0} in found.rows()


def test_check_and_draw(tmp_path: Path) -> None:
    file = tmp_path / "late.prec"
    file.write_text(SCENARIO, encoding="utf-8")
    report = precedes.check(file)
    assert report.verdict is precedes.Verdict.HOLDS
    assert report.rows()[0]["statement"] == "expect not order_preserving"
    drawn = precedes.draw(file)
    assert drawn.svg.startswith("<svg")
    assert "A" in drawn.text
    drawn.save(tmp_path / "late.svg")
    assert (tmp_path / "late.svg").read_text(encoding="utf-8") == precedes.draw(SCENARIO).svg


def test_prove_and_find() -> None:
    assert precedes.prove("ST implies SP").verdict is precedes.Verdict.HOLDS
    refuted = precedes.prove("SP implies ST")
    assert refuted.verdict is precedes.Verdict.VIOLATED
    assert refuted.execution is not None
    assert "RL1" in (refuted.scenario or "")
    found = precedes.find("ST and not acyclic_order")
    assert found.execution is not None
    assert len(found.execution.messages) == 3
    assert precedes.find("ST and not SP", entities=2, messages=2).verdict is not precedes.Verdict.HOLDS


def test_a_library_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "own.prec").write_text(
        'predicate quiet "nobody sends" := forall p: not sent(p)\n', encoding="utf-8"
    )
    library = precedes.load_library(tmp_path / "own.prec")
    assert precedes.verify(ROWS, "quiet", library=library)["quiet"].violated == 1
    with pytest.raises(precedes.PrecedesError):
        precedes.verify(ROWS, "quiet")


def test_explore_and_simulate(tmp_path: Path) -> None:
    bounds = precedes.Bounds(entities=3, messages=2)
    found = precedes.explore("cmd-auxiliary", bounds, "causal_order", parameters={"queue": False})
    assert found.verdict is precedes.Verdict.HOLDS
    assert {row["property"] for row in found.rows()} >= {"causal_order", "no deadlock"}
    assert (
        precedes.explore("cmd-auxiliary", bounds, "validity", as_written=True).verdict
        is precedes.Verdict.VIOLATED
    )
    written = precedes.simulate("cmd", tmp_path / "runs.parquet", executions=20, entities=4)
    assert written.executions == 20
    assert precedes.verify(written.path, "causal_order").verdict is precedes.Verdict.HOLDS
