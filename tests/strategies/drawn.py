"""The generators of `precedes.testing` as strategies of hypothesis, which shrinks what fails."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from precedes.core.execution import Execution
from precedes.core.formula import Formula
from precedes.testing.random_executions import TRACES, Shape, execution
from precedes.testing.random_formulas import formula


class Drawn:
    """Choices drawn from hypothesis, for use in a composite strategy."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """See `precedes.testing.choices.Choices`."""
        return self._draw(st.integers(low, high))


@st.composite
def executions(draw: Callable[[st.SearchStrategy[int]], int], shape: Shape = TRACES) -> Execution:
    """Random executions of the shape."""
    return execution(Drawn(draw), shape)


@st.composite
def formulas(draw: Callable[[st.SearchStrategy[int]], int], depth: int = 5) -> Formula:
    """Random closed formulas of at most this depth."""
    return formula(Drawn(draw), depth)
