"""The recorded traces: the oracle and the scan find what two independent checkers found (EXPECTED.json beside
the traces)."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from precedes.core.verdict import FALSE
from precedes.engines.columnar.batch_scan import scan
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.traces import TraceOptions, read_batches
from precedes.traces.notices import Notices
from tests.oracle import oracle

TRACES = Path(__file__).parents[3] / "shared" / "traces"
if not (TRACES / "EXPECTED.json").exists():
    pytest.skip("the recorded traces are not here", allow_module_level=True)

EXPECTED: dict[str, Any] = json.loads((TRACES / "EXPECTED.json").read_text(encoding="utf-8"))
NEAR_LINEAR = {"order_preserving", "order_equivalent", "selectively_information_preserving", "no_duplication"}
"""What the oracle's plain ways can be asked of 80,000 events."""

EVERY = 7
"""The oracle looks at one execution in so many."""


def recorded_runs(path: Path) -> dict[str, oracle.Run]:
    """The executions of a file, read here and by nothing else."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows[row["execution"]].append(row)
    runs = {}
    for name, events in rows.items():
        entities = {event["entity"] for event in events}.union(*(event.get("dest") or () for event in events))
        number = {entity: i for i, entity in enumerate(sorted(entities))}
        histories: list[list[tuple[str, str, float | None]]] = [[] for _ in number]
        to = {}
        for event in sorted(events, key=lambda event: event["seq"]):
            if event["event"] in ("send", "deliver"):
                histories[number[event["entity"]]].append(
                    (event["event"], event["message"], event.get("time"))
                )
            if event["event"] == "send":
                to[event["message"]] = {number[e] for e in event.get("dest", entities)}
        runs[name] = oracle.Run(histories, to)
    return runs


@pytest.mark.parametrize("file", EXPECTED)
def test_the_oracle_finds_the_violations(file: str) -> None:
    runs = recorded_runs(TRACES / file)
    assert len(runs) == EXPECTED[file]["executions"]
    for predicate, violated in EXPECTED[file]["violated"].items():
        if len(runs) == 1 and predicate not in NEAR_LINEAR:
            continue
        for name in sorted(runs)[::EVERY]:
            assert oracle.ALL[predicate](runs[name]) is (name not in violated), (predicate, name)


@pytest.mark.parametrize("file", EXPECTED)
def test_the_scan_finds_the_violations(file: str) -> None:
    expected = EXPECTED[file]
    prepared = plan([requirement(predicate, standard_library()) for predicate in expected["violated"]])
    found: dict[str, list[str]] = {predicate: [] for predicate in expected["violated"]}
    executions = 0
    for batch in read_batches([TRACES / file], TraceOptions(), Notices()):
        result = scan(batch, prepared)
        executions += batch.executions
        for predicate in found:
            values = result.values[:, result.names.index(predicate)]
            assert (values <= 0).all(), predicate
            found[predicate] += [str(name) for name in batch.names[values == FALSE]]
    assert executions == expected["executions"]
    for predicate, violated in expected["violated"].items():
        assert sorted(found[predicate]) == sorted(violated), predicate
