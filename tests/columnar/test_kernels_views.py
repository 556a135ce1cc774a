"""The kernels of views and groups against the definitions, on executions with views and groups."""

from __future__ import annotations

import pytest

from precedes.core.formula import Requirement
from precedes.core.transposition import batch_of, execution_of
from precedes.core.verdict import FALSE, verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.columnar.kernel_columns import columns_of
from precedes.engines.columnar.kernels.choice import TUNED
from precedes.engines.columnar.kernels.views import VIEW_KERNELS
from precedes.engines.reference import evaluate
from precedes.logic.plan import plan
from precedes.logic.recognition import DEFINITIONS
from precedes.native.codes import DEFERRED
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from tests.sampling import one_in

CALM = Shape(entities=4, messages=6, odd=False, membership=True, evidence=False)
ANY = Shape(entities=3, membership=True)
VIEWS_ONLY = ("local_monotonicity", "one_view_order")
"""What no message shows."""


@pytest.mark.parametrize("chunk", one_in(3, range(6)))
def test_values_and_witnesses(chunk: int) -> None:
    prepared = plan([Requirement(name, DEFINITIONS[name]) for name in VIEW_KERNELS])
    decided = dict.fromkeys(VIEW_KERNELS, 0)
    for seed in range(chunk * 200, chunk * 200 + 200):
        case = execution(Seeded(seed), (CALM, ANY)[seed % 2])
        batch = batch_of([case])
        found = scan(batch, prepared, jit=False)
        for name, value in zip(found.names, found.values[0].tolist(), strict=True):
            assert verdict(value) is verdict(evaluate(DEFINITIONS[name], case)), (name, case)
            if value != FALSE:
                continue
            kernel = TUNED[name]
            decided[name] += kernel.run(columns_of(batch, kernel.reads), jit=False)[0][0] != DEFERRED
            messages = found.witness(0, name).messages
            assert messages or name in VIEWS_ONLY
            assert evaluate(DEFINITIONS[name], execution_of(batch, 0, messages)) == FALSE, (name, case)
    assert all(decided.values()), decided
