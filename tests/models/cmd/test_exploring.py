"""The auxiliary procedure, CMD and what they are measured against: every behavior up to small bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from precedes.core.verdict import Verdict
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.protocol import Protocol
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.state_search import Order
from precedes_models.birman_schiper_stephenson import BirmanSchiperStephenson
from precedes_models.cmd.auxiliary import Auxiliary, Entity, Packet, Reading, Record
from precedes_models.cmd.protocol import Cmd
from precedes_models.raynal_schiper_toueg import RaynalSchiperToueg
from precedes_models.vector_time import Clock
from tests.models.cmd.both import SAME, Both
from tests.models.cmd.bugs import OF_AUXILIARY, OF_BASELINES, OF_CMD
from tests.models.cmd.explored import explored

UNICAST, MULTICAST, BROADCAST, ANY = (
    Destinations.UNICAST,
    Destinations.MULTICAST,
    Destinations.BROADCAST,
    Destinations.ANY,
)
ALL: tuple[Protocol[Any], ...] = (Auxiliary(), Cmd(), RaynalSchiperToueg(), BirmanSchiperStephenson())


def named(value: object) -> str | None:
    """How a parameter is shown."""
    if isinstance(value, Protocol):
        return value.name
    return value.value if isinstance(value, Destinations | Reading) else getattr(value, "__name__", None)


# Without an execution in the state, one state is what the entities and the network hold. 88,073 is what TLC finds for a
# specification of the auxiliary procedure that was written independently.
@pytest.mark.parametrize("order", ["breadth", "depth"])
@pytest.mark.parametrize(
    ("protocol", "messages", "states"),
    [
        (Auxiliary(queue=False), 2, 127),
        (Auxiliary(queue=False), 3, 1_145),
        (Auxiliary(queue=False), 4, 10_073),
        (Auxiliary(), 3, 1_295),
        pytest.param(Auxiliary(), 4, 12_578, marks=pytest.mark.slow),
        pytest.param(Auxiliary(queue=False), 5, 88_073, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_states_of_three_entities(protocol: Auxiliary, messages: int, states: int, order: Order) -> None:
    found = explore(
        protocol, Bounds(entities=3, messages=messages), (), invariants=(), plain=True, order=order
    )
    assert (found.states, found.complete) == (states, True)


@pytest.mark.parametrize("order", ["breadth", "depth"])
@pytest.mark.parametrize(
    ("entities", "messages", "destinations", "states", "of_groups"),
    [
        pytest.param(3, 3, UNICAST, 1_376, 1_376, marks=pytest.mark.slow),
        (3, 2, MULTICAST, 580, 580),
        (3, 2, BROADCAST, 880, 169),
        (2, 2, ANY, 324, 106),
    ],
    ids=named,
)
@pytest.mark.parametrize("protocol", ALL, ids=named)
def test_states_with_their_executions(
    protocol: Protocol[Any],
    entities: int,
    messages: int,
    destinations: Destinations,
    states: int,
    of_groups: int,
    order: Order,
) -> None:
    """The four do the same to the same messages, but for one's own, which are delivered in a group as they are sent."""
    bounds = Bounds(entities=entities, messages=messages, destinations=destinations)
    found = explore(protocol, bounds, plain=True, order=order)
    assert found.states == (of_groups if isinstance(protocol, BirmanSchiperStephenson) else states)
    assert found.verdict is Verdict.HOLDS
    assert all(found.exercised.values())


@pytest.mark.parametrize(
    ("entities", "messages", "destinations"),
    [
        pytest.param(3, 4, UNICAST, marks=pytest.mark.slow),
        (3, 3, MULTICAST),
        pytest.param(2, 3, ANY, marks=pytest.mark.slow),
    ],
    ids=named,
)
@pytest.mark.parametrize("protocol", ALL, ids=named)
def test_what_is_claimed_holds(
    protocol: Protocol[Any], entities: int, messages: int, destinations: Destinations
) -> None:
    found = explored(protocol, Bounds(entities=entities, messages=messages, destinations=destinations))
    assert found.complete
    assert found.verdict is Verdict.HOLDS
    assert all(found.exercised.values())


