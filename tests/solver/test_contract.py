"""The claims of the contract, and the fast forms of the columnar engine, come out as they should."""

from __future__ import annotations

import pytest

from precedes.core.verdict import FALSE, TRUE
from precedes.engines.reference import evaluate
from precedes.engines.solver import Bounds, Counterexample, Example, NoCounterexample, Options, Proved
from precedes.language.loader import Claim
from precedes.language.syntax import QuestionKind
from tests.solver.asking import CONTRACT, answered, claims

FILES = ("claims.prec", "claims-causal.prec", "claims-bounded.prec")
QUESTIONS = [claim for name in FILES for claim in claims(CONTRACT / name)]


@pytest.mark.parametrize("claim", QUESTIONS, ids=lambda claim: claim.text)
def test_contract(claim: Claim) -> None:
    """Proved for every size, though the bounded file does not ask for that; refuted; found."""
    answer = answered(claim)
    match claim.kind:
        case QuestionKind.CLAIM:
            assert answer == Proved()
        case QuestionKind.REFUTE:
            assert isinstance(answer, Counterexample)
            assert evaluate(claim.requirement.formula, answer.execution) == FALSE
        case QuestionKind.FIND:
            assert isinstance(answer, Example)
            assert evaluate(claim.requirement.formula, answer.execution) == TRUE


def test_there_are_questions() -> None:
    assert len(QUESTIONS) == 27


UP_TO = Bounds((1, 3), (0, 4))
BOUNDED = NoCounterexample(3, 4)
FAST_FORMS = claims((CONTRACT / ".." / "solver" / "fast-forms.prec").resolve())


EXPECTED = (Proved(), BOUNDED, BOUNDED, Proved(), Proved(), Proved(), BOUNDED)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        # Every induction is tried on the last one, in vain.
        pytest.param(
            claim,
            expected,
            id=f"line {claim.span.line}",
            marks=[pytest.mark.slow] * (claim is FAST_FORMS[-1]),
        )
        for claim, expected in zip(FAST_FORMS, EXPECTED, strict=True)
    ],
)
def test_fast_forms(claim: Claim, expected: Proved | NoCounterexample) -> None:
    assert answered(claim, Options(bounds=UP_TO)) == expected
