"""Our engines through the conformance kit, as anybody's engine goes through it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from precedes.testing import KINDS, Engine, Kind, check_engine
from tests.conformance.engines import OnSpark, as_machine_code, compiled, oracle, scan, solver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMED: tuple[Kind, ...] = ("definitions", "doubts", "views")
"""Where the oracle has something to say: it knows names, not formulas."""

PLACED: tuple[Kind, ...] = ("definitions", "formulas", "atoms")
"""Cases of which Spark can read the rows, and of which the solver has the executions."""


@pytest.mark.parametrize(
    ("engine", "cases", "first", "kinds"),
    [
        pytest.param(oracle, 1_024, 0, NAMED, id="oracle"),
        pytest.param(compiled, 192, 0, KINDS, id="compiled"),
        pytest.param(scan, 256, 0, KINDS, id="scan"),
        # In batches of which some have crashes; every name is among the slow ones.
        pytest.param(solver, 32, 704, ("definitions",), id="solver, definitions"),
        pytest.param(solver, 32, 0, ("formulas", "atoms"), id="solver, formulas"),
        pytest.param(solver, 32, 64_576, ("deliveries",), id="solver, deliveries"),
        pytest.param(solver, 128, 0, ("views",), id="solver, views"),
        # A part that is true of every execution, and speaks of senders, where one is not known.
        pytest.param(scan, 1, 7_000_505, ("views",), id="scan, true of every execution"),
        # Formulas about epsilon, and on arrivals; executions with messages that only arrive.
        pytest.param(solver, 64, 960, ("attributes",), id="solver, attributes"),
        pytest.param(solver, 1, 809, ("formulas",), id="solver, epsilon and arrivals"),
        pytest.param(solver, 64, 18_816, ("views",), id="solver, only arrived"),
    ],
)
def test_an_engine_conforms(engine: Engine, cases: int, first: int, kinds: tuple[Kind, ...]) -> None:
    found = check_engine(engine, cases=cases, first=first, kinds=kinds)
    assert found.judged.total() * 10 > cases, "little was judged"


def test_spark_conforms(spark: SparkSession) -> None:
    found = check_engine(OnSpark(spark), cases=32, kinds=KINDS)
    assert {kind for kind, _ in found.judged} == set(KINDS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "cases", "kinds"),
    [
        pytest.param(oracle, 100_000, NAMED, id="oracle"),
        pytest.param(compiled, 20_000, KINDS, id="compiled"),
        pytest.param(scan, 20_000, KINDS, id="scan"),
        pytest.param(as_machine_code, 320, ("definitions",), id="machine code"),
        pytest.param(solver, 2_048, (*PLACED, "attributes", "deliveries", "views"), id="solver"),
    ],
)
def test_an_engine_conforms_on_many_cases(engine: Engine, cases: int, kinds: tuple[Kind, ...]) -> None:
    check_engine(engine, cases=cases, first=1_000_000, kinds=kinds)


@pytest.mark.slow
def test_spark_conforms_on_many_cases(spark: SparkSession) -> None:
    check_engine(OnSpark(spark), cases=2_048, first=1_000_000, kinds=KINDS)
