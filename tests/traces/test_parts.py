"""Traces come in parts of whole executions, whether or not it is known beforehand which rows are to come."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Execution
from precedes.core.transposition import execution_of
from precedes.traces import Notices, TraceOptions, read_batches
from precedes.traces.formats import parquet
from precedes.traces.layout.conversion import convert
from precedes.traces.partition import names_to_come, spill
from precedes.traces.partition.names_to_come import (
    LastPlaces,
    LowestNames,
    NamedRows,
    last_places,
    lowest_names,
)
from precedes.traces.partition.shuffle import hashes
from precedes.traces.partition.spill import whole_executions
from precedes.traces.sources import source_of
from tests.traces.reading import json_lines
from tests.traces.test_coded_columns import SCHEMA, Row

ROWS = 20
"""Rows that are read at once here."""


@pytest.fixture(autouse=True)
def few_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", ROWS)
    monkeypatch.setattr(spill, "_ROWS_AT_ONCE", 4)


def execution(name: str) -> list[Row]:
    """Six rows, with names that only this execution has and names of all."""
    sent: Row = {"execution": name, "entity": "A", "seq": 0, "event": "send", "message": f"m of {name}"}
    shared: Row = {"execution": name, "entity": f"E of {name}", "event": "send", "message": "m"}
    return [
        sent | {"dest": ["B", "C"]},
        sent | {"entity": "B", "event": "deliver"},
        sent | {"entity": "C", "event": "deliver"},
        shared | {"seq": 0, "dest": ["B"]},
        shared | {"entity": "B", "seq": 1, "event": "deliver"},
        {"execution": name, "entity": f"E of {name}", "seq": 1, "event": "crash"},
    ]


def ascending(count: int) -> list[Row]:
    return [row for k in range(count) for row in execution(f"x{k:03}")]


def together(count: int) -> list[Row]:
    """One after the other, but not by name."""
    return [row for k in reversed(range(count)) for row in execution(f"x{k:03}")]


def nearby(count: int) -> list[Row]:
    """As a log of several executions at a time: within a few rows anywhere."""
    rows = list(enumerate(ascending(count)))
    drawn = random.Random(1)
    return [row for _, _, row in sorted((place + drawn.randrange(12), place, row) for place, row in rows)]


def some_late(count: int) -> list[Row]:
    """The last rows of two executions are at the end."""
    rows = together(count)
    late = rows[5], rows[65]
    return [row for row in rows if row not in late] + list(late)


def anywhere(count: int) -> list[Row]:
    rows = ascending(count)
    random.Random(2).shuffle(rows)
    return rows


ORDERS = (ascending, together, nearby, some_late, anywhere)
Order = Callable[[int], list[Row]]


def written(path: Path, rows: Sequence[Row]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), path, row_group_size=50)
    else:
        path.write_bytes(json_lines(rows))
    return path


def executions(paths: Sequence[Path], *, in_order: bool = True, budget: int = 60) -> list[Execution]:
    batches = read_batches(paths, TraceOptions(), Notices(), 12, budget, in_order=in_order)
    return [execution_of(batch, x) for batch in batches for x in range(batch.executions)]


def named(path: Path) -> Iterator[NamedRows]:
    return parquet.named_rows(source_of(str(path)))


@pytest.mark.parametrize("order", ORDERS)
def test_executions_are_those_of_a_text(tmp_path: Path, order: Order) -> None:
    """The text is read as a whole. Rows stand in one file, or in two."""
    rows = order(20)
    expected = executions([written(tmp_path / "t.jsonl", rows)], budget=1000)
    assert [one.name for one in expected] == sorted({str(row["execution"]) for row in rows})
    path = written(tmp_path / "t.parquet", rows)
    halves = [written(tmp_path / f"{k}.parquet", half) for k, half in enumerate((rows[:55], rows[55:]))]
    for paths in ([path], halves, [halves[0], written(tmp_path / "1.jsonl", rows[55:])]):
        for budget, in_order in ((1, True), (60, True), (1000, True), (60, False)):
            found = executions(paths, in_order=in_order, budget=budget)
            assert (found if in_order else sorted(found, key=lambda one: one.name)) == expected


@pytest.mark.parametrize(
    ("order", "in_order", "free"),
    [
        (ascending, True, True),
        (nearby, True, True),
        (together, True, False),
        (together, False, True),
        (some_late, False, True),
        (anywhere, False, False),
    ],
)
def test_temporary_files_are_for_executions_that_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: Order, in_order: bool, free: bool
) -> None:
    made: list[Path] = []
    write = spill._written
    monkeypatch.setattr(spill, "_written", lambda rows, path: made.append(path) or write(rows, path))
    executions([written(tmp_path / "t.parquet", order(30))], in_order=in_order)
    assert (not made) is free


def test_no_more_rows_are_held_than_have_to_wait(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", ascending(50))
    known = lowest_names(named(path), 60)
    assert known is not None
    held = most = 0

    def tables() -> Iterator[pa.Table]:
        nonlocal held, most
        for table in read_tables(path):
            held += len(table)
            most = max(most, held)
            yield table

    for part in whole_executions(tables(), 12, 60, known):
        held -= len(part)
    assert (held, most <= 12 + 2 * ROWS) == (0, True)


def read_tables(path: Path) -> Iterator[pa.Table]:
    yield from parquet.read(source_of(str(path)), Notices())


def test_dictionaries_of_temporary_files_have_the_names_of_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no more of them is in memory than rows are."""
    sizes = []
    own = spill._with_names_of_its_own

    def noted(block: pa.Table) -> pa.Table:
        found = own(block)
        assert found.cast(spill.plain(found).schema).equals(block.cast(spill.plain(block).schema))
        kinds = {name: found[name].chunk(0) for name in ("execution", "entity", "message", "file")}
        sizes.append({name: len(column.dictionary) for name, column in kinds.items()})
        return found

    monkeypatch.setattr(spill, "_with_names_of_its_own", noted)
    executions([written(tmp_path / "t.parquet", anywhere(30))])
    assert len(sizes) >= 45
    assert all(count <= 4 for size in sizes for count in size.values())


