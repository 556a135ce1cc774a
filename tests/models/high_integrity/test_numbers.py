"""The numbers: proved in the module's text, and checked here as exact fractions; equal to what the model does."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import factorial

import pytest

from precedes_models.high_integrity.faults import Broken, Dead
from precedes_models.high_integrity.neighbors import (
    Fixed,
    NearFar,
    Neighbourhood,
    Ring,
    Uniform,
    choices,
    named,
)
from precedes_models.high_integrity.numbers import (
    acknowledgements,
    all_named,
    expected_packets,
    expected_requests,
    expected_rounds,
    expected_rounds_all,
    false_report,
    named_by_ring,
    packets,
    paper_p,
    tcp_packets,
    unnoticed,
    unnoticed_near_far,
)
from precedes_models.high_integrity.outcomes import first_round
from precedes_models.high_integrity.protocol import HighIntegrity
from tests.models.high_integrity.outcomes import Memory, share

MAPS: list[Neighbourhood] = [
    Ring(),
    Ring(2),
    Uniform(),
    Uniform(itself=True),
    Uniform(2),
    Uniform(2, itself=True),
    NearFar(),
    NearFar(Fraction(2, 3), 2),
]
# e lies between the partial sums of its series and those with the last term once more.
E_LOW = sum(Fraction(1, factorial(k)) for k in range(40))
E_HIGH = E_LOW + Fraction(1, factorial(39))


@pytest.mark.parametrize("adj", MAPS, ids=str)
@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_what_goes_unnoticed_is_what_the_model_leaves_unnoticed(adj: Neighbourhood, nodes: int) -> None:
    protocol, memory = HighIntegrity(adj=adj), Memory()
    for count in range(1, nodes):
        for failed in combinations(range(1, nodes), count):
            seen = first_round(protocol, nodes, tuple(map(Dead, failed)), memory)
            assert share(seen, lambda one: one.unnoticed) == unnoticed(adj, nodes, failed)
            if isinstance(adj, Uniform):
                every = share(seen, lambda one, failed=failed: one.named >= set(failed))
                assert every == all_named(adj, nodes, count)
            if isinstance(adj, Ring):
                (one,) = seen
                assert one.named == named_by_ring(adj, nodes, failed)


@pytest.mark.parametrize("adj", [Ring(), Ring(2), Uniform(), Uniform(2)], ids=str)
@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_requests_are_those_of_every_draw(adj: Ring | Uniform, nodes: int) -> None:
    options = [choices(adj, node, range(nodes)) for node in range(nodes)]
    for count in range(1, nodes):
        total = Fraction(0)
        failures = list(combinations(range(1, nodes), count))
        for failed in failures:
            for node in range(1, nodes):
                if node not in failed:
                    total += sum(p for p, asked in options[node] if asked & set(failed))
        assert expected_requests(adj, nodes, count) == total / len(failures)


def test_one_neighbour_sends_a_quarter_of_all_acknowledgements_at_most() -> None:
    for nodes in (*range(2, 40), 1000, 10_000):
        for count in {1, nodes // 3, (nodes - 1) // 2, nodes - 1} - {0}:
            both = [expected_requests(adj, nodes, count) for adj in (Ring(), Uniform())]
            assert both[0] == both[1] == Fraction(count * (nodes - 1 - count), nodes - 1)
            assert 4 * both[0] <= acknowledgements(nodes)


def test_the_claim_about_packets_holds_from_five_nodes_on() -> None:
    assert [n for n in range(1, 10_001) if packets(n) < tcp_packets(n)] == list(range(5, 10_001))
    assert packets(4) == tcp_packets(4) == 9


def test_packets_where_a_node_may_draw_itself_are_two_fewer() -> None:
    """Sections 3.4.2 and 3.4.3 say: as many as in the deterministic case."""
    for nodes in (2, 3, 6, 20):
        for adj in (Ring(), Uniform(), NearFar()):
            assert expected_packets(adj, nodes) == packets(nodes)
        assert expected_packets(Uniform(itself=True), nodes) == packets(nodes) - 2
        assert expected_packets(Ring(2), max(nodes, 3)) == 1 + 4 * max(nodes, 3)


def test_with_two_failed_nodes_p_of_n_is_no_lower_bound_of_the_error() -> None:
    """Section 3.4.2, where nodes may draw themselves: with one failed node it is one for every n."""
    assert unnoticed(Uniform(itself=True), 4, {1, 2}) == Fraction(1, 4) < paper_p(4) == Fraction(81, 256)
    for nodes in range(3, 60):
        for count in range(1, nodes):
            error = unnoticed(Uniform(itself=True), nodes, range(1, count + 1))
            assert error == (1 - Fraction(count, nodes)) ** (nodes - count)


def test_p_of_n() -> None:
    """Monotone, below 1/e and above its bounds for n up to 300; for every n by the proof in the module's text."""
    values = [paper_p(n) for n in range(1, 301)]
    assert all(a < b for a, b in pairwise(values))
    assert all(value * E_HIGH < 1 for value in values)
    # By the series of the logarithm, P(n) is above exp(-1 - 1/(2 (n - 1))), which is above (1 - 1/(2 (n - 1))) / e.
    assert all(paper_p(n) * E_LOW > 1 - Fraction(1, 2 * (n - 1)) for n in range(2, 301))
    assert paper_p(2) == Fraction(1, 4)
    assert paper_p(5) < Fraction(1, 3) < paper_p(6) == Fraction(15625, 46656)


