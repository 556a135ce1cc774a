"""Reading a log by columns comes to what reading it by rows does, for generated and for damaged files."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from precedes.core.diagnostics import PrecedesError
from precedes.traces import Notices
from precedes.traces.foreign import rows, slices
from precedes.traces.formats.line_slices import Slice
from tests.traces.foreign.both_ways import by_columns, check_both_ways, mutated, outcome
from tests.traces.foreign.logs import source_of
from tests.traces.foreign.made_spans import damaged, spans
from tests.traces.foreign.otlp_spans import lines
from tests.traces.foreign.test_kafka_verifiable import CONSUMED, PRODUCED
from tests.traces.foreign.test_kafka_verifiable import lines as events
from tests.traces.foreign.test_otlp import PROCESSED, SENDS

KAFKA = ("topic", "partition", "position", "key", "create_time", "append_time")


def kcat(made: random.Random) -> str:
    """A log of kcat, some of its values unusual."""
    wild = made.choice((0.0, 0.0, 0.1))

    def record(offset: int) -> dict[str, Any]:
        found: dict[str, Any] = {
            "topic": made.choice(("orders", "\u00e9")),
            "partition": made.randrange(3),
            "offset": offset,
            "tstype": made.choice(("create", "logappend", "unknown")),
            "ts": made.choice((-1, 0, 7, 1700000000123)),
            "broker": 1,
            "key": made.choice((None, "k", "")),
            "payload": made.choice((None, "p1", "Infinity", ":NaN")),
        }
        if made.random() < 0.2:
            found["headers"] = made.choice(([], ["a", "1"], None))
        for name in list(found):
            if made.random() < wild:
                found[name] = made.choice((None, True, -1, 1.5, 2**70, "", "x", [], ["x"], {}, {"a": 1}))
        return found

    space = made.choice((None, (",", ":")))
    records = [json.dumps(record(k), separators=space) for k in range(made.randrange(6))]
    return "".join(f"{line}{made.choice(LINE_ENDS)}" for line in records)


LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\n\n", " \n")


def console(made: random.Random) -> str:
    """The output of the console consumer."""
    time = made.choice(("", "CreateTime:{0}\t", "LogAppendTime:{0}\t", "NO_TIMESTAMP\t"))
    delivery = made.choice(("", "Delivery:1\t", "Delivery:2\t", "Delivery:NONE\t", "Epoch:3\t"))
    rest = made.choice(("", "k", "null", "k\tv", "h:1\tk\tv\tw", "\u00e9"))
    ends = made.choice(("\n", "\r\n"))
    width = made.choice((1, 3))
    lines = []
    for k in range(made.randrange(6)):
        at = time.format(made.choice((0, 5, 1700000000123)))
        lines.append(f"{at}Partition:{k % 3}\tOffset:{k:0{width}}\t{delivery}{rest}")
    return "".join(f"{line}{ends}" for line in lines)


def verifiable(made: random.Random) -> str:
    """The log of a producer or a consumer."""
    wild = made.choice((0.0, 0.0, 0.03))
    listed: dict[int, int] = {}
    events: list[dict[str, Any]] = [{"name": "startup_complete"}]
    for offset in range(made.randrange(12)):
        partition = made.randrange(2)
        record = {"key": made.choice((None, "k")), "value": "1", "topic": "t", "partition": partition}
        match made.randrange(8):
            case 0:
                counts = [{"topic": "t", "partition": at, "count": count} for at, count in listed.items()]
                events.append({"name": "records_consumed", "count": 9, "partitions": counts})
                listed = {}
            case 1 | 2:
                ends = [
                    {
                        "topic": made.choice("tttu"),
                        "partition": made.randrange(3),
                        "offset": made.randrange(12),
                    }
                    for _ in range(made.randrange(3))
                ]
                success = made.choice((True, True, False))
                events.append({"name": "offsets_committed", "offsets": ends, "success": success})
            case 3:
                events.append({"name": "producer_send_success", **record, "offset": offset})
            case 4:
                other = made.choice(("partitions_revoked", "tool_data", "producer_send_error", "more"))
                events.append({"name": other} if made.random() < 0.5 else {"name": "partitions_assigned"})
            case _:
                events.append({"name": "record_data", **record, "offset": made.choice((offset, offset, 3))})
                listed[partition] = listed.get(partition, 0) + 1
    lines = [{"timestamp": 1700000000123 + k, **event} for k, event in enumerate(events)]
    return "".join(f"{json.dumps(damaged(made, line, wild))}\n" for line in lines)


MADE: dict[str, tuple[Callable[[random.Random], str], tuple[str, ...], dict[str, str]]] = {
    "kcat": (kcat, KAFKA, {}),
    "kafka-console": (console, KAFKA, {"topic": "t"}),
    "kafka-verifiable": (verifiable, KAFKA[:4], {}),
    "otlp": (spans, ("topic", "partition", "position", "key", "consumer_group"), {"execution": "x"}),
}
SETTINGS: dict[str, tuple[dict[str, str], ...]] = {
    "kcat": ({}, {"execution": "x"}),
    "kafka-verifiable": ({}, {"group": "g"}, {"sends": "value"}),
    "otlp": (
        {},
        {"message": "id"},
        {"message": "context", "delivery": "receive"},
        {"entity": "service.name"},
    ),
    "kafka-console": ({}, {"columns": "key"}, {"columns": "key,value"}, {"columns": "headers,key,value"}),
}


@pytest.mark.parametrize("word", MADE)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_ways(word: str, tmp_path: Path, seed: int) -> None:
    made = random.Random(seed)
    make, columns, needed = MADE[word]
    data = mutated(made, make(made))
    check_both_ways(tmp_path / "a.log", data, word, seed, columns, **needed, **made.choice(SETTINGS[word]))


@pytest.mark.parametrize("word", MADE)
def test_what_these_programs_write_is_read_by_columns(word: str, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(USUAL[word])
    with by_columns() as refused:
        found = outcome(source_of(path, word, **MADE[word][2]))
    assert not refused
    assert isinstance(found[0], list)
    assert found[0]


USUAL = {
    "otlp": lines(SENDS, PROCESSED),
    "kafka-verifiable": events(*CONSUMED, *PRODUCED),
    "kcat": '{"topic":"t","partition":0,"offset":1,"tstype":"create","ts":5,"broker":1,"key":null,"payload":"p"}\n'
    '{"topic":"t","partition":0,"offset":2,"tstype":"unknown","ts":0,"broker":1,"headers":["a","b"],"key":"k"}\n',
    "kafka-console": "CreateTime:5\tPartition:0\tOffset:1\tk\tv\nNO_TIMESTAMP\tPartition:1\tOffset:0\tnull\t\n",
}


@pytest.mark.parametrize("word", ["NaN", "-NaN", "Inf", "-Inf", "Infinity", "-Infinity"])
def test_bare_words_are_read_as_no_number(word: str) -> None:
    whole, struct = pa.int64(), pa.struct([("a", pa.int64())])
    for kind in (
        whole,
        pa.string(),
        pa.bool_(),
        struct,
        pa.list_(whole),
        pa.float64(),
        pa.list_(pa.float64()),
    ):
        for value in (word, f"[{word}]", f'{{"a":{word}}}'):
            given = Slice(f'{{"x":{value}}}\n'.encode(), 1)
            with pytest.raises(slices.UNCERTAIN):
                slices.objects(given, pa.schema([("x", kind)]))


def test_what_is_wrong_first_is_told_first(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    good = b'{"topic":"t","partition":0,"offset":0}\n' * 9
    path.write_bytes(good + b'{"topic":7}\n' + good + b'"\xff"\n')
    source = source_of(path, "kcat")
    with patch.object(rows, "_BLOCK_BYTES", 120), pytest.raises(PrecedesError) as raised:
        list(source.format.module.read(source, Notices()))
    assert [each.row for each in raised.value.diagnostics] == [10]
