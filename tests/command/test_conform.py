"""`precedes conform`: exit codes and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import precedes
from precedes.core.diagnostics import PrecedesError
from tests.command.running import precedes as run

ROWS = [
    {"execution": "x", "entity": "E1", "event": "send", "message": "m", "dest": ["E3"]},
    {"execution": "x", "entity": "E1", "event": "send", "message": "n", "dest": ["E2"]},
    {"execution": "x", "entity": "E2", "event": "deliver", "message": "n"},
    {"execution": "x", "entity": "E2", "event": "send", "message": "p", "dest": ["E3"]},
    {"execution": "x", "entity": "E3", "event": "deliver", "message": "m"},
    {"execution": "x", "entity": "E3", "event": "deliver", "message": "p"},
]
WRONG = [*ROWS[:4], ROWS[5], ROWS[4]]


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    numbered = [{**row, "seq": seq} for seq, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in numbered), encoding="utf-8")
    return path


def test_exit_codes_and_the_report(tmp_path: Path) -> None:
    trace = written(tmp_path / "wrong.jsonl", WRONG)
    ended = run("conform", "cmd", trace, "--format", "json", "--html", tmp_path / "report.html")
    assert ended.code == 1
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>cmd (repaired)</h2>" in page
    assert "E3 delivers p (its event 1), and no run has that" in page
    document = json.loads(ended.out)
    assert (document["verdict"], document["executions"], document["does_not_conform"]) == ("violated", 1, 1)
    (shown,) = document["shown"]
    assert (shown["entity"], shown["event"], shown["allowed"]) == (
        "E3",
        "delivers p",
        ["delivers m with the clock (1, 0, 1)"],
    )
    assert shown["messages"] == {"a1": "m", "a2": "n", "b1": "p"}


def test_what_conforms_and_what_cannot_run(tmp_path: Path) -> None:
    trace = written(tmp_path / "right.jsonl", ROWS)
    ended = run("conform", "cmd", trace, "-v")
    assert ended.code == 0
    assert "x conforms: a run of the model has what was recorded" in ended.out
    assert "in these moves a1 is m, a2 is n, b1 is p" in ended.out
    assert run("conform", "cmd", "-").code == 2


def test_what_the_model_never_logs_is_to_be_ignored(tmp_path: Path) -> None:
    arrived = {"execution": "x", "entity": "E2", "event": "arrive", "message": "n"}
    trace = written(tmp_path / "arrived.jsonl", [*ROWS[:2], arrived, *ROWS[2:]])
    ended = run("conform", "cmd", trace)
    assert ended.code == 1
    assert (
        "no run that was tried logs any event `arrive`: if the model has none, add --ignore arrive"
        in ended.out
    )
    assert run("conform", "cmd", trace, "--ignore", "arrive").code == 0


def test_in_python(tmp_path: Path) -> None:
    right, wrong = written(tmp_path / "right.jsonl", ROWS), written(tmp_path / "wrong.jsonl", WRONG)
    report = precedes.conform("cmd", [str(right)])
    assert report.verdict is precedes.Verdict.HOLDS
    assert (report.conforming, report.deviating, report.undecided) == (1, 0, 0)
    assert repr(report) == "<Conformance holds: holds 1>"
    assert precedes.conform("cmd", str(wrong), as_written=True).deviating == 1
    assert precedes.conform("cmd", str(right), states=1).verdict is precedes.Verdict.UNKNOWN
    with pytest.raises(AssertionError, match="E3 delivers p"):
        precedes.conform("cmd", str(wrong)).raise_for_violations()
    with pytest.raises(PrecedesError, match="cannot be ignored"):
        precedes.conform("cmd", str(right), ignore="packets")
