"""The values of a plan's names, of those of its steps: Kleene's connectives."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any, assert_never

import numpy as np

from precedes.core.verdict import FALSE, TRUE
from precedes.logic.plan import Both, Expression, Followed, Inverse, Value, conjuncts


def joined(expression: Expression, of_step: Callable[[int], Any], *, complete: bool) -> Any:
    """The value of an expression on one execution, or on many at once, as `of_step` gives those of the steps.

    Args:
        expression: What is asked, of steps by their numbers.
        of_step: The value of a step, see `precedes.core.verdict`: a number, or an array of them.
        complete: Whether the executions are complete: what follows from a part is looked at on others only.

    Returns:
        What `of_step` returns: a number, or an array.
    """
    match expression:
        case Value(step):
            return of_step(step)
        case Inverse(part):
            inner = joined(part, of_step, complete=complete)
            return np.where(inner > TRUE, inner, FALSE - inner)
        case Both() | Followed():
            # FALSE has every bit set, so that what is joined with it stays FALSE.
            parts = conjuncts(expression, complete=complete)
            return reduce(or_, (joined(part, of_step, complete=complete) for part in parts), TRUE)
        case _:
            assert_never(expression)
