"""How work is dealt to Spark's tasks, and that cutting it up changes nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from precedes.traces.layout import Group, Layout
from precedes.traces.sources import Format, TraceSource
from tests.command.running import precedes


def layout(*rows: int) -> Layout:
    groups = tuple(Group(count, 1, True, f"{k}", f"{k}") for k, count in enumerate(rows))
    return Layout(TraceSource("t.parquet", Format.PARQUET), groups, ())


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
