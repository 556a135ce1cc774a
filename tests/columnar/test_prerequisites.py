"""What must occur for a formula to be anything but false: without it, it is false by definition."""

from __future__ import annotations

import pytest

from precedes.core.execution import EventKind
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.reference import evaluate
from precedes.engines.scan.partials import judge
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.logic.premises import premise
from precedes.logic.prerequisites import EVERYTHING, NOTHING, Seen, in_words, lacking, possible
from precedes.testing.choices import Seeded
from precedes.testing.random_executions import TRACES, execution
from precedes.testing.random_formulas import formula
from tests.columnar.cut_executions import of_one_message, without

LIBRARY = standard_library()
NOTHING_ASKED = plan([])


@pytest.mark.parametrize("seeds", [range(200), pytest.param(range(200, 600), marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [EventKind.SEND, EventKind.DELIVER, None])
def test_what_cannot_be_is_false_by_definition(kind: EventKind | None, seeds: range) -> None:
    decided = 0
    for seed in seeds:
        choices = Seeded(seed)
        one, given = formula(choices), execution(choices, TRACES)
        given = of_one_message(given) if kind is None else without(given, kind)
        seen = judge(BatchSource(batch_of([given])), NOTHING_ASKED, 0)[0].seen
        assert (Seen.SENT in seen) <= (kind is not EventKind.SEND or not given.complete)
        assert (Seen.TWO_MESSAGES in seen) <= (kind is not None or not given.complete)
        for each in (one, premise(one)):
            if not possible(each, seen):
                decided += 1
                assert evaluate(each, given) == FALSE, seed
        if not possible(premise(one), seen):
            assert evaluate(one, given) != FALSE, seed
    assert decided > len(seeds) / 30


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("deadline", Seen.SENT | Seen.DELIVERED),
        ("order_preserving", Seen.SENT | Seen.DELIVERED | Seen.TWO_MESSAGES),
        ("order_equivalent", Seen.DELIVERED | Seen.TWO_MESSAGES | Seen.TWO_DELIVERIES),
        ("acyclic_order", Seen.DELIVERED | Seen.TWO_MESSAGES | Seen.TWO_DELIVERIES),
        ("validity", Seen.SENT),
        ("agreement", Seen.SENT | Seen.DELIVERED),
        ("causal_order", Seen.SENT | Seen.DELIVERED | Seen.TWO_MESSAGES),
        ("prefix_order", Seen.SENT | Seen.DELIVERED | Seen.TWO_MESSAGES),
        ("no_duplication", Seen.DELIVERED),
        ("broadcast", Seen.SENT),
    ],
)
def test_what_the_names_of_the_library_speak_of(name: str, needs: Seen) -> None:
    one = premise(requirement(name, LIBRARY).formula)
    assert lacking(one, NOTHING) == needs
    for kind in Seen:
        assert possible(one, EVERYTHING & ~kind) == (kind not in needs), kind


def test_what_is_missing_in_words() -> None:
    assert in_words(Seen.SENT | Seen.DELIVERED | Seen.TWO_DELIVERIES) == "a send or a delivery"
    assert in_words(Seen.TWO_DELIVERIES) == "an entity that delivers two messages"
    assert in_words(NOTHING) == ""
    assert all(in_words(kind) for kind in Seen)
