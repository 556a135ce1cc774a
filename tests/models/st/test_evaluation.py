"""Equations (1) to (5) of 1994 and what the text says of their curves; what the protocol itself does beside them."""

from __future__ import annotations

import pytest

from experiments.st_burst import Setting, burst, measured
from experiments.st_formulas import (
    concerned,
    concerned_closed,
    first,
    received,
    retransmitted,
    retransmitted_by_all,
    retransmitted_closed,
    sorted_closed,
    sorted_once,
    sorted_pdus,
)

SIZES = (5, 10, 20, 50)
RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


def test_by_hand() -> None:
    """n = L = 2, d = 1, f = 1/2: F = 1/2, P_0 = 1/4, P_1 = 1/8, T_0 = (2 + 1/2)/2, T_1 = 1/2."""
    assert received(2, 1, 0.5) == 0.5
    assert [first(2, 1, 0.5, before) for before in (0, 1)] == [0.25, 0.125]
    assert [concerned(2, 1, 2, before) for before in (0, 1)] == [1.25, 0.5]
    assert sorted_pdus(2, 1, 0.5, 2) == 1.25 * 0.25 / 2 + 0.5 * 0.125 / 2
    assert retransmitted(2, 1, 0.5, 2) == 0.25 * 1.5 + 0.125


def test_with_every_entity_a_destination_only_the_first_term_of_t_is_left() -> None:
    assert [concerned(10, 10, 10, before) for before in range(10)] == list(range(10, 0, -1))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.74, 1.0])
def test_the_sums_in_closed_form(n: int, share: float) -> None:
    d = share * n
    for before in range(n):
        assert concerned_closed(n, d, n, before) == pytest.approx(concerned(n, d, n, before), rel=1e-12)
    for f in (0.0, *RATES, 0.9, 1.0):
        assert retransmitted_closed(n, d, f, n) == pytest.approx(
            retransmitted(n, d, f, n), rel=1e-9, abs=1e-12
        )
        assert sorted_closed(n, d, f, n) == pytest.approx(sorted_pdus(n, d, f, n), rel=1e-9, abs=1e-9)


def test_what_the_closed_form_of_r_says() -> None:
    """R/L is (d/n)(1 - F): it does not depend on L, and at small f, with d = n/2, R over U of TO is 1/(2 (n + 1))."""
    for n in SIZES:
        rates = {round(retransmitted(n, n / 2, 0.05, length) / length, 12) for length in (1, 7, n, 3 * n)}
        assert rates == {round(0.5 * (1 - 0.95 ** (n / 2)), 12)}
        ratio = retransmitted(n, n / 2, 1e-7, n) / sorted_pdus(n, n, 1e-7, n)
        assert ratio == pytest.approx(1 / (2 * (n + 1)), rel=1e-3)


@pytest.mark.parametrize("wrong", [(5, 0, 0.1), (5, 6, 0.1), (5, 2, 1.5), (0, 0, 0.1)])
def test_ranges(wrong: tuple[int, float, float]) -> None:
    with pytest.raises(ValueError, match="it must be"):
        received(*wrong)


def test_twice_the_destinations_are_four_to_eleven_times_the_sorted_pdus() -> None:
    """The text: about in proportion to the destinations."""
    ratios = [sorted_pdus(n, n, f, n) / sorted_pdus(n, n / 2, f, n) for n in SIZES for f in RATES]
    assert 4.0 < min(ratios) < 4.1
    assert 10.8 < max(ratios) < 11.0


def test_selective_st_is_not_always_a_tenth_of_go_back_to_nor_half_of_go_back_st() -> None:
    of_to = [retransmitted(n, n / 2, f, n) / sorted_pdus(n, n, f, n) for n in SIZES for f in RATES]
    of_st = [retransmitted(n, n / 2, f, n) / sorted_pdus(n, n / 2, f, n) for n in SIZES for f in RATES]
    assert (round(min(of_to), 3), round(max(of_to), 3)) == (0.019, 0.498)
    assert (round(min(of_st), 3), round(max(of_st), 3)) == (0.117, 2.033)
    # Both hold together for one size and rate only: n = 20, f = 0.02.
    both = [
        (n, f)
        for n in SIZES
        for f in RATES
        if abs(retransmitted(n, n / 2, f, n) / sorted_pdus(n, n, f, n) - 0.1) < 0.01
        and abs(retransmitted(n, n / 2, f, n) / sorted_pdus(n, n / 2, f, n) - 0.5) < 0.05
    ]
    assert both == [(20, 0.02)]


def test_a_burst_depends_on_its_seed_alone() -> None:
    setting = Setting(5, 2.5, 0.1, 5)
    assert burst(setting, "one") == burst(setting, "one")
    assert len({burst(setting, str(k)) for k in range(20)}) > 5


@pytest.mark.parametrize("go_back", [False, True])
def test_every_burst_comes_to_an_end(go_back: bool) -> None:
    for number in range(60):
        cost = burst(Setting(4, 2, 0.3, 6, go_back), str(number))
        assert cost.again > 0


def test_measured_beside_the_equations() -> None:
    """What is sorted is U where all are destinations; where half are, it is twice U and a little more: (d/n) is in P_l
    once too often, and the PDU by which an entity is drawn in is for it for certain, where (2) takes d/n."""
    everybody, _, _ = measured(Setting(5, 5, 0.05, 5), 0.1, 400)
    half, _, _ = measured(Setting(5, 2.5, 0.05, 5), 0.1, 400)
    assert everybody.low < sorted_pdus(5, 5, 0.05, 5) / 5 * 1.1
    assert everybody.high > sorted_pdus(5, 5, 0.05, 5) / 5
    assert half.low > 1.4 * sorted_pdus(5, 2.5, 0.05, 5) / 5
    assert half.value == pytest.approx(sorted_once(5, 2.5, 0.05, 5) / 5, rel=0.25)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_with_a_lost_pdu_comes_what_was_refused_behind_it(share: float) -> None:
    """At small f: one loss, and of the L - l - 1 PDUs behind it those of the same source for the same destination."""
    n = 5
    _, again, _ = measured(Setting(n, share * n, 0.001, n), 0.1, 400)
    refused = (n - 1) / (2 * n) * share
    assert again.value == pytest.approx(
        retransmitted_by_all(n, share * n, 0.001, n) / n * (1 + refused), rel=0.1
    )


def test_go_back_sends_what_all_sent() -> None:
    """At small f: U where all are destinations; where half are, (d/n) is in it twice too often."""
    _, everybody, _ = measured(Setting(5, 5, 0.001, 5, go_back=True), 0.1, 400)
    _, half, _ = measured(Setting(5, 2.5, 0.001, 5, go_back=True), 0.1, 400)
    assert everybody.value == pytest.approx(sorted_pdus(5, 5, 0.001, 5) / 5, rel=0.15)
    assert 4 < half.value / (sorted_pdus(5, 2.5, 0.001, 5) / 5) < 5.5
