"""What is told by executions before and after one is what it would be judged itself."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Not
from precedes.core.verdict import Verdict
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.premises import premise_of
from precedes.protocol import Deliver, Here, Message, Protocol, Reliable, Step, catalog
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


MODELS = [
    (name, as_written)
    for name in catalog.installed()
    for as_written in ((True, False) if catalog.model(name).repaired else (False,))
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "as_written"), MODELS)
def test_nothing_else_is_told_of_what_a_model_claims(
    name: str, as_written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for protocol in catalog.models(name, as_written=as_written):
        for entities, messages in ((2, 2), (3, 2)):
            bounds = Bounds(entities, messages, Destinations(protocol.destinations), states=15_000)
            inherited = told(explore(protocol, bounds, plain=True))
            with monkeypatch.context() as patched:
                patched.setattr(formula_judge, "_is_lasting", lambda asked: False)
                assert inherited == told(explore(protocol, bounds, plain=True))


def test_few_executions_are_judged_where_nothing_is_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = []
    note = InheritedVerdicts.note_judged
    monkeypatch.setattr(
        InheritedVerdicts, "note_judged", lambda self, some: (judged.append(len(some)), note(self, some))
    )
    bounds = Bounds(entities=3, messages=4, destinations=Destinations.UNICAST)
    asked = [requirement("causal_order", standard_library())]
    found = explore(Auxiliary(queue=False), bounds, asked, invariants=(), plain=True)
    assert found.executions == found.states == 11_501
    assert found.of("causal_order") is Verdict.HOLDS
    assert sum(judged) < found.states


@pytest.mark.parametrize("protocol", [Plain(), Auxiliary(queue=False)], ids=["without clocks", "with clocks"])
def test_what_is_unknown_lasts_too(protocol: Protocol[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [requirement(name, standard_library()) for name in ("vector_time", "no_creation")]
    bounds = Bounds(entities=2, messages=2, destinations=Destinations.UNICAST)
    inherited = explore(protocol, bounds, asked, plain=True)
    assert (inherited.of("vector_time") is Verdict.UNKNOWN) is isinstance(protocol, Plain)
    monkeypatch.setattr(formula_judge, "_is_lasting", lambda asked: False)
    assert told(inherited) == told(explore(protocol, bounds, asked, plain=True))


class Foretelling(Plain):
    """E1 delivers what E2 may be asked to send, as soon as anything comes from it."""

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Step[int]:
        return Step(state, tuple(Deliver(message) for message in SECOND[1]) if sender == 1 else ())


SECOND = ((), tuple(Message(1, n, frozenset({0})) for n in (1, 2)))


def test_what_is_sent_only_afterwards_was_invented() -> None:
    # Where behaviors end everything was sent.
    with pytest.raises(PrecedesError) as caught:
        explore(Foretelling(), Bounds(entities=2, script=SECOND), plain=True)
    assert caught.value.diagnostics[0].code == "M008"


def test_what_lasts_whatever_is_sent() -> None:
    library = standard_library()
    names = (
        *ASKED,
        "vector_time",
        "no_creation",
        "deadline",
        "acyclic_order",
        "agreement",
        "validity",
        "prefix_order",
    )
    lasting = {name: permanent(requirement(name, library).formula) for name in names}
    assert [name for name, lasts in lasting.items() if not lasts] == ["agreement", "validity", "prefix_order"]
    for name in names[:-3]:
        assert permanent(Not(premise_of(requirement(name, library)).formula))
    formulas = {
        # What is sent later may be what was looked for.
        'exists p in RL["E1"]: p in RL["E2"]': False,
        'forall p in SL["E1"]: p in RL["E2"]': False,
        'forall p in RL["E1"]: not p in RL["E2"]': True,
        "not acyclic_order": False,
        # How many there are may be more.
        "forall i, j: size(SL[i]) <= size(SL[j])": False,
        "forall i: forall p in RL[i]: position(p, RL[i]) <= 2": True,
    }
    for text, lasts in formulas.items():
        assert permanent(requirement(text, library).formula) is lasts, text
