"""Searches in an order that a seed gives.

A search of few states runs as Python, and so it is here with any number of them. So a function can stand between the
search and what finds the successors of a state, and the search is none the wiser.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Final
from unittest.mock import patch

from precedes.protocol.exploration import expansion, explorer, found_states, search_steps
from precedes.protocol.exploration.compiled_tables import OUT, Tables
from precedes.protocol.exploration.expansion import INCOMPLETE
from precedes.protocol.exploration.state_space import Space, Successor

ANY_NUMBER: Final = 1 << 30


@contextmanager
def shuffled(seed: int) -> Iterator[Random]:
    """Let searches begin in any order, and find the successors of each state in any order. Yields what draws them."""
    drawing = Random(seed)
    initial = Space.initial

    def beginnings(space: Space) -> Iterator[Successor]:
        found = list(initial(space))
        return iter(drawing.sample(found, len(found)))

    def expanded(tables: Tables, mode: int) -> int:
        found = expansion.expanded(tables, mode)
        if found != INCOMPLETE:
            made = int(tables.sizes[OUT])
            order = drawing.sample(range(made), made)
            tables.out[:made] = tables.out[order]
            tables.via[:made] = tables.via[order]
        return found

    with (
        patch.object(found_states, "PLAIN", ANY_NUMBER),
        patch.object(explorer, "SHORTENING", float(ANY_NUMBER)),
        patch.object(search_steps, "expanded", expanded),
        patch.object(Space, "initial", beginnings),
    ):
        yield drawing
