"""Which of many cases that show the same stay in the quick suite: the others are marked `slow`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(number: int, cases: Iterable[Any], ids: Iterable[str] | None = None) -> list[Any]:
    """The cases as parameters, of which the first of every so many is quick. A tuple has the values of several."""
    cases = list(cases)
    names: list[str | None] = [None] * len(cases) if ids is None else list(ids)
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            id=name,
            marks=[pytest.mark.slow] if place % number else [],
        )
        for place, (case, name) in enumerate(zip(cases, names, strict=True))
    ]


def on_engines(number: int, cases: Iterable[Any], ids: Iterable[str]) -> list[Any]:
    """The cases, each with the name of an engine before it: all are quick here, and one of so many is on Spark.

    A question to Spark takes as long as ten to the scan.
    """
    found = []
    for place, (case, name) in enumerate(zip(cases, ids, strict=True)):
        values = case if isinstance(case, tuple) else (case,)
        found.append(pytest.param("local", *values, id=f"local-{name}"))
        marks = [pytest.mark.spark, pytest.mark.xdist_group("spark")]
        marks += [pytest.mark.slow] if place % number else []
        found.append(pytest.param("spark", *values, id=f"spark-{name}", marks=marks))
    return found
