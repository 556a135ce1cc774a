"""A search in an order that a seed gives finds what any other finds: the same verdicts in as many states and steps, and
counterexamples of the same length. So it is with every seeded mistake, and with the papers' models in both forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest

from precedes.core.verdict import Verdict
from precedes.protocol import Protocol
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.liveness.endless_behaviors import PROPERTIES
from precedes_models.birman_schiper_stephenson import BirmanSchiperStephenson
from precedes_models.cmd.auxiliary import Auxiliary
from precedes_models.cmd.protocol import Cmd
from precedes_models.delta_causal.fixed_wait import FixedWait
from precedes_models.delta_causal.full_tag import FullTag
from precedes_models.delta_causal.protocol import DeltaCausal
from precedes_models.dynamic_cluster.protocol import DynamicCluster
from precedes_models.dynamic_cluster.state import Letter
from precedes_models.high_integrity.protocol import HighIntegrity
from precedes_models.raynal_schiper_toueg import RaynalSchiperToueg
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.total_order.protocol import TotalOrder
from tests.models.cmd.bugs import OF_AUXILIARY, OF_BASELINES, OF_CMD
from tests.models.delta_causal import bugs as of_delta_causal
from tests.models.dynamic_cluster import bugs as of_cluster
from tests.models.dynamic_cluster.exploring import bounds as to_all
from tests.models.high_integrity import bugs as of_integrity
from tests.models.high_integrity.exploring import bounds as of_one
from tests.models.st import bugs as of_st
from tests.models.st.exploring import bounds as to_some
from tests.models.to import bugs as of_to
from tests.protocol.shuffled import shuffled
from tests.protocol.toys import InTurn

SEEDS = (1, 2, 3)
MANY = 50_000
"""States of a search for which one seed has to do: a search that is shuffled runs as Python."""
SMALL = Bounds(entities=3, messages=3)


@dataclass(frozen=True)
class Case:
    """What is explored; `live`: whether what comes true in the end is asked, too."""

    protocol: Protocol[Any]
    bounds: Bounds
    live: bool = False

    def __str__(self) -> str:
        form = f" {self.protocol.form}" if self.protocol.form else ""
        return f"{type(self.protocol).__name__}{form}{' live' if self.live else ''}"


class Found(NamedTuple):
    """What does not depend on the order. `shortest`: of each property that is violated, how many moves show that, and
    how many of these are a loop, None where it ends. `counts`: states, steps, quiescent states and depth.
    """

    verdicts: Mapping[str, Verdict]
    shortest: dict[str, tuple[int, int | None]]
    counts: tuple[int, ...]


def mistakes() -> Iterator[Case]:
    """Every seeded mistake, with bounds that show it."""
    for cmd in (*OF_AUXILIARY, *OF_CMD, *OF_BASELINES):
        yield Case(cmd(), SMALL)
    for delta, bounds, _ in of_delta_causal.BUGS:
        yield Case(delta, bounds)
    for st, entities, sends, losses, _ in of_st.BUGS:
        yield Case(st, to_some(entities, sends, losses))
    for to, bounds, *_ in of_to.BROKEN:
        yield Case(to(), bounds)
    for cluster, hasty, bounds in dict.fromkeys(each[:3] for each in of_cluster.BROKEN):
        yield Case(cluster(hasty=hasty), bounds)
    for node, faults, _ in of_integrity.BROKEN:
        yield Case(node, of_one(4, **faults))


def forms(*, as_written: bool) -> Iterator[Case]:
    """The models, as written or repaired; those that are there for comparison have one form."""
    pair = Bounds(entities=2, messages=2, ticks=2)
    st = SelectiveTotalOrder(as_written=as_written, confirms=False, repeats=2)
    yield Case(Auxiliary(as_written=as_written), SMALL)
    yield Case(Cmd(as_written=as_written), SMALL)
    yield Case(DeltaCausal(as_written=as_written, delta=1), pair)
    yield Case(st, to_some(2, "a{2}", 1), live=True)
    yield Case(st, to_some(2, "a{1,2} b{1,2}", 1, depth=14))
    yield Case(TotalOrder(as_written=as_written), to_all(2, script="ab", losses=1, depth=19))
    yield Case(DynamicCluster(as_written=as_written), to_all(2, crashes=1, depth=20))
    yield Case(HighIntegrity(as_written=as_written), of_one(3, dead=1, losses=1))
    if not as_written:
        for other in (RaynalSchiperToueg(), BirmanSchiperStephenson()):
            yield Case(other, SMALL)
        yield Case(FullTag(delta=1), pair)
        yield Case(FixedWait(), replace(pair, ticks=1))


ENDLESS = Case(
    DynamicCluster(letter=frozenset({Letter.OTHERS_ONLY})),
    to_all(2, crashes=1, recoveries=1),
    live=True,
)
"""An agreement that does not end, and a message that waits meanwhile."""


def found(case: Case, *, plain: bool) -> tuple[Found, Exploration]:
    """What a search finds, in whatever order it goes.

    Where two reductions meet, the number of states depends on which renaming stands for a state, and so on the order
    (ADR 40).
    """
    live = PROPERTIES if case.live else None
    result = explore(case.protocol, case.bounds, plain=plain, live=live)
    shortest = {each.property: (len(each.behavior), each.loop) for each in result.findings}
    counts = (result.states, result.transitions, result.quiescent, result.depth)
    return Found(result.verdicts, shortest, counts if len(result.reductions) < 2 else ()), result


def agree(case: Case, seeds: tuple[int, ...]) -> None:
    """Searches in the orders of some seeds find the same as one in its own order, with reductions and without."""
    for plain in (True, False):
        expected, result = found(case, plain=plain)
        if not plain and not result.reductions:
            continue
        for seed in seeds[: 1 if result.states > MANY else len(seeds)]:
            with shuffled(seed):
                assert found(case, plain=plain)[0] == expected, (plain, seed)


QUICK = {
    of_st.ForgetsAnIncrement,
    of_to.AcknowledgesTooEarly,
    of_integrity.ForgetsReports,
    of_delta_causal.WaitsTooLong,
}
"""The mistakes that one seed is tried on in no time."""


@pytest.mark.parametrize("case", [each for each in mistakes() if type(each.protocol) in QUICK], ids=str)
def test_the_shortest_counterexample_of_a_mistake_is_found_in_any_order(case: Case) -> None:
    agree(case, SEEDS[:1])


@pytest.mark.slow
@pytest.mark.parametrize("case", [*mistakes()], ids=str)
def test_every_seeded_mistake_is_found_as_soon_in_any_order(case: Case) -> None:
    agree(case, SEEDS)


@pytest.mark.slow
@pytest.mark.parametrize("case", [*forms(as_written=True), *forms(as_written=False), ENDLESS], ids=str)
def test_the_models_are_the_same_in_any_order(case: Case) -> None:
    agree(case, SEEDS)


def test_another_seed_is_another_order() -> None:
    case, ways = Case(InTurn(mistake="at once"), SMALL), set()
    for seed in SEEDS:
        with shuffled(seed):
            ways |= {each.behavior for each in found(case, plain=True)[1].findings}
    assert len(ways) > 1
