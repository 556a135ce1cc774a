"""How work is dealt to Spark's tasks, and that cutting it up changes nothing."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.workload import Workload, write
from precedes.core.diagnostics import PrecedesError
from precedes.engines.scan.partials import Partial
from precedes.engines.spark.tasks import BLOCK_SCHEMA, Judging, Told, judge_blocks, partials_of_groups
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.traces import Notices, TraceOptions, canonical
from precedes.traces.formats.registry import PARQUET
from precedes.traces.layout.columnar_file import Group, Layout, layout_of
from precedes.traces.layout.conversion import convert
from precedes.traces.partition.shuffle import shares
from precedes.traces.sources import TraceSource, source_of
from tests.command.running import precedes


def layout(*rows: int) -> Layout:
    groups = tuple(Group(count, 1, True, f"{k}", f"{k}") for k, count in enumerate(rows))
    return Layout(TraceSource("t.parquet", PARQUET), groups, ())


def test_a_large_row_group_is_dealt_first_and_alone() -> None:
    from precedes.engines.spark.files import dealt

    work = dealt([layout(*[4] * 30), layout(4, 1000, 4)], 4)
    assert work[0] == [(1, 1)]
    assert sorted(len(pairs) for pairs in work[1:]) == [10, 11, 11]
    assert sorted(pair for pairs in work for pair in pairs) == sorted(
        [(0, k) for k in range(30)] + [(1, k) for k in range(3)]
    )
    assert dealt([layout()], 4) == []
    assert len(dealt([layout(1, 1)], 4)) == 2


def test_a_large_execution_among_small_ones_is_one_task(tmp_path: Path) -> None:
    """The row group that it is in has little else, and goes to a task that has nothing else."""
    from precedes.engines.spark.files import dealt

    sizes = [3] * 60
    sizes[20] = 300
    rows = [
        {"execution": f"x{x:02}", "entity": "A", "event": "send", "message": f"m{m}", "dest": ["B"]}
        for x, size in enumerate(sizes)
        for m in range(size)
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    convert([path], tmp_path / "t.parquet", Notices(), row_group=40)
    made = layout_of(source_of(str(tmp_path / "t.parquet")))
    assert made is not None
    (large,) = [k for k, group in enumerate(made.groups) if group.rows > 40 + 3]
    assert made.groups[large].rows <= 300 + 40
    work = dealt([made], 4)
    assert work[0] == [(0, large)]
    others = [sum(made.groups[k].rows for _, k in pairs) for pairs in work[1:]]
    assert max(others) - min(others) <= 40 + 3


@pytest.mark.parametrize("executions", [40, 400])
def test_what_comes_to_the_driver_does_not_grow_with_the_violations(tmp_path: Path, executions: int) -> None:
    write(Workload(executions, violations=1.0), str(tmp_path / "w.parquet"))
    convert([tmp_path / "w.parquet"], tmp_path / "t.parquet", Notices())
    made = layout_of(source_of(str(tmp_path / "t.parquet")))
    assert made is not None
    wanted = plan([requirement("ST", standard_library())])
    told: list[Told] = []
    judging = Judging(wanted, TraceOptions(), 3, None)
    (partial,) = partials_of_groups([made], judging, told.append)([[(0, k) for k in range(len(made.groups))]])
    assert not any(isinstance(one, PrecedesError) for one in told)
    assert partial.counts["ST"].violated == executions
    assert len(partial.candidates) == 3
    assert len(pickle.dumps(partial)) < 4_000

    table = pq.read_table(tmp_path / "w.parquet")
    notices = Notices()
    blocks = [
        pa.RecordBatch.from_pylist([{"share": share, "block": block}], BLOCK_SCHEMA)
        for share, block in shares(canonical(table, "t", notices, 1), 1)
    ]
    (record,) = judge_blocks(judging, told.append)(iter(blocks))
    shuffled: Partial = pickle.loads(record["partial"][0].as_py())
    assert shuffled.counts == partial.counts
    assert len(shuffled.candidates) == 3
    assert len(record["partial"][0].as_py()) < 40_000


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_many_shares_and_pieces_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from precedes.engines.spark import files

    rows = []
    for x in range(40):
        size = 300 if x == 7 else 4
        swapped = x % 5 == 0
        for entity in "AB":
            order = range(size) if entity == "A" or not swapped else reversed(range(size))
            rows += [(f"x{x}", entity, "deliver", f"m{m}", k + size) for k, m in enumerate(order)]
        rows += [(f"x{x}", "A", "send", f"m{m}", m) for m in range(size)]
    names = ["execution", "entity", "event", "message", "seq"]
    random.Random(5).shuffle(rows)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows]), path, 50)
    required = ("verify", path, "--require", "order_equivalent", "--format", "json")
    before = precedes(*required)
    monkeypatch.setattr(files, "ROWS_PER_SHARE", 30)
    monkeypatch.setattr(files, "ROWS_PER_PIECE", 100)
    after = precedes(*required, "--engine", "spark")
    assert after.out.partition('"timings"')[0] == before.out.partition('"timings"')[0]
    assert json.loads(after.out)["predicates"]["order_equivalent"] == {
        "holds": 32,
        "violated": 8,
        "unknown": 0,
    }
