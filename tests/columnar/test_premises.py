"""Premises: what they are of some formulas, and that what cannot be is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from precedes.columns import batch_of
from precedes.engines.columnar.plan import plan
from precedes.engines.judging import judge
from precedes.engines.premises import Seen, possible, premise
from precedes.engines.reference import evaluate
from precedes.execution import EventKind, Execution
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.verdict import FALSE, TRUE
from tests.strategies.choices import Seeded
from tests.strategies.executions import TRACES, execution
from tests.strategies.formulas import formula

LIBRARY = standard_library()
NOTHING_ASKED = plan([])


def without(given: Execution, kind: EventKind) -> Execution:
    """The execution without its sends, nobody being known to have sent anything, or without its deliveries."""
    histories = tuple(
        replace(history, events=tuple(event for event in history.events if event.kind is not kind))
        for history in given.histories
    )
    messages = given.messages
    if kind is EventKind.SEND:
        messages = {
            name: replace(message, sender=None, destinations=None) for name, message in messages.items()
        }
    return replace(given, histories=histories, messages=messages)


@pytest.mark.parametrize("kind", [EventKind.SEND, EventKind.DELIVER])
def test_what_cannot_be_is_false_by_definition(kind: EventKind) -> None:
    decided = 0
    for seed in range(600):
        choices = Seeded(seed)
        asked, given = formula(choices), without(execution(choices, TRACES), kind)
        seen = judge(batch_of([given]), NOTHING_ASKED, 0)[0].seen
        assert (Seen.SENT in seen) <= (kind is not EventKind.SEND)
        for one in (asked, premise(asked)):
            if not possible(one, seen):
                decided += 1
                assert evaluate(one, given) == FALSE, seed
        if not possible(premise(asked), seen):
            assert evaluate(asked, given) == TRUE, seed
    assert decided > 20


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("deadline", Seen.SENT | Seen.DELIVERED),
        ("order_preserving", Seen.SENT | Seen.DELIVERED),
        ("order_equivalent", Seen.DELIVERED),
        ("acyclic_order", Seen.DELIVERED),
        ("validity", Seen.SENT),
        ("causal_order", Seen.SENT),
        ("prefix_order", Seen.SENT | Seen.DELIVERED),
        ("broadcast", Seen.SENT),
    ],
)
def test_what_the_names_of_the_library_speak_of(name: str, needs: Seen) -> None:
    asked = premise(requirement(name, LIBRARY).formula)
    for seen in (Seen(0), Seen.SENT, Seen.DELIVERED, Seen.SENT | Seen.DELIVERED):
        assert possible(asked, seen) == (needs in seen), seen
