"""Simulated executions with losses end and are TO."""

from __future__ import annotations

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.logic.plan import plan
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.exploration.explorer import claims
from precedes.protocol.simulation.simulator import Simulator
from precedes_models.total_order.protocol import TotalOrder
from precedes_models.total_order.transfer import Letter
from tests.models.to.bugs import JoinsWithAnOldLog


def lossy(loss: float) -> Conditions:
    """3 entities, 12 messages."""
    return Conditions(loss=loss, destinations=Destinations.BROADCAST)


def judged(protocol: TotalOrder, loss: float, executions: range) -> set[int]:
    """The verdicts on what is claimed; a run that does not end is an error."""
    simulator = Simulator(protocol, lossy(loss))
    batch = batch_of([simulator.run(1, number).execution for number in executions])
    return set(map(int, scan(batch, plan(claims(protocol))).values.ravel()))


@pytest.mark.parametrize(
    ("loss", "executions"),
    [
        (0.05, range(920, 945)),
        (0.2, range(260, 266)),
        pytest.param(0.05, range(945, 1_000), marks=pytest.mark.slow),
        pytest.param(0.2, range(266, 280), marks=pytest.mark.slow),
    ],
)
def test_executions_are_to(loss: float, executions: range) -> None:
    assert judged(TotalOrder(), loss, executions) == {TRUE}


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "executions"), [(0.05, 20_000), (0.2, 2_000)])
def test_many_executions_are_to(loss: float, executions: int) -> None:
    for start in range(0, executions, 1_000):
        assert judged(TotalOrder(), loss, range(start, start + 1_000)) == {TRUE}


def test_a_reset_joined_with_an_old_log_may_have_no_end() -> None:
    """Execution 975 of seed 1: see `two_resets`."""
    with pytest.raises(PrecedesError, match="M011"):
        Simulator(JoinsWithAnOldLog(), lossy(0.05)).run(1, 975)


def test_the_letter_shows() -> None:
    forgetful = TotalOrder(letter=frozenset({Letter.FORGETS}))
    blocks = (range(start, start + 20) for start in range(0, 100, 20))
    assert any(FALSE in judged(forgetful, 0.05, block) for block in blocks)
