"""Comparisons of numbers as linear forms over the measurements of an execution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from precedes.core.formula import (
    AttributeOf,
    AttributeSort,
    Comparison,
    Constant,
    DeliveryAttribute,
    DeliveryPosition,
    DeliveryTime,
    Delta,
    Difference,
    Epsilon,
    Nth,
    NumberTerm,
    Position,
    RecordedClock,
    Scaled,
    Size,
    Sum,
    TimeOf,
    VectorTime,
    ViewNumber,
)

Measure = (
    Delta
    | Epsilon
    | TimeOf
    | Position
    | Size
    | RecordedClock
    | VectorTime
    | AttributeOf
    | Nth
    | DeliveryTime
    | DeliveryPosition
    | DeliveryAttribute
    | ViewNumber
)
"""A number term that is neither constant nor made of others."""


@dataclass(frozen=True, slots=True)
class LinearForm:
    """`constant` and, for every measure, how often it is added."""

    factors: Mapping[Measure, Fraction]
    constant: Fraction


def is_time(measure: Measure) -> bool:
    """Whether it is a time, which is known up to epsilon."""
    return isinstance(measure, TimeOf | DeliveryTime) or (
        isinstance(measure, AttributeOf | DeliveryAttribute) and measure.attribute.sort is AttributeSort.TIME
    )


def linear_form(comparison: Comparison) -> LinearForm:
    """`left - right`, which the comparison compares with 0."""
    factors: dict[Measure, Fraction] = {}
    constant = Fraction(0)
    for side, sign in ((comparison.left, Fraction(1)), (comparison.right, Fraction(-1))):
        for measure, factor in _terms(side, sign):
            if measure is None:
                constant += factor
            else:
                factors[measure] = factors.get(measure, Fraction(0)) + factor
    return LinearForm(factors, constant)


def _terms(term: NumberTerm, factor: Fraction) -> Iterator[tuple[Measure | None, Fraction]]:
    """The term times the factor as a sum of measures; None stands for 1."""
    match term:
        case Constant(value, _):
            yield None, value * factor
        case Sum(left, right):
            yield from _terms(left, factor)
            yield from _terms(right, factor)
        case Difference(left, right):
            yield from _terms(left, factor)
            yield from _terms(right, -factor)
        case Scaled(by, scaled):
            yield from _terms(scaled, factor * by)
        case (
            Delta() | Epsilon() | TimeOf() | Position() | Size() | RecordedClock() | VectorTime() | AttributeOf()
            | Nth() | DeliveryTime() | DeliveryPosition() | DeliveryAttribute() | ViewNumber()
        ):  # fmt: skip
            yield term, factor
        case _:
            assert_never(term)
