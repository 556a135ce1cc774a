"""The sample traces are there, small, readable, and violate what their README says."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from precedes.core.execution import Execution
from precedes.core.transposition import execution_of
from precedes.traces import Notices, TraceOptions, read_batches

SAMPLES = Path(__file__).parents[2] / "traces"
KNOWN = {
    "rabbitmq-fanout.jsonl.gz": (20, 3600, ["rabbitmq-fanout-018"]),
    "rabbitmq-topic-subsets.jsonl.gz": (10, 2113, ["rabbitmq-topic-subsets-008"]),
    "redis-pubsub-chain-twoconn.jsonl.gz": (
        12,
        1680,
        [f"redis-pubsub-chain-twoconn-{k:03}" for k in (2, 3, 4, 5, 6, 9, 11)],
    ),
    "corosync-cpg-3nodes.jsonl.gz": (3, 882, []),
}


def disagree(execution: Execution) -> bool:
    """Whether two entities deliver two messages in different orders."""
    logs = [{m: k for k, m in enumerate(execution.delivered(entity))} for entity in execution.entities]
    for one, other in combinations(logs, 2):
        shared = [other[m] for m in one if m in other]
        if shared != sorted(shared):
            return True
    return False


def test_all_samples_are_known_and_small() -> None:
    assert {path.name for path in SAMPLES.glob("*.gz")} == set(KNOWN)
    assert sum(path.stat().st_size for path in SAMPLES.iterdir()) < 100_000


@pytest.mark.parametrize("name", KNOWN)
def test_a_sample(name: str) -> None:
    notices = Notices()
    (batch,) = read_batches([SAMPLES / name], TraceOptions(), notices)
    executions = [execution_of(batch, x) for x in range(batch.executions)]
    count, events, violating = KNOWN[name]
    assert (len(executions), len(batch.event_kind), notices.all()) == (count, events, ())
    assert not batch.unknown.any()
    assert [execution.name for execution in executions if disagree(execution)] == violating
