"""The output of kafka-dump-log."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.traces.foreign.kafka_dump import _Log
from tests.traces.foreign.logs import check_cuts, check_garbage, recognized, refusal, rows_of

WORD = "kafka-dump-log"
COLUMNS = ("topic", "partition", "position", "key", "create_time")
HEAD = "Dumping /var/kafka/orders-eu-3/00000000000000000000.log\nLog starting offset: 0\n"


def batch(first: int, count: int, producer: int = 7, epoch: int = 0, control: bool = False) -> str:
    return (
        f"baseOffset: {first} lastOffset: {first + count - 1} count: {count} baseSequence: 0 lastSequence: 1 "
        f"producerId: {producer} producerEpoch: {epoch} partitionLeaderEpoch: 0 isTransactional: false "
        f"isControl: {str(control).lower()} deleteHorizonMs: OptionalLong.empty position: 0 "
        "CreateTime: 1700000000123 size: 90 magic: 2 compresscodec: none crc: 1 isvalid: true\n"
    )


def record(
    offset: int, sequence: int, rest: str = " payload: v", key: int = -1, kind: str = "CreateTime"
) -> str:
    sizes = f"keySize: {key} valueSize: 1"
    return f"| offset: {offset} {kind}: 1700000000123 {sizes} sequence: {sequence} headerKeys: []{rest}\n"


TEXT = HEAD + batch(0, 2) + record(0, 0, " key: k 1 payload: v", 3) + record(1, 1)
SEND = {"entity": "producer 7 of orders-eu-3", "event": "send", "dest": ["log orders-eu-3", "group:?"]}
CARRIED = {"topic": "orders-eu", "partition": "3", "create_time": "1700000000.123000000"}


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
def test_rows(tmp_path: Path, suffix: str) -> None:
    first = CARRIED | {"message": "orders-eu-3@0", "position": "0", "key": "k 1", "row": 4}
    second = CARRIED | {"message": "orders-eu-3@1", "position": "1", "row": 5}
    got = {"entity": "log orders-eu-3", "event": "deliver"}
    found = rows_of(tmp_path / f"d.{suffix}", TEXT, WORD, COLUMNS)
    assert found == [first | SEND | {"seq": 0}, second | SEND | {"seq": 1}, first | got, second | got]


def test_sends_are_in_the_order_of_epochs_and_sequence_numbers(tmp_path: Path) -> None:
    text = HEAD + batch(0, 1, epoch=1) + record(0, 0) + batch(1, 2) + record(1, 1) + record(2, 0)
    found = rows_of(tmp_path / "d", text, WORD)
    assert [row["message"] for row in found if row["event"] == "send"] == [
        "orders-eu-3@2",
        "orders-eu-3@1",
        "orders-eu-3@0",
    ]
    assert [row["row"] for row in found if row["event"] == "deliver"] == [4, 6, 7]


def test_after_the_last_sequence_number_comes_zero() -> None:
    log = _Log("x", None, False)
    last = 2**31 - 1
    found = [log._counted(("p", 0), sequence) for sequence in (last - 1, 0, last, 1)]
    assert sorted(found) == [found[0], found[2], found[1], found[3]]


def test_who_does_not_number_is_nobody_known(tmp_path: Path) -> None:
    text = HEAD + batch(0, 1, producer=-1) + record(0, -1, kind="LogAppendTime")
    text += "offset: 1 position: 0 CreateTime: 1 size: 9 magic: 1 compresscodec: none crc: 1 isvalid: true\n"
    text += "| offset: 1 CreateTime: -1 keySize: 1 valueSize: 1 isValid: true crc: 4} key: k payload: v\n"
    first, second = rows_of(tmp_path / "d", text, WORD, COLUMNS)
    assert (first["sender"], first["time"], "create_time" in first) == ("?", 1700000000123000000, False)
    assert (second["sender"], second["key"], "create_time" in second) == ("?", "k", False)


def test_control_records_are_no_messages(tmp_path: Path) -> None:
    marker = record(2, -1, " endTxnMarker: COMMIT coordinatorEpoch: 0", 4)
    text = TEXT + batch(2, 1, control=True) + marker + batch(3, 1) + record(3, 2)
    named = [row["message"] for row in rows_of(tmp_path / "d", text, WORD) if row["event"] == "deliver"]
    assert named == ["orders-eu-3@0", "orders-eu-3@1", "orders-eu-3@3"]


def test_a_record_that_was_stored_twice(tmp_path: Path) -> None:
    text = HEAD + batch(0, 1) + record(0, 0) + batch(1, 1) + record(1, 0)
    found = rows_of(tmp_path / "d", text, WORD, message="sequence")
    assert {row["message"] for row in found} == {"producer 7 of orders-eu-3, epoch 0, sequence 0"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (HEAD + batch(0, 2) + record(0, 0), "T024"),
        (HEAD + batch(0, 1) + record(0, 0) + record(1, 1), "T024"),
        (HEAD + batch(0, 2), "T023"),
        (HEAD + record(0, 0), "T024"),
        (HEAD + batch(0, 1) + record(0, 0, " payload: a\nb"), "T007"),
        (HEAD + batch(0, 1).replace("isvalid: true", "isvalid: false"), "T004"),
        (TEXT + "Found 12 invalid bytes at the end of 0.log\n", "T004"),
        ("Dumping 0.log\n" + TEXT.removeprefix(HEAD), "T023"),
    ],
)
def test_refused(tmp_path: Path, text: str, code: str) -> None:
    assert refusal(tmp_path / "d", text, WORD).code == code


def test_the_partition_can_be_set(tmp_path: Path) -> None:
    text = TEXT.removeprefix(HEAD)
    assert rows_of(tmp_path / "d", text, WORD, topic="t", partition="1")[0]["message"] == "t-1@0"
    assert rows_of(tmp_path / "d", TEXT, WORD, topic="t", partition="1")[0]["message"] == "t-1@0"
    for settings in ({"topic": "t"}, {"partition": "1"}, {"topic": "t", "partition": "x"}, {"message": "x"}):
        assert refusal(tmp_path / "d", text, WORD, **settings).code == "U001"


def test_keys_that_are_not_printed_as_they_are(tmp_path: Path) -> None:
    for rest, size in ((" key: \ufffd payload: v", 1), (" key: kk payload: v", 1), (" payload: v", 2)):
        text = HEAD + batch(0, 1) + record(0, 0, rest, size)
        assert "key" not in rows_of(tmp_path / "d", text, WORD, COLUMNS)[0]


def test_damage(tmp_path: Path) -> None:
    check_cuts(tmp_path / "d", HEAD + batch(0, 1) + record(0, 0), WORD)
    check_garbage(tmp_path / "d", TEXT, WORD)


def test_recognized() -> None:
    assert recognized(TEXT) == [WORD]
    assert recognized(TEXT.removeprefix(HEAD)) == [WORD]
    assert recognized("Dumping the core\n") == []
