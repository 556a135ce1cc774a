"""Tables of Delta Lake and Iceberg, read without Spark by their own libraries, which are no part of the environment:
`pip install deltalake 'pyiceberg[sql-sqlite]'`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import precedes

pytestmark = pytest.mark.slow

ASKED = "order_equivalent"


def rows(number: int, *, swapped: bool) -> pa.Table:
    """An execution, which violates what is asked if `swapped`."""
    orders = {"B": "pq", "C": "qp" if swapped else "pq"}
    sends = [("A", 0, "send", "p", ["B", "C"]), ("D", 0, "send", "q", ["B", "C"])]
    delivered = [(who, k, "deliver", m, None) for who, log in orders.items() for k, m in enumerate(log)]
    names = ("entity", "seq", "event", "message", "dest")
    made: list[dict[str, Any]] = [
        {"execution": f"x{number}", **dict(zip(names, row, strict=True)), "day": "mon"}
        for row in (*sends, *delivered)
    ]
    kinds = [(name, pa.string()) for name in ("execution", "entity")] + [("seq", pa.int64())]
    kinds += [("event", pa.string()), ("message", pa.string()), ("dest", pa.list_(pa.string()))]
    return pa.Table.from_pylist(made, pa.schema([*kinds, ("day", pa.string())]))


def counts(table: pa.Table) -> tuple[int, int]:
    """How many executions of a table hold and are violated."""
    found = precedes.verify(table, ASKED)[ASKED]
    return found.holds, found.violated


def test_a_table_of_delta_lake(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake")
    path = str(tmp_path / "events")
    deltalake.write_deltalake(path, rows(1, swapped=True), partition_by=["day"])
    deltalake.write_deltalake(path, rows(2, swapped=False), mode="append")
    table = deltalake.DeltaTable(path)
    assert counts(table.to_pyarrow_table()) == (1, 1)
    table.delete("execution = 'x1'")
    assert counts(table.to_pyarrow_table()) == (1, 0)
    with pytest.raises(precedes.PrecedesError, match="a table of Delta Lake"):
        precedes.verify(path, ASKED)


def test_a_table_of_iceberg(tmp_path: Path) -> None:
    catalogs = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = catalogs.SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("broker")
    table = catalog.create_table("broker.events", schema=rows(1, swapped=True).schema)
    table.append(rows(1, swapped=True))
    table.append(rows(2, swapped=False))
    assert counts(table.scan().to_arrow()) == (1, 1)
    table.delete("execution = 'x1'")
    assert counts(table.scan().to_arrow()) == (1, 0)
    with pytest.raises(precedes.PrecedesError, match="a table of Iceberg"):
        precedes.verify(table.location().removeprefix("file://"), ASKED)
