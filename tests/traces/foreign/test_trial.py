"""The first rows of a log as they are understood: each beside what it becomes, and what is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from precedes.reports.trial import as_text
from precedes.traces.formats.registry import JSON_LINES
from precedes.traces.trial import tried
from tests.command.running import precedes
from tests.traces.foreign.test_mapping import BUS, BUS_ROWS, lines, source


def test_rows_beside_what_they_become(tmp_path: Path) -> None:
    log = lines([*BUS_ROWS, {"op": "tick"}, {"op": "consume", "svc": "c1", "ts": "x", "body": {"id": 1}}])
    found = tried(source(tmp_path, BUS, log), 6)
    assert [row.number for row in found.rows] == [1, 2, 3, 4, 5, 6]
    assert found.rows[2].given == BUS_ROWS[2]
    assert found.rows[2].became == {
        "event": "deliver",
        "execution": "bus",
        "entity": "c1",
        "message": 8,
        "time": "1700000000.002500000",
    }
    assert [row.why is None for row in found.rows] == [True, True, True, True, False, False]
    assert {lack.what for lack in found.lacks} == {
        "dest of some sends",
        "sender of some deliveries",
        "seq",
        "clock",
        "ack and nack",
    }
    assert found.absent == ()
    text = as_text(found)
    assert "row 5  op=tick\n  not taken: T028 no event takes this row" in text
    assert "whether their messages were lost is unknown" in text
    assert "2 rows of 6 not taken" in text


def test_a_field_that_no_row_has(tmp_path: Path) -> None:
    found = tried(source(tmp_path, BUS.replace('"to"', '"destinations"'), lines(BUS_ROWS)), 2)
    assert len(found.rows) == 2
    assert found.absent == ("destinations",)
    assert "none of these rows has destinations" in as_text(found)


def test_a_row_that_no_trace_can_have(tmp_path: Path) -> None:
    [row] = tried(source(tmp_path, BUS, lines([{**BUS_ROWS[0], "ts": 10**19}])), 9).rows
    assert row.became is None
    assert str(row.why).startswith("T015")


def test_rows_of_another_format(tmp_path: Path) -> None:
    log = lines([{"execution": "x", "entity": "a", "event": "send", "message": 1, "time": 1.5}])
    found = tried(replace(source(tmp_path, "", log), format=JSON_LINES, settings=()), 5)
    assert [row.became for row in found.rows] == [
        {"execution": "x", "entity": "a", "event": "send", "message": "1", "time": "1.5"}
    ]
    assert {lack.what for lack in found.lacks} == {"dest", "deliveries", "seq", "clock", "ack and nack"}
    assert tried(source(tmp_path, BUS, ""), 5).lacks == ()


def test_a_row_that_is_ignored(tmp_path: Path) -> None:
    [row] = tried(source(tmp_path, f'others = "ignore"\n{BUS}', lines([{"op": "tick"}])), 5).rows
    assert row.ignored
    assert row.hint is None


def test_rows_are_cut_at_the_width_of_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = lines([{"execution": "x", "entity": "a", "event": "send", "message": "m" * 150}])
    (tmp_path / "x.jsonl").write_text(log, encoding="utf-8")
    for columns, widest in (("90", 100), ("140", 140), ("400", 196)):
        monkeypatch.setenv("COLUMNS", columns)
        printed = precedes("convert", tmp_path / "x.jsonl", "--try").out.splitlines()
        [row] = [line for line in printed if line.startswith("  is  ")]
        assert (len(row), row.endswith("m...")) == (widest, widest < 196), row
