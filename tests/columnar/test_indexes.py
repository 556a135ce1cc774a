"""Quantifiers that name what they go through by a value, and formulas that take long and are told before they run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from precedes.core.formula import Requirement
from precedes.core.transposition import batch_of
from precedes.core.verdict import verdict
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.reference import evaluate
from precedes.engines.scan.foretelling import duration, foretell
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import Shape, execution
from precedes.testing.random_formulas import ATTRIBUTES
from precedes.traces import Notices
from tests.columnar.test_growth import MOST, TIMES, batch, in_one_order, steps

BY_VALUE = (
    "forall p, q: position(p) = position(q) implies (p = q and sent(p))",
    "forall i: forall p in RL[i]: forall q: (position(q) = position(p) and i in dest(q)) implies p = q",
    "generic_order(p, q: position(p) = position(q))",
)
"""Each value is that of few messages."""

BY_KEY = (
    "forall p, q: key(p) = key(q) implies sender(p) = sender(q)",
    "forall p: exists q: position(q) = position(p) and not p = q",
    "forall i: forall d in DL[i]: forall q: key(q) = key(message(d)) implies sender(q) = sender(message(d))",
    "exists p: forall q: topic(p) = topic(q)",
)


def asked(text: str) -> Requirement:
    return requirement(text, standard_library())


@pytest.mark.parametrize("text", BY_VALUE)
def test_messages_of_one_value_are_found_without_the_others(text: str) -> None:
    small, large = (steps(asked(text).formula, batch("few entities", times)) for times in (1, TIMES))
    assert large <= MOST * small


def test_the_repeats_of_a_message_are_not_looked_for_where_it_has_none() -> None:
    text = "forall i: forall d, e in DL[i]: message(d) = message(e) implies d = e"
    small, large = (steps(asked(text).formula, batch("few entities", times)) for times in (1, TIMES))
    assert large <= MOST * small


@pytest.mark.parametrize("text", [*BY_VALUE, *BY_KEY])
def test_a_message_without_a_value_is_gone_through(text: str) -> None:
    formula = asked(text).formula
    met = set()
    for seed in range(150):
        case = execution(Seeded(seed), Shape(odd=seed % 2 == 0, attributes=ATTRIBUTES))
        value = int(compile_formula(formula).run(BatchSource(batch_of([case])), jit=False)[0][0])
        assert verdict(value) is verdict(evaluate(formula, case)), case
        met.add(verdict(value))
    assert len(met) == 3


def test_what_takes_long_is_told_before_it_runs() -> None:
    heard: list[str] = []
    notices = Notices(aloud=heard.append)
    texts = ("forall p, q, r: p = q or q = r or p = r or sent(p)", "forall p: sent(p)", "order_preserving")
    foretell(BatchSource(batch_of([in_one_order(2, 2000, 1)])), plan(list(map(asked, texts))), notices)
    assert heard == [notice.render() for notice in notices.all()]
    assert len(heard) == 1
    assert heard[0].startswith(f"T124 {asked(texts[0]).name} goes through pairs of messages: it may take 2")
    assert heard[0].endswith("s on execution x")


def test_a_name_with_parts_is_told_where_only_a_consequence_takes_long() -> None:
    """On an incomplete execution what follows from the parts together is judged, too, and no part asks for it."""
    batch = batch_of([replace(in_one_order(2, 3000, 2), complete=False)])
    prepared = plan([asked("TO")])
    for number in prepared.needed(complete=False):
        assert prepared.asking(number, complete=False) in prepared.names
    foretell(BatchSource(batch), prepared, Notices())


def test_durations() -> None:
    assert [duration(seconds) for seconds in (11.4, 119.0, 600.0, 90_000.0)] == [
        "11 s",
        "119 s",
        "10 minutes",
        "25 hours",
    ]
