"""Spans of one entity that start at the same time: nobody knows their order, and no verdict pretends to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import precedes
from precedes import Verdict
from precedes.traces import Notices, Order, TraceOptions, assemble, canonical
from precedes.traces.schema import BY_TIME
from tests.traces.foreign.otlp_spans import batch, lines, link, span

SENDS = batch("p", span(1, "send", 10), span(2, "send", 20))
REASON = "events of an entity have equal times, and nothing else orders them"


def consumer(name: str, first: int, *times: int) -> dict[str, Any]:
    """A program that processes the messages of the spans 2 and 1, in this order in its file."""
    spans = zip((first, first + 1), times, (2, 1), strict=True)
    return batch(name, *(span(number, "process", time, link(of)) for number, time, of in spans))


TIED, BACKWARD = consumer("c", 5, 30, 30), consumer("d", 7, 30, 40)
BATCHED = batch("c", span(5, "process", 30, link(2), link(1)))


def written(folder: Path, *batches: dict[str, Any], name: str = "spans.json") -> Path:
    """A file of spans."""
    path = folder / name
    path.write_text(lines(*batches), encoding="utf-8")
    return path


def verdicts(path: Any, name: str = "order_preserving", **options: Any) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and the reasons if it is unknown."""
    report = precedes.verify(path, name, **options)
    return report.verdict, tuple(text for unknown in report.unknowns for text in unknown.why)


def test_what_depends_on_their_order_is_unknown(tmp_path: Path) -> None:
    path = written(tmp_path, SENDS, TIED)
    assert verdicts(path) == (Verdict.UNKNOWN, (REASON,))
    assert verdicts(path, "no_duplication") == (Verdict.HOLDS, ())
    assert verdicts(path, order="rows") == (Verdict.VIOLATED, ())
    (told,) = [each for each in precedes.verify(path, "no_duplication").notices if each.code == "T121"]
    assert told.count == 2
    assert "--order rows" in told.text
    assert "T121" not in [each.code for each in precedes.verify(path, "no_duplication", order="rows").notices]


def test_a_violation_elsewhere_is_certain(tmp_path: Path) -> None:
    assert verdicts(written(tmp_path, SENDS, TIED, BACKWARD))[0] is Verdict.VIOLATED


def test_the_messages_of_one_span_are_in_the_order_of_its_links(tmp_path: Path) -> None:
    assert verdicts(written(tmp_path, SENDS, BATCHED)) == (Verdict.VIOLATED, ())


def test_equal_times_in_two_files(tmp_path: Path) -> None:
    """As if the collector had begun another file in between."""
    one, other = (batch("c", span(5 + k, "process", 30, link(2 - k))) for k in range(2))
    written(tmp_path, SENDS, one, name="1.json")
    written(tmp_path, other, name="2.json")
    assert verdicts(tmp_path, parameters={"message": "context"}, log="otlp") == (Verdict.UNKNOWN, (REASON,))


@pytest.mark.parametrize("spans", [TIED, BATCHED], ids=["tied", "batched"])
def test_a_columnar_file_remembers(tmp_path: Path, spans: dict[str, Any]) -> None:
    path = written(tmp_path, SENDS, spans)
    precedes.convert(path, tmp_path / "spans.parquet")
    for options in ({}, {"order": "rows"}):
        assert verdicts(tmp_path / "spans.parquet", **options) == verdicts(path, **options)


@pytest.mark.parametrize("places", [(0, 1), (2, 2)], ids=["two", "one"])
def test_a_seq_that_is_made_of_times_decides_nothing(places: tuple[int, int]) -> None:
    """And it may be that of another event, in another file."""
    rows = [
        {"execution": "x", "entity": "c", "event": "deliver", "message": m, "time": 2, "seq": k}
        for k, m in zip(places, "ba", strict=True)
    ]
    table = canonical(pa.Table.from_pylist(rows), "t", Notices())
    place = table.schema.get_field_index(BY_TIME)
    by_time = table.set_column(place, table.schema.field(place), pa.array([True, True]))
    for each, order, doubted in ((table, None, False), (by_time, None, True), (by_time, Order.ROWS, False)):
        batch = assemble(each, TraceOptions(order=order), Notices())
        assert (batch.history_doubt is not None) is doubted
        assert bool(batch.contradictions) is (each is table and places == (2, 2))


def test_rows_of_a_trace_are_in_order_whatever_their_times(tmp_path: Path) -> None:
    """Only a log that is sorted by its times has no other order."""
    rows = [
        {"execution": "x", "entity": "p", "event": "send", "message": m, "dest": ["c"], "time": 1}
        for m in "ab"
    ]
    rows += [{"execution": "x", "entity": "c", "event": "deliver", "message": m, "time": 2} for m in "ba"]
    assert verdicts(rows) == (Verdict.VIOLATED, ())
