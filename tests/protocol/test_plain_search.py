"""The compiled search against a search by values that shares no code with it."""

from __future__ import annotations

from typing import Any

import pytest

from precedes.protocol import Protocol, Reliable, SingleChannel
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration import found_states
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.judgment import Judge
from precedes.protocol.exploration.matrices import ROOM
from precedes.protocol.exploration.result import Observer
from precedes.protocol.exploration.state_search import Search
from precedes_models.birman_schiper_stephenson import BirmanSchiperStephenson
from precedes_models.cmd.auxiliary import Auxiliary
from tests.protocol.plain_search import reached
from tests.protocol.toys import InTurn, Plain

CASES = [
    (InTurn(), 3, 2, 0, 0),
    (InTurn(), 2, 2, 1, 1),
    (InTurn(mistake="again"), 2, 2, 0, 2),
    (Auxiliary(queue=True), 3, 2, 0, 0),
    pytest.param(Auxiliary(queue=True), 3, 3, 0, 0, marks=pytest.mark.slow),
    pytest.param(Auxiliary(queue=False), 3, 3, 0, 0, marks=pytest.mark.slow),
    (BirmanSchiperStephenson(), 3, 2, 0, 0),
    (Plain(given=Reliable(fifo=True)), 3, 3, 0, 0),
    (Plain(given=SingleChannel()), 3, 2, 1, 0),
    pytest.param(Plain(given=SingleChannel()), 3, 3, 1, 0, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("by_machine", [False, True], ids=["python", "machine"])
@pytest.mark.parametrize(("protocol", "entities", "messages", "losses", "duplicates"), CASES)
def test_as_many_states_steps_and_quiescent_states(
    protocol: Protocol[Any],
    entities: int,
    messages: int,
    losses: int,
    duplicates: int,
    by_machine: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(found_states, "PLAIN", -1 if by_machine else 1_000_000)
    bounds = Bounds(entities, messages, Destinations.MULTICAST, losses=losses, duplicates=duplicates)
    expected = reached(protocol, entities, messages, losses=losses, duplicates=duplicates)
    for order in ("breadth", "depth"):
        found = explore(protocol, bounds, [], invariants=[], plain=True, order=order)
        assert (found.states, found.transitions, found.quiescent) == expected


def test_room_for_states_is_no_room_in_a_matrix() -> None:
    bounds = Bounds(3, 2, Destinations.MULTICAST, losses=1)
    protocol, observer = Plain(given=SingleChannel()), Observer()
    search = Search(protocol, bounds, Judge((), ()), frozenset(), check_purity=False, observer=observer)
    room = len(search.states.rows)
    assert search.run("breadth").states > room
    assert len(search.table.matrices.arrays["scratch"]) == ROOM
