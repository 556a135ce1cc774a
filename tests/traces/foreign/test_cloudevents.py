"""CloudEvents as a receiver logged them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.traces.foreign.logs import (
    batch_of,
    check_cuts,
    check_garbage,
    check_wrong_values,
    recognized,
    refusal,
    rows_of,
    source_of,
)

WORD = "cloudevents"


def event(name: str, sequence: str | None = None, source: str = "/shop", **fields: Any) -> dict[str, Any]:
    found = {"specversion": "1.0", "type": "order.placed", "source": source, "id": name} | fields
    return found if sequence is None else found | {"sequence": sequence}


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records)


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
def test_rows(tmp_path: Path, suffix: str) -> None:
    text = lines(
        event("a 1", "9", partitionkey="k", time="2026-01-01T00:00:00Z"), event("b", "10", subject="s")
    )
    common = {"entity": "r1", "event": "deliver", "sender": "/shop", "type": "order.placed"}
    assert rows_of(tmp_path / f"r1.{suffix}", text, WORD, ("key", "type", "subject")) == [
        common | {"message": "/shop a 1", "key": "k", "row": 1},
        common | {"message": "/shop b", "subject": "s", "row": 2},
    ]


def test_sequences_as_numbers(tmp_path: Path) -> None:
    text = lines(event("b", "10"), event("a", "9"), event("b", "10"))
    found = rows_of(tmp_path / "r", text, WORD, ("position",), sequence="numbers")
    sends = [(row["message"], row["seq"], row["dest"]) for row in found if row["event"] == "send"]
    assert sends == [("/shop b", 10, ["group:?"]), ("/shop a", 9, ["group:?"])]
    assert [row["position"] for row in found if row["event"] == "deliver"] == ["10", "9", "10"]
    for wrong, code in ((None, "T011"), ("x", "T012"), ("9" * 30, "T015"), ("", "T014")):
        assert refusal(tmp_path / "r", lines(event("a", wrong)), WORD, sequence="numbers").code == code
    assert refusal(tmp_path / "r", text, WORD, sequence="other").code == "U001"


def test_two_receivers_know_the_same_events(tmp_path: Path) -> None:
    for name in ("r1", "r2"):
        (tmp_path / name).write_text(lines(event("a"), event("b")))
    batch = batch_of(*(source_of(tmp_path / name, WORD, execution="x") for name in ("r1", "r2")))
    assert batch.executions == 1


def test_a_source_with_a_space(tmp_path: Path) -> None:
    assert refusal(tmp_path / "r", lines(event("a", source="a b")), WORD).code == "T012"


def test_damage(tmp_path: Path) -> None:
    records = [event("a", "1"), event("b", "2")]
    check_cuts(tmp_path / "r", lines(*records), WORD)
    check_garbage(tmp_path / "r", lines(*records), WORD)
    check_wrong_values(tmp_path / "r", records[:1], WORD)
    check_wrong_values(tmp_path / "r", records[1:], WORD, sequence="numbers")


def test_recognized() -> None:
    assert recognized(lines(event("a"))) == [WORD]
    assert recognized(lines(event("a", execution="x", event="send"))) == []
