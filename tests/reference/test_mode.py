"""Modes: what `quiescent` and `always` say, and what is left of it where something is in flight, or nothing."""

from __future__ import annotations

import pytest

from precedes.core import formula as f
from precedes.core.mode import Mode, always, completed, judged, mode_of, quiescent
from precedes.core.traversal import Node, transformed, walk
from precedes.core.verdict import FALSE, TRUE, Verdict
from precedes.engines.reference import evaluate
from precedes.engines.reference.causes import kind_of
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.parsing.parser import parse_sentence
from precedes.language.printer import sentence_text
from precedes.language.requirements import requirement
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import execution
from precedes.testing.random_formulas import formula
from tests.strategies.rewriting import with_modes

SENT = f.Exists(f.MessageVariable("p"), f.TRUTH, f.Sent(f.MessageVariable("p")))
IN_QUIESCENCE = f.Implies(f.Quiescent(), SENT)


def required(text: str) -> f.Formula:
    return requirement(text, standard_library()).formula


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exists p: sent(p)", SENT),
        ("always exists p: sent(p)", SENT),
        ("quiescent exists p: sent(p)", IN_QUIESCENCE),
        ("quiescent always exists p: sent(p)", IN_QUIESCENCE),
        ("always quiescent exists p: sent(p)", SENT),
        ("quiescent quiescent exists p: sent(p)", IN_QUIESCENCE),
        ("not quiescent exists p: sent(p)", f.Not(IN_QUIESCENCE)),
        ("quiescent (exists p: sent(p)) and true", IN_QUIESCENCE),
        ("(quiescent exists p: sent(p)) or false", f.Or((IN_QUIESCENCE, f.FALSEHOOD))),
        ("quiescent true", f.TRUTH),
    ],
)
def test_what_a_mode_is(text: str, expected: f.Formula) -> None:
    assert required(text) == expected


def test_a_mode_reaches_as_far_as_it_can() -> None:
    for text in (
        "quiescent causal_order and no_creation implies agreement",
        "causal_order or quiescent no_creation iff agreement",
        "(always causal_order) and no_creation",
        "not (quiescent causal_order) and no_creation",
        "quiescent order_preserving among E1 E2",
    ):
        sentence = parse_sentence(text)
        assert parse_sentence(sentence_text(sentence)) == sentence
    assert parse_sentence("quiescent causal_order and no_creation") == parse_sentence(
        "quiescent (causal_order and no_creation)"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("causal_order", Mode.ALWAYS),
        ("prefix_order", Mode.ALWAYS),
        ("deadline", Mode.ALWAYS),
        ("agreement", Mode.QUIESCENT),
        ("uniform_agreement", Mode.QUIESCENT),
        ("validity", Mode.QUIESCENT),
        ("timely_delivery", Mode.QUIESCENT),
        ("information_equivalent", Mode.QUIESCENT),
        ("information_preserving", Mode.QUIESCENT),
        ("selectively_information_preserving", Mode.QUIESCENT),
        ("TO", Mode.MIXED),
        ("reliable", Mode.MIXED),
        ("1C", Mode.ALWAYS),
        ("agreement and validity", Mode.QUIESCENT),
        ("agreement implies validity", Mode.QUIESCENT),
        ("forall i: size(RL[i]) = 1 or agreement", Mode.QUIESCENT),
        ("not agreement", Mode.MIXED),
        ("always TO", Mode.ALWAYS),
        ("quiescent TO", Mode.QUIESCENT),
        ("agreement implies agreement", Mode.QUIESCENT),
    ],
)
def test_the_mode_that_a_formula_says(text: str, expected: Mode) -> None:
    assert mode_of(required(text)) is expected


def test_scenarios_are_completed() -> None:
    found = compile_text(
        "scenario s\ncluster E1 E2\nSL1: < a ]\nRL1: < a ]\n"
        "expect not agreement\nexpect not always agreement\nexpect not quiescent agreement\n"
        "expect quiescent order_preserving\nexpect not quiescent false\n"
    ).scenarios[0]
    assert len(found.expectations) == 5
    for expectation in found.expectations:
        value = evaluate(expectation.requirement.formula, found.execution)
        assert value == (TRUE if expectation.expected is Verdict.HOLDS else FALSE)


def replaced(one: f.Formula, value: bool) -> f.Formula:
    """The atom replaced, and nothing simplified."""

    def decided(before: Node, after: Node) -> Node:
        return f.Truth(value) if isinstance(before, f.Quiescent) else after

    result: f.Formula = transformed(one, decided)
    return result


def test_what_is_left_in_a_state_says_the_same() -> None:
    met = 0
    for seed in range(200):
        choices = Seeded(seed)
        one, here = with_modes(choices, formula(choices), 30), execution(choices)
        met += any(isinstance(node, f.Quiescent) for node in walk(one))
        for value in (True, False):
            left = judged(one, quiescent=value)
            assert not any(isinstance(node, f.Quiescent) for node in walk(left))
            assert kind_of(evaluate(left, here)) == kind_of(evaluate(replaced(one, value), here)), one
        assert kind_of(evaluate(one, here)) == kind_of(evaluate(judged(one, quiescent=True), here))
        assert kind_of(evaluate(quiescent(one), here)) == kind_of(evaluate(always(one), here))
    assert met > 130


def test_what_says_no_mode_stays_itself() -> None:
    for seed in range(200):
        one = formula(Seeded(seed))
        assert judged(one, quiescent=True) is one
        assert judged(one, quiescent=False) is one
        assert mode_of(one) is Mode.ALWAYS
    whole = completed(requirement("TO", standard_library()))
    assert [mode_of(part.formula) for part in whole.parts] == [Mode.ALWAYS, Mode.ALWAYS]
