"""Logs of TSViz: those of ShiViz with times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.foreign.logs import check_cuts, outcome, recognized, refusal, rows_of

WORD = "tsviz"
HEADER = "(?<timestamp>(\\d*)) (?<event>.*)\\n(?<host>\\w*) (?<clock>.*)\n\n"
LOG = """\
1456966522870845696 put m1
t1 {"t1":1}
1456966522870848032 take m1
t2 {"t2":1, "t1":1}
"""
SAYS = {"send": r"^put (?<message>\w+)", "deliver": r"^take (?<message>\w+)"}


@pytest.mark.parametrize("name", ["a.log", "a.log.gz"])
@pytest.mark.parametrize("header", ["", HEADER], ids=["plain", "with its expression"])
def test_rows(tmp_path: Path, name: str, header: str) -> None:
    first = 1 + header.count("\n")
    assert rows_of(tmp_path / name, header + LOG, WORD, **SAYS) == [
        {
            "entity": "t1", "seq": 1, "event": "send", "message": "m1", "dest": ["group:?"],
            "time": 1456966522870845696, "clock": {"t1": 1}, "row": first,
        },
        {
            "entity": "t2", "seq": 1, "event": "deliver", "message": "m1",
            "time": 1456966522870848032, "clock": {"t1": 1, "t2": 1}, "row": first + 2,
        },
    ]  # fmt: skip


def test_other_units_and_expressions(tmp_path: Path) -> None:
    found = rows_of(tmp_path / "a.log", '5 x\na {"a":1}\n', WORD, time="us")
    assert found[0]["time"] == 5000
    regex = r"(?<timestamp>\d+) (?<host>\w+) (?<clock>{.*}) (?<event>.*)"
    [row] = rows_of(tmp_path / "a.log", '17 a {"a":1} x\n', WORD, regex=regex)
    assert (row["time"], row["event"]) == (17, "local")
    again = rows_of(tmp_path / "a.log", HEADER + '17 a {"a":1} x\n', WORD, regex=regex)
    assert again == [row | {"row": 3}]


def test_executions_that_the_file_divides(tmp_path: Path) -> None:
    text = HEADER.replace("\n\n", "\n^=== (?<trace>.*) ===$\n") + LOG + "=== second ===\n" + LOG
    assert [row["row"] for row in rows_of(tmp_path / "a.log", text, WORD)] == [3, 5, 8, 10]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (LOG.replace("1456966522870845696 ", ""), "T007"),
        (LOG + "9" * 30 + ' x\nt1 {"t1":2}\n', "T015"),
        (LOG + '5 x\nt1 {"t1":"2"}\n', "T026"),
        (LOG + "5 x\nt1 {\n", "T007"),
        ("(?<timestamp>\\d*) (?<host>\\w*) (?<clock>.*)\n\n" + LOG, "U001"),
        ("(?<timestamp>\\d*) (?<host>( (?<clock>.*)\n\n" + LOG, "U001"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, code: str) -> None:
    assert refusal(tmp_path / "a.log", text, WORD).code == code


def test_damage(tmp_path: Path) -> None:
    check_cuts(tmp_path / "a.log", LOG, WORD)
    for garbage in (b"\xff\n", b"[1]\n", b"nonsense\n"):
        assert refusal(tmp_path / "a.log", LOG.encode() + garbage, WORD).code in {"T006", "T007"}
    assert outcome(tmp_path / "a.log", "", WORD) == []


def test_recognized() -> None:
    assert recognized(LOG) == [WORD, "shiviz"]
    assert recognized(HEADER + LOG) == [WORD, "shiviz"]
    assert recognized(LOG.replace("1456966522870845696 ", "")) == ["shiviz"]
    assert recognized(LOG, "x.jsonl") == []
