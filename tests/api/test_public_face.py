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
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
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
        lambda: pl.DataFrame(ROWS),
        lambda: duckdb.sql("select * from events"),
    ],
    ids=["rows", "generator", "table", "reader", "pandas", "polars", "duckdb"],
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
        (lambda: precedes.verify(ROWS, "SP", engine="sparc"), "there is no engine sparc"),
        (lambda: precedes.verify(SAMPLE, "SP", engine="duckdb"), "there is no engine duckdb"),
        (lambda: precedes.verify(ROWS, "SP", all_verdicts=True), "all_verdicts without out"),
        (lambda: precedes.infer(ROWS, all_violations=True), "infer lists no violations"),
        (lambda: precedes.convert(ROWS, "trace.csv"), "trace.csv"),
        (lambda: precedes.explore("cmd", precedes.Bounds(), losses=1), "put losses into the bounds"),
        (lambda: precedes.explore("cmd", loses=1), "there is no bound loses"),
        (lambda: precedes.explore("cmd", destinations="all"), "there are no destinations all"),
        (lambda: precedes.explore("cmd", script="z{1}"), "script"),
        (lambda: precedes.simulate("cmd", "runs.parquet", los=0.1), "there is no condition los"),
        (lambda: precedes.statements("missing.prec"), "no such file"),
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


def test_all_violations_are_listed() -> None:
    counted = precedes.verify(SAMPLE, "ST", all_violations=True).violations[0].offenders
    assert counted is not None
    assert counted.count == 2
    assert precedes.verify(SAMPLE, "ST").violations[0].offenders is None


@pytest.mark.parametrize("events", [SAMPLE, ROWS], ids=["file", "rows"])
def test_verdicts_are_written_where_that_is_asked(events: Any, tmp_path: Path) -> None:
    report = precedes.verify(events, "SP", out=tmp_path / "some")
    precedes.verify(events, "SP", out=tmp_path / "all", all_verdicts=True, all_violations=True)
    some, every = (pq.read_table(tmp_path / name / "verdicts.parquet") for name in ("some", "all"))
    assert len(some) == sum(report[name].violated for name in report)
    assert len(every) == report.executions * len(list(report))
    assert not (tmp_path / "some" / "violations.parquet").exists()
    assert len(pq.read_table(tmp_path / "all" / "violations.parquet")) == report["order_preserving"].violated


def test_infer_says_what_the_command_says() -> None:
    command = [
        str(Path(sys.executable).with_name("precedes")),
        "infer",
        SAMPLE,
        "--delta",
        "1ms",
        "--format",
        "json",
    ]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    mine = json.loads(precedes.infer(SAMPLE, delta="1ms").json())
    assert {**told, "timings": None} == {**mine, "timings": None}


def test_an_empty_scenario_is_not_checked(tmp_path: Path) -> None:
    file = tmp_path / "empty.prec"
    file.write_text("scenario s\ncluster A B\nexpect ST\n", encoding="utf-8")
    assert precedes.check(file).verdict is precedes.Verdict.UNKNOWN
    (statement,) = precedes.statements(file)
    assert statement.judge().vacuous


def test_statements_are_judged_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "late.prec"
    file.write_text(SCENARIO + "expect SP\nclaim ST implies SP\nclaim SP implies ST\n", encoding="utf-8")
    found = precedes.statements(file)
    assert [(each.name, each.line) for each in found] == [
        ("late: expect not order_preserving", 5),
        ("late: expect SP", 6),
        ("claim ST implies SP", 7),
        ("claim SP implies ST", 8),
    ]
    assert [each.judge().verdict.value for each in found] == ["holds", "violated", "holds", "violated"]
    judged = found[1].judge()
    assert judged.said == "SP violated"
    assert "B delivers b before a" in judged.shown
    assert "RL[B]: < b a ]" in judged.shown


def test_a_drawing_can_be_left_unmarked() -> None:
    assert precedes.draw(SCENARIO).svg != precedes.draw(SCENARIO, unmarked=True).svg


def test_executions_are_read_written_and_converted(tmp_path: Path) -> None:
    executions = list(precedes.read(SAMPLE))
    assert len(executions) == 20
    assert precedes.write(executions, tmp_path / "copy.csv") == 3600
    assert list(precedes.read(tmp_path / "copy.csv")) == executions
    done = precedes.convert(SAMPLE, tmp_path / "laid.parquet")
    assert (done.executions, done.rows, done.irregular) == (20, 3600, 0)
    assert list(precedes.read(done.path)) == executions
    (execution,) = precedes.read(ROWS)
    assert execution.delivered("R") == ("q", "p")
    assert "RL" in precedes.as_scenario(execution) or "H" in precedes.as_scenario(execution)
    same = precedes.convert(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    assert list(precedes.read(same.path)) == [execution]


def test_a_scenario_reads_back(tmp_path: Path) -> None:
    (execution,) = precedes.read(ROWS)
    file = tmp_path / "found.prec"
    file.write_text(precedes.as_scenario(execution) + "expect not order_preserving\n", encoding="utf-8")
    assert precedes.check(file).verdict is precedes.Verdict.HOLDS


def test_names() -> None:
    rows = precedes.names()
    assert {row["kind"] for row in rows} == {"predicate", "service", "profile", "model"}
    assert {row["name"] for row in rows} >= {"ST", "causal_order", "kafka_partition", "cmd"}
    order = next(row for row in rows if row["name"] == "order_equivalent")
    assert order["parameters"] == ("L", "M")
    assert order["source"]


def test_explain_says_what_the_command_says() -> None:
    for what in ("ST", "T102"):
        command = [str(Path(sys.executable).with_name("precedes")), "explain", what]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert told.strip() == precedes.explain(what).strip()
    assert "T102" in precedes.explain()
    with pytest.raises(precedes.PrecedesError, match="STT"):
        precedes.explain("STT")


@pytest.mark.parametrize(
    ("ask", "place"),
    [
        (lambda: precedes.verify(SAMPLE, "SQ"), "require:1:1: N001"),
        (lambda: precedes.explore("cmd", require="SQ"), "require:1:1: N001"),
        (lambda: precedes.find("ST and not SQ"), "formula:1:12: N001"),
    ],
    ids=["verify", "explore", "find"],
)
def test_a_mistake_is_told_at_the_argument_that_has_it(ask: Callable[[], object], place: str) -> None:
    with pytest.raises(precedes.PrecedesError, match=place):
        ask()


def test_a_lattice_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.prec").write_text("predicate a := forall p: sent(p)\n", encoding="utf-8")
    forms: list[tuple[str, str]] = []
    monkeypatch.setattr(
        "precedes.reports.lattice.write", lambda found, form, path: forms.append((form, Path(path).name))
    )
    for name in ("page.md", "picture.svg", "data.json", "plain.txt"):
        precedes.Lattice(None).save(tmp_path / name)  # type: ignore[arg-type]
    assert forms == [
        ("markdown", "page.md"),
        ("svg", "picture.svg"),
        ("json", "data.json"),
        ("text", "plain.txt"),
    ]


def test_bounds_one_by_one_are_those_of_the_command() -> None:
    words = ["explore", "cmd-auxiliary", "--messages", "2", "--script", "a{2} b{1}", "--states", "500"]
    command = [
        str(Path(sys.executable).with_name("precedes")),
        *words,
        "--require",
        "validity",
        "--format",
        "json",
    ]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    found = precedes.explore("cmd-auxiliary", require="validity", messages=2, script="a{2} b{1}", states=500)
    mine = json.loads(found.json())
    for document in (told, mine):
        for run in document["explorations"]:
            run.pop("timings")
    assert told == mine
