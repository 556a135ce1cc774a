"""The table of implications: complete, consistent, and each refutation checks."""

from __future__ import annotations

from precedes.core.verdict import FALSE, TRUE
from precedes.engines.reference import evaluate
from precedes.engines.solver import Counterexample, Proved, implications
from tests.solver.asking import asked, required

NAMES = ("1C", "PO", "TO", "SP", "ST", "CO", "acyclic_order", "order_equivalent", "deadline", "vector_time")


def test_table() -> None:
    requirements = {name: required(name) for name in NAMES}
    table = {(one.left, one.right): one.answer for one in implications(tuple(requirements.values()))}
    assert set(table) == {(left, right) for left in NAMES for right in NAMES if left != right}
    for (left, right), answer in table.items():
        assert isinstance(answer, Proved | Counterexample), (left, right, answer)
        if isinstance(answer, Counterexample):
            assert evaluate(requirements[left].formula, answer.execution) == TRUE
            assert evaluate(requirements[right].formula, answer.execution) == FALSE
            assert answer.witness is not None
    proved = {pair for pair, answer in table.items() if answer == Proved()}
    assert proved == {
        ("TO", "1C"),
        ("TO", "PO"),
        ("TO", "acyclic_order"),
        ("TO", "order_equivalent"),
        ("ST", "SP"),
        ("ST", "1C"),
        ("ST", "order_equivalent"),
        ("1C", "order_equivalent"),
        ("acyclic_order", "order_equivalent"),
    }


def test_agrees_with_single_questions() -> None:
    for left, right in (("TO", "acyclic_order"), ("ST", "acyclic_order"), ("CO", "order_equivalent")):
        single = asked(f"{left} implies {right}")
        (of_pair, _) = implications((required(left), required(right)))
        assert type(of_pair.answer) is type(single)
