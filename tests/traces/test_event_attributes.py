"""Attributes of events in traces: read row by row, in every format, and kept by columnar files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import precedes
from precedes.core.formula import Attribute, AttributeSort, Carrier
from precedes.core.transposition import batch_of, execution_of
from precedes.engines.scan.verdict_rows import VIOLATION_SCHEMA
from precedes.language.library import Library, standard_library
from precedes.language.parsing.parser import parse

ATTEMPT = Attribute("attempt", AttributeSort.NUMBER, Carrier.EVENT)
REDELIVERED = Attribute("redelivered", AttributeSort.TEXT, Carrier.EVENT)
LIBRARY = Library([parse("attribute attempt of event: number")], standard_library())
COUNTED = "forall i: forall d in DL[i]: attempt(d) = nth(d)"
FLAGGED = 'forall i: forall d in DL[i]: nth(d) > 1 iff redelivered(d) = "true"'


def row(event: str, message: str, **more: Any) -> dict[str, Any]:
    entity = "shop" if event == "send" else "billing"
    return {"execution": "x", "entity": entity, "event": event, "message": message, **more}


ROWS = [
    row("send", "m", seq=0, dest=["billing"], key="k1"),
    row("send", "n", seq=1, dest=["billing"], key="k2"),
    row("deliver", "m", seq=0, attempt=1, redelivered=False),
    row("deliver", "n", seq=1, attempt=1, redelivered=False),
    row("deliver", "m", seq=2, attempt=2, redelivered=True),
]


def verdicts(events: Any, *required: str) -> list[tuple[int, int, int]]:
    report = precedes.verify(events, list(required), library=LIBRARY)
    return [(report[name].holds, report[name].violated, report[name].unknown) for name in report]


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return str(path)


def test_rows_of_one_message_may_differ() -> None:
    assert verdicts(ROWS, COUNTED, FLAGGED) == [(1, 0, 0), (1, 0, 0)]
    later = [*ROWS[:-1], {**ROWS[-1], "attempt": 5, "redelivered": False}]
    assert verdicts(later, COUNTED, FLAGGED) == [(0, 1, 0), (0, 1, 0)]


def test_what_is_not_recorded_is_unknown_and_told() -> None:
    bare = [{name: value for name, value in one.items() if name != "attempt"} for one in ROWS]
    report = precedes.verify(bare, COUNTED, library=LIBRARY)
    assert report.executions == 1
    assert report[COUNTED].unknown == 1
    told = [notice.render() for notice in report.notices if notice.code == "T118"]
    assert told == ["T118 deliveries have no `attempt`: what depends on it is unknown (3)"]


def test_parts_are_spoken_of_only_where_something_is_asked_per_value() -> None:
    def told(required: str) -> list[str]:
        bare = [{name: value for name, value in one.items() if name != "key"} for one in ROWS]
        return [one.text for one in precedes.verify(bare, required).notices if one.code == "T118"]

    assert told('forall p: sent(p) implies key(p) = "k1"') == [
        "messages have no `key`: what depends on it is unknown"
    ]
    assert told("ST per key") == [
        "messages have no `key`: they are in no part of `per key`, and what depends on it is unknown"
    ]


@pytest.mark.parametrize("name", ["copy.jsonl", "copy.csv", "copy.parquet"])
def test_executions_are_written_and_read_again(tmp_path: Path, name: str) -> None:
    (found,) = precedes.read(ROWS, attributes=["attempt", "redelivered", "key"], library=LIBRARY)
    events = found.history("billing").events
    assert [event.attributes for event in events] == [
        {ATTEMPT: 1, REDELIVERED: "false"},
        {ATTEMPT: 1, REDELIVERED: "false"},
        {ATTEMPT: 2, REDELIVERED: "true"},
    ]
    assert [*found.messages["m"].attributes.values()] == ["k1"]
    path = tmp_path / name
    precedes.write([found], path)
    assert list(precedes.read(str(path), attributes=["attempt", "redelivered", "key"], library=LIBRARY)) == [
        found
    ]
    assert execution_of(batch_of([found]), 0).history("billing").events == events


def test_an_attribute_to_read_must_be_declared() -> None:
    with pytest.raises(precedes.PrecedesError) as refused:
        precedes.read(ROWS, attributes="attemt", library=LIBRARY)
    assert refused.value.diagnostics[0].code == "N016"
    assert refused.value.diagnostics[0].hint == "did you mean attempt?"


def test_a_columnar_file_gives_the_same(tmp_path: Path) -> None:
    regular = [{**one, "execution": "y"} for one in ROWS[:4]]
    plain = written(tmp_path / "trace.jsonl", [*ROWS, *regular])
    columnar = str(tmp_path / "trace.parquet")
    converted = precedes.convert(plain, columnar)
    assert (converted.executions, converted.irregular) == (2, 1)
    for required in (COUNTED, FLAGGED, "forall i: forall d in DL[i]: position(d, DL[i]) < 3"):
        assert verdicts(columnar, required) == verdicts(plain, required), required


def test_one_row_twice_is_one_event_and_another_value_a_contradiction() -> None:
    assert verdicts([*ROWS, ROWS[-1]], COUNTED) == [(1, 0, 0)]
    assert verdicts([*ROWS, {**ROWS[-1], "attempt": 3}], COUNTED) == [(0, 0, 1)]


def test_violations_name_their_part(tmp_path: Path) -> None:
    rows = [
        row("send", "m", dest=["billing"], key="k1"),
        row("send", "n", dest=["billing"], key="k1"),
        row("deliver", "n"),
        row("deliver", "m"),
    ]
    required = ["order_preserving per key", "order_preserving"]
    precedes.verify(rows, required, out=tmp_path, all_violations=True)
    found = pq.read_table(tmp_path / "violations.parquet")
    assert found.schema == VIOLATION_SCHEMA
    assert found["part"].to_pylist() == ['{"key": "k1"}', None]
