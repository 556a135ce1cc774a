"""Every behaviour of ST up to bounds: what holds, in how many states, and that every premise is met."""

from __future__ import annotations

import pytest

from precedes.verdict import Verdict
from precedes_models.st import SelectiveTotalOrder
from tests.models.st.bugs import BUGS
from tests.models.st.exploring import explored

SHORT = SelectiveTotalOrder(confirms=False)
GO_BACK = SelectiveTotalOrder(confirms=False, retransmission="go-back")


def test_without_loss_everything_holds_in_every_state() -> None:
    found = explored(SelectiveTotalOrder(), 3, "a{2,3} b{1,3}", 0)
    assert found.complete
    assert found.states == 1905
    assert set(found.verdicts.values()) == {Verdict.HOLDS}
    assert found.premises["acknowledged"] > 100


@pytest.mark.parametrize(
    ("protocol", "sends", "losses", "states"),
    [
        (SelectiveTotalOrder(), "a{1,2}", 1, 543),
        (SHORT, "a{1,2} b{1,2}", 1, 3947),
        (GO_BACK, "a{1,2} b{1,2}", 1, 4231),
    ],
)
def test_two_entities_recover(protocol: SelectiveTotalOrder, sends: str, losses: int, states: int) -> None:
    found = explored(protocol, 2, sends, losses)
    assert found.complete
    assert found.states == states
    assert set(found.verdicts.values()) == {Verdict.HOLDS}


def test_three_entities_recover() -> None:
    found = explored(SelectiveTotalOrder(), 3, "a{2,3}", 1, at_rest=True)
    assert found.complete
    assert found.states == 7801
    assert set(found.verdicts.values()) == {Verdict.HOLDS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "sends", "losses", "states"),
    [
        (SHORT, "a{2,3} b{1,3}", 1, 20_332),
        (SHORT, "a{2,3} a{1,2}", 2, 140_306),
        (SHORT, "a{2,3} b{2,3}", 2, 304_340),
        (SHORT, "a{2,3} a{1,2} a{2,3}", 1, 53_352),
        (SHORT, "a{2,3} b{2,3} c{1,2}", 1, 356_923),
    ],
)
def test_three_entities_recover_from_more(
    protocol: SelectiveTotalOrder, sends: str, losses: int, states: int
) -> None:
    found = explored(protocol, 3, sends, losses, at_rest=True)
    assert found.complete
    assert found.states == states
    assert set(found.verdicts.values()) == {Verdict.HOLDS}


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
