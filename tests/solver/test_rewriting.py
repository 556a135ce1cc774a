"""A formula in other words gets no other answer from the solver."""

from __future__ import annotations

import pytest

from precedes.core.formula import Formula, Iff
from precedes.engines.solver import Bounds, Counterexample, Options, Proved, prove
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.testing.choices import Seeded
from precedes.testing.random_formulas import formula
from tests.sampling import one_in
from tests.strategies.rewriting import rewritten, with_modes

FEW = Options(timeout=4, bounds=Bounds((1, 2), (0, 2)))


def answers(one: Formula, other: Formula) -> set[type]:
    return {type(prove(each, FEW)) for each in (one, other)}


def contradicting(seeds: range) -> list[int]:
    found = []
    for seed in seeds:
        choices = Seeded(seed)
        one = with_modes(choices, formula(choices, 3), 10)
        other = rewritten(choices, one, ranges=True)
        if {Proved, Counterexample} <= answers(one, other):
            found.append(seed)
        if isinstance(prove(Iff(one, other), FEW), Counterexample):
            found.append(seed)
    return found


@pytest.mark.parametrize("first", one_in(2, range(0, 40, 10)))
def test_random_formulas_in_other_words(first: int) -> None:
    assert contradicting(range(first, first + 10)) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 600, 50))
def test_more_random_formulas_in_other_words(first: int) -> None:
    assert contradicting(range(first, first + 50)) == []


@pytest.mark.parametrize("name", ["TO", "agreement", "causal_order", "no_duplication"])
def test_a_name_is_proved_to_be_what_it_is_in_other_words(name: str) -> None:
    known = requirement(name, standard_library()).formula
    for seed in range(3):
        answer = prove(Iff(known, rewritten(Seeded(seed), known, ranges=True)), Options(timeout=30))
        assert isinstance(answer, Proved), answer


def test_modes_make_no_difference_to_a_claim() -> None:
    for text in (
        "agreement iff always agreement",
        "agreement iff quiescent agreement",
        "TO implies agreement",
    ):
        assert isinstance(prove(requirement(text, standard_library()), Options(timeout=30)), Proved)
