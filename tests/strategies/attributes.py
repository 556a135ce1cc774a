"""What messages of random executions carry, and random formulas that ask for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from hypothesis import strategies as st

from precedes.core import formula as f
from precedes.core.execution import Execution
from precedes.core.traversal import Node, transformed, walk
from precedes.testing.choices import Choices, chance, pick
from precedes.testing.random_executions import TRACES, Shape, execution
from precedes.testing.random_formulas import formula
from tests.strategies.drawn import Drawn

KEY: Final = f.Attribute("key", f.AttributeSort.TEXT)
TOPIC: Final = f.Attribute("topic", f.AttributeSort.TEXT)
POSITION: Final = f.Attribute("position", f.AttributeSort.NUMBER)
PRIORITY: Final = f.Attribute("priority", f.AttributeSort.NUMBER)
ASKED: Final = ((KEY,), (TOPIC,), (KEY, TOPIC), (POSITION,), (TOPIC, PRIORITY))
"""What may be asked per value of."""


def carrying(choices: Choices, of: Execution) -> Execution:
    """The execution with attributes: of every message, of some, or of none."""
    percent = pick(choices, (100, 70, 100, 40, 0))
    messages = {}
    for name, message in of.messages.items():
        values: dict[f.Attribute, str | int] = {}
        for attribute in (KEY, TOPIC, POSITION, PRIORITY):
            if chance(choices, percent):
                number = choices.integer(1, 3 if attribute is POSITION else 2)
                text = attribute.sort is f.AttributeSort.TEXT
                values[attribute] = f"{attribute.name[0]}{number}" if text else number
        messages[name] = replace(message, attributes=values)
    return replace(of, messages=messages)


def asking(choices: Choices, of: f.Formula, per: int = 12, atoms: int = 15) -> f.Formula:
    """The formula with `per` per cent of its parts asked per value, and some of its atoms about attributes instead."""

    def changed(before: Node, after: Node) -> Node:
        if isinstance(after, f.Atom) and chance(choices, atoms):
            after = atom(choices, after)
        if isinstance(after, f.Formula) and chance(choices, per):
            after = f.Per(pick(choices, ASKED), after)
        return after

    result: f.Formula = transformed(of, changed)
    return result


def atom(choices: Choices, instead_of: f.Formula) -> f.Formula:
    """An atom about what messages carry that speaks of the same messages and logs as another."""
    nodes = tuple(walk(instead_of))
    messages = [node for node in nodes if isinstance(node, f.MessageTerm)] or [f.MessageNamed("m1")]
    logs = [node for node in nodes if isinstance(node, f.LogTerm)]
    one, other = pick(choices, messages), pick(choices, messages)
    kind = choices.integer(0, 3)
    if kind == 0:
        return f.SameText(f.TextOf(KEY, one), f.TextOf(pick(choices, (KEY, TOPIC)), other))
    if kind == 1:
        return f.SameText(f.TextOf(KEY, one), f.Text(pick(choices, ("k1", "k2", "k9"))))
    left: f.NumberTerm = f.AttributeOf(POSITION, one)
    right: f.NumberTerm = f.AttributeOf(pick(choices, (POSITION, PRIORITY)), other)
    if logs and chance(choices, 60):
        log = pick(choices, logs)
        left, right = f.Position(one, log), pick(choices, (right, f.Size(log), f.Position(other, log)))
    elif kind == 3:
        right = f.Constant(Fraction(choices.integer(0, 3)), f.Dimension.NUMBER)
    return f.Comparison(pick(choices, tuple(f.Relation)), left, right, f.Dimension.NUMBER)


@st.composite
def executions_that_carry(draw: Callable[[st.SearchStrategy[int]], int], shape: Shape = TRACES) -> Execution:
    """Random executions whose messages have attributes."""
    drawn = Drawn(draw)
    return carrying(drawn, execution(drawn, shape))


@st.composite
def formulas_that_ask(draw: Callable[[st.SearchStrategy[int]], int], depth: int = 4) -> f.Formula:
    """Random closed formulas about attributes and per value."""
    drawn = Drawn(draw)
    return asking(drawn, formula(drawn, depth))


def filled(choices: Choices, of: Execution) -> Execution:
    """A completion in which some messages have values that were not recorded."""
    missing = carrying(choices, of).messages
    messages = {
        name: replace(message, attributes={**missing[name].attributes, **message.attributes})
        for name, message in of.messages.items()
    }
    return replace(of, messages=messages)
