"""Simulated rounds: equal to the model on every draw of small groups, and to the exact values in large ones."""

from __future__ import annotations

from itertools import combinations, product
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest

from experiments.high_integrity_detection import mean_of
from experiments.high_integrity_rounds import Piece, draw, named, requests, rounds
from precedes_models.high_integrity.faults import Dead
from precedes_models.high_integrity.neighbors import Fixed, NearFar, Neighbourhood, Ring, Uniform, choices
from precedes_models.high_integrity.numbers import (
    expected_rounds,
    expected_rounds_all,
    unnoticed,
    unnoticed_near_far,
)
from precedes_models.high_integrity.outcomes import first_round
from precedes_models.high_integrity.protocol import HighIntegrity
from tests.sampling import one_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Of two hundred intervals at 95 % ten would be wrong; the seeds are fixed, and these are at 99.99 %.
Z = 3.8906


@pytest.mark.parametrize("nodes", [3, 4])
def test_a_round_is_what_the_model_does_on_every_draw(nodes: int) -> None:
    for asked in product(range(nodes), repeat=nodes):
        protocol = HighIntegrity(adj=Fixed(tuple(frozenset({node}) for node in asked)))
        drawn = np.array(asked)[None, :, None]
        for count in (1, 2):
            for failed in combinations(range(1, nodes), count):
                (seen,) = first_round(protocol, nodes, tuple(map(Dead, failed)), {})
                bulk = {node for node, hit in zip(failed, named(drawn, failed)[0], strict=True) if hit}
                assert bulk == seen.named


def test_requests_leave_out_what_the_origin_finds_itself() -> None:
    drawn = np.array([1, 2, 1, 2])[None, :, None]
    assert requests(drawn, np.array([[False, True, False, False]])).tolist() == [1]
    assert requests(drawn, np.array([[False, False, True, False]])).tolist() == [2]


@pytest.mark.parametrize(
    "adj",
    [Ring(), Ring(2), Uniform(), Uniform(itself=True), Uniform(2), Uniform(3, itself=True), NearFar()],
    ids=str,
)
@pytest.mark.parametrize("nodes", one_in(3, [7, 2, 3]))
def test_neighbours_are_drawn_with_their_probabilities(adj: Neighbourhood, nodes: int) -> None:
    runs = 20_000
    drawn = draw(adj, nodes, runs, np.random.default_rng(nodes))
    for node in range(nodes):
        sets, counts = np.unique(np.sort(drawn[:, node, :], axis=1), axis=0, return_counts=True)
        found = {frozenset(one.tolist()): int(count) for one, count in zip(sets, counts, strict=True)}
        expected = {asked: float(p) for p, asked in choices(adj, node, range(nodes))}
        assert found.keys() <= expected.keys()
        for asked, p in expected.items():
            assert abs(found.get(asked, 0) / runs - p) <= Z * sqrt(p * (1 - p) / runs)


@pytest.mark.parametrize("adj", [Uniform(), Uniform(itself=True), NearFar(), Uniform(2)], ids=str)
@pytest.mark.parametrize("nodes", [2, 3, 6, 50, 1000])
def test_detection_agrees_with_the_exact_values(adj: Neighbourhood, nodes: int) -> None:
    runs = 30_000 if nodes <= 50 else 1_000
    counts = rounds(Piece(adj, nodes, (1,), runs, seed=nodes)).first
    missed = unnoticed_near_far(adj, nodes) if isinstance(adj, NearFar) else unnoticed(adj, nodes, {1})
    p = float(1 - missed)
    assert abs(counts[1] / runs - p) <= Z * sqrt(p * (1 - p) / runs)
    estimate = mean_of(counts)
    assert abs(estimate.value - float(1 / (1 - missed))) <= Z / 1.96 * estimate.half + 1e-12


@pytest.mark.parametrize("adj", [Uniform(), Uniform(itself=True), Uniform(2)], ids=str)
@pytest.mark.parametrize("nodes", [6, 50, 1000])
def test_rounds_until_three_failed_nodes_are_named(adj: Uniform, nodes: int) -> None:
    result = rounds(Piece(adj, nodes, (1, 2, 3), 30_000 if nodes <= 50 else 1_000, seed=nodes))
    first, every = mean_of(result.first), mean_of(result.every)
    assert abs(first.value - float(expected_rounds(adj, nodes, {1, 2, 3}))) <= Z / 1.96 * first.half
    assert abs(every.value - float(expected_rounds_all(adj, nodes, 3))) <= Z / 1.96 * every.half


@pytest.mark.spark
def test_spark_gives_what_one_process_gives(spark: SparkSession) -> None:
    from experiments.high_integrity_spark import spread

    pieces = [Piece(Uniform(), nodes, (1,), 500, seed) for nodes in (3, 50) for seed in (1, 2)]
    results, where = spread(rounds, pieces)
    assert where.startswith("Spark")
    assert results == [rounds(piece) for piece in pieces]
