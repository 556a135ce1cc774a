"""The features of executions that a formula mentions, and that an encoding must therefore model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from precedes.core.formula import (
    Acknowledged,
    ArrivalEvent,
    Attribute,
    Constant,
    DeliveryNamed,
    DeliveryPosition,
    DeliveryTime,
    DeliveryVariable,
    Delta,
    Dimension,
    EntityNamed,
    Epsilon,
    FailureLine,
    Faulty,
    Formula,
    GroupNamed,
    GroupVariable,
    HappensBefore,
    InFlight,
    InstallsAgain,
    MessageNamed,
    Nth,
    Position,
    RecordedClock,
    Repeated,
    SendLog,
    Size,
    Text,
    TimeOf,
    Undetermined,
    VectorTime,
    ViewNamed,
    ViewNumber,
    ViewOf,
    ViewVariable,
)
from precedes.core.traversal import Node, attributes_in, walk

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
    deliveries: bool
    acknowledgements: bool
    numbered: bool
    crashes: bool
    views: bool
    views_of_events: bool
    view_numbers: bool
    reinstallations: bool
    groups: bool
    sub_logs: bool
    delta: bool
    epsilon: bool
    failure_line: bool
    undetermined: tuple[str, ...]
    entities: tuple[str, ...]
    messages: tuple[str, ...]
    view_names: tuple[str, ...]
    group_names: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    texts: tuple[str, ...]
    unit: int

    @property
    def interleaving(self) -> bool:
        """Whether the order of an entity's sends and other events among each other matters, or has to be
        shown.
        """
        timed = self.times or self.clocks
        return self.happens_before or self.vector_times or timed or self.arrivals or self.views

    @property
    def placed_repeats(self) -> bool:
        """Whether it matters where in a history a message is delivered again. Vector times count that, too."""
        return self.deliveries or self.vector_times

    @property
    def causality(self) -> bool:
        """Whether happens-before matters to the formula's value. It does to the view of an event, because a send comes
        before a delivery.
        """
        return self.happens_before or self.vector_times or self.views_of_events

    @property
    def numbers(self) -> bool:
        """Whether arithmetic is needed."""
        times = self.times or self.delta or self.epsilon
        counted = self.numbered or self.clocks or self.vector_times or self.places
        return times or counted or self.view_numbers or bool(self.attributes)


def features(formula: Formula) -> Features:
    """Read off what a formula mentions."""
    nodes = list(walk(formula))
    kinds = {type(node) for node in nodes}
    deliveries = bool(kinds & {DeliveryVariable, DeliveryNamed})
    return Features(
        happens_before=HappensBefore in kinds,
        times=bool(kinds & {TimeOf, DeliveryTime}),
        clocks=RecordedClock in kinds,
        vector_times=VectorTime in kinds,
        arrivals=ArrivalEvent in kinds,
        places=bool(kinds & {Position, Size, DeliveryPosition}),
        repeats=bool(kinds & {Repeated, VectorTime}) or deliveries,
        deliveries=deliveries,
        acknowledgements=bool(kinds & {InFlight, Acknowledged}),
        numbered=Nth in kinds,
        crashes=Faulty in kinds,
        views=bool(kinds & {ViewVariable, ViewNamed, ViewOf}),
        views_of_events=ViewOf in kinds,
        view_numbers=ViewNumber in kinds,
        reinstallations=InstallsAgain in kinds,
        groups=bool(kinds & {GroupVariable, GroupNamed}),
        sub_logs=any(isinstance(n, SendLog) and n.to is not None for n in nodes),
        delta=Delta in kinds,
        epsilon=Epsilon in kinds,
        failure_line=FailureLine in kinds,
        undetermined=tuple(dict.fromkeys(n.why for n in nodes if isinstance(n, Undetermined))),
        entities=tuple(dict.fromkeys(n.name for n in nodes if isinstance(n, EntityNamed))),
        messages=tuple(dict.fromkeys(n.name for n in nodes if isinstance(n, MessageNamed))),
        view_names=tuple(dict.fromkeys(n.name for n in nodes if isinstance(n, ViewNamed))),
        group_names=tuple(dict.fromkeys(n.name for n in nodes if isinstance(n, GroupNamed))),
        attributes=attributes_in(formula),
        texts=tuple(dict.fromkeys(n.value for n in nodes if isinstance(n, Text))),
        unit=_unit(nodes),
    )


def _unit(nodes: list[Node]) -> int:
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
