"""Parquet and Arrow tables: the types that are taken, the files and values that are refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from precedes.core.formula import Attribute, AttributeSort
from precedes.traces import Notices, canonical
from precedes.traces.formats.parquet import canonical_arrow
from precedes.traces.formats.registry import PARQUET
from precedes.traces.sources import TraceSource
from tests.traces.reading import read_file, told

GOOD: dict[str, Any] = {
    "execution": ["x", "x"],
    "entity": ["E1", "E2"],
    "event": ["send", "deliver"],
    "message": ["m", "m"],
}


POSITION = Attribute("position", AttributeSort.NUMBER)


def rows(**columns: Any) -> list[dict[str, Any]]:
    """The canonical rows of an Arrow table."""
    source = TraceSource("t", PARQUET, attributes=(POSITION,) if "position" in columns else ())
    return canonical_arrow(source, pa.table({**GOOD, **columns}), 1, Notices()).to_pylist()


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, 8], pa.int8()),
        pa.array([7, 8], pa.uint64()),
        pa.array(["7", "8"], pa.large_string()),
        pa.array(["7", "8"], pa.string_view()),
        pa.array(["7", "8"]).dictionary_encode(),
        pa.array([7, 8]).dictionary_encode(),
        pa.array([Decimal(7), Decimal(8)], pa.decimal128(38, 0)),
    ],
)
def test_ids(ids: pa.Array) -> None:
    assert [row["entity"] for row in rows(entity=ids)] == ["7", "8"]


@pytest.mark.parametrize(
    ("times", "nanoseconds"),
    [
        (pa.array([1, None], pa.int32()), 1_000_000_000),
        (pa.array([1795818956.794679, None]), 1795818956794679000),
        (pa.array([0.1 + 0.2, None]), 300000000),
        (pa.array([0.5, None], pa.float32()), 500000000),
        (pa.array([0.1, None], pa.float32()), 100000000),
        (pa.array([-0.1, 2.0], pa.float32()).dictionary_encode(), -100000000),
        (pa.array(np.array([0.1, 0.7], np.float16)), 100000000),
        (pa.array([np.float16(0.1), None], pa.float16()), 100000000),
        (pa.array([Decimal("1.0000000005"), None]), 1000000000),
        (pa.array([Decimal("1.25"), None]), 1250000000),
        (pa.array([1, None], pa.timestamp("s")), 1_000_000_000),
        (pa.array([1, None], pa.timestamp("ms", "Asia/Tokyo")), 1_000_000),
        (pa.array([1, None], pa.timestamp("us", "UTC")), 1_000),
        (pa.array([1, None], pa.timestamp("ns")), 1),
        (pa.array(["1970-01-01T00:00:00.5Z", None]), 500000000),
        (pa.array(["0.5", None]), 500000000),
        (pa.array(["0.5", "1970-01-01T00:00:00Z"]), 500000000),
    ],
)
def test_times(times: pa.Array, nanoseconds: int) -> None:
    assert rows(time=times)[0]["time"] == nanoseconds


@pytest.mark.parametrize(
    "dest",
    [
        pa.array([["E1", "E2"], None], pa.list_(pa.string())),
        pa.array([["E1", "E2"], None], pa.large_list(pa.large_string())),
        pa.array([["E1", "E2"], None], pa.list_(pa.string(), 2)),
        pa.array([["E1", "E2"], None], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    ],
)
def test_destinations(dest: pa.Array) -> None:
    assert [row["dest"] for row in rows(dest=dest)] == [["E1", "E2"], None]


@pytest.mark.parametrize(
    ("clock", "found"),
    [
        (pa.array([[("b", 1), ("a", 2)], None], pa.map_(pa.string(), pa.int32())), [("a", 2), ("b", 1)]),
        (pa.array([[(2, 1), (10, 2)], None], pa.map_(pa.int64(), pa.int64())), [("10", 2), ("2", 1)]),
        (pa.array([{"b": 1, "a": None}, None]), [("b", 1)]),
        (pa.array([[], None], pa.map_(pa.string(), pa.int64())), []),
    ],
)
def test_clocks(clock: pa.Array, found: list[tuple[str, int]]) -> None:
    first, second = rows(clock=clock)
    assert (first["clock"], second["clock"], first["vector"]) == (found, None, None)


def test_clocks_that_are_lists() -> None:
    first, second = rows(clock=pa.array([[1, 2], None], pa.list_(pa.uint8())))
    assert (first["vector"], second["vector"], first["clock"]) == ([1, 2], None, None)


@pytest.mark.parametrize(
    ("columns", "code", "says", "row"),
    [
        ({"entity": ["E", None]}, "T011", "`entity` is missing", 2),
        ({"entity": ["E", ""]}, "T014", "empty", 2),
        ({"entity": [1.0, 2.5]}, "T012", "not an id", 2),
        ({"entity": [True, False]}, "T012", "not an id", 1),
        ({"event": ["send", "gone"]}, "T013", '"gone"', 2),
        ({"message": ["m", None]}, "T011", "`message` is missing", 2),
        ({"seq": [0, -1]}, "T015", "`seq` is -1", 2),
        ({"seq": [0.0, 1.5]}, "T012", "`seq` is 1.5", 2),
        ({"position": [0.0, 2.0**53 + 2]}, "T012", "`position` is 9007199254740994.0, a float that may", 2),
        ({"position": [0.0, -(2.0**53)]}, "T012", "`position` is -9007199254740992.0, a float that may", 2),
        (
            {"message": pa.array(np.array([16777215, 16777217], np.float32))},
            "T012",
            "`message` is 16777216.0, a float",
            2,
        ),
        (
            {"seq": pa.array(np.array([2047, 2049], np.float16))},
            "T012",
            "`seq` is 2048.0, a float that may",
            2,
        ),
        (
            {"dest": pa.array([None, [1, 16777216]], pa.list_(pa.float32()))},
            "T012",
            "`dest` is 16777216.0, a float that may",
            2,
        ),
        ({"position": pa.array([0.5, 1.0], pa.float32())}, "T012", "`position` is 0.5", 1),
        ({"position": [1.0, float("inf")]}, "T012", "`position` is Infinity", 2),
        ({"redelivered": [1.0, 0.5]}, "T012", "`redelivered` is 0.5", 2),
        ({"redelivered": [1, 2]}, "T012", "`redelivered` is 2", 2),
        ({"dest": [[2.0], [1.5]]}, "T012", "`dest[0]` is the number 1.5", 2),
        ({"message": ["m", None], "position": [float("nan"), 1.0]}, "T011", "`message` is missing", 2),
        ({"seq": pa.array([0, 2**63], pa.uint64())}, "T015", "`seq`", 2),
        ({"time": [1.0, float("nan")]}, "T016", "`time` is NaN", 2),
        ({"time": [1.0, 1e12]}, "T015", "`time`", 2),
        ({"time": pa.array([1, 10**14], pa.timestamp("s"))}, "T015", "`time`", 2),
        ({"time": [date(2026, 1, 1), None]}, "T016", "`time`", 1),
        ({"dest": ["E1", "E2"]}, "T012", "`dest`", 1),
        ({"clock": pa.array([[("a", -1)], None], pa.map_(pa.string(), pa.int64()))}, "T015", "`clock`", 1),
    ],
)
def test_bad_values_are_told_with_their_rows(columns: Any, code: str, says: str, row: int | None) -> None:
    problem = told(lambda: rows(**columns))[0]
    assert (problem.path, problem.code, problem.row) == ("t", code, row)
    assert says in problem.message


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_a_narrow_float_is_a_whole_number_or_its_shortest_text(kind: Any) -> None:
    """As the same numbers in text are, for any float."""
    random = np.random.default_rng(5)
    seconds = random.uniform(0, 1000, 300).astype(kind)
    table = canonical(many(time=pa.array(seconds)), "t", Notices())
    assert table["time"].to_pylist() == [round(Decimal(str(value)).scaleb(9)) for value in seconds]
    ids = np.arange(300).astype(kind)
    assert canonical(many(message=pa.array(ids)), "t", Notices())["message"].to_pylist() == [
        str(k) for k in range(300)
    ]


def many(**columns: pa.Array) -> pa.Table:
    """Sends with these columns beside those that are required."""
    count = len(next(iter(columns.values())))
    required = {"execution": ["x"], "entity": ["E"], "event": ["send"], "message": ["m"]}
    return pa.table({**{name: value * count for name, value in required.items()}, **columns})


def test_what_arrow_cannot_take_out_of_a_dictionary_is_told() -> None:
    structs = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([{"a": {"b": 1}}]))
    (problem, *_) = told(lambda: rows(message=structs))
    assert (problem.code, problem.row) == ("T012", 1)


def test_a_column_of_nulls_is_there() -> None:
    problems = told(lambda: rows(message=pa.array([None, None], pa.string())))
    assert [(each.code, each.row, each.message) for each in problems] == [
        ("T011", row, "`message` is missing") for row in (1, 2)
    ]


def test_a_missing_column_is_told() -> None:
    (problem,) = told(lambda: canonical(pa.table({"execution": ["x"], "event": ["send"]}), "t", Notices()))
    assert (problem.code, problem.row) == ("T010", None)
    assert "`entity`" in problem.message


def test_unknown_columns_are_named_and_not_read(tmp_path: Path) -> None:
    notices = Notices()
    canonical(pa.table({**GOOD, "row": [1, 2], "vector": [1, 2]}), "t", notices)
    assert [notice.text for notice in notices.all()] == [
        "column `row` is unknown and was ignored",
        "column `vector` is unknown and was ignored",
    ]


def test_row_numbers_go_through_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: values * 50 for name, values in GOOD.items()}), path, row_group_size=7)
    assert read_file(path)["row"].to_pylist() == list(range(1, 101))


def test_files_that_are_none(tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({name: values * 500 for name, values in GOOD.items()}), whole)
    for name, data in {
        "text.parquet": b"execution,entity\n",
        "empty.parquet": b"",
        "cut.parquet": whole.read_bytes()[:-100],
        "short.parquet": whole.read_bytes()[:6],
        "damaged.parquet": whole.read_bytes()[:4] + b"\xff" * 300 + whole.read_bytes()[304:],
    }.items():
        (tmp_path / name).write_bytes(data)
        (problem,) = told(lambda name=name: read_file(tmp_path / name))  # type: ignore[misc]
        assert (problem.code, problem.path) == ("T005", str(tmp_path / name))


def test_a_time_of_python(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 27, 10, 15, 30, 250000, UTC)
    assert rows(time=[moment, None])[0]["time"] == 1795774530250000000
