"""Cycles of orders, chains of happens-before, vector time in blocks: small executions against what is obvious."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from precedes.core.formula import Requirement
from precedes.core.transposition import batch_of
from precedes.engines.columnar import execution_source
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.columnar.kernels import causal_order, time
from precedes.engines.columnar.kernels.delivery_cycle import Logs as Receipts
from precedes.engines.columnar.kernels.delivery_cycle import inversion, located, narrowed, on_cycles, shortest
from precedes.logic.plan import plan
from precedes.logic.recognition import DEFINITIONS
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from tests.sampling import one_in

MESSAGES = 6
Logs = Sequence[Sequence[int]]
LOGS = st.lists(
    st.lists(st.sampled_from(range(MESSAGES)), unique=True, max_size=MESSAGES), min_size=1, max_size=5
)
WIDE = Shape(entities=7, messages=9)
CAUSAL = plan(
    [
        Requirement(name, DEFINITIONS[name])
        for name in ("causal_order", "process_causal_order", "causal_delivery", "delta_causal_order")
    ]
)


def before(logs: Logs) -> set[tuple[int, int]]:
    return {(p, q) for log in logs for p, q in combinations(log, 2)}


def cycles(logs: Logs, length: int) -> list[tuple[int, ...]]:
    """All cycles of the length, each from its least message."""
    order = before(logs)
    found = [c for c in permutations(range(MESSAGES), length) if c[0] == min(c)]
    return [c for c in found if all((p, q) in order for p, q in zip(c, c[1:] + c[:1], strict=True))]


def receipts(logs: Logs) -> Receipts:
    offsets = np.cumsum([0, *map(len, logs)])
    return Receipts(0, len(logs), offsets, np.array([m for log in logs for m in log], np.int32))


@given(LOGS)
@settings(max_examples=300, deadline=None)
def test_who_is_on_a_cycle(logs: Logs) -> None:
    found = np.full(MESSAGES, 9, np.int32)
    components = on_cycles(receipts(logs), MESSAGES, found)
    together = [cycle for length in range(2, MESSAGES + 1) for cycle in cycles(logs, length)]
    assert set(np.flatnonzero(found).tolist()) == {m for cycle in together for m in cycle}
    assert set(found.tolist()) <= {*range(components + 1)}
    # A cycle is in one component, and two in one component have a cycle through both.
    assert all(len({int(found[m]) for m in cycle}) == 1 for cycle in together)
    reached = {(one, other) for cycle in together for one in cycle for other in cycle}
    for one, other in combinations(np.flatnonzero(found).tolist(), 2):
        linked = (one, other) in reached or any(
            (one, m) in reached and (m, other) in reached for m in range(MESSAGES)
        )
        assert not linked or found[one] == found[other]


@given(LOGS)
@settings(max_examples=300, deadline=None)
def test_the_first_inversion_or_a_shortest_cycle(logs: Logs) -> None:
    tangled = np.empty(MESSAGES, np.int32)
    on_cycles(receipts(logs), MESSAGES, tangled)
    left = narrowed(receipts(logs), tangled, 0)
    places = located(left, MESSAGES)
    result = np.full(4, -1, np.int32)
    opposed = [
        (i, j)
        for i, j in combinations(range(len(logs)), 2)
        if any((q, p) in before([logs[j]]) for p, q in before([logs[i]]))
    ]
    if inversion(left, places, result):
        i, j, p, q = result.tolist()
        assert (i, j) == opposed[0]
        assert (p, q) in before([logs[i]])
        assert (q, p) in before([logs[j]])
        return
    assert not opposed
    lengths = [k for k in range(3, MESSAGES + 1) if cycles(logs, k)]
    entities, cycle = np.empty(MESSAGES, np.int32), np.empty(MESSAGES, np.int32)
    found = shortest(left, places, 10**6, entities, cycle)
    assert found == min(lengths, default=0)
    for k in range(found):
        assert (cycle[k], cycle[(k + 1) % found]) in before([logs[entities[k]]])


@pytest.mark.parametrize("block", one_in(3, [2, 1, 3]))
def test_blocks_of_vector_time_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [batch_of([execution(Seeded(seed), WIDE)]) for seed in range(3000, 3250)]
    whole = [scan(case, CAUSAL, jit=False) for case in cases]
    assert max(int(case.entity_offsets[-1]) for case in cases) == 7
    assert {-1, 0} < set(np.concatenate([result.values.ravel() for result in whole]).tolist())
    for module in (causal_order, time):
        monkeypatch.setattr(module, "BLOCK", block)
    for case, result in zip(cases, whole, strict=True):
        cut = scan(case, CAUSAL, jit=False)
        # Which of several reasons an unknown has may differ.
        assert np.minimum(cut.values, 1).tolist() == np.minimum(result.values, 1).tolist()
        for name in CAUSAL.names:
            assert cut.witness(0, name) == result.witness(0, name)


@pytest.mark.slow
def test_witnesses_by_machine_code_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = plan([Requirement(name, DEFINITIONS[name]) for name in ("acyclic_order", "causal_order")])
    results = [scan(batch_of([execution(Seeded(seed), WIDE)]), wanted, jit=False) for seed in range(300)]
    plain = [result.witness(0, name) for result in results for name in wanted.names]
    monkeypatch.setattr(execution_source, "PLAIN_EVENTS", 0)
    assert [result.witness(0, name) for result in results for name in wanted.names] == plain
