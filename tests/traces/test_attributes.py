"""What messages carry: columns of attributes in every format, one value for each message, and what is told."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from precedes.api.events import tables_of
from precedes.core.columns import NOT_RECORDED, Attributes
from precedes.core.execution import Execution
from precedes.core.formula import Attribute, AttributeSort
from precedes.core.transposition import batch_of, execution_of
from precedes.core.verdict import Reason
from precedes.engines.columnar.fast_path.row_group import row_group
from precedes.language.library import standard_library
from precedes.traces import Notices, TraceOptions, batches_of, read_batches, write_executions
from precedes.traces.layout.columnar_file import ColumnarFile, layout_of
from precedes.traces.layout.conversion import convert
from precedes.traces.partition.shuffle import rows_of, shares
from precedes.traces.partition.spill import whole_executions
from precedes.traces.reader import pieces, read_piece, read_table
from precedes.traces.schema import LIBRARY
from precedes.traces.sources import expand, source_of
from tests.traces.reading import json_lines, only_fast, row_by_row, told

KEY = Attribute("key", AttributeSort.TEXT)
OFFSET = Attribute("offset", AttributeSort.NUMBER)
STAMP = Attribute("stamp", AttributeSort.TIME)
AGE = Attribute("age", AttributeSort.DURATION)
ALL = (KEY, OFFSET, STAMP, AGE)
Value = str | int | None
Row = dict[str, Any]


def row(message: str, event: str = "send", **more: object) -> Row:
    return {"execution": "x", "entity": "E", "event": event, "message": message, **more}


@contextmanager
def file_of(rows: Sequence[Row], folder: Path, name: str) -> Iterator[Path]:
    """The rows in a file of the format that its name says."""
    path = folder / name
    if name.endswith(".jsonl"):
        path.write_bytes(json_lines(rows))
    elif name.endswith(".csv"):
        columns = list(dict.fromkeys(column for each in rows for column in each))
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        for each in rows:
            cells = (each.get(column) for column in columns)
            writer.writerow(["" if cell is None else cell for cell in cells])
        path.write_text(out.getvalue())
    else:
        columns = list(dict.fromkeys(column for each in rows for column in each))
        table = pa.table({column: [each.get(column) for each in rows] for column in columns})
        pq.write_table(table, path)
    yield path


def execution(attributes: Sequence[Attribute], batch: Any) -> dict[str, dict[str, str | int]]:
    """What each message carries, by the names of its attributes."""
    found = execution_of(batch, 0)
    return {
        name: {a.name: v for a, v in message.attributes.items()} for name, message in found.messages.items()
    }


def read(
    path: Path, *attributes: Attribute, notices: Notices | None = None
) -> dict[str, dict[str, str | int]]:
    options = TraceOptions(attributes=attributes)
    (batch,) = read_batches([path], options, notices or Notices())
    assert batch.attributes.declared == attributes
    return execution(attributes, batch)


FORMATS = ("t.jsonl", "t.csv", "t.parquet")
WAYS = {"fast": only_fast, "row by row": row_by_row}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_the_same_values(name: str, way: Callable[[], Any], tmp_path: Path) -> None:
    rows = [
        row("m", key="k1", offset=7, stamp="2026-01-01T00:00:00.5Z", age=3),
        row("n", key="ü", offset=-1, stamp="1970-01-01T00:00:01Z", age=0),
        row("o"),
    ]
    with file_of(rows, tmp_path, name) as path, way():
        assert read(path, *ALL) == {
            "m": {"key": "k1", "offset": 7, "stamp": 1767225600500000000, "age": 3 * 10**9},
            "n": {"key": "ü", "offset": -1, "stamp": 10**9, "age": 0},
            "o": {},
        }


@pytest.mark.parametrize(
    ("attribute", "value", "expected"),
    [
        (KEY, 5, "5"),
        (KEY, -5, "-5"),
        (KEY, True, "true"),
        (KEY, "", ""),
        (KEY, "007", "007"),
        (KEY, "2026-11-27T10:00:00Z", "2026-11-27T10:00:00Z"),
        (OFFSET, "5", 5),
        (OFFSET, 5.0, 5),
        (OFFSET, "5.0", 5),
        (OFFSET, "+5e2", 500),
        (OFFSET, True, 1),
        (OFFSET, False, 0),
        (OFFSET, "true", 1),
        (OFFSET, 2**63 - 1, 2**63 - 1),
        (OFFSET, -(2**63) + 1, -(2**63) + 1),
        (OFFSET, 9007199254740993, 9007199254740993),
        (STAMP, "1.5", 1500000000),
        (STAMP, 1.25, 1250000000),
        (STAMP, 3, 3 * 10**9),
        (AGE, 0.25, 250000000),
        (AGE, "0.25", 250000000),
        (AGE, -2, -2 * 10**9),
    ],
)
@pytest.mark.parametrize("name", FORMATS)
def test_values(attribute: Attribute, value: object, expected: Value, name: str, tmp_path: Path) -> None:
    if name == "t.csv" and isinstance(value, bool):
        value = str(value).lower()
    with file_of([row("m", **{attribute.name: value}), row("n")], tmp_path, name) as path:
        for way in (nullcontext, row_by_row):
            with way():
                found = read(path, attribute)
                absent = name == "t.csv" and value == ""
                assert found == {"m": {} if absent else {attribute.name: expected}, "n": {}}


@pytest.mark.parametrize(
    ("attribute", "value", "code", "says"),
    [
        (KEY, 1.5, "T012", "`key` is 1.5, not a text"),
        (KEY, ["a"], "T012", '`key` is ["a"], not a text'),
        (OFFSET, 1.5, "T012", "`offset` is 1.5, not a whole number"),
        (OFFSET, "x", "T012", '`offset` is "x", not a whole number'),
        (OFFSET, 1e-9, "T012", "not a whole number"),
        (OFFSET, 2**63, "T015", "`offset` is 9223372036854775808"),
        (OFFSET, -(2**63), "T015", "`offset` is -9223372036854775808"),
        (OFFSET, "1e400", "T015", '`offset` is "1e400"'),
        (STAMP, "yesterday", "T016", '`stamp` is "yesterday"'),
        (STAMP, "2026-02-03T00:00:00", "T016", "no offset"),
        (STAMP, 1795818956794, "T015", "`stamp` is 1795818956794"),
        (AGE, "2026-01-01T00:00:00Z", "T016", "`age` is"),
        (AGE, "soon", "T016", '`age` is "soon"'),
    ],
)
def test_a_bad_value_is_told_with_its_row(
    attribute: Attribute, value: object, code: str, says: str, tmp_path: Path
) -> None:
    for name in FORMATS:
        if name == "t.csv" and not isinstance(value, str):
            continue
        if name == "t.parquet" and value == 2**63:
            continue
        with file_of([row("m"), row("n", **{attribute.name: value})], tmp_path, name) as path:
            (problem,) = told(lambda path=path: read(path, attribute))  # type: ignore[misc]
            assert (problem.code, problem.path) == (code, str(path))
            assert problem.row == (3 if name == "t.csv" else 2)
            assert says in problem.message
            read(path)


def test_a_column_of_a_type_that_no_value_has(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.Table.from_pylist([row("m")]).append_column("age", pa.array([5], pa.duration("s")))
    pq.write_table(table, path)
    (problem,) = told(lambda: read(path, AGE))
    assert (problem.code, problem.row) == ("T016", 1)
    assert "`age` is of type duration[s]" in problem.message
    read(path)


def test_timestamps_and_decimals_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.Table.from_pylist([row("m"), row("n")])
    columns = {
        "key": pa.array(["a", None]).dictionary_encode(),
        "offset": pa.array([Decimal("7.00"), None], pa.decimal128(9, 2)),
        "stamp": pa.array([datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC), None], pa.timestamp("ms", "UTC")),
        "age": pa.array([0.5, None], pa.float32()),
    }
    for name, column in columns.items():
        table = table.append_column(name, column)
    pq.write_table(table, path)
    expected = {"m": {"key": "a", "offset": 7, "stamp": 2 * 10**9, "age": 5 * 10**8}, "n": {}}
    assert read(path, *ALL) == expected
    with row_by_row():
        assert read(path, *ALL) == expected


def test_rows_in_memory() -> None:
    rows = [row("m", seq=0, key="a", offset=1), row("n", seq=1)]
    table = pa.Table.from_pylist(rows)
    for events in (rows, iter(rows), table, table.to_reader(), pd.DataFrame(rows)):
        attributes = (KEY, OFFSET)
        tables = tables_of(events, Notices(), attributes)
        (batch,) = batches_of(tables, TraceOptions(attributes=attributes), Notices())
        assert execution(attributes, batch) == {"m": {"key": "a", "offset": 1}, "n": {}}


def test_folders_state_attributes(tmp_path: Path) -> None:
    folder = tmp_path / "partition=3" / "topic=orders" / "shop=1"
    folder.mkdir(parents=True)
    (folder / "t.jsonl").write_bytes(json_lines([row("m"), row("n", topic="orders")]))
    partition = Attribute("partition", AttributeSort.NUMBER)
    notices = Notices()
    found = read(tmp_path, partition, Attribute("topic", AttributeSort.TEXT), notices=notices)
    assert found == {name: {"partition": 3, "topic": "orders"} for name in "mn"}
    assert [n.text for n in notices.all() if n.code == "T101"] == ["column `shop` is unknown and was ignored"]
    (folder / "t.jsonl").write_bytes(json_lines([row("m", topic="bills")]))
    (problem,) = told(lambda: read(tmp_path, Attribute("topic", AttributeSort.TEXT)))
    assert (problem.code, problem.row) == ("T018", 1)


def test_any_row_of_a_message_has_its_values(tmp_path: Path) -> None:
    rows = [
        row("m", key="k"),
        row("m", "deliver", offset=4),
        row("n", "arrive", key="j"),
        row("n", "deliver", key="j", offset=5),
        row("v", "view", key="ignored"),
    ]
    with file_of(rows, tmp_path, "t.jsonl") as path:
        assert read(path, KEY, OFFSET) == {"m": {"key": "k", "offset": 4}, "n": {"key": "j", "offset": 5}}


def test_rows_that_disagree_contradict_each_other(tmp_path: Path) -> None:
    rows = [
        row("m", key="k", seq=0),
        row("m", "deliver", key="j", seq=1),
        row("m", "deliver", key="k", seq=2),
        row("m", execution="y", key="k", offset=1, stamp=1),
        row("m", "deliver", execution="y", key="k", offset=2, stamp=1.5),
        row("m", execution="z", key="k"),
    ]
    with file_of(rows, tmp_path, "t.jsonl") as path:
        (batch,) = read_batches([path], TraceOptions(attributes=ALL), Notices())
        assert batch.unknown.tolist() == [int(Reason.CONTRADICTION), int(Reason.CONTRADICTION), 0]
        assert batch.contradictions == {
            0: f'`key` of m is "k" ({path}: row 1) and "j" ({path}: row 2)',
            1: f"`offset` of m is 1 ({path}: row 4) and 2 ({path}: row 5); "
            f"`stamp` of m is 1 s ({path}: row 4) and 1.5 s ({path}: row 5)",
        }
        strict = TraceOptions(attributes=(KEY,), strict=True)
        (problem,) = told(lambda: list(read_batches([path], strict, Notices())))
        assert (problem.code, problem.row) == ("T037", 2)
        (batch,) = read_batches([path], TraceOptions(attributes=(AGE,)), Notices())
        assert not batch.unknown.any(), "what nobody asks for contradicts nothing"


def test_a_row_twice_is_one_event_whether_it_has_the_value_or_not(tmp_path: Path) -> None:
    rows = [row("m", seq=0), row("m", seq=0, key="k"), row("n", seq=1, key="a"), row("n", seq=1, key="b")]
    with file_of(rows, tmp_path, "t.jsonl") as path:
        notices = Notices()
        (batch,) = read_batches([path], TraceOptions(attributes=(KEY,)), notices)
        assert batch.contradictions == {0: f'`key` of n is "a" ({path}: row 3) and "b" ({path}: row 4)'}
        assert execution((KEY,), batch)["m"] == {"key": "k"}
        assert ("T103", 2) in [(n.code, n.count) for n in notices.all()]


def test_messages_without_a_value_are_told(tmp_path: Path) -> None:
    rows = [row("m", key="a", offset=1), row("n", offset=2), row("n", execution="y", offset=3)]
    with file_of(rows, tmp_path, "t.jsonl") as path:
        notices = Notices()
        list(read_batches([path], TraceOptions(attributes=(AGE, KEY, OFFSET)), notices, events_per_batch=1))
        found = [(n.count, n.text.partition(":")[0]) for n in notices.all() if n.code == "T118"]
        assert found == [(3, "messages have no `age`"), (2, "messages have no `key`")]


@pytest.mark.parametrize("name", FORMATS)
def test_columns_that_nobody_asks_for(name: str, tmp_path: Path) -> None:
    rows = [row("m", key="k", channel="c", position=1.5, extra="x", offset=4)]
    with file_of(rows, tmp_path, name) as path:
        for way in (nullcontext, row_by_row):
            for asked, ignored in (((), ["extra", "offset"]), ((OFFSET,), ["extra"])):
                notices = Notices()
                with way():
                    read(path, *asked, notices=notices)
                told_ = [n.text for n in notices.all() if n.code == "T101"]
                assert told_ == [f"column `{column}` is unknown and was ignored" for column in ignored]


def test_an_attribute_may_be_called_like_a_column_of_our_own(tmp_path: Path) -> None:
    attributes = tuple(
        Attribute(name, AttributeSort.TEXT) for name in ("file", "row", "vector", "attribute x")
    )
    rows = [row("m", file="f", row="r", vector="v", **{"attribute x": "a"})]
    with file_of(rows, tmp_path, "t.jsonl") as path:
        expected = {"m": {"file": "f", "row": "r", "vector": "v", "attribute x": "a"}}
        assert read(path, *attributes) == expected
        convert([path], tmp_path / "laid.parquet", Notices())
        assert read(tmp_path / "laid.parquet", *attributes) == expected


def test_attributes_go_through_spilled_parts_and_shuffles(tmp_path: Path) -> None:
    rows = [row(f"m{k}", execution=f"x{k % 5}", key=f"k{k}" if k % 2 else None) for k in range(20)]
    with file_of(rows, tmp_path, "t.jsonl") as path:
        source = source_of(str(path)).asked((KEY, OFFSET))
        (table,) = read_table(source, Notices())
        expected = sorted((r["message"], r["attribute key"]) for r in table.to_pylist())
        parts = list(whole_executions([table.slice(0, 9), table.slice(9)], 4, budget=8))
        assert sorted((r["message"], r["attribute key"]) for p in parts for r in p.to_pylist()) == expected
        assert {tuple(p.schema.names) for p in parts} == {tuple(table.schema.names)}
        blocks = [block for _, block in shares(table, 3)]
        assert sorted((r["message"], r["attribute key"]) for r in rows_of(blocks).to_pylist()) == expected
        (piece,) = pieces(source, 10**6)
        assert next(iter(read_piece(piece, Notices()))).equals(table)


def executions_in(path: Path, *attributes: Attribute) -> list[Execution]:
    batches = read_batches([path], TraceOptions(attributes=attributes), Notices())
    return [execution_of(batch, x) for batch in batches for x in range(batch.executions)]


VALUES: list[tuple[Row, ...]] = [
    ({"key": "a", "offset": 1, "stamp": 1.5, "age": 0.25}, {"key": "b"}, {}),
    ({"key": 5, "offset": "5", "stamp": "2026-01-01T00:00:00Z", "age": 1}, {"key": True, "offset": True}),
    ({"key": "x", "offset": 5.0}, {"offset": 2**62 + 1}, {"offset": False, "key": "true"}),
]


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", FORMATS[:2])
def test_a_converted_file_has_every_column(values: tuple[Row, ...], name: str, tmp_path: Path) -> None:
    rows = [row(f"m{k}", **each) for k, each in enumerate(values)]
    rows += [row(f"m{k}", execution=f"y{k}", **each) for k, each in enumerate(values)]
    if name == "t.csv":
        rows = [{c: str(v).lower() if isinstance(v, bool) else v for c, v in each.items()} for each in rows]
    with file_of(rows, tmp_path, name) as path:
        target = tmp_path / "laid.parquet"
        for budget in (10**6, 1):
            notices = Notices()
            convert([path], target, notices, budget=budget)
            assert not [n for n in notices.all() if n.code == "T101"]
            for asked in (ALL, (KEY,), (OFFSET, STAMP), ()):
                before = executions_in(path, *asked)
                assert executions_in(target, *asked) == before
                assert any(m.attributes for x in before for m in x.messages.values()) is bool(asked)


def test_a_converted_file_of_parquet_has_every_column(tmp_path: Path) -> None:
    path, target = tmp_path / "t.parquet", tmp_path / "laid.parquet"
    table = pa.Table.from_pylist([row("m"), row("n"), row("o")])
    columns = {
        "key": pa.array([7, None, 8], pa.int8()),
        "offset": pa.array([7.0, None, 2.0**52]),
        "stamp": pa.array([1, None, 2], pa.timestamp("us")),
        "age": pa.array([Decimal("0.50"), None, Decimal(3)], pa.decimal128(9, 2)),
        "nested": pa.array([[1], None, []]),
        "short": pa.array([0.1, None, 2.5], pa.float32()),
    }
    for name, column in columns.items():
        table = table.append_column(name, column)
    pq.write_table(table, path)
    notices = Notices()
    convert([path], target, notices)
    assert [n.text for n in notices.all() if n.code == "T101"] == [
        "column `nested` is unknown and was ignored"
    ]
    for asked in (ALL, (Attribute("short", AttributeSort.DURATION),), ()):
        assert executions_in(target, *asked) == executions_in(path, *asked)
    notices = Notices()
    read(target, KEY, notices=notices)
    assert [n.text.split("`")[1] for n in notices.all() if n.code == "T101"] == [
        "age",
        "nested",
        "offset",
        "short",
        "stamp",
    ]


def test_a_bad_value_of_a_converted_file(tmp_path: Path) -> None:
    rows = [row("m", offset="1"), row("n", offset="x"), row("o", "deliver", offset=[1])]
    with file_of(rows, tmp_path, "t.jsonl") as path:
        target = tmp_path / "laid.parquet"
        convert([path], target, Notices())
        (problem,) = told(lambda: read(target, OFFSET))
        assert (problem.code, problem.path, problem.row) == ("T012", str(target), 2)


def test_converted_rows_that_disagree(tmp_path: Path) -> None:
    rows = [row("m", execution=x, key="k") for x in "ab"] + [row("m", "deliver", execution="a", key="j")]
    with file_of(rows, tmp_path, "t.jsonl") as path:
        target = tmp_path / "laid.parquet"
        assert convert([path], target, Notices()).irregular == 1
        (before,), (after,) = (
            read_batches(expand([each]), TraceOptions(attributes=(KEY,)), Notices())
            for each in (path, target)
        )
        assert before.contradictions == after.contradictions
        assert len(before.contradictions) == 1


@pytest.mark.parametrize("row_group", [1, 400])
def test_a_columnar_file_that_is_converted_again_has_every_column(row_group: int, tmp_path: Path) -> None:
    rows = [row("m", execution=x, key="k", offset=3) for x in "ab"]
    rows.append(row("m", "deliver", execution="a", key="j"))
    later = [row("n", "send", execution=x, stamp=2.5) for x in "ac"]
    paths = [tmp_path / f"{name}.parquet" for name in ("once", "twice", "both", "jsonl")]
    with file_of(rows, tmp_path, "t.jsonl") as path, file_of(later, tmp_path, "later.jsonl") as other:
        convert([path], paths[0], Notices())
        convert([path, other], paths[3], Notices())
        convert([paths[0]], paths[1], Notices(), row_group=row_group)
        convert([paths[0], other], paths[2], Notices(), row_group=row_group)
    for one, again in ((paths[0], paths[1]), (paths[3], paths[2])):
        assert pq.read_schema(again) == pq.read_schema(one)
        assert executions_in(again, *ALL) == executions_in(one, *ALL)
        told_of = [
            [
                set(batch.contradictions)
                for batch in read_batches([each], TraceOptions(attributes=ALL), Notices())
            ]
            for each in (one, again)
        ]
        assert told_of[0] == told_of[1]
        assert any(told_of[0])


def test_a_column_that_a_columnar_file_has_for_itself_is_told(tmp_path: Path) -> None:
    with file_of([row("m", message_number="7", key="k")], tmp_path, "t.jsonl") as path:
        notices = Notices()
        convert([path], tmp_path / "laid.parquet", notices)
        assert "column `message_number` is unknown and was ignored" in [n.text for n in notices.all()]
        assert read(tmp_path / "laid.parquet", KEY) == {"m": {"key": "k"}}


def test_the_attributes_of_the_library_are_known() -> None:
    assert frozenset(standard_library().attributes()) == LIBRARY


CARRIED: dict[Attribute, str | int] = {KEY: "k,;1", OFFSET: -7, STAMP: 1500000001, AGE: 250000000}


@pytest.mark.parametrize("name", [*FORMATS, "t.csv.gz"])
def test_an_execution_is_written_with_what_its_messages_carry(name: str, tmp_path: Path) -> None:
    rows = [row("m", dest=["E"]), row("n", "deliver", sender="E"), row("m", "deliver"), row("o", dest=[])]
    with file_of(rows, tmp_path, "given.jsonl") as path:
        (plain,) = executions_in(path)
    carried = {"m": CARRIED, "n": {OFFSET: 2**62 + 1}, "o": {}}
    messages = {k: replace(m, attributes=carried[k]) for k, m in plain.messages.items()}
    whole = replace(plain, messages=messages)
    assert execution_of(batch_of([whole]), 0) == whole
    write_executions(iter([whole]), tmp_path / name)
    (batch,) = read_batches([tmp_path / name], TraceOptions(attributes=ALL), Notices())
    assert execution_of(batch, 0) == whole


def test_an_empty_text_is_not_lost(tmp_path: Path) -> None:
    with file_of([row("m", key="")], tmp_path, "t.jsonl") as path:
        found = executions_in(path, KEY)
    assert found[0].messages["m"].attributes == {KEY: ""}
    write_executions(found, tmp_path / "t.parquet")
    assert executions_in(tmp_path / "t.parquet", KEY) == found
    (problem,) = told(lambda: write_executions(found, tmp_path / "t.csv"))
    assert problem.code == "T003"
    assert not (tmp_path / "t.csv").exists()


def test_a_row_group_has_the_same_values_as_its_rows(tmp_path: Path) -> None:
    rows = [
        row(
            f"m{k % 7}",
            "deliver",
            execution=f"x{k % 5}",
            entity=f"E{k % 3}",
            seq=k,
            **VALUES_BY_MESSAGE[k % 7],
        )
        for k in range(200)
    ]
    rows += [{"execution": "x1", "entity": "E9", "seq": 0, "event": "local", "key": "ignored"}]
    with file_of(rows, tmp_path, "t.jsonl") as path:
        target = tmp_path / "laid.parquet"
        convert([path], target, Notices(), row_group=50)
    for asked in (ALL, (OFFSET,), (KEY,), (KEY, Attribute("nobody", AttributeSort.TEXT))):
        options = TraceOptions(attributes=asked)
        layout = layout_of(source_of(str(target)).asked(asked))
        assert layout is not None
        assert all(group.regular for group in layout.groups)
        with closing(ColumnarFile(layout)) as file:
            for number in range(len(layout.groups)):
                group = row_group(file, number, options, ())
                ((whole, _),) = group.whole(range(group.executions))
                assert group.attributes.declared == whole.attributes.declared == asked
                assert decoded(group.attributes) == decoded(whole.attributes)


VALUES_BY_MESSAGE: list[Row] = [
    {"key": "a", "offset": 1},
    {"key": "b", "stamp": "1.5"},
    {},
    {"key": "", "age": 2},
    {"key": "a", "offset": "3.0", "age": 0.5},
    {"offset": True, "stamp": "2026-01-01T00:00:00Z"},
    {"key": "é", "offset": -4},
]


def decoded(attributes: Attributes) -> list[list[Value]]:
    """The values of each attribute, message by message."""
    return [
        [
            None
            if v == NOT_RECORDED
            else str(attributes.texts[v])
            if a.sort is AttributeSort.TEXT
            else int(v)
            for v in values
        ]
        for a, values in zip(attributes.declared, attributes.values, strict=True)
    ]
