"""The log of the broker mosquitto."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.foreign.logs import (
    check_cuts,
    outcome,
    recognized,
    refusal,
    rows_of,
)

WORD = "mosquitto-log"
START = "1700000000: mosquitto version 2.0.11 starting\n"


def received(client: str, packet: str, topic: str = "t", size: int = 2) -> str:
    return f"1700000001: Received PUBLISH from {client} ({packet}, '{topic}', ... ({size} bytes))\n"


def sent(client: str, packet: str, topic: str = "t", size: int = 2) -> str:
    return f"1700000002: Sending PUBLISH to {client} ({packet}, '{topic}', ... ({size} bytes))\n"


ONCE = (
    START
    + received("p 1", "d0, q1, r0, m4")
    + sent("s1", "d0, q1, r0, m2")
    + sent("s2", "d0, q0, r0, m0")
    + "1700000002: Sending PUBACK to p 1 (m4, rc0)\n"
    + "1700000003: Received PUBACK from s1 (Mid: 2, RC:0)\n"
)
TWICE = (
    received("p", "d0, q2, r0, m6")
    + "1700000001: Sending PUBREC to p (m6, rc0)\n"
    + received("p", "d0, q2, r0, m7")
    + "1700000001: Received PUBREL from p (Mid: 6)\n"
    + sent("s", "d0, q2, r0, m1")
    + "1700000001: Sending PUBCOMP to p (m6)\n"
    + "1700000001: Received PUBREC from s (Mid: 1)\n"
    + "1700000001: Received PUBREL from p (Mid: 7)\n"
    + sent("s", "d0, q2, r0, m2")
)


@pytest.mark.parametrize("name", ["m.log", "m.log.gz"])
def test_rows(tmp_path: Path, name: str) -> None:
    columns = ("topic", "qos", "retained")
    found = rows_of(tmp_path / name, ONCE, WORD, columns)
    message = {"message": f"{name}:2"}
    about = message | {"topic": "t", "retained": "false"}
    at = 1_700_000_000 * 10**9
    assert found == [
        about
        | {"entity": "p 1", "event": "send", "dest": ["group:?"], "qos": "1", "time": at + 10**9, "row": 2},
        about
        | {
            "entity": "s1",
            "event": "deliver",
            "redelivered": False,
            "sender": "p 1",
            "qos": "1",
            "time": at + 2 * 10**9,
            "row": 3,
        },
        about
        | {
            "entity": "s2",
            "event": "deliver",
            "redelivered": False,
            "sender": "p 1",
            "qos": "0",
            "time": at + 2 * 10**9,
            "row": 4,
        },
        message | {"entity": "s1", "event": "ack", "time": at + 3 * 10**9, "row": 6},
    ]


def test_blank_lines_say_nothing(tmp_path: Path) -> None:
    for text in (ONCE, TWICE):
        apart = text.replace("\n", "\n\n").replace("\n\n", "\n  \n", 1)
        found = [rows_of(tmp_path / "m.log", each, WORD) for each in (text, apart)]
        told = [[(row["entity"], row["event"], row["time"]) for row in rows] for rows in found]
        assert told[0] == told[1]


def named(path: Path, text: str, **settings: str) -> list[tuple[str, str]]:
    return [(row["entity"], row["message"]) for row in rows_of(path, text, WORD, **settings)]


def test_a_message_of_quality_2_is_sent_when_it_is_released(tmp_path: Path) -> None:
    assert named(tmp_path / "m.log", TWICE) == [
        ("p", "m.log:1"), ("p", "m.log:3"), ("s", "m.log:1"), ("s", "m.log:1"), ("s", "m.log:3"),
    ]  # fmt: skip


def test_what_is_sent_again_has_the_same_packet(tmp_path: Path) -> None:
    again = sent("s1", "d1, q1, r0, m2")
    found = rows_of(tmp_path / "m.log", ONCE + again, WORD)
    assert (found[-1]["message"], found[-1]["redelivered"]) == ("m.log:2", True)
    assert refusal(tmp_path / "m.log", ONCE + sent("s1", "d1, q1, r0, m9"), WORD).code == "T023"
    assert refusal(tmp_path / "m.log", ONCE + sent("s1", "d1, q1, r0, m2", "u"), WORD).code == "T023"


def test_what_is_published_again_is_no_new_message(tmp_path: Path) -> None:
    first, again = received("p", "d0, q1, r0, m4"), received("p", "d1, q1, r0, m4")
    deliveries = sent("s", "d0, q1, r0, m1") + again + sent("s", "d0, q1, r0, m2")
    assert named(tmp_path / "m.log", first + deliveries) == [
        ("p", "m.log:1"),
        ("s", "m.log:1"),
        ("s", "m.log:1"),
    ]
    answered = first + "1: Sending PUBACK to p (m4, rc0)\n" + again
    assert refusal(tmp_path / "m.log", answered, WORD).code == "T027"
    other = received("p", "d1, q1, r0, m4", "u")
    assert named(tmp_path / "m.log", first + other) == [("p", "m.log:1"), ("p", "m.log:2")]


@pytest.mark.parametrize(
    "text",
    [
        sent("s1", "d0, q1, r1, m1"),
        ONCE + sent("s1", "d0, q1, r0, m3"),
        START + received("p", "d0, q1, r0, m4") + sent("s1", "d0, q1, r0, m3", "other"),
        START + received("p", "d0, q1, r0, m4") + sent("s1", "d0, q1, r0, m3", size=3),
        START + received("p", "d0, q2, r0, m4") + sent("s1", "d0, q1, r0, m3"),
    ],
    ids=["retained", "from a queue", "renamed", "of another size", "not released"],
)
def test_a_delivery_that_may_be_of_any_message_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path / "m.log", text, WORD).code == "T023"


def test_a_topic_for_each_message(tmp_path: Path) -> None:
    text = received("p", "d0, q1, r0, m4", "o/1") + "1: New\n" + sent("s", "d0, q0, r0, m0", "o/1")
    retained = sent("s", "d0, q0, r1, m0", "o/0")
    found = rows_of(tmp_path / "m.log", text + retained, WORD, message="topic")
    assert [(row["message"], row.get("sender")) for row in found] == [
        ("o/1", None),
        ("o/1", "p"),
        ("o/0", "?"),
    ]
    twice = text + received("p", "d0, q1, r0, m5", "o/1")
    assert refusal(tmp_path / "m.log", twice, WORD, message="topic").code == "T027"
    assert refusal(tmp_path / "m.log", text, WORD, message="payload").code == "U001"


def test_what_the_broker_says_of_itself_is_no_message(tmp_path: Path) -> None:
    assert (
        len(rows_of(tmp_path / "m.log", ONCE + sent("s1", "d0, q0, r1, m0", "$SYS/broker/uptime"), WORD)) == 4
    )


def test_times_and_what_syslog_writes(tmp_path: Path) -> None:
    line = received("p", "d0, q0, r0, m0").removeprefix("1700000001: ")
    for before, time in (
        ("", None),
        ("2026-11-29T10:00:00: ", None),
        ("Nov 29 10:00:00 h mosquitto[7]: 5: ", 5 * 10**9),
    ):
        [row] = rows_of(tmp_path / "m.log", before + line, WORD)
        assert row.get("time") == time


def test_lines_that_are_not_whole(tmp_path: Path) -> None:
    assert refusal(tmp_path / "m.log", ONCE.replace("'t'", "'" + "t" * 950), WORD).code == "T007"
    text = ONCE.replace("m4", "m" + "9" * 30)
    assert refusal(tmp_path / "m.log", text, WORD).code == "T015"


def test_long_lines_take_no_time(tmp_path: Path) -> None:
    line = "1: Received PUBLISH from " + "a (d0, q1, r0, m1, 'x', ... (2 bytes) " * 10_000
    assert refusal(tmp_path / "m.log", ONCE + line + "\n", WORD).code == "T007"
    assert len(rows_of(tmp_path / "m.log", ONCE + "x" * 100_000 + "\n", WORD)) == 4
    assert recognized(line + "\n") == []


def test_damage(tmp_path: Path) -> None:
    path = tmp_path / "m.log"
    check_cuts(path, ONCE, WORD)
    for garbage in (b"\xff\xfe\n", b"1: Received PUBLISH from \n", b"Sending PUBLISH to s (d7)\n"):
        assert refusal(path, ONCE.encode() + garbage, WORD).code in {"T006", "T007"}
    assert outcome(path, "", WORD) == []


def test_recognized() -> None:
    assert recognized(START) == [WORD]
    assert recognized("hello\n" + received("p", "d0, q0, r0, m0")) == [WORD]
    assert recognized("hello\n") == []
