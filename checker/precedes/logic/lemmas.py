"""Consequences of definitions that are required together, if judging the definitions one by one does not show
them.

On an incomplete execution a definition may be unknown although a consequence of several definitions is
violated. For example, "everything is delivered" and "all deliver in one order" may each be unknown, while
together they exclude a cycle that was recorded. So their consequences are judged, too. Each lemma is proved
for every size (`tests/solver/test_lemmas.py`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from precedes.core.formula import Formula
from precedes.logic.canonical_form import canonical
from precedes.logic.recognition import DEFINITIONS

LEMMAS: Final = (
    (("order_equivalent", "information_preserving"), ("acyclic_order", "gap_free_order")),
    (("order_equivalent", "information_preserving", "order_preserving"), ("one_order",)),
    (("order_equivalent", "information_equivalent"), ("acyclic_order", "gap_free_order", "local_order")),
    (("order_equivalent", "selectively_information_preserving"), ("gap_free_order",)),
    (("information_preserving", "selectively_information_preserving"), ("broadcast",)),
    (("prefix_order",), ("gap_free_order",)),
    (("causal_order",), ("order_preserving",)),
    (("process_causal_order",), ("order_preserving",)),
    (("causal_delivery",), ("fifo_delivery",)),
)
"""Definitions, and others that follow from all of them together, by their names in `DEFINITIONS`."""


@lru_cache(maxsize=512)
def consequences(formula: Formula) -> tuple[Formula, ...]:
    """What follows from a closed formula by the lemmas."""
    asked = canonical(formula)
    names = (
        name
        for premises, following in LEMMAS
        if all(canonical(DEFINITIONS[premise]) <= asked for premise in premises)
        for name in following
    )
    return tuple(DEFINITIONS[name] for name in dict.fromkeys(names))