def test_parts_of_temporary_files_have_the_columns_of_all(tmp_path: Path) -> None:
    """A column that only later rows have is in the first part, too, and so in the columnar file."""
    rows = anywhere(30)
    paths = [written(tmp_path / "a.jsonl", rows[:100])]
    paths.append(tmp_path / "b.jsonl")
    paths[1].write_bytes(json_lines([row | {"key": "k"} for row in rows[100:]]))
    for budget in (30, 1000):
        convert(paths, tmp_path / f"{budget}.parquet", Notices(), budget=budget)
    few, many = (pq.read_table(tmp_path / f"{budget}.parquet") for budget in (30, 1000))
    assert "key" in few.column_names
    assert few.equals(many)


@pytest.mark.parametrize("order", [ascending, together])
def test_rows_that_cannot_be_read_are_told_before_those_that_do_not_fit(tmp_path: Path, order: Order) -> None:
    rows = order(30)
    rows[3] = {name: value for name, value in rows[3].items() if name != "seq"}
    found = []
    for last in (rows[-1], rows[-1] | {"event": "delivers"}):
        path = written(tmp_path / "t.parquet", [*rows[:-1], last])
        with pytest.raises(PrecedesError) as raised:
            executions([path], in_order=False)
        found += [(each.code, each.row) for each in raised.value.diagnostics]
    assert found == [("T020", 4), ("T013", len(rows))]


@pytest.mark.parametrize("order", [ascending, together])
@pytest.mark.parametrize("budget", [20, 1000])
def test_a_file_that_becomes_another_one_is_refused(tmp_path: Path, order: Order, budget: int) -> None:
    """Else an execution would be judged in two parts."""
    path = written(tmp_path / "t.parquet", order(30))
    known = lowest_names(named(path), 60) or last_places(named(path))
    written(path, [*order(30), *execution("x001")])
    with pytest.raises(PrecedesError) as raised:
        list(whole_executions(read_tables(path), 12, budget, known))
    (told,) = raised.value.diagnostics
    assert (told.code, told.path) == ("T003", str(path))


def test_names_that_only_reading_tells_are_waited_for(tmp_path: Path) -> None:
    """Numbers are in another order as names; folders state names; what is wrong is told by who reads the rows."""
    rows = [row | {"execution": k // 6} for k, row in enumerate(ascending(12))]
    table = pa.Table.from_pylist(rows, SCHEMA.set(0, pa.field("execution", pa.int64())))
    pq.write_table(table, tmp_path / "t.parquet")
    assert [one.name for one in executions([tmp_path / "t.parquet"])] == sorted(map(str, range(12)))
    folder = tmp_path / "execution=stated"
    folder.mkdir()
    without = [{name: value for name, value in row.items() if name != "execution"} for row in execution("x")]
    written(folder / "t.parquet", without * 3)
    assert [one.name for one in executions([folder / "t.parquet"])] == ["stated"]
    for value in (None, ""):
        bad = [*ascending(3), execution("x")[0] | {"execution": value}]
        with pytest.raises(PrecedesError) as raised:
            executions([written(tmp_path / "bad.parquet", bad)])
        assert {each.row for each in raised.value.diagnostics} == {19}


def test_what_is_known_of_names() -> None:
    parts = [
        NamedRows(3, pa.array(["b", "a"])),
        NamedRows(2, pa.array(["c", "b"])),
        NamedRows(4, pa.array(["d"])),
    ]
    names = np.array(["a", "b", "c", "d"], dtype=object)
    lowest, last = lowest_names(parts, 3), last_places(parts)
    assert isinstance(lowest, LowestNames)
    assert isinstance(last, LastPlaces)
    for known in (lowest, last):
        assert [known.whole(names, rows).sum() for rows in (0, 2, 4)] == [0, 0, 1]
        assert known.whole(names, 5).tolist() == [True, True, True, False]
    assert lowest_names(parts, 2) is None, "three rows may wait for b"
    assert lowest_names([], 9) is None
    assert last_places([]) is None
    assert last_places([parts[0], parts[0]]) is None, "the executions of most go on"
    # Who is not among them is none of this trace.
    assert last.whole(np.array(["e"], dtype=object), 0).all()


def test_names_with_one_hash_wait_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_to_come, "hashes", lambda names: hashes(names) % np.uint64(2))
    parts = [NamedRows(1, pa.array([f"x{k}"])) for k in range(20)]
    known = last_places([parts[0], NamedRows(1, pa.array(["y1", "y2"])), *parts[1:3]])
    assert known is None or known.ends.max() == 4


def test_of_too_many_names_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_to_come, "MOST_NAMES", 3)
    parts = [NamedRows(1, pa.array([f"x{k}"])) for k in range(4)]
    assert last_places(parts[:3]) is not None
    assert last_places(parts) is None
