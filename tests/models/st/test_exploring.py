"""Every behavior of ST up to bounds: what holds, in how many states, and that every property is exercised."""

from __future__ import annotations

import pytest

from precedes.core.verdict import Verdict
from precedes.protocol.exploration.result import Exploration
from precedes_models.st.protocol import SelectiveTotalOrder
from tests.models.st.bugs import BUGS
from tests.models.st.exploring import explored

SHORT = SelectiveTotalOrder(confirms=False)
GO_BACK = SelectiveTotalOrder(confirms=False, retransmission="go-back")


def unmet(found: Exploration) -> set[str]:
    """What these messages cannot break; everything else holds."""
    assert not found.findings
    assert {name for name, met in found.exercised.items() if met} == {
        name for name, verdict in found.verdicts.items() if verdict is Verdict.HOLDS
    }
    return {name for name, met in found.exercised.items() if not met}


def test_without_loss_everything_holds_in_every_state() -> None:
    found = explored(SelectiveTotalOrder(), 3, "a{2,3} b{1,3}", 0)
    assert found.complete
    assert found.states == 1905
    # No sender has two messages.
    assert unmet(found) == {"order_preserving", "order_equivalent"}
    assert found.exercised["acknowledged"] > 100


@pytest.mark.parametrize(
    ("protocol", "sends", "losses", "states", "vacuous"),
    [
        (SelectiveTotalOrder(), "a{1,2}", 1, 543, {"order_preserving", "order_equivalent"}),
        (SHORT, "a{1,2} b{1,2}", 1, 3947, {"order_preserving"}),
        (GO_BACK, "a{1,2} b{1,2}", 1, 4231, {"order_preserving"}),
    ],
)
def test_two_entities_recover(
    protocol: SelectiveTotalOrder, sends: str, losses: int, states: int, vacuous: set[str]
) -> None:
    found = explored(protocol, 2, sends, losses)
    assert found.complete
    assert found.states == states
    assert unmet(found) == vacuous


def test_three_entities_recover() -> None:
    found = explored(SelectiveTotalOrder(), 3, "a{2,3}", 1, quiescent=True)
    assert found.complete
    assert found.states == 7801
    assert unmet(found) == {"order_preserving", "order_equivalent"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "sends", "losses", "states", "vacuous"),
    [
        (SHORT, "a{2,3} b{1,3}", 1, 20_332, {"order_preserving", "order_equivalent"}),
        (SHORT, "a{2,3} a{1,2}", 2, 140_306, {"order_equivalent"}),
        (SHORT, "a{2,3} b{2,3}", 2, 304_340, {"order_preserving"}),
        (SHORT, "a{2,3} a{1,2} a{2,3}", 1, 53_352, set[str]()),
        (SHORT, "a{2,3} b{2,3} c{1,2}", 1, 356_923, {"order_preserving"}),
    ],
)
def test_three_entities_recover_from_more(
    protocol: SelectiveTotalOrder, sends: str, losses: int, states: int, vacuous: set[str]
) -> None:
    found = explored(protocol, 3, sends, losses, quiescent=True)
    assert found.complete
    assert found.states == states
    assert unmet(found) == vacuous


@pytest.mark.parametrize(
    ("protocol", "entities", "sends", "losses", "broken"), BUGS, ids=lambda v: type(v).__name__
)
def test_a_bug_is_found(
    protocol: SelectiveTotalOrder, entities: int, sends: str, losses: int, broken: str
) -> None:
    found = explored(protocol, entities, sends, losses)
    assert found.of(broken) is Verdict.VIOLATED


@pytest.mark.parametrize(("entities", "sends", "losses"), sorted({each[1:4] for each in BUGS}))
def test_none_of_it_is_in_the_protocol(entities: int, sends: str, losses: int) -> None:
    found = explored(SelectiveTotalOrder(confirms=False, repeats=1 + losses), entities, sends, losses)
    assert found.complete
    assert not found.findings
