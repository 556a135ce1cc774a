"""What is taken to follow from definitions, where executions are incomplete, is proved for every size."""

from __future__ import annotations

import pytest

from precedes.core.formula import And, Implies
from precedes.engines.solver import Proved, prove
from precedes.logic.lemmas import LEMMAS, consequences
from precedes.logic.recognition import DEFINITIONS

STEPS = [(premises, conclusion) for premises, following in LEMMAS for conclusion in following]


@pytest.mark.parametrize(("premises", "conclusion"), STEPS)
def test_a_lemma_is_proved(premises: tuple[str, ...], conclusion: str) -> None:
    asked = tuple(DEFINITIONS[name] for name in premises)
    whole = And(asked) if len(asked) > 1 else asked[0]
    assert isinstance(prove(Implies(whole, DEFINITIONS[conclusion])), Proved)
    assert DEFINITIONS[conclusion] in consequences(whole)


def test_nothing_follows_from_less() -> None:
    assert consequences(DEFINITIONS["order_equivalent"]) == ()
    assert consequences(DEFINITIONS["acyclic_order"]) == ()
