"""What an exploration reaches and finds, on protocols small enough to count by hand."""

from __future__ import annotations

import gc
from collections.abc import Hashable
from math import comb
from pathlib import Path
from typing import ClassVar, Literal

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.garbage_collection import MANY, paused
from precedes.core.verdict import Verdict
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.protocol import (
    Deliver,
    Here,
    Message,
    OfEntity,
    Protocol,
    Reliable,
    SingleChannel,
    Step,
    Timed,
    Timer,
    Transmit,
)
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration import matrices, state_search
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import DEADLOCK, FIRST, Exploration
from precedes.protocol.moves import Arrived, Expired, Lost, Requested
from tests.protocol.toys import Alternating, Broken, InTurn, Plain, Tosses, Waits

TO_2 = frozenset({1})


def sends(*numbers: int) -> tuple[tuple[Message, ...], ...]:
    """Two entities, of which the first sends so many messages to the second."""
    return tuple(Message(0, k, TO_2) for k in range(1, numbers[0] + 1)), ()


def explored(protocol: Protocol[object], bounds: Bounds, *required: str, plain: bool = True) -> Exploration:
    asked = [requirement(text, standard_library()) for text in required]
    return explore(protocol, bounds, asked, plain=plain)


# ---- counts ----


def test_without_order_any_subset_is_under_way() -> None:
    # Of the k messages sent any set has come in: 2^k states for each k, in which nothing else differs.
    found = explored(Plain(), Bounds(entities=2, script=sends(3)))
    assert (found.states, found.depth) == (1 + 2 + 4 + 8, 6)
    # A request where fewer than 3 are sent, and one arrival for each message under way.
    assert found.transitions == 7 + sum(comb(k, j) * (k - j) for k in range(4) for j in range(k))


def test_in_order_only_prefixes_have_come_in() -> None:
    found = explored(Plain(given=Reliable(fifo=True)), Bounds(entities=2, script=sends(3)))
    assert (found.states, found.transitions) == (1 + 2 + 3 + 4, 3 + 3 + 2 + 1 + 3)


def test_a_history_is_part_of_the_state_where_order_is_asked() -> None:
    # All orders in which subsets come in: sum over k sent of sum over j delivered of k!/(k-j)!.
    found = explored(Plain(), Bounds(entities=2, script=sends(3)), "order_preserving")
    assert found.states == 1 + 2 + 5 + 16


def test_a_single_channel_has_one_order() -> None:
    script = tuple(tuple(Message(k, n, frozenset({0, 1})) for n in range(1, 3 - k)) for k in range(2))
    found = explored(
        Plain(given=SingleChannel()), Bounds(entities=2, script=script), "order_equivalent", "TO"
    )
    assert found.verdict is Verdict.HOLDS
    lossy = explored(
        Plain(given=SingleChannel()), Bounds(entities=2, script=script, losses=1), "order_equivalent", "TO"
    )
    assert lossy.of("order_equivalent") is Verdict.HOLDS
    assert lossy.of("information_preserving") is Verdict.VIOLATED
    (finding,) = lossy.findings
    assert any(isinstance(move, Lost) for move in finding.behavior)


@pytest.mark.parametrize(("messages", "states"), [(1, 1 + 3 * 3), (2, 1 + 3 * 3 + 6 * 9)])
def test_every_choice_of_senders_and_destinations(messages: int, states: int) -> None:
    found = explored(Plain(), Bounds(entities=3, messages=messages))
    # Every message sent is under way to one of two, or has come in; two can be of any 2 senders in 6 ways.
    assert found.states == states


def test_both_orders_reach_the_same() -> None:
    bounds = Bounds(entities=3, messages=3)
    for protocol in (InTurn(), Plain(given=Reliable(fifo=True)), Plain(given=Timed(longest=1))):
        breadth = explore(protocol, bounds, plain=True)
        depth = explore(protocol, bounds, plain=True, order="depth")
        assert (breadth.states, breadth.transitions) == (depth.states, depth.transitions)
        assert breadth.executions == depth.executions
        assert breadth.verdicts == depth.verdicts


def test_destinations() -> None:
    one = {
        choice: explored(Plain(), Bounds(entities=3, messages=1, destinations=choice))
        for choice in Destinations
    }
    # For each of three senders: every set of packets that may be under way, and nothing under way any more.
    assert one[Destinations.UNICAST].states == 1 + 3 * (2 * 1 + 1)
    assert one[Destinations.MULTICAST].states == 1 + 3 * (2 * 1 + 3 + 1)
    assert one[Destinations.BROADCAST].states == 1 + 3 * (7 + 1)
    assert one[Destinations.ANY].states == 1 + 3 * (3 * 1 + 3 * 3 + 7 + 1)