def test_p_of_n_is_a_bound_of_the_error_and_not_the_detection() -> None:
    """Section 3.4.2: never 1/2, and 4 or 3 rounds. In the procedure detection is never less than 1/2."""
    for nodes in range(2, 200):
        itself = unnoticed(Uniform(itself=True), nodes, {1})
        assert itself == (1 - Fraction(1, nodes)) ** (nodes - 1) > paper_p(nodes)
        assert unnoticed(Uniform(), nodes, {1}) == paper_p(nodes - 1)
        assert 1 - itself >= Fraction(1, 2)
        assert (1 - itself == Fraction(1, 2)) == (nodes == 2)
        # From above and from below to 1 - 1/e, about 0.632, and e / (e - 1), about 1.582 rounds.
        assert (
            (1 - itself)
            < 1 - 1 / E_HIGH
            < 1 - 1 / E_LOW + Fraction(1, 10**40)
            < 1 - unnoticed(Uniform(), nodes, {1})
        )
        assert (
            expected_rounds(Uniform(), nodes, {1})
            < E_HIGH / (E_LOW - 1)
            < expected_rounds(Uniform(itself=True), nodes, {1})
        )
        assert expected_rounds(Uniform(itself=True), nodes, {1}) <= 2


@pytest.mark.parametrize(
    ("nodes", "itself", "others"),
    [
        (2, Fraction(1, 2), Fraction(1)),
        (3, Fraction(5, 9), Fraction(3, 4)),
        (6, Fraction(4651, 7776), Fraction(2101, 3125)),
    ],
)
def test_detection_in_small_groups(nodes: int, itself: Fraction, others: Fraction) -> None:
    assert 1 - unnoticed(Uniform(itself=True), nodes, {1}) == itself
    assert 1 - unnoticed(Uniform(), nodes, {1}) == others


def test_rounds_until_all_are_named_by_the_chain_of_what_is_missing() -> None:
    """Against a computation of another kind: the expected time of the Markov chain on the set not named yet."""
    for adj, nodes, count in product((Uniform(), Uniform(itself=True)), (4, 5), (2, 3)):
        failed = frozenset(range(1, count + 1))
        live = [node for node in range(nodes) if node not in failed]
        named_sets: dict[frozenset[int], Fraction] = {frozenset(): Fraction(1)}
        for node in live:
            after: dict[frozenset[int], Fraction] = {}
            for so_far, p in named_sets.items():
                for q, asked in choices(adj, node, range(nodes)):
                    key = so_far | (asked & failed)
                    after[key] = after.get(key, Fraction(0)) + p * q
            named_sets = after
        expected: dict[frozenset[int], Fraction] = {frozenset(): Fraction(0)}
        for size in range(1, count + 1):
            for missing in map(frozenset, combinations(failed, size)):
                stay = sum((p for named_, p in named_sets.items() if not named_ & missing), Fraction(0))
                move = sum(
                    (p * expected[missing - named_] for named_, p in named_sets.items() if named_ & missing),
                    Fraction(0),
                )
                expected[missing] = (1 + move) / (1 - stay)
        assert expected[failed] == expected_rounds_all(adj, nodes, count)
        assert expected_rounds(adj, nodes, failed) == 1 / (1 - unnoticed(adj, nodes, failed))


