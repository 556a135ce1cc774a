"""What comes true in the end: lassos against a search by values, and mistakes that only show in a loop."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from precedes.core.diagnostics import PrecedesError
from precedes.core.verdict import Verdict
from precedes.protocol import (
    Deliver,
    Here,
    Message,
    Protocol,
    Reliable,
    SingleChannel,
    Step,
    Transmit,
)
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.distinct_rows import Code
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import DEADLOCK, Exploration, Finding
from precedes.protocol.liveness.endless_behaviors import DELIVERY, LIVELOCK, PROPERTIES, REST
from precedes.protocol.liveness.step_graph import StepGraph
from precedes.protocol.liveness.strong_components import strong_components
from tests.protocol.plain_lassos import Found, lassos, refusing
from tests.protocol.plain_search import Whole
from tests.protocol.talkers import Chatting, Confirmed

MOODS = st.integers(0, 1)
ARRIVALS = st.tuples(MOODS, st.sampled_from(("deliver", "deliver", "drop", "refuse", "answer", "back")))
EXPIRIES = st.tuples(MOODS, st.sampled_from(("none", "none", "mood", "ping", "again")))
CHATTING = st.builds(
    Chatting,
    arrivals=st.lists(ARRIVALS, min_size=4, max_size=4).map(tuple),
    expiries=st.lists(EXPIRIES, min_size=2, max_size=2).map(tuple),
    given=st.sampled_from((Reliable(), Reliable(fifo=True), SingleChannel(), Reliable(loses=True))),
    timeouts_are_fair=st.booleans(),
    deaf=st.sampled_from((None, 1)),
)
"""Many of these are endless in more than one way, and many have too many states to be compared."""
MANY = 400
"""States of the largest that are compared."""


def owing(state: Whole) -> bool:
    """Whether something was sent and not delivered where it is for."""
    minds: tuple[Any, ...] = state.states
    return any(
        message not in minds[entity].got
        for mind in minds
        for message in mind.sent
        for entity in message.destinations
    )


def explored(protocol: Protocol[Any], entities: int, messages: int, **limits: int) -> Exploration:
    bounds = Bounds(entities, messages, Destinations.MULTICAST, **limits)
    return explore(protocol, bounds, [], invariants=(), live=PROPERTIES)


def lengths(found: Exploration) -> dict[str, tuple[int, int | None]]:
    return {each.property: (len(each.behavior) - 1, each.loop) for each in found.findings}


def agree(protocol: Chatting, entities: int, messages: int, losses: int) -> bool:
    """Compare the two searches. False where there are too many states for that."""
    losses = losses if getattr(protocol.network, "loses", False) else 0
    owed = lassos(protocol, entities, messages, owing, losses=losses, most=MANY)
    if owed is None:
        return False
    any_state = lassos(protocol, entities, messages, lambda state: True, losses=losses, most=MANY)
    refused = lassos(
        protocol, entities, messages, refusing(protocol), losses=losses, most=MANY, throughout=True
    )
    assert any_state is not None
    assert refused is not None
    found = explored(protocol, entities, messages, losses=losses)
    assert found.complete
    moves = lengths(found)
    assert moves.get(LIVELOCK, (None,))[0] == owed.lasso
    assert moves.get(REST, (None,))[0] == any_state.lasso
    dead = [each for each in (refused.lasso, refused.rests) if each is not None]
    assert moves.get(DEADLOCK, (None,))[0] == min(dead, default=None)
    least = [each for each in (owed.lasso, owed.stays) if each is not None]
    if least:
        assert moves[DELIVERY][0] <= min(least)
    elif DELIVERY in moves:
        assert moves[DELIVERY][1] is None
    return True


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(protocol=CHATTING, losses=st.integers(0, 1))
def test_random_protocols_have_the_lassos_that_a_search_by_values_finds(
    protocol: Chatting, losses: int
) -> None:
    agree(protocol, 2, 1, losses)


@pytest.mark.slow
@settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(protocol=CHATTING, losses=st.integers(0, 1), size=st.sampled_from(((2, 1), (2, 2), (3, 1))))
def test_more_random_protocols_have_these_lassos(
    protocol: Chatting, losses: int, size: tuple[int, int]
) -> None:
    agree(protocol, *size, losses)


def test_where_a_behavior_may_stay_is_found_after_loops_as_deep() -> None:
    """Three moves lead to a state with a loop of one move, and to a later one in which a behavior may stay."""
    chatting = Chatting(
        arrivals=((0, "answer"), (0, "refuse"), (1, "back"), (0, "deliver")),
        expiries=((1, "mood"), (0, "none")),
        given=Reliable(fifo=True),
        timeouts_are_fair=False,
    )
    assert agree(chatting, 2, 2, 0)
    assert lengths(explored(chatting, 2, 2))[DELIVERY][0] == 3


def one(protocol: Protocol[Any], name: str, **limits: int) -> Finding:
    found = explore(protocol, Bounds(2, 1, **limits), [], invariants=(), live=(name,))
    assert found.verdicts[name] is Verdict.VIOLATED
    return next(finding for finding in found.findings if finding.property == name)


def test_what_is_repeated_until_it_is_confirmed_is_delivered_in_the_end() -> None:
    found = explore(Confirmed(), Bounds(2, 2, losses=2), live=PROPERTIES)
    assert found.complete
    assert set(found.verdicts.values()) == {Verdict.HOLDS}
    assert not found.reductions


def test_who_forgets_to_repeat_starves_others() -> None:
    """Nothing is in flight when it is violated: there is no loop, and no livelock."""
    finding = one(Confirmed(mistake="does not repeat"), DELIVERY, losses=1)
    assert (finding.loop, finding.quiescent, len(finding.behavior) - 1) == (None, True, 2)
    found = explore(
        Confirmed(mistake="does not repeat"), Bounds(2, 1, losses=1), [], invariants=(), live=PROPERTIES
    )
    assert found.of(LIVELOCK) is found.of(REST) is Verdict.HOLDS


def test_who_repeats_for_ever_never_comes_to_rest() -> None:
    """All is delivered, so that it is no livelock; a search of quiescent states has nothing to judge."""
    protocol = Confirmed(mistake="does not confirm")
    finding = one(protocol, REST)
    assert (finding.loop, len(finding.behavior) - 1) == (2, 4)
    found = explore(protocol, Bounds(2, 1), [], invariants=(), live=PROPERTIES)
    assert found.of(DELIVERY) is found.of(LIVELOCK) is Verdict.HOLDS
    without = explore(protocol, Bounds(2, 1))
    assert without.quiescent == 1
    assert without.of("no starvation") is Verdict.HOLDS


def test_who_puts_a_packet_back_for_ever_lives_and_delivers_nothing() -> None:
    """The packet comes in again and again: a livelock, in which every fair step is taken."""
    finding = one(Confirmed(mistake="not yet"), LIVELOCK)
    assert (finding.loop, len(finding.behavior) - 1) == (1, 3)
    assert one(Confirmed(mistake="not yet"), DELIVERY).loop == 1


def test_a_loop_that_refuses_every_request_is_a_deadlock_beside_one_that_accepts() -> None:
    """The first request lets two packets go round: one between moods that refuse, the other to a mood that accepts."""

    class Ajar(Protocol[str]):
        name: ClassVar[str] = "ajar"
        network: ClassVar[Reliable] = Reliable()

        def start(self, here: Here) -> str:
            return "new"

        def send(self, here: Here, state: str, message: Message) -> Step[str] | None:
            me = frozenset({here.entity})
            if state == "new":
                return Step("shut", (Deliver(message), Transmit("turn", me), Transmit("open", me)))
            return Step("done", (Deliver(message),)) if state == "open" else None

        def arrive(self, here: Here, state: str, packet: Hashable, sender: int) -> Step[str] | None:
            again = (Transmit(packet, frozenset({here.entity})),)
            if state == "done":
                return Step("done")
            if packet == "turn":
                return Step({"shut": "ajar", "ajar": "shut", "open": "shut"}[state], again)
            return Step("open", again) if state == "ajar" else None

    found = explore(Ajar(), Bounds(1, 2, Destinations.BROADCAST), [], invariants=(), live=(REST,))
    assert lengths(found)[DEADLOCK] == (3, 2)
    assert found.of(DEADLOCK) is Verdict.VIOLATED


def test_a_time_out_that_is_not_fair_need_not_expire() -> None:
    class Patient(Confirmed):
        fair: ClassVar[Mapping[str, str]] = {"arrivals": "for this test"}

    finding = one(Patient(), DELIVERY, losses=1)
    assert (finding.loop, finding.quiescent) == (0, False)
    assert finding.about == ("timer again of E1 could expire, but this step is not fair",)


def test_a_search_that_met_a_limit_never_says_holds() -> None:
    found = explore(Confirmed(), Bounds(2, 2, losses=2, depth=6), [], invariants=(), live=PROPERTIES)
    assert not found.complete
    assert {found.of(name) for name in PROPERTIES} == {Verdict.UNKNOWN}
    endless = explore(
        Confirmed(mistake="not yet"), Bounds(2, 2, depth=3), [], invariants=(), live=(LIVELOCK,)
    )
    assert (endless.complete, endless.of(LIVELOCK)) == (False, Verdict.VIOLATED)


def test_where_nothing_is_sent_nothing_is_proved() -> None:
    found = explore(Confirmed(), Bounds(2, 0), [], invariants=(), live=PROPERTIES)
    assert {found.of(name) for name in PROPERTIES} == {Verdict.UNKNOWN}


def test_depth_first_is_refused() -> None:
    with pytest.raises(PrecedesError, match="breadth first"):
        explore(Confirmed(), Bounds(2, 1), live=PROPERTIES, order="depth")


@pytest.mark.parametrize("fair", [{"timeouts": "no such kind"}, {"arrivals": None}, ("arrivals",)])
def test_what_is_fair_is_a_reason_for_each_kind(fair: Any) -> None:
    class Odd(Confirmed):
        pass

    Odd.fair = fair
    with pytest.raises(PrecedesError) as raised:
        explore(Odd(), Bounds(2, 1))
    assert raised.value.diagnostics[0].code == "M012"


@pytest.mark.parametrize("by_machine", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_components_are_those_of_another_library(by_machine: bool) -> None:
    code, chance = Code(), np.random.default_rng(7)
    code.by_machine = by_machine
    for _ in range(60):
        states, steps = int(chance.integers(1, 40)), int(chance.integers(0, 90))
        sources = np.sort(chance.integers(0, states, steps))
        targets = chance.integers(-1, states, steps).astype(np.int32)
        starts = np.searchsorted(sources, np.arange(states + 1)).astype(np.int64)
        numbers = strong_components(StepGraph(starts, targets, np.zeros(steps, np.int32)), code)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(states))
        graph.add_edges_from(
            (a, b) for a, b in zip(sources.tolist(), targets.tolist(), strict=True) if b >= 0
        )
        expected = {frozenset(part) for part in nx.strongly_connected_components(graph)}
        found = {frozenset(np.flatnonzero(numbers == k).tolist()) for k in set(numbers.tolist())}
        assert found == expected


def test_the_oracle_knows_a_ping_that_is_answered_for_ever() -> None:
    pings = Chatting(
        arrivals=((0, "answer"), (0, "answer")) * 2, expiries=((0, "none"),) * 2, given=Reliable(fifo=True)
    )
    assert lassos(pings, 2, 1, lambda state: True) == Found(7, 4, None, 0)
    assert lengths(explored(pings, 2, 1))[REST] == (4, 2)