# ---- findings ----


def test_overtaking_is_found_by_a_shortest_behavior() -> None:
    found = explored(Plain(), Bounds(entities=3, messages=3), "order_preserving", plain=False)
    (finding,) = found.findings
    assert [type(move) for move in finding.behavior[1:]] == [Requested, Requested, Arrived, Arrived]
    assert finding.explanation is not None
    assert finding.explanation.witnesses


def test_safety_is_judged_in_every_state_and_completeness_in_quiescence() -> None:
    bounds = Bounds(entities=2, script=sends(2))
    found = explored(Plain(), bounds, "selectively_information_preserving", "order_preserving")
    assert found.of("selectively_information_preserving") is Verdict.HOLDS
    assert found.of("order_preserving") is Verdict.VIOLATED


def test_what_is_never_exercised_is_not_a_pass() -> None:
    found = explored(Plain(), Bounds(entities=2, script=sends(1)), "order_preserving")
    assert found.exercised["order_preserving"] == 0
    found = explored(Plain(), Bounds(entities=2, script=sends(2)), "order_preserving")
    # Both messages delivered, in one order or the other.
    assert found.exercised["order_preserving"] == 2
    found = explored(Plain(), Bounds(entities=2, script=sends(1)), "causal_order")
    assert found.exercised["causal_order"] == 0
    assert found.of("causal_order") is Verdict.UNKNOWN
    assert found.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("required", ["order_equivalent", "acyclic_order", "prefix_order", "gap_free_order"])
def test_one_message_is_in_order_whatever_happens(required: str) -> None:
    everybody = frozenset({0, 1, 2})
    found = explored(Plain(), Bounds(entities=3, script=((Message(0, 1, everybody),), (), ())), required)
    assert found.exercised[required] == 0
    assert found.verdict is Verdict.UNKNOWN


def test_deadlock() -> None:
    found = explored(Alternating(mistake="no timer"), Bounds(entities=2, script=sends(2), losses=1))
    assert "no deadlock" in {finding.property for finding in found.findings}
    right = explored(Alternating(), Bounds(entities=2, script=sends(2), losses=1))
    assert right.of("no deadlock") is Verdict.HOLDS
    # No order was asked for.
    assert right.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("mistake", "violated"),
    [
        ("", set()),
        ("no bit", {"no_duplication"}),
        ("no timer", {"selectively_information_preserving", "no deadlock"}),
    ],
)
def test_the_alternating_bit(mistake: str, violated: set[str]) -> None:
    bounds = Bounds(entities=2, script=sends(2), losses=1, duplicates=1, early=1)
    found = explore(Alternating(mistake=mistake), bounds)
    assert {finding.property for finding in found.findings} >= violated
    assert bool(found.findings) is bool(violated)
    assert all(found.exercised.values())


def test_starvation_names_what_starves() -> None:
    found = explored(InTurn(mistake="one at a time"), Bounds(entities=2, script=sends(2)))
    (finding,) = found.findings
    assert (finding.property, finding.starving) == ("no starvation", (("a2", "E2"),))


def test_choices_are_all_explored() -> None:
    found = explored(Tosses(), Bounds(entities=2, script=sends(1)), "selectively_information_preserving")
    assert found.of("selectively_information_preserving") is Verdict.VIOLATED
    assert found.states == 4


def test_crashes_and_the_dead() -> None:
    bounds = Bounds(entities=2, script=sends(1), crashes=1)
    # With one destination there is nobody to agree with.
    assert explored(Plain(), bounds, "agreement").of("agreement") is Verdict.UNKNOWN
    assert explored(Plain(), bounds, "validity").of("validity") is Verdict.VIOLATED
    dead = Bounds(entities=2, script=sends(1), dead=1)
    assert explored(Plain(), dead, "validity").of("validity") is Verdict.VIOLATED
    cut = Bounds(entities=2, script=sends(1), broken_links=1)
    assert explored(Plain(), cut, "validity").of("validity") is Verdict.VIOLATED


class Forgets(Plain):
    """Has nothing left when it stops, so that it stays stopped."""

    def crash(self, here: Here, state: int) -> None:
        return None


def test_who_crashed_or_is_dead_owes_nothing() -> None:
    names = ("agreement", "uniform_agreement", "validity")
    for protocol, faults in (
        (Plain(), {"crashes": 1}),
        (Forgets(), {"crashes": 1, "recoveries": 1}),
        (Plain(), {"dead": 1}),
    ):
        bounds = Bounds(entities=3, messages=1, destinations=Destinations.BROADCAST, **faults)
        found = explored(protocol, bounds, *names, "forall i: not faulty(i)")
        assert [found.of(name) for name in names] == [Verdict.HOLDS] * 3
        assert found.of("forall i: not faulty(i)") is Verdict.VIOLATED
    cut = Bounds(entities=3, messages=1, destinations=Destinations.BROADCAST, broken_links=1)
    assert explored(Plain(), cut, "agreement").of("agreement") is Verdict.VIOLATED


