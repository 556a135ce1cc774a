"""Vacuity: a formula that holds because nothing could have violated it.

The premise of a formula says what must be present for the formula to be violated. For `forall p, q in L: A
implies B`, these are some p and q in L for which A is true and logic does not settle B. If no execution meets the
premise, the formula has not been tested. A premise can be judged like any other formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from precedes.core.formula import (
    FALSEHOOD,
    TRUTH,
    And,
    Formula,
    Implies,
    Or,
    Per,
    Quiescent,
    Requirement,
    conjunction,
)
from precedes.logic.canonical_form import canonical
from precedes.logic.openings import openings, widest
from precedes.logic.parts import in_some_part
from precedes.logic.refutation import TooManyError, refutations

PREMISE: Final = "premise of "
"""Before the name of a requirement: that of its premise. No requirement's text begins like this."""


@lru_cache(maxsize=1_024)
def premise(formula: Formula) -> Formula:
    """A formula that is true where a closed one could be violated; never false where it is.

    What is asked of each part is violated in one, so that its premise is met in one.
    """
    if isinstance(formula, Per):
        return in_some_part(formula, premise(formula.body))
    if isinstance(formula, And) and any(isinstance(part, Per) for part in formula.parts):
        return _either([premise(part) for part in formula.parts])
    if isinstance(formula, Implies) and formula.left == Quiescent() and isinstance(formula.right, Per):
        return conjunction(Quiescent(), premise(formula.right))
    return _of_refutations(formula)


def _of_refutations(formula: Formula) -> Formula:
    try:
        found = refutations(formula)
    except TooManyError:
        # Nothing is claimed of what is too large to be looked into.
        return TRUTH
    parts = widest([opening for one in found for opening in openings(one)])
    return _either([opening.formula for opening in parts])


def _either(formulas: Sequence[Formula]) -> Formula:
    """Their disjunction, equal ones once."""
    parts = tuple({canonical(part): part for part in formulas if part != FALSEHOOD}.values())
    if TRUTH in parts or not parts:
        return TRUTH if parts else FALSEHOOD
    return parts[0] if len(parts) == 1 else Or(parts)


def premise_of(requirement: Requirement) -> Requirement:
    """The premise of a requirement, under a name of its own."""
    return Requirement(PREMISE + requirement.name, premise(requirement.formula))