def test_the_figures_of_the_page() -> None:
    """docs/papers/high-integrity.md, sections 3.4.2 to 3.4.4 and 5."""
    assert [
        round(float(expected_rounds_all(adj, 50, 3)), 2) for adj in (Uniform(itself=True), Uniform())
    ] == [2.43, 2.40]
    near, uniform, run = NearFar(), Uniform(), {20, 21}
    assert round(float(1 - unnoticed_near_far(near, 1000)), 3) == 0.721
    assert round(float(1 - unnoticed(uniform, 1000, {1})), 3) == 0.632
    assert [round(float(1 - unnoticed(adj, 50, run)), 3) for adj in (near, uniform)] == [0.755, 0.865]
    assert [round(float(expected_rounds(Uniform(d), 1000, {1})), 3) for d in (1, 2)] == [1.582, 1.156]
    most = max(expected_requests(Ring(2), 1001, failed) for failed in range(1, 1001))
    assert round(float(most) / 1000, 3) == 0.385
    assert round(float(expected_requests(Uniform(2), 1001, 421)) / 1000, 3) == 0.385
    for nodes in (3, 5, 50):
        drawn = false_report(Uniform(itself=True), nodes, 1, 2)
        assert drawn == 1 - (1 - Fraction(1, nodes)) ** 2


def test_near_and_far_by_formula_and_by_sum() -> None:
    for nodes in range(2, 20):
        for near in (NearFar(), NearFar(Fraction(1, 3), 3)):
            for node in range(1, nodes):
                assert unnoticed_near_far(near, nodes) == unnoticed(near, nodes, {node})


def test_a_broken_link_is_reported_as_often_where_neighbours_are_drawn() -> None:
    for nodes in range(3, 12):
        links = list(combinations(range(1, nodes), 2))
        ring = [false_report(Ring(), nodes, *link) for link in links]
        assert sum(ring) == nodes - 2
        assert set(ring) <= {0, 1}
        each = {false_report(Uniform(), nodes, *link) for link in links}
        assert each == {1 - (1 - Fraction(1, nodes - 1)) ** 2}
    for nodes, link in ((3, (1, 2)), (4, (1, 2)), (4, (1, 3))):
        for adj in (Ring(), Uniform(), NearFar()):
            seen = first_round(HighIntegrity(adj=adj), nodes, (Broken(*link),), {})
            assert share(seen, lambda one: one.false) == false_report(adj, nodes, *link)


@pytest.mark.parametrize("adj", MAPS, ids=str)
@pytest.mark.parametrize("members", [(0,), (0, 3), (0, 1, 4), (0, 1, 2, 3, 4, 5, 6)])
def test_choices_are_a_distribution(adj: Neighbourhood, members: tuple[int, ...]) -> None:
    for node in members:
        options = choices(adj, node, members)
        assert sum(p for p, _ in options) == 1
        assert all(p > 0 for p, _ in options)
        assert len({asked for _, asked in options}) == len(options)
        assert all(asked and asked <= set(members) for _, asked in options)


def test_choices_by_hand() -> None:
    assert choices(Ring(), 3, (0, 1, 3)) == ((1, frozenset({0})),)
    assert choices(Ring(5), 1, (0, 1, 2)) == ((1, frozenset({0, 2})),)
    assert {asked: p for p, asked in choices(NearFar(), 0, range(6))} == {
        frozenset({1}): Fraction(7, 16),
        frozenset({5}): Fraction(7, 16),
        frozenset({2}): Fraction(1, 24),
        frozenset({3}): Fraction(1, 24),
        frozenset({4}): Fraction(1, 24),
    }
    assert choices(Fixed((frozenset({1}), frozenset({0}))), 1, (0, 1)) == ((1, frozenset({0})),)


def test_neighbourhoods_by_name() -> None:
    assert named("ring") == Ring()
    assert named("ring:2") == Ring(2)
    assert named("uniform-itself:3") == Uniform(3, itself=True)
    assert named("near-far") == NearFar()
    for wrong in ("star", "ring:0", "ring:x", "near-far:2"):
        with pytest.raises(ValueError, match=r"no choice of neighbors|not a number of neighbors"):
            named(wrong)
    with pytest.raises(ValueError, match="near"):
        NearFar(Fraction(1))
    with pytest.raises(ValueError, match="origin"):
        unnoticed(Ring(), 3, {0})