# ---- time ----


def test_times() -> None:
    plain = Plain(given=Timed(shortest=1, longest=3), delta=2)
    late = explored(plain, Bounds(entities=2, script=sends(1), ticks=0), "deadline")
    (finding,) = late.findings
    # Sent at 0, delivered at 3: the first tick that is later than delta.
    assert [event.time for history in finding.execution.histories for event in history.events] == [0, 3000]
    in_time = explored(
        Plain(given=Timed(1, 2), delta=2), Bounds(entities=2, script=sends(1), ticks=0), "deadline"
    )
    assert in_time.of("deadline") is Verdict.HOLDS


def test_timers_expire_before_time_goes_on() -> None:
    bounds = Bounds(entities=2, script=sends(1), ticks=0)
    assert explored(Waits(wait=1, delta=3), bounds, "deadline").of("deadline") is Verdict.HOLDS
    found = explored(Waits(wait=2, delta=3), bounds, "deadline")
    assert found.of("deadline") is Verdict.VIOLATED
    assert any(isinstance(move, Expired) for move in found.findings[0].behavior)


def test_clocks_differ_by_the_skew() -> None:
    found = explored(Waits(given=Timed(1, 1, skew=1)), Bounds(entities=2, script=sends(1), ticks=0))
    alone = explored(Waits(given=Timed(1, 1)), Bounds(entities=2, script=sends(1), ticks=0))
    # (0, 0), (0, 1), (1, 0): three beginnings.
    assert found.states == 3 * alone.states


# ---- limits ----


def test_a_limit_leaves_it_undecided() -> None:
    whole = explored(InTurn(), Bounds(entities=3, messages=3), "order_preserving")
    assert whole.verdict is Verdict.HOLDS
    for limits in (Bounds(states=600), Bounds(depth=3), Bounds(seconds=0.0), Bounds(megabytes=1)):
        found = explored(InTurn(), limits, "order_preserving")
        assert not found.complete
        assert found.stopped_by
        assert found.verdict is Verdict.UNKNOWN


def test_a_search_for_the_first_violation_ends_soon_after_it() -> None:
    asked = [requirement("order_preserving", standard_library())]
    bounds = Bounds(entities=3, messages=4)
    whole, found = (explore(Plain(), bounds, asked, plain=True, first=first) for first in (False, True))
    assert found.states * 2 < whole.states
    assert (found.complete, found.stopped_by, found.verdict) == (False, FIRST, Verdict.VIOLATED)
    assert [len(each.behavior) for each in (*found.findings, *whole.findings)] == [5, 5]


def test_a_search_walks_ahead_where_it_does_not_come_to_the_ends_of_behaviors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = [requirement("quiescent order_preserving", standard_library())]
    bounds = Bounds(entities=3, messages=4, seconds=0.0)
    alone = explore(Plain(), bounds, asked, plain=True)
    monkeypatch.setattr(state_search, "AWHILE", -1.0)
    monkeypatch.setattr(state_search, "AHEAD", -1.0)
    ahead, first = (explore(Plain(), bounds, asked, plain=True, first=first) for first in (False, True))
    assert (alone.verdict, ahead.verdict, first.verdict) == (
        Verdict.UNKNOWN,
        Verdict.VIOLATED,
        Verdict.VIOLATED,
    )
    assert (first.stopped_by, first.depth) == (FIRST, 0)
    assert (ahead.states, ahead.transitions, ahead.stopped_by) == (
        alone.states,
        alone.transitions,
        alone.stopped_by,
    )
    (finding,) = ahead.findings
    assert finding.quiescent
    assert len(finding.behavior) > 4


def test_a_search_that_ends_tells_of_shortest_behaviors_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_search, "AWHILE", -1.0)
    monkeypatch.setattr(state_search, "AHEAD", -1.0)
    found = explored(Plain(), Bounds(entities=3, messages=3), "order_preserving")
    assert [len(each.behavior) for each in found.findings] == [5]


def test_a_depth_that_is_enough_is_no_limit() -> None:
    assert explored(Plain(), Bounds(entities=2, script=sends(2), depth=4), "no_creation").complete
    assert not explored(Plain(), Bounds(entities=2, script=sends(2), depth=3), "no_creation").complete


