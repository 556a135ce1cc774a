"""A log of each format, as executions, written in each format of this project and read again, is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import precedes
from precedes.core.execution import Execution
from precedes.traces.foreign.importers import FOREIGN
from precedes.traces.formats.registry import TraceFormat
from precedes.traces.schema import LIBRARY
from precedes.traces.writer import write_executions
from tests.traces.foreign.samples import SAMPLES

ASKED = (
    "SP", "ST", "agreement", "causal_delivery", "every_delivery_in_order", "fifo_delivery", "no_creation",
    "no_duplication", "only_in_flight_repeats", "order_equivalent", "order_preserving", "positions_never_go_back",
    "validity", "vector_time", "positions_never_go_back per partition",
)  # fmt: skip
WRITTEN = ("t.jsonl", "t.csv", "t.parquet")
COLUMNS = Path("columns.parquet")


def executions(path: Path, **log: Any) -> list[Execution]:
    return list(precedes.read(path, attributes=sorted(LIBRARY), **log))


def verdicts(path: Path, **log: Any) -> object:
    found = precedes.verify(path, list(ASKED), **log).found
    return found.executions, found.events, found.messages, found.counts, found.violations, found.unknowns


@pytest.mark.parametrize("each", FOREIGN, ids=lambda each: each.word)
def test_a_log_as_rows_of_our_own(each: TraceFormat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert each.word in SAMPLES, "give samples.py a small log of this format"
    monkeypatch.chdir(tmp_path)
    sample = SAMPLES[each.word]
    path = sample.written(tmp_path)
    log: dict[str, Any] = {"log": each.word, "parameters": sample.settings}
    read, judged = executions(path, **log), verdicts(path, **log)
    assert sum(len(history.events) for execution in read for history in execution.histories) > 1
    for name in WRITTEN:
        target = tmp_path / name
        write_executions(read, target)
        assert executions(target) == read, name
    precedes.convert(path, COLUMNS, **log)
    assert executions(COLUMNS) == read
    for name in (*WRITTEN, COLUMNS.name):
        assert verdicts(tmp_path / name) == judged, name
