"""Compiled formulas say what the reference evaluator says, on random formulas and random executions."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from precedes.core import formula as f
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.formula import Formula
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE, Reason, Verdict, verdict
from precedes.engines.columnar.compiler.formula_compiler import compile_formula, facts_of
from precedes.engines.columnar.compiler.functions import generate
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.recognition import DEFINITIONS
from precedes.testing import random_executions
from precedes.testing.choices import Seeded
from tests.columnar.agreement import (
    Case,
    carrying_case,
    case,
    compiled_value,
    delivering_case,
    disagreement,
    executions_alike,
    focused_case,
    values,
)
from tests.sampling import one_in
from tests.strategies.drawn import executions, formulas

BLOCK = 250
FIRST = one_in(12, range(0, 3_000, BLOCK))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(formulas(), executions())
def test_random_formula_on_random_execution(formula: Formula, execution: Execution) -> None:
    assert disagreement(Case(formula, execution)) is None


@pytest.mark.parametrize("first", FIRST)
def test_seeded_cases(first: int) -> None:
    assert [told for seed in range(first, first + BLOCK) if (told := disagreement(case(seed)))] == []


@pytest.mark.parametrize("first", FIRST)
def test_focused_cases(first: int) -> None:
    assert [told for seed in range(first, first + BLOCK) if (told := disagreement(focused_case(seed)))] == []


@pytest.mark.parametrize("made", [carrying_case, delivering_case])
@pytest.mark.parametrize("first", FIRST)
def test_cases_of_what_messages_carry(first: int, made: Callable[[int], Case]) -> None:
    judged = [made(seed) for seed in range(first, first + BLOCK)]
    # Of a row that is missing and one whose order is doubted, the engines may name one or both.
    assert [one for one in judged if disagreement(one) and not _is_doubly_unknown(one)] == []


def _is_doubly_unknown(case: Case) -> bool:
    doubted = any(history.doubt for history in case.execution.histories)
    return (
        not case.execution.complete
        and doubted
        and {verdict(value) for value in values(case)} == {Verdict.UNKNOWN}
    )


@pytest.mark.slow
def test_random_cases_meet_every_value() -> None:
    met = {compiled_value(case(seed)) for seed in range(1_500)}
    met |= {compiled_value(made(seed)) for seed in range(200) for made in (carrying_case, delivering_case)}
    reasons = 0
    for value in met:
        reasons |= max(value, 0)
    assert {TRUE, FALSE} <= met
    # The one for contradictions is given to executions by the reader of traces, the one for logs of
    # unknown interleaving to scenarios, the one for equal times to logs of spans. Those of groups and views are met in
    # `test_memberships`.
    apart = Reason.CONTRADICTION | Reason.INTERLEAVING
    apart |= Reason.GROUP_CHOOSES | Reason.NO_VIEWS | Reason.NO_VIEW_NUMBER | Reason.EQUAL_TIMES
    assert Reason(reasons) == ~Reason(0) & ~apart


@pytest.mark.parametrize("name", DEFINITIONS)
def test_library_definition(name: str) -> None:
    formula = DEFINITIONS[name]
    for group in executions_alike(range(200)):
        judged, witnesses = compile_formula(formula).run(BatchSource(batch_of(group)), jit=False)
        # Of a row that is missing and one whose order is doubted, the engines may name one or both.
        assert [verdict(value) for value in judged.tolist()] == [
            verdict(evaluate(formula, execution)) for execution in group
        ]
        for x, value in enumerate(judged.tolist()):
            entities, messages = witnesses.of(x)
            assert bool(entities or messages) == (value == FALSE)


def test_executions_of_a_batch_do_not_touch_each_other() -> None:
    for seed in range(20):
        formula = case(seed).formula
        for group in executions_alike(range(40)):
            judged, witnesses = compile_formula(formula).run(BatchSource(batch_of(group)), jit=False)
            for x, execution in enumerate(group):
                alone, shown = compile_formula(formula).run(BatchSource(batch_of([execution])), jit=False)
                assert alone[0] == judged[x]
                assert shown.of(0) == witnesses.of(x)


def test_contradicted_execution_is_unknown_without_a_witness() -> None:
    group = executions_alike(range(30))[0]
    batch = batch_of(group)
    batch.unknown[1] = int(Reason.CONTRADICTION)
    for definition in DEFINITIONS.values():
        judged, witnesses = compile_formula(definition).run(BatchSource(batch), jit=False)
        assert judged[1] == Reason.CONTRADICTION
        assert witnesses.of(1) == ((), ())
        assert np.delete(judged, 1).tolist() == [
            evaluate(definition, execution) for x, execution in enumerate(group) if x != 1
        ]


def test_place_of_an_unlogged_send_is_bounded_by_what_it_precedes() -> None:
    # E1 is said to have sent u. Its delivery leads to v, which E1 delivers before it sends w.
    def event(kind: EventKind, *messages: str) -> tuple[Event, ...]:
        return tuple(Event(kind, message) for message in messages)

    send, deliver = EventKind.SEND, EventKind.DELIVER
    histories = (
        History("E1", (*event(send, "a"), *event(deliver, "v"), *event(send, "w"))),
        History("E2", (*event(deliver, "u"), *event(send, "v"))),
    )
    both = frozenset({"E1", "E2"})
    messages = {name: Message(name, "E2" if name == "v" else "E1", both) for name in "avw"}
    messages["u"] = Message("u", "E1", None)
    execution = Execution("x", histories, messages)
    expected = {
        "au": Reason.SEND_NOT_LOGGED,
        "ua": Reason.SEND_NOT_LOGGED,
        "uw": TRUE,
        "wu": FALSE,
        "uv": TRUE,
    }
    for (first, second), value in expected.items():
        sends = f.SendEvent(f.MessageNamed(first)), f.SendEvent(f.MessageNamed(second))
        assert values(Case(f.HappensBefore(*sends), execution)) == (value, value)


def test_where_no_clock_is_recorded_none_is_computed() -> None:
    asked = requirement("vector_time", standard_library()).formula
    cases = [random_executions.execution(Seeded(seed), random_executions.ROWS) for seed in range(150)]
    without = [one for one in cases if not any(event.clock for log in one.histories for event in log.events)]
    values = [compiled_value(Case(asked, one)) for one in without]
    assert values == [evaluate(asked, one) for one in without]
    assert {TRUE, int(Reason.NO_CLOCK), int(Reason.NO_CLOCK | Reason.CYCLE)} <= set(values)
    facts = facts_of(BatchSource(batch_of(without[:1])), asked)
    assert not facts.clocked
    assert "row_vector" in generate(asked, facts).text
    assert "vector_time(" not in generate(asked, facts).text