# ---- mistakes of a model ----


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        ("raises", "M005", "arrive of E2 raised KeyError"),
        ("nonsense", "M006", "'nonsense'"),
        ("nowhere", "M006", "entity 9"),
        ("unhashable state", "M007", "a state cannot be hashed"),
        ("unhashable packet", "M007", "a packet cannot be hashed"),
        ("invents", "M008", "E2 has deliver of c7"),
        ("due", "M009", "timer t"),
    ],
)
def test_mistakes_are_told(how: str, code: str, says: str) -> None:
    with pytest.raises(PrecedesError) as error:
        explored(Broken(how=how), Bounds(entities=2, script=sends(1)), "no_creation")
    assert error.value.diagnostics[0].code == code
    assert says in str(error.value)
    assert error.value.diagnostics[0].hint


def test_a_handler_that_says_something_else_when_its_step_is_shown_is_told() -> None:
    never = OfEntity("nothing arrives", "made for this test", lambda protocol, here, state: state == 0)
    with pytest.raises(PrecedesError) as error:
        explore(Broken(how="impure"), Bounds(entities=2, script=sends(1)), [], invariants=[never])
    assert error.value.diagnostics[0].code == "M010"


def test_an_impure_handler_is_told() -> None:
    with pytest.raises(PrecedesError) as error:
        explore(Broken(how="impure"), Bounds(entities=2, script=sends(1)), [], check_purity=True)
    assert error.value.diagnostics[0].code == "M010"


class Counting(Protocol[int]):
    """One of the methods of the model returns something else at every call."""

    name: ClassVar[str] = "counting"
    network: ClassVar[Reliable] = Reliable(corrupts=True)
    which: str = ""

    def __init__(self, which: str) -> None:
        super().__init__()
        object.__setattr__(self, "which", which)
        object.__setattr__(self, "calls", iter(range(1_000)))

    def counted(self, what: str) -> int:
        return next(self.calls) if what == self.which else 0

    def start(self, here: Here) -> int:
        return self.counted("start")

    def send(self, here: Here, state: int, message: Message) -> Step[int]:
        return Step(state, (Transmit(message, message.destinations),))

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Step[int]:
        return Step(state, (Deliver(packet),)) if isinstance(packet, Message) else Step(state)

    def timers(self, here: Here, state: int) -> tuple[Timer, ...]:
        return () if state else (Timer("again", patience=self.counted("timers")),)

    def expire(self, here: Here, state: int, timer: Timer) -> Step[int]:
        return Step(1)

    def crash(self, here: Here, state: int) -> int:
        return self.counted("crash")

    def corrupted(self, packet: Hashable) -> tuple[Hashable, ...]:
        return (self.counted("corrupted"),)


@pytest.mark.parametrize("which", ["start", "timers", "crash", "corrupted"])
def test_everything_that_a_model_says_is_asked_twice(which: str) -> None:
    bounds = Bounds(2, 1, corruptions=1, crashes=1)
    explore(Counting("nothing"), bounds, [], check_purity=True)
    with pytest.raises(PrecedesError, match=f"M010 counting: {which}.* returned two things"):
        explore(Counting(which), bounds, [], check_purity=True)


def test_faults_that_the_network_has_not_are_refused() -> None:
    with pytest.raises(PrecedesError, match="no losses"):
        explored(Plain(), Bounds(entities=2, losses=1))


@pytest.mark.parametrize(
    ("frozen", "made", "calls"), [(0, MANY + 1, ["freeze", "unfreeze"]), (0, 10, []), (7, MANY + 1, [])]
)
def test_what_was_made_without_collections_is_taken_for_old(
    frozen: int, made: int, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it is little, or somebody has frozen something, which stays frozen."""
    called: list[str] = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    monkeypatch.setattr(gc, "freeze", lambda: called.append("freeze"))
    monkeypatch.setattr(gc, "unfreeze", lambda: called.append("unfreeze"))
    gc.collect()
    with paused():
        assert not gc.isenabled()
        alive: list[list[int]] = [[] for _ in range(made)]
    assert gc.isenabled()
    assert (called, len(alive)) == (calls, made)


@pytest.mark.parametrize("order", ["breadth", "depth"])
def test_a_search_stops_where_a_table_is_full(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, order: Literal["breadth", "depth"]
) -> None:
    monkeypatch.setattr(matrices, "MOST_ROWS", 3 << 8)
    kept = None if order == "depth" else tmp_path / "search.npz"
    found = explore(Plain(), Bounds(entities=2, script=sends(8)), [], plain=True, order=order, resume=kept)
    assert 100 < found.states < 1 << 9
    assert (found.stopped_by, found.complete) == (state_search.NO_ROOM, False)
    assert found.verdicts[DEADLOCK] is Verdict.UNKNOWN
    assert kept is None or not kept.exists()
