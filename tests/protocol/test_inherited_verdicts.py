"""What is told by executions before and after one is what it would be judged itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from precedes.core.formula import Not
from precedes.core.verdict import Verdict
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.premises import premise_of
from precedes.protocol import Message, Protocol, Reliable
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration import formula_judge
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.inherited_verdicts import InheritedVerdicts
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.exploration.stability import permanent
from precedes_models.cmd.auxiliary import Auxiliary
from tests.protocol.toys import Alternating, Plain

BROADCAST = tuple(tuple(Message(k, n, frozenset({0, 1, 2})) for n in (1, 2)[: 2 - k]) for k in range(3))
ASKED = ("causal_order", "causal_delivery", "fifo_delivery", "order_equivalent", "no_duplication")
UNICAST: Mapping[str, Any] = {"entities": 3, "messages": 3, "destinations": Destinations.UNICAST}
CASES: tuple[tuple[Protocol[Any], Bounds, bool], ...] = (
    (Plain(), Bounds(entities=3, script=BROADCAST), True),
    (Plain(), Bounds(entities=3, script=BROADCAST, depth=5), True),
    (Plain(), Bounds(entities=3, script=BROADCAST, depth=3), True),
    (Plain(given=Reliable(fifo=True)), Bounds(entities=3, script=BROADCAST), True),
    (Auxiliary(queue=False), Bounds(**UNICAST), True),
    (Auxiliary(queue=False), Bounds(**UNICAST), False),
    (Auxiliary(queue=False), Bounds(**UNICAST, states=600), True),
    (Auxiliary(queue=False), Bounds(**UNICAST, depth=4), True),
    (Alternating(), Bounds(entities=2, messages=2, losses=2), True),
)


def told(found: Exploration) -> tuple[object, ...]:
    """Everything but what time it took."""
    behaviors = [(one.property, one.behavior, one.execution) for one in found.findings]
    return found.states, found.executions, found.verdicts, found.exercised, found.open, behaviors


@pytest.mark.parametrize(("protocol", "bounds", "plain"), CASES)
def test_nothing_else_is_told_than_where_every_execution_is_judged(
    protocol: Protocol[Any], bounds: Bounds, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [requirement(name, standard_library()) for name in ASKED]
    inherited = told(explore(protocol, bounds, asked, plain=plain))
    monkeypatch.setattr(formula_judge, "_is_lasting", lambda asked: False)
    assert inherited == told(explore(protocol, bounds, asked, plain=plain))


def test_few_executions_are_judged_where_nothing_is_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = []
    note = InheritedVerdicts.note
    monkeypatch.setattr(
        InheritedVerdicts, "note", lambda self, some, met: (judged.append(len(some)), note(self, some, met))
    )
    bounds = Bounds(entities=3, messages=4, destinations=Destinations.UNICAST)
    asked = [requirement("causal_order", standard_library())]
    found = explore(Auxiliary(queue=False), bounds, asked, invariants=(), plain=True)
    assert found.executions == found.states == 11_501
    assert found.of("causal_order") is Verdict.HOLDS
    assert sum(judged) < found.states


def test_what_lasts_whatever_is_sent() -> None:
    library = standard_library()
    lasting = {
        name: permanent(requirement(name, library).formula)
        for name in (
            *ASKED,
            "agreement",
            "validity",
            "deadline",
            "vector_time",
            'forall p in SL["E1"]: p in RL["E2"]',
        )
    }
    assert [name for name, lasts in lasting.items() if lasts] == [
        "causal_order",
        "causal_delivery",
        "fifo_delivery",
    ]
    for name in ("causal_order", "fifo_delivery"):
        assert permanent(Not(premise_of(requirement(name, library)).formula))
    # What is sent later may be what was looked for.
    assert not permanent(requirement('exists p in RL["E1"]: p in RL["E2"]', library).formula)
    assert permanent(requirement('forall p in RL["E1"]: not p in RL["E2"]', library).formula)
