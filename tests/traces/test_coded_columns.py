"""Ids that a Parquet file has as dictionaries are read so, and mean the same."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import Execution
from precedes.core.transposition import execution_of
from precedes.traces import Notices, TraceOptions, read_batches

Row = dict[str, str | int | list[str]]

SCHEMA = pa.schema(
    [
        ("execution", pa.string()),
        ("entity", pa.string()),
        ("seq", pa.int64()),
        ("event", pa.string()),
        ("message", pa.string()),
        ("dest", pa.list_(pa.string())),
    ]
)


def rows(count: int) -> list[Row]:
    """Rows of executions, of which the first has rows at the end, too. Some names are in all of them, some in one."""
    found: list[Row] = []
    for k in range(count):
        name, first = f"x{k % (count - 1):02}", 10 * (k // (count - 1))
        sent: Row = {"execution": name, "entity": "A", "seq": first, "event": "send", "message": f"m{k}"}
        found += [
            sent | {"dest": ["B"]},
            sent | {"entity": "B", "event": "deliver"},
            {"execution": name, "entity": f"C{k}", "seq": first, "event": "crash"},
            sent | {"entity": "B", "seq": first + 1, "event": "deliver", "message": "shared"},
        ]
    return found


def written(path: Path, some: list[Row]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(some, SCHEMA), path, row_group_size=7)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in some), encoding="utf-8")
    return path


def executions(paths: list[Path], size: dict[str, int]) -> list[Execution]:
    batches = read_batches(paths, TraceOptions(), Notices(), **size)
    return [execution_of(batch, x) for batch in batches for x in range(batch.executions)]


@pytest.mark.parametrize("size", [{}, {"events_per_batch": 5}, {"events_per_batch": 5, "budget": 8}])
def test_what_is_read_is_the_same(tmp_path: Path, size: dict[str, int]) -> None:
    """A name that only another part of a file has is in no batch; files with and without dictionaries go together."""
    made = rows(12)
    expected = executions([written(tmp_path / "rows.jsonl", made)], {})
    assert [one.name for one in expected] == sorted({str(row["execution"]) for row in made})
    assert executions([written(tmp_path / "rows.parquet", made)], size) == expected
    parts = [written(tmp_path / "a.parquet", made[:30]), written(tmp_path / "b.jsonl", made[30:])]
    assert executions(parts, size) == expected


@pytest.mark.parametrize(
    ("column", "code"), [("execution", "T014"), ("entity", "T014"), ("message", "T014"), ("event", "T013")]
)
def test_a_bad_value_has_its_row(tmp_path: Path, column: str, code: str) -> None:
    made = rows(3)
    made[5] |= {column: ""}
    with pytest.raises(PrecedesError) as raised:
        executions([written(tmp_path / "rows.parquet", made)], {})
    assert [(each.code, each.row) for each in raised.value.diagnostics] == [(code, 6)]


def test_a_message_of_an_event_without_one_is_left_out(tmp_path: Path) -> None:
    made = rows(3)
    expected = executions([written(tmp_path / "rows.parquet", made)], {})
    made[2] |= {"message": "idle"}
    assert executions([written(tmp_path / "idle.parquet", made)], {}) == expected


def test_a_dictionary_may_have_no_name(tmp_path: Path) -> None:
    made = [{"execution": "x", "entity": "A", "seq": 0, "event": "crash"}]
    (execution,) = executions([written(tmp_path / "rows.parquet", made)], {})
    assert (len(execution.histories), execution.messages) == (1, {})
