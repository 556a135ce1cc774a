"""Spans of OpenTelemetry as OTLP JSON: what they become, and what names a message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.traces.foreign.logs import check_cuts, check_wrong_values, recognized, refusal, rows_of
from tests.traces.foreign.otlp_spans import TRACE, batch, lines, link, span

WORD = "otlp"
SENDS = batch("p", span(2, "send", 20), span(1, "send", 10, messaging__message__id="o-1"))
RECORD = {"messaging__destination__partition__id": "3", "messaging__kafka__offset": 42}
PROCESSED = batch(
    "c",
    span(3, "process", 30, link(1, messaging__message__id="o-1"), **RECORD),
    span(4, "process", 40, link(2)),
)


@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_spans_that_name_a_message_by_different_things(tmp_path: Path, suffix: str) -> None:
    found = rows_of(tmp_path / f"t.{suffix}", lines(SENDS, PROCESSED), WORD)
    second = f"context:{TRACE.lower()}-{2:016x}"
    assert [(row["entity"], row["event"], row["message"], row["time"]) for row in found] == [
        ("p", "send", "record:orders/3/42", 10),
        ("p", "send", second, 20),
        ("c", "deliver", "record:orders/3/42", 30),
        ("c", "deliver", second, 40),
    ]
    assert all(row["dest"] == ["group:?"] for row in found[:2])
    assert not any("sender" in row for row in found)


def test_a_sender_in_another_file_and_one_document(tmp_path: Path) -> None:
    text = json.dumps(PROCESSED, indent=2)
    assert recognized(text) == recognized(lines(SENDS)) == [WORD]
    found = rows_of(tmp_path / "t.json", text, WORD, message="id")
    assert [(row["message"], row["sender"]) for row in found] == [
        ("o-1", "?"),
        (f"context:{TRACE.lower()}-{2:016x}", "?"),
    ]


def test_a_batch_names_its_messages_on_links(tmp_path: Path) -> None:
    several = batch("c", span(5, "process", 50, link(1, messaging__message__id="o-1"), link(2)))
    found = rows_of(tmp_path / "t.json", lines(SENDS, several), WORD)
    assert [row["message"] for row in found[2:]] == ["o-1", f"context:{TRACE.lower()}-{2:016x}"]


def test_receive_and_process(tmp_path: Path) -> None:
    both = batch("c", span(6, "receive", 25, link(1)), span(7, "process", 30, link(1)))
    for setting, time in (("process", 30), ("receive", 25)):
        *_, delivery = rows_of(tmp_path / "t.json", lines(SENDS, both), WORD, delivery=setting)
        assert (delivery["event"], delivery["time"]) == ("deliver", time)


def test_what_does_not_name_one_message(tmp_path: Path) -> None:
    two = batch(
        "c",
        span(8, "process", 30, link(2), messaging__message__id="a"),
        span(9, "process", 31, link(2), messaging__message__id="b"),
    )
    for text in (lines(SENDS, two), lines(batch("c", span(9, "process", 1)))):
        assert refusal(tmp_path / "t.json", text, WORD).code == "T025"


def test_cuts_and_wrong_values(tmp_path: Path) -> None:
    one = batch("p", span(1, "send", 10))
    check_cuts(tmp_path / "t.json", lines(one), WORD)
    check_wrong_values(tmp_path / "t.json", [one, PROCESSED], WORD)
    inside = one["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    for name in inside:
        for wrong in (True, -1, "x", ["x"], {"a": 1}):
            assert refusal(tmp_path / "t.json", lines(batch("p", inside | {name: wrong})), WORD).row == 1


def test_lines_that_are_not_in_the_order_of_times(tmp_path: Path) -> None:
    text = lines(batch("p", span(2, "send", 20)), batch("p", span(1, "send", 10)))
    found = rows_of(tmp_path / "t.json", text, WORD)
    assert [(row["row"], row["time"], row["seq"]) for row in found] == [(2, 10, 10), (1, 20, 20)]


def test_an_attribute_that_a_row_cannot_have(tmp_path: Path) -> None:
    wrong = {"key": "kafka.key", "value": {"boolValue": True}}
    sent = span(1, "send", 10)
    text = lines(batch("p", sent | {"attributes": [*sent["attributes"], wrong]}))
    assert refusal(tmp_path / "t.json", text, WORD).code == "T012"
