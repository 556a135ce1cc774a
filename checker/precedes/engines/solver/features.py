"""What a formula speaks of: how much of an execution has to be modelled for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

from precedes.formula import (
    Acyclic,
    ArrivalEvent,
    Constant,
    Delta,
    Dimension,
    EntityNamed,
    EntityVariable,
    Epsilon,
    Exists,
    FailureLine,
    Forall,
    Formula,
    HappensBefore,
    MessageNamed,
    MessageVariable,
    Position,
    RecordedClock,
    Repeated,
    Size,
    TimeOf,
    Undetermined,
    Variable,
    VectorTime,
)

SECOND = 10**9


@dataclass(frozen=True, slots=True)
class Features:
    """What a formula mentions. `unit` is a time step in nanoseconds in which all its times and durations are
    whole.
    """

    happens_before: bool
    times: bool
    clocks: bool
    vector_times: bool
    arrivals: bool
    places: bool
    repeats: bool
    delta: bool
    epsilon: bool
    failure_line: bool
    undetermined: tuple[str, ...]
    entities: tuple[str, ...]
    messages: tuple[str, ...]
    unit: int

    @property
    def interleaving(self) -> bool:
        """Whether the order of an entity's sends and other events among each other matters, or has to be
        shown.
        """
        return self.happens_before or self.vector_times or self.times or self.clocks or self.arrivals

    @property
    def causality(self) -> bool:
        """Whether happens-before matters to the formula's value."""
        return self.happens_before or self.vector_times

    @property
    def numbers(self) -> bool:
        """Whether arithmetic is needed."""
        return self.times or self.clocks or self.vector_times or self.places or self.delta or self.epsilon


def features(formula: Formula) -> Features:
    """Read off what a formula mentions."""
    nodes = list(walk(formula))
    kinds = {type(node) for node in nodes}
    return Features(
        happens_before=HappensBefore in kinds,
        times=TimeOf in kinds,
        clocks=RecordedClock in kinds,
        vector_times=VectorTime in kinds,
        arrivals=ArrivalEvent in kinds,
        places=bool(kinds & {Position, Size}),
        repeats=Repeated in kinds,
        delta=Delta in kinds,
        epsilon=Epsilon in kinds,
        failure_line=FailureLine in kinds,
        undetermined=tuple(dict.fromkeys(n.why for n in nodes if isinstance(n, Undetermined))),
        entities=tuple(dict.fromkeys(n.name for n in nodes if isinstance(n, EntityNamed))),
        messages=tuple(dict.fromkeys(n.name for n in nodes if isinstance(n, MessageNamed))),
        unit=_unit(nodes),
    )


def _unit(nodes: list[Any]) -> int:
    """A second; where the formula has constants, half of what they all are multiples of, so that there is
    something between.
    """
    constants = [
        node.value
        for node in nodes
        if isinstance(node, Constant) and node.dimension is not Dimension.NUMBER and node.value != 0
    ]
    if not constants:
        return SECOND
    common = Fraction(
        math.gcd(*(abs(value.numerator) for value in constants)),
        math.lcm(*(value.denominator for value in constants)),
    )
    return int(common / 2) if (common / 2).denominator == 1 else 1


def walk(node: Any) -> Iterator[Any]:
    """A node of the core tree and all below it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(reversed(node))
        elif is_dataclass(node):
            yield node
            waiting.extend(getattr(node, field.name) for field in reversed(fields(node)))


class FreeVariables:
    """The free variables of the parts of one formula, each found once."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, tuple[Variable, ...]]] = {}

    def of(self, node: Any) -> tuple[Variable, ...]:
        """The free variables of a node, in a fixed order."""
        known = self._found.get(id(node))
        if known is not None:
            return known[1]
        found: dict[Variable, None] = {}
        match node:
            case EntityVariable() | MessageVariable():
                found[node] = None
            case Forall(variable, extent, body) | Exists(variable, extent, body):
                found = dict.fromkeys(v for v in (*self.of(extent), *self.of(body)) if v != variable)
            case Acyclic(first, second, body):
                found = dict.fromkeys(v for v in self.of(body) if v not in (first, second))
            case tuple():
                found = dict.fromkeys(v for part in node for v in self.of(part))
            case _ if is_dataclass(node):
                found = dict.fromkeys(v for field in fields(node) for v in self.of(getattr(node, field.name)))
        # The node is kept so that its id stays its own.
        self._found[id(node)] = (node, tuple(found))
        return tuple(found)
