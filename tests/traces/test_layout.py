"""The layout for scanning: nothing is lost, numbers fit names, damage is noticed, memory is bounded."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Execution
from precedes.core.transposition import execution_of
from precedes.core.verdict import Verdict
from precedes.engines.columnar.execution_source import BatchSource, Excerpt
from precedes.engines.columnar.fast_path import group_reader
from precedes.engines.columnar.fast_path.row_group import row_group, spans_of
from precedes.engines.columnar.fast_path.screen import Screen
from precedes.engines.columnar.kernel_columns import NUMBERS, Columns
from precedes.engines.scan import local
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.logic.prerequisites import Seen
from precedes.testing.random_executions import TRACES
from precedes.traces import Notices, TraceOptions, assemble, read_batches, write_executions
from precedes.traces.layout.columnar_file import KEY, LAYOUT_SCHEMA, ColumnarFile, layout_of, layouts_of
from precedes.traces.layout.conversion import convert
from precedes.traces.partition.shuffle import rows_of, shares
from precedes.traces.partition.spill import whole_executions
from precedes.traces.reader import pieces, read_piece
from precedes.traces.sources import TraceSource, expand, source_of
from tests.strategies.drawn import executions
from tests.traces.reading import json_lines, read_file, told

OPTIONS = TraceOptions()
COLUMNS = frozenset(Columns._fields) - NUMBERS


def row(execution: str, entity: str, event: str, message: str | None, **more: object) -> dict[str, object]:
    return {"execution": execution, "entity": entity, "event": event, "message": message, **more}


def trace(folder: Path, rows: Sequence[dict[str, object]], name: str = "t.jsonl") -> Path:
    path = folder / name
    path.write_bytes(json_lines(rows))
    return path


def laid_out(source: Path, **settings_: int) -> Path:
    target = source.with_name(source.name + ".laid.parquet")
    convert([source], target, Notices(), **settings_)
    return target


def only_source(path: Path) -> TraceSource:
    return expand([path])[0]


def opened(path: Path) -> ColumnarFile:
    layout = layout_of(only_source(path))
    assert layout is not None
    return ColumnarFile(layout)


def alike(one: Columns, other: Columns) -> None:
    for name in Columns._fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def check_groups(path: Path, options: TraceOptions = OPTIONS) -> int:
    """Every regular row group as the scan sees it, and by its ordinary columns."""
    count = 0
    with closing(opened(path)) as file:
        for number, group in enumerate(file.layout.groups):
            if group.regular:
                check_group(file, number, options)
                count += group.executions
    return count


def check_group(file: ColumnarFile, number: int, options: TraceOptions) -> None:
    spans = spans_of(file.coded(number, time=False))
    reader = group_reader.GroupReader(file, number, options, spans)
    whole = reader.every()
    assert whole.clock_edges is whole.history_doubt is whole.order_doubt is None
    lazy, memory = row_group(file, number, options, COLUMNS), BatchSource(whole)
    assert (lazy.executions, lazy.complete) == (memory.executions, memory.complete)
    everybody = np.arange(lazy.executions)
    assert lazy.names(everybody).tolist() == memory.names(everybody).tolist()
    for limit in (0, 1, 3):
        assert lazy.first(everybody[1:], limit) == memory.first(everybody[1:], limit)
    for one, other in ((lazy, memory), (lazy.as_recorded(), memory.as_recorded())):
        alike(one.columns(COLUMNS), other.columns(COLUMNS))
    # What was not expected to be read is read when it is asked for.
    alike(row_group(file, number, options, ()).columns(COLUMNS), memory.columns(COLUMNS))
    for batch, found in lazy.whole(everybody.tolist()):
        for x, there in found.items():
            assert execution_of(batch, there) == execution_of(whole, x)
            assert lazy.ids(x) == memory.ids(x)
    parts = [range(0, int(count), 2) for count in np.diff(whole.message_offsets)]
    for x, excerpts in reader.excerpts({x: [some, ()] for x, some in enumerate(parts)}):
        for some, excerpt in zip((parts[x], ()), excerpts, strict=True):
            expected = memory.evidence(x, some)
            assert excerpt in (expected, Excerpt(expected.cut, None))
    for name in {*whole.entity_names[:3], *whole.message_names[:3], "nobody"}:
        for sort in ("entity", "message"):
            assert lazy.numbers(sort, name).tolist() == memory.numbers(sort, name).tolist()


def named(given_: Sequence[Execution]) -> list[Execution]:
    from dataclasses import replace

    return [replace(execution, name=f"x{k}") for k, execution in enumerate(given_)]


@given(st.lists(executions(TRACES), min_size=1, max_size=4), st.sampled_from([0, 1000]))
@settings(max_examples=40, deadline=None)
def test_numbers_and_ordinary_columns_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, given_: list[Execution], large: int
) -> None:
    with patch.object(group_reader, "LARGE", large):
        both_ways_the_same(tmp_path_factory, given_)


def both_ways_the_same(tmp_path_factory: pytest.TempPathFactory, given_: list[Execution]) -> None:
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    write_executions(named(given_), path)
    target = laid_out(path, row_group=5)
    check_groups(target)
    before = [
        execution_of(b, x) for b in read_batches([path], OPTIONS, Notices()) for x in range(b.executions)
    ]
    after = [
        execution_of(b, x) for b in read_batches([target], OPTIONS, Notices()) for x in range(b.executions)
    ]
    assert before == after


UNKNOWN_BESIDE_KNOWN = [
    row("x", "A", "send", "m", dest=["B", "C"]),
    row("x", "A", "send", "n", dest=["B", "C"]),
    row("x", "B", "deliver", "m", sender="?"),
    row("x", "B", "deliver", "n"),
    row("x", "C", "deliver", "n", sender="?"),
]
CALLED_UNKNOWN = [
    row("x", "?", "send", "m", dest=["B"]),
    row("x", "B", "deliver", "m", sender="?"),
    row("x", "B", "deliver", "n", sender="?"),
    row("x", "A", "send", "o", dest=["B"]),
]


@pytest.mark.parametrize("large", [0, 1000])
@pytest.mark.parametrize(
    ("rows", "entities"), [(UNKNOWN_BESIDE_KNOWN, ["A", "B", "C"]), (CALLED_UNKNOWN, ["?", "A", "B"])]
)
def test_an_unknown_sender_is_no_entity(
    tmp_path: Path, rows: list[dict[str, object]], entities: list[str], large: int
) -> None:
    target = laid_out(trace(tmp_path, rows))
    with patch.object(group_reader, "LARGE", large), closing(opened(target)) as file:
        assert check_groups(target) == 1
        assert list(row_group(file, 0, OPTIONS, ()).ids(0)[0]) == entities


def test_every_row_is_kept_as_it_was(tmp_path: Path) -> None:
    rows = [
        row("b", "E2", "deliver", "m", time="2026-01-01T00:00:00Z", clock={"E1": 1}),
        row("a", "E1", "send", "m", dest=["E2"], clock=[1, 0], channel="c", position=3, redelivered=True),
        row("b", "E1", "send", "m"),
        row("a", "E2", "view", None, view="v", members=["E9", "E2"]),
        row("a", "E3", "deliver", "m", sender="E1"),
        row("c", "E1", "send", "m", seq=0, dest=[]),
        row("c", "E1", "send", "m", seq=0, dest=[]),
    ]
    source = trace(tmp_path, rows)
    target = laid_out(source)
    columns = [name for name in read_file(source).column_names if name not in ("file", "row", "file_order")]

    def shown(path: Path) -> list[str]:
        return sorted(json.dumps(r, default=str) for r in read_file(path).select(columns).to_pylist())

    assert shown(source) == shown(target)
    assert check_groups(target) == 2  # "c" repeats itself


def test_groups_end_where_executions_end(tmp_path: Path) -> None:
    rows = [row(f"x{k % 7}", "E", "deliver", f"m{k}") for k in range(100)]
    target = laid_out(trace(tmp_path, rows), row_group=20)
    file = pq.ParquetFile(target)
    seen: list[str] = []
    for number in range(file.num_row_groups):
        names = file.read_row_group(number)["execution"].unique().to_pylist()
        assert names == sorted(names)
        seen += names
    assert len(seen) == len(set(seen)) == 7
    assert file.num_row_groups > 2


@pytest.mark.parametrize("entities", [3, 62, 63, 200])
def test_clusters_of_any_width(tmp_path: Path, entities: int) -> None:
    everyone = [f"E{e:03}" for e in range(entities)]
    rows = [row("x", "E000", "send", "all"), row("x", "E000", "send", "last", dest=[everyone[-1], "E000"])]
    rows += [row("x", entity, "deliver", "all") for entity in everyone]
    target = laid_out(trace(tmp_path, rows))
    assert check_groups(target) == 1
    with closing(opened(target)) as file:
        columns = row_group(file, 0, OPTIONS, ()).columns(("to_all", "destinations"))
    assert columns.to_all.tolist() == [True, False]
    assert columns.destinations.tolist() == [0, entities - 1]


@pytest.mark.parametrize("count", [7, 500])
def test_the_order_of_rows_does_not_matter_and_neither_does_memory(tmp_path: Path, count: int) -> None:
    rows = [row(f"x{k % 40:02}", f"E{k % 3}", "deliver", f"m{k}", seq=k) for k in range(count)]
    random.Random(1).shuffle(rows)
    source = trace(tmp_path, rows)
    in_memory = list(read_batches([source], OPTIONS, Notices(), 50))
    spilled = list(read_batches([source], OPTIONS, Notices(), 50, budget=30))
    assert [n for b in spilled for n in b.names] == [n for b in in_memory for n in b.names]
    assert [execution_of(b, x) for b in in_memory for x in range(b.executions)] == [
        execution_of(b, x) for b in spilled for x in range(b.executions)
    ]
    before = laid_out(source, row_group=50).read_bytes()
    assert laid_out(source, row_group=50, budget=30).read_bytes() == before


def test_spilled_rows_keep_their_files_and_their_order(tmp_path: Path) -> None:
    paths = [
        trace(tmp_path, [row(f"x{k % 5}", "E", "deliver", f"{name}{k}") for k in range(30)], f"{name}.jsonl")
        for name in "ba"
    ]
    tables = [read_file(path) for path in paths]
    tables = [t.set_column(t.schema.get_field_index("file_order"), "file_order", pa.array([k] * len(t), pa.int32()))
              for k, t in enumerate(tables)]  # fmt: skip
    parts = [part.to_pylist() for part in whole_executions(tables, 8, budget=12)]
    held = [sorted({r["execution"] for r in part}) for part in parts]
    assert [name for names in held for name in names] == [f"x{k}" for k in range(5)]
    found = sorted((r for part in parts for r in part), key=lambda r: r["execution"])
    expected = sorted((r for t in tables for r in t.to_pylist()), key=lambda r: r["execution"])
    assert found == expected


def test_a_file_of_another_version_is_an_ordinary_trace(tmp_path: Path) -> None:
    source = trace(tmp_path, [row("x", "E", "send", "m"), row("x", "E", "deliver", "m")])
    target = laid_out(source)
    table = pq.read_table(target)
    assert layout_of(source_of(str(target))) is not None
    text = pq.read_metadata(target).metadata[KEY]
    said = json.loads(text) | {"version": 99}
    for metadata, expected in (({KEY: json.dumps(said).encode()}, ["T125"]), ({}, []), ({KEY: b"{"}, [])):
        pq.write_table(table.replace_schema_metadata(metadata), target)
        assert layout_of(source_of(str(target))) is None
        notices = Notices()
        (batch,) = read_batches([target], OPTIONS, notices)
        assert execution_of(batch, 0).entities == ("E",)
        assert [one.code for one in notices.all() if one.code == "T125"] == expected
    pq.write_table(table.replace_schema_metadata({KEY: text}), target, row_group_size=1)
    assert layout_of(source_of(str(target))) is None, "its row groups are others than the footer says"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("execution_number", 1),
        ("execution_number", -1),
        ("entity_number", -1),
        ("entity_number", 2**31 - 1),
        ("event_number", 7),
        ("message_number", 2**31 - 1),
        ("message_number", -2),
        ("dest_bits", 1 << 62),
        ("dest_bits", -2),
        ("dest_bits", -9),
    ],
)
@pytest.mark.parametrize("at", [0, 2])
def test_numbers_that_cannot_be_are_refused(tmp_path: Path, column: str, value: int, at: int) -> None:
    rows = [row("x", "E", "send", "m", dest=["E"]), row("x", "E", "deliver", "m"), row("x", "F", "send", "n")]
    target = laid_out(trace(tmp_path, rows))
    metadata = {KEY: pq.read_metadata(target).metadata[KEY]}
    table = pq.read_table(target).replace_schema_metadata(metadata)
    values = table[column].to_pylist()
    values[at] = value
    field = LAYOUT_SCHEMA.field(column)
    damaged = table.set_column(table.schema.get_field_index(column), field, pa.array(values, field.type))
    pq.write_table(damaged, target)
    with closing(opened(target)) as file:
        (problem,) = told(lambda: row_group(file, 0, OPTIONS, ()))
        assert problem.code == "T005"
        screen = Screen(plan([requirement("ST", standard_library())]), OPTIONS)
        (problem,) = told(lambda: screen.decided(file, 0, Notices()))
        assert problem.code == "T005"


@pytest.mark.parametrize("value", [2, 2**31 - 1, -2])
def test_views_that_cannot_be_are_refused(tmp_path: Path, value: int) -> None:
    rows = [row("x", "E", "view", None, view="1", members=["E"]), row("x", "E", "send", "m")]
    target = laid_out(trace(tmp_path, rows))
    metadata = {KEY: pq.read_metadata(target).metadata[KEY]}
    table = pq.read_table(target).replace_schema_metadata(metadata)
    assert (table["view_number"].to_pylist(), table["member_bits"].to_pylist()) == ([0, -1], [1, 0])
    column = LAYOUT_SCHEMA.get_field_index("view_number")
    values = pa.array([value, -1], pa.int32())
    pq.write_table(table.set_column(column, LAYOUT_SCHEMA.field(column), values), target)
    with closing(opened(target)) as file:
        (problem,) = told(lambda: row_group(file, 0, OPTIONS, ("event_view",)))
    assert problem.code == "T005"


def test_files_that_may_share_executions_are_not_scanned_apart(tmp_path: Path) -> None:
    low, high, both = (
        laid_out(trace(tmp_path, [row(x, "E", "deliver", "m") for x in names], f"{names}.jsonl"))
        for names in ("ab", "cd", "bd")
    )
    assert layouts_of(expand([high, low])) is not None
    assert layouts_of(expand([low, both])) is None
    assert layouts_of(expand([low, trace(tmp_path, [])])) is None


def test_what_cannot_be_converted_is_told(tmp_path: Path) -> None:
    source = trace(tmp_path, [row("x", "E", "sned", "m")])
    target = tmp_path / "t.parquet"
    with pytest.raises(PrecedesError) as caught:
        convert([source], target, Notices())
    assert caught.value.diagnostics[0].row == 1
    assert not target.exists()
    assert [p.code for p in told(lambda: convert([source], tmp_path / "t.jsonl", Notices()))] == ["T002"]
    good = trace(tmp_path, [], "empty.jsonl")
    assert [p.code for p in told(lambda: convert([good], tmp_path / "no" / "t.parquet", Notices()))] == [
        "T003"
    ]
    assert convert([good], target, Notices()).rows == 0
    assert list(read_batches([target], OPTIONS, Notices())) == []


@given(st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=30), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_an_execution_is_shuffled_to_one_share(names: list[str], count: int) -> None:
    rows = [row(name, "E", "deliver", f"m{k}") for k, name in enumerate(names)]
    table = next(iter(_tables(rows)))
    blocks: dict[int, list[bytes]] = {}
    for part in (table, table.slice(1)):
        for share, block in shares(part, count):
            assert 0 <= share < count
            blocks.setdefault(share, []).append(block)
    tables = [rows_of(found) for found in blocks.values()]
    assert sorted(str(r) for t in tables for r in t.to_pylist()) == sorted(
        str(r) for t in (table, table.slice(1)) for r in t.to_pylist()
    )
    held = [name for t in tables for name in t["execution"].unique().to_pylist()]
    assert len(held) == len(set(held))


def _tables(rows: Sequence[dict[str, object]]) -> list[pa.Table]:
    from tests.traces.reading import read_bytes

    return [read_bytes(json_lines(rows))[0]]


def test_a_parquet_file_is_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows = [row(f"x{k}", "E", "deliver", "m", seq=k) for k in range(10)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=3)
    parts = list(pieces(source_of(str(path)), 4))
    assert [piece.rows for piece in parts] == [6, 4]
    found = pa.concat_tables([table for piece in parts for table in read_piece(piece, Notices())])
    assert found.to_pylist() == read_file(path).to_pylist()


def test_origins_are_shown_of_rows_that_contradict(tmp_path: Path) -> None:
    rows = [row("z", "A", "deliver", "m"), row("x", "A", "send", "m"), row("x", "B", "send", "m")]
    source = trace(tmp_path, rows)
    target = laid_out(source)
    (before,) = read_batches([source], OPTIONS, Notices())
    (after,) = read_batches([target], OPTIONS, Notices())
    assert before.contradictions == after.contradictions
    assert f"{source}: row 2" in after.contradictions[0]
    with closing(opened(target)) as file:
        assert [group.regular for group in file.layout.groups] == [True, False]
        odd = file.canonical(1, file.rows(1), Notices())
    assert assemble(odd, OPTIONS, Notices()).contradictions == before.contradictions


@pytest.mark.parametrize("row_group", [1, 400])
def test_a_laid_out_trace_is_told_of_as_it_was_before(tmp_path: Path, row_group: int) -> None:
    rows = [
        row("x", "A", "send", "a", dest=["B", "ghost"]),
        row("x", "B", "deliver", "a"),
        row("x", "B", "deliver", "unsent"),
        row("y", "A", "send", "a", dest=["C"]),
        row("y", "A", "send", "a", dest=["C"]),
        row("y", "A", "send", "b"),
        row("y", "B", "deliver", "unsent"),
        row("z", "C", "send", "a"),
    ]
    source = trace(tmp_path, rows)
    target = laid_out(source, row_group=row_group)
    told_: list[tuple[object, ...]] = []
    for path, few in ((source, 1), (target, 1), (target, 10**9)):
        notices = Notices()
        with patch.object(local, "PLAIN_EVENTS", few):
            local.verify(
                [only_source(path)], plan([requirement("SP", standard_library())]), OPTIONS, notices, 3
            )
        told_.append(notices.all())
    assert [(n.code, n.count) for n in Notices(told_[0]).all()] == [  # type: ignore[arg-type]
        ("T102", 8), ("T104", 1), ("T109", 2), ("T110", 1), ("T112", 2)
    ]  # fmt: skip
    assert told_[1] == told_[0] == told_[2]


def test_recorded_clocks_count_in_a_laid_out_trace_too(tmp_path: Path) -> None:
    """A clock that runs ahead of the rows stands for local events; `implied_clock` counts them."""
    rows = [
        row("x", "A", "send", "m", dest=["B"], clock={"A": 1}),
        row("x", "A", "send", "n", dest=["B"], clock={"A": 4}),
        row("x", "B", "deliver", "m", clock={"A": 1, "B": 1}),
        row("x", "B", "deliver", "n", clock={"A": 4, "B": 3}),
    ]
    source = trace(tmp_path, rows)
    text = "forall i: forall p in RL[i]: forall k: implied_clock(deliver(p, i), k) <= implied_clock(deliver(p, i), i)"
    prepared = plan([requirement(text, standard_library())])
    for path in (source, laid_out(source)):
        with patch.object(local, "PLAIN_EVENTS", 0):
            found = local.verify([only_source(path)], prepared, OPTIONS, Notices(), 3)
        assert [count.verdict for count in found.counts.values()] == [Verdict.VIOLATED], path.name


def test_what_occurs_is_seen_in_a_laid_out_trace_too(tmp_path: Path) -> None:
    deliveries = [row(f"x{k}", "A", "deliver", "m") for k in range(9)]
    prepared = plan([requirement("order_preserving", standard_library())])
    for name, rows, seen in (
        ("d", deliveries, Seen.DELIVERED),
        ("s", [*deliveries, row("y", "B", "send", "m", dest=["A"])], Seen.DELIVERED | Seen.SENT),
        ("n", [row("x", "A", "send", "m", dest=["A"])], Seen.SENT),
    ):
        source = trace(tmp_path, rows, f"{name}.jsonl")
        for path in (source, laid_out(source, row_group=2)):
            with patch.object(local, "PLAIN_EVENTS", 0):
                found = local.verify([only_source(path)], prepared, OPTIONS, Notices(), 3)
            assert found.seen == seen, path.name
