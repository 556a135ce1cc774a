"""The mode of a property: whether it is asked in every state of an exploration, or only where nothing is in
flight.

The atom `Quiescent` expresses the mode: `quiescent F` is `Quiescent implies F`. Like any atom it may occur
anywhere, and equivalent formulas are asked in the same states (docs/adr/0012). A completed execution is
quiescent.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from precedes.core.formula import (
    FALSEHOOD,
    TRUTH,
    Acyclic,
    And,
    Exists,
    Forall,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quiescent,
    Requirement,
    Truth,
)
from precedes.core.traversal import Node, transformed


class Mode(Enum):
    """Where a property is asked."""

    ALWAYS = "always"
    QUIESCENT = "quiescent"
    MIXED = "partly quiescent"
    """One thing in every state, and another, often more, where nothing is in flight."""


def always(formula: Formula) -> Formula:
    """The formula asked in every state, whatever its parts say."""
    return judged(formula, quiescent=True)


def quiescent(formula: Formula) -> Formula:
    """The formula asked where nothing is in flight, whatever its parts say."""
    inside = always(formula)
    return inside if inside == TRUTH else Implies(Quiescent(), inside)


def mode_of(formula: Formula) -> Mode:
    """The mode that a formula says."""
    on_the_way = judged(formula, quiescent=False)
    if on_the_way == judged(formula, quiescent=True):
        return Mode.ALWAYS
    return Mode.QUIESCENT if on_the_way == TRUTH else Mode.MIXED


def judged(formula: Formula, *, quiescent: bool) -> Formula:
    """What a formula asks of a quiescent state, or of another one."""

    def decided(before: Node, after: Node) -> Node:
        if isinstance(before, Quiescent):
            return Truth(quiescent)
        return after if after is before else _simplified(after)

    result: Formula = transformed(formula, decided)
    return result


def completed(requirement: Requirement) -> Requirement:
    """What a requirement asks of a completed execution."""
    return in_mode(requirement, Mode.ALWAYS)


def in_mode(requirement: Requirement, mode: Mode) -> Requirement:
    """The requirement asked in a mode, whatever its parts say; MIXED leaves them as they are."""
    match mode:
        case Mode.ALWAYS:
            formula = always(requirement.formula)
        case Mode.QUIESCENT:
            formula = quiescent(requirement.formula)
        case Mode.MIXED:
            return requirement
        case _:
            assert_never(mode)
    return Requirement(requirement.name, formula, tuple(in_mode(part, mode) for part in requirement.parts))


def _simplified(node: Node) -> Node:
    """A node one of whose parts may have become true or false, without what does not matter any more. Each step keeps
    the value in Kleene's logic.
    """
    if not isinstance(node, Not | And | Or | Implies | Iff | Forall | Exists | Acyclic):
        return node
    match node:
        case Not(body):
            return _negated(body)
        case And(parts):
            return _joined(parts, And, TRUTH)
        case Or(parts):
            return _joined(parts, Or, FALSEHOOD)
        case Implies(left, right):
            if isinstance(left, Truth):
                return right if left.value else TRUTH
            return (TRUTH if right.value else _negated(left)) if isinstance(right, Truth) else node
        case Iff(left, right):
            if isinstance(left, Truth):
                return right if left.value else _negated(right)
            return (left if right.value else _negated(left)) if isinstance(right, Truth) else node
        case Forall(_, extent, body):
            return TRUTH if extent == FALSEHOOD or body == TRUTH else node
        case Exists(_, extent, body):
            return FALSEHOOD if FALSEHOOD in (extent, body) else node
        case Acyclic(_, _, body):
            return TRUTH if body == FALSEHOOD else node
        case _:
            assert_never(node)


def _negated(formula: Formula) -> Formula:
    return Truth(not formula.value) if isinstance(formula, Truth) else Not(formula)


def _joined(parts: tuple[Formula, ...], kind: type[And | Or], neutral: Truth) -> Formula:
    decisive = _negated(neutral)
    left = tuple(part for part in parts if part != neutral)
    if decisive in left:
        return decisive
    if not left:
        return neutral
    return left[0] if len(left) == 1 else kind(left)