def test_lemma_3_of_every_component() -> None:
    lemma = requirement(
        "forall p, q: p ~> q implies forall k: clock(send(p), k) <= clock(send(q), k)", standard_library()
    )
    found = explore(Auxiliary(), Bounds(entities=3, messages=3), (lemma,))
    assert found.verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("entities", "messages", "destinations"),
    [(3, 4, UNICAST), (3, 3, MULTICAST), pytest.param(2, 3, ANY, marks=pytest.mark.slow)],
    ids=named,
)
def test_cmd_does_what_the_auxiliary_procedure_does(
    entities: int, messages: int, destinations: Destinations
) -> None:
    """Theorem 2: on one network both deliver the same messages at the same steps, and hold the same back."""
    bounds = Bounds(entities=entities, messages=messages, destinations=destinations)
    found = explore(Both(), bounds, ())
    assert found.verdict is Verdict.HOLDS
    assert all(found.exercised.values())


@pytest.mark.parametrize("reading", [Reading.RULE_1_WITH_EQUALITY, Reading.RULE_3_AFTER_UPDATE], ids=named)
def test_cmd_does_something_else_where_a_rule_removes_too_much(reading: Reading) -> None:
    both = Both(cmd=Cmd(readings=frozenset({reading})))
    found = explore(both, Bounds(entities=3, messages=4), (), invariants=(SAME,))
    assert found.of("CMD Theorem 2, the same is delivered") is Verdict.VIOLATED


@dataclass(frozen=True)
class WithoutRule1AtDeliveries(Cmd):
    """Rules 2 and 3 only; a send still keeps rule 1."""

    def rule_1(
        self, mine: frozenset[Record], carried: frozenset[Record]
    ) -> tuple[frozenset[Record], frozenset[Record]]:
        return mine, carried


def test_rule_1_follows_from_the_other_two_at_deliveries() -> None:
    """So that it does not matter in which of its readings its quantifier is taken."""
    assert explore(WithoutRule1AtDeliveries(), Bounds(entities=3, messages=4)).verdict is Verdict.HOLDS


@dataclass(frozen=True)
class Rule2AsksWhatWasAttached(Cmd):
    """Rule 2 looks at R(m) as the sender attached it, whatever rule 1 has removed from it."""

    def kept(
        self, entity: int, state: Entity, clock: Clock, packet: Packet, *, addressed: bool
    ) -> frozenset[Record]:
        mine, carried = self.rule_1(state.records, packet.records)
        mine = self.rule_2(mine, packet.records, packet.clock)
        return mine | self.rule_3(mine, carried, state.clock)


@pytest.mark.parametrize("messages", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_rule_1_with_equality_does_no_harm_if_rule_2_asks_what_was_attached(messages: int) -> None:
    printed = Rule2AsksWhatWasAttached(readings=frozenset({Reading.RULE_1_WITH_EQUALITY}))
    found = explored(printed, Bounds(entities=3, messages=messages))
    assert found.complete
    assert found.verdict is Verdict.HOLDS
    assert found.states == {4: 2_352, 5: 24_441}[messages]


@pytest.mark.parametrize("bug", [*OF_AUXILIARY, *OF_CMD, *OF_BASELINES], ids=named)
def test_every_seeded_bug_is_found(bug: type[Protocol[Any]]) -> None:
    assert explore(bug(), Bounds(entities=3, messages=3)).verdict is Verdict.VIOLATED


def test_there_are_five_seeded_bugs_of_each() -> None:
    bases = [bug.__mro__[1] for bug in (*OF_AUXILIARY, *OF_CMD, *OF_BASELINES)]
    assert {base: bases.count(base) for base in bases} == dict.fromkeys(map(type, ALL), 5)
