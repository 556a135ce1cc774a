"""Judging the expectations of a text with the reference evaluator."""

from __future__ import annotations

from precedes.core.verdict import verdict
from precedes.engines.reference import evaluate
from precedes.language.loader import CompiledFile, compile_text


def wrong(compiled: CompiledFile) -> list[str]:
    """The expectations that do not come out as stated, with what comes out."""
    return [
        f"{scenario.name}: {expectation.text} ({found.value})"
        for scenario in compiled.scenarios
        for expectation in scenario.expectations
        if (found := verdict(evaluate(expectation.requirement.formula, scenario.execution)))
        is not expectation.expected
    ]


def as_stated(text: str) -> None:
    """Every expectation of the text comes out as it is stated."""
    compiled = compile_text(text)
    assert any(scenario.expectations for scenario in compiled.scenarios)
    assert wrong(compiled) == []
