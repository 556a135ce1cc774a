"""Messages of ROS as `rostopic echo -p` prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.foreign.logs import check_cuts, check_garbage, outcome, recognized, refusal, rows_of

WORD = "ros-csv"
HEAD = "%time,field.header.seq,field.header.stamp,field.header.frame_id,field.x\n"
TEXT = (
    HEAD
    + "1700000000100000000,1,1700000000000000000,base,0.5\n"
    + "1700000000300000000,3,1700000000200000000,base link,0.7\n"
)
SEQ = {"message": "field.header.seq"}


@pytest.mark.parametrize("name", ["r1.csv", "r1.csv.gz"])
def test_rows(tmp_path: Path, name: str) -> None:
    found = rows_of(tmp_path / name, TEXT, WORD, ("position",), **SEQ)
    common = {"entity": "r1", "event": "deliver", "sender": "?"}
    assert found == [
        common | {"message": "1", "position": "1", "row": 2},
        common | {"message": "3", "position": "3", "row": 3},
    ]


def test_what_the_user_sets(tmp_path: Path) -> None:
    fields = "field.header.frame_id, field.header.seq"
    found = rows_of(tmp_path / "r1.csv", TEXT, WORD, ("topic",), message=fields, topic="/a", sender="field.x")
    assert [(row["message"], row["sender"], row["topic"]) for row in found] == [
        ("/a base 1", "0.5", "/a"),
        ("/a base%20link 3", "0.7", "/a"),
    ]


def test_times_are_receipts_only_where_that_is_known(tmp_path: Path) -> None:
    path = tmp_path / "r1.csv"
    assert [row["time"] for row in rows_of(path, TEXT, WORD, time="received", **SEQ)] == [
        1700000000100000000,
        1700000000300000000,
    ]
    [row] = rows_of(path, "%time,field.data\n1700000000100000000,m1\n", WORD, message="field.data")
    assert row["time"] == 1700000000100000000
    assert refusal(path, TEXT, WORD, time="sent", **SEQ).code == "U001"


@pytest.mark.parametrize(
    ("text", "settings", "code"),
    [
        (TEXT, {}, "T023"),
        (TEXT, {"message": "field.header.sek"}, "U001"),
        (TEXT, SEQ | {"sender": "field.x,field.header.seq"}, "U001"),
        (TEXT + "1,4,5,base,0.5,0.6\n", SEQ, "T017"),
        (TEXT + "1,4\n", SEQ, "T017"),
        (TEXT + "\n", SEQ, "T017"),
        (TEXT + "1,,5,base,0.5\n", SEQ, "T023"),
        (TEXT + "1,x,5,base,0.5\n", SEQ, "T012"),
        (TEXT + f"1,{2**70},5,base,0.5\n", SEQ, "T015"),
        (TEXT + "-1,4,5,base,0.5\n", SEQ | {"time": "received"}, "T012"),
        ("time,field.data\n1,2\n", {"message": "field.data"}, "T010"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, settings: dict[str, str], code: str) -> None:
    assert refusal(tmp_path / "r1.csv", text, WORD, **settings).code == code


def test_damage(tmp_path: Path) -> None:
    check_cuts(tmp_path / "r1.csv", TEXT, WORD, **SEQ)
    check_garbage(tmp_path / "r1.csv", TEXT, WORD, **SEQ)
    assert outcome(tmp_path / "r1.csv", "", WORD, **SEQ) == []


def test_recognized() -> None:
    assert recognized(TEXT) == [WORD]
    assert recognized("%time,data\n1,2\n") == []
