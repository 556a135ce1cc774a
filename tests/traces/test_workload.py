"""The synthetic workload: the same in both formats, and with the violations that it announces."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.workload import Workload, write
from precedes.core.transposition import execution_of
from precedes.traces import TraceOptions
from tests.traces.reading import batches
from tests.traces.test_assembling import same
from tests.traces.test_samples import disagree

SMALL = Workload(200, violations=0.1, seed=3)


@pytest.mark.parametrize("workload", [SMALL, Workload(200, violations=0.1, seed=3, order="time", seq=False)])
def test_violations(workload: Workload, tmp_path: Path) -> None:
    write(workload, str(tmp_path / "t.parquet"))
    (batch,) = batches(tmp_path / "t.parquet")
    found = [x for x in range(batch.executions) if disagree(execution_of(batch, x))]
    assert found == workload.violating.tolist() != []
    assert 23 < len(batch.event_kind) / 200 < 27


def test_formats_and_orders_agree(tmp_path: Path) -> None:
    write(SMALL, str(tmp_path / "t.parquet"))
    write(SMALL, str(tmp_path / "t.jsonl.gz"))
    write(Workload(200, violations=0.1, seed=3, order="time"), str(tmp_path / "u.jsonl"))
    (expected,) = batches(tmp_path / "t.parquet")
    for name in ("t.jsonl.gz", "u.jsonl"):
        same(batches(tmp_path / name)[0], expected)


@pytest.mark.parametrize("order", ["entity", "time"])
def test_batches_are_cut_where_executions_end(order: str, tmp_path: Path) -> None:
    from precedes.traces import Notices, read_batches

    write(Workload(200, seed=3, order=order), str(tmp_path / "t.parquet"))
    (whole,) = batches(tmp_path / "t.parquet")
    parts = list(read_batches([tmp_path / "t.parquet"], TraceOptions(), Notices(), events_per_batch=300))
    assert len(parts) > 10
    assert all(len(part.event_kind) < 300 + 50 for part in parts)
    assert [name for part in parts for name in part.names] == whole.names.tolist()
    assert [kind for part in parts for kind in part.event_kind] == whole.event_kind.tolist()
