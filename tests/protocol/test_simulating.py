"""Simulated executions: what they depend on, what each network does to packets, timers, faults, mistakes of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.execution import EventKind, Execution
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.batch_scan import scan
from precedes.jobs.check import library_with
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.protocol import (
    Arrive,
    Deliver,
    Here,
    Message,
    Network,
    Protocol,
    Reliable,
    SingleChannel,
    Step,
    Timed,
    Timer,
    Transmit,
    View,
)
from precedes.protocol.bounds import Conditions, Destinations
from precedes.protocol.running.chance import Chance, Request
from precedes.protocol.simulation.simulator import Simulator, run, usual
from tests.protocol.toys import Alternating, Broken, InTurn, Plain, Tabled, Tosses, Waits

MANY = Conditions(messages=40, deviation=900)


def times(execution: Execution, kind: EventKind) -> dict[tuple[str, str], int]:
    """When what happened to which message at whom, in ticks."""
    return {
        (history.entity, event.message or ""): (event.time or 0) // 1000
        for history in execution.histories
        for event in history.events
        if event.kind is kind
    }


def verdicts(protocol: Protocol[Any], name: str, conditions: Conditions, executions: int) -> Counter[int]:
    """How often a requirement comes out how."""
    simulator = Simulator(protocol, conditions)
    batch = batch_of([simulator.run(1, number).execution for number in range(1, executions + 1)])
    return Counter(scan(batch, plan([requirement(name, library_with(()))])).values[:, 0].tolist())


# ---- what a run depends on ----


def test_a_run_depends_on_its_seed_and_number_alone() -> None:
    conditions = replace(MANY, loss=0.2, duplication=0.2)
    one = Simulator(InTurn(), conditions)
    forward = [one.run(5, number) for number in range(1, 6)]
    backward = [Simulator(InTurn(), conditions).run(5, number) for number in range(5, 0, -1)]
    assert forward == backward[::-1]
    assert run(InTurn(), conditions, 5, 3) == forward[2]
    assert len({one.execution.histories for one in forward}) == 5
    assert one.run(6, 3).execution.histories != forward[2].execution.histories


def test_what_is_drawn_is_the_same_everywhere() -> None:
    chance = Chance(1, 1, "network")
    assert [round(chance.uniform(), 12) for _ in range(3)] == [0.504595593192, 0.416600077183, 0.488535362563]
    assert Chance(1, 1, "other").uniform() != Chance(1, 1, "network").uniform()


def test_the_network_does_not_depend_on_what_the_protocol_does_with_its_timers() -> None:
    """The same requests and delays for two protocols that transmit the same."""
    network = Timed(0, 8)
    conditions = usual(Waits(given=network))
    fast, slow = (run(Waits(given=network, wait=wait), conditions, 1) for wait in (1, 5))
    assert times(fast.execution, EventKind.SEND) == times(slow.execution, EventKind.SEND)
    late = times(slow.execution, EventKind.DELIVER)
    assert {who: time + 4 for who, time in times(fast.execution, EventKind.DELIVER).items()} == late


def test_an_observer_is_told_of_every_step_and_counts() -> None:
    seen: list[tuple[int, Any, Hashable, Any, int]] = []

    def observe(at: Here, before: Any, cause: Hashable, step: Step[Any], time: int) -> dict[str, float]:
        seen.append((at.entity, before, cause, step.state, time))
        return {"halves": 0.5}

    done = run(Plain(), Conditions(messages=5), 1, observe=observe)
    assert done.counters["steps"] == len(seen) == 2 * done.counters["halves"]
    assert [time for *_, time in seen] == sorted(time for *_, time in seen)
    for entity, state in enumerate(done.states):
        steps = [(before, after) for at, before, _, after, _ in seen if at == entity]
        assert [before for before, _ in steps] == [0, *(after for _, after in steps[:-1])]
        assert not steps or steps[-1][1] == state


# ---- requests ----


@pytest.mark.parametrize("choice", Destinations)
def test_destinations_are_drawn_as_asked(choice: Destinations) -> None:
    simulator = Simulator(Plain(), Conditions(messages=300, destinations=choice))
    sets = Counter(
        (sender, request.destinations)
        for request in simulator.setting.requests(Chance(1, 1, "network"))
        for sender in [request.sender]
    )
    of_first = {destinations for sender, destinations in sets if sender == 0}
    expected = {
        Destinations.UNICAST: [{1}, {2}],
        Destinations.MULTICAST: [{1}, {2}, {1, 2}],
        Destinations.BROADCAST: [{0, 1, 2}],
        Destinations.ANY: [{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}],
    }
    assert of_first == set(map(frozenset, expected[choice]))
    assert min(sets.values()) > 300 / 3 / len(of_first) / 3


def test_requests_are_a_poisson_process() -> None:
    requests = Simulator(Plain(), Conditions(messages=20_000)).setting.requests(Chance(1, 1, "network"))
    gaps = [b.time - a.time for a, b in pairwise(requests)]
    mean = sum(gaps) / len(gaps)
    assert mean == pytest.approx(1000 / 3, rel=0.03)
    assert sum((gap - mean) ** 2 for gap in gaps) / len(gaps) == pytest.approx(mean**2, rel=0.06)
    assert min(Counter(request.sender for request in requests).values()) > 6_400


def test_a_refused_request_is_tried_again_when_the_state_changes() -> None:
    """The alternating bit sends one message at a time and refuses all but those of the first entity to the second."""
    done = run(
        Alternating(), Conditions(entities=2, messages=30, interval=50, destinations=Destinations.UNICAST), 1
    )
    first, second = done.execution.entities
    assert done.execution.sent(first) == done.execution.delivered(second)
    sends = times(done.execution, EventKind.SEND)
    assert len(sends) == done.counters["requests"]
    assert done.counters["requests"] + done.counters["refused"] == 30
    assert done.counters["refused"] > 5
    assert max(sends.values()) > 20 * 1000


def test_a_request_may_wait_for_the_clock() -> None:
    @dataclass(frozen=True)
    class Later(Plain):
        def send(self, here: Here, state: int, message: Message) -> Step[int] | None:
            return super().send(here, state, message) if here.now >= 50 else None

    done = run(Later(given=Timed(0, 8)), Conditions(messages=1, interval=1, delay=2, deviation=1), 1)
    assert done.counters["refused"] == 0
    assert 50 <= next(iter(times(done.execution, EventKind.SEND).values())) <= 100


# ---- networks ----


def test_delays_are_normal_and_never_negative() -> None:
    wide = Conditions(messages=3_000, delay=100, deviation=100, destinations=Destinations.UNICAST)
    done = run(Plain(), wide, 1)
    sent = {message: time for (_, message), time in times(done.execution, EventKind.SEND).items()}
    delays = [time - sent[message] for (_, message), time in times(done.execution, EventKind.DELIVER).items()]
    assert min(delays) >= 0
    # A normal distribution cut off one deviation below its mean has its mean 0.2876 deviations higher.
    assert sum(delays) / len(delays) == pytest.approx(128.76, rel=0.03)


@pytest.mark.parametrize("fifo", [False, True])
def test_a_channel_keeps_the_order_if_it_is_said_to(fifo: bool) -> None:
    found = verdicts(Plain(given=Reliable(fifo=fifo)), "order_preserving", MANY, 20)
    assert found == {TRUE: 20} if fifo else found[FALSE] > 15


def test_the_single_channel_has_one_order_and_loses_at_each_receiver() -> None:
    conditions = replace(MANY, loss=0.3, destinations=Destinations.BROADCAST)
    single = Plain(given=SingleChannel())
    assert verdicts(single, "1C", conditions, 20) == {TRUE: 20}
    done = run(single, conditions, 1)
    logs = [done.execution.delivered(entity) for entity in done.execution.entities]
    assert len(set(logs)) == 3
    assert done.counters["packets"] == 120
    assert sum(map(len, logs)) == 120 - done.counters["lost"]


def test_a_timed_network_keeps_its_bounds() -> None:
    done = run(Plain(given=Timed(3, 5)), Conditions(messages=300, interval=2, delay=4, deviation=9), 1)
    sent = {message: time for (_, message), time in times(done.execution, EventKind.SEND).items()}
    delivered = times(done.execution, EventKind.DELIVER).items()
    assert {time - sent[message] for (_, message), time in delivered} == {3, 4, 5}


def test_clocks_are_apart_and_no_more_than_they_may_be() -> None:
    apart: set[int] = set()

    def observe(at: Here, before: Any, cause: Hashable, step: Step[Any], time: int) -> None:
        apart.add(at.now - time)

    protocol = Plain(given=Timed(0, 8, skew=3))
    simulator = Simulator(protocol, usual(protocol), observe=observe)
    for number in range(20):
        simulator.run(1, number)
    assert apart == {0, 1, 2, 3}


@pytest.mark.parametrize(("counter", "rate"), [("lost", "loss"), ("duplicated", "duplication")])
def test_faults_are_as_frequent_as_they_are_said_to_be(counter: str, rate: str) -> None:
    conditions = replace(Conditions(messages=4_000), **{rate: 0.05})
    done = run(InTurn(), conditions, 3)
    packets = done.counters["packets"]
    # Four standard deviations.
    assert abs(done.counters[counter] - 0.05 * packets) < 4 * (packets * 0.05 * 0.95) ** 0.5


def test_a_corrupted_packet_arrives_as_something_else() -> None:
    @dataclass(frozen=True)
    class Marked(Plain):
        def corrupted(self, packet: Hashable) -> tuple[Hashable, ...]:
            return (("wrong", packet),)

        def arrive(self, here: Here, state: int, packet: Any, sender: int) -> Step[int]:
            return Step(state + 100) if isinstance(packet, tuple) else Step(state, (Deliver(packet),))

    done = run(Marked(given=Reliable(corrupts=True)), replace(MANY, corruption=0.5), 1)
    assert 0 < done.counters["corrupted"] < done.counters["packets"]
    assert sum(state // 100 for state in done.states) == done.counters["corrupted"]


def test_a_packet_that_is_not_taken_stays_until_the_state_changes() -> None:
    """In mood 0 what was sent in mood 0 is refused; mood 1 takes everything, and a send makes it mood 1."""
    moody = Tabled(sends=(1, 1, 1), arrivals=((0, "refuse"), *((1, "deliver"),) * 8))
    done = run(moody, Conditions(messages=60, delay=50, deviation=10), 1)
    delivered = times(done.execution, EventKind.DELIVER)
    sends = times(done.execution, EventKind.SEND)
    first = {
        entity: min(time for (who, _), time in sends.items() if who == entity)
        for entity in done.execution.entities
    }
    assert len(delivered) == done.counters["packets"]
    assert any(time == first[entity] for (entity, _), time in delivered.items())


def test_one_of_several_steps_is_taken_by_its_weight() -> None:
    done = run(Tosses(), Conditions(messages=1_000, destinations=Destinations.UNICAST), 1)
    assert 430 < len(times(done.execution, EventKind.DELIVER)) < 570


# ---- timers ----


def test_a_timer_expires_when_it_is_due() -> None:
    done = run(
        Waits(wait=7, given=Timed(1, 2)), Conditions(messages=50, interval=3, delay=1.5, deviation=1), 1
    )
    sent = {message: time for (_, message), time in times(done.execution, EventKind.SEND).items()}
    delivered = times(done.execution, EventKind.DELIVER)
    assert {time - sent[message] for (_, message), time in delivered.items()} == {8, 9}


def test_a_time_out_without_a_length_expires_when_the_network_is_empty() -> None:
    expired: list[int] = []

    def observe(at: Here, before: Any, cause: Hashable, step: Step[Any], time: int) -> None:
        if isinstance(cause, Timer):
            expired.append(time)

    conditions = Conditions(entities=2, messages=30, destinations=Destinations.UNICAST)
    run(Alternating(), conditions, 1, observe=observe)
    assert not expired
    lossy = replace(conditions, loss=0.2)
    done = run(Alternating(), lossy, 1, observe=observe)
    assert len(expired) == done.counters["lost"]
    assert verdicts(Alternating(), "order_preserving", replace(lossy, duplication=0.2), 10) == {TRUE: 10}
    assert (
        verdicts(Alternating(mistake="no bit"), "no_duplication", replace(lossy, duplication=0.2), 10)[FALSE]
        > 5
    )


@dataclass(frozen=True)
class Ticking(Plain):
    """A timer that always runs; each time it transmits something, `most` times, or does nothing."""

    most: int = 3
    after: int = 10
    patience: int = 0
    answers: ClassVar[bool] = True

    def arrive(self, here: Here, state: int, packet: Hashable, sender: int) -> Step[int]:
        return Step(state)

    def timers(self, here: Here, state: int) -> tuple[Timer, ...]:
        patient = (Timer("patient", patience=1),) if self.patience else ()
        return (Timer("tick", after=self.after), *patient)

    def expire(self, here: Here, state: int, timer: Timer) -> Step[int]:
        if timer.name == "patient":
            return Step(state + 1000) if state < 1000 else Step(state)
        if state % 1000 >= self.most:
            return Step(state)
        return Step(state + 1, (Transmit("tick"),))


def test_a_timer_that_changes_nothing_lets_a_run_end() -> None:
    done = run(Ticking(), Conditions(messages=1, interval=1), 1)
    assert sorted(done.states) == [3, 3, 3]
    assert done.counters["packets"] <= 3 * 9 + 2


def test_of_time_outs_the_impatient_expire_first() -> None:
    order: list[str] = []

    def observe(at: Here, before: Any, cause: Hashable, step: Step[Any], time: int) -> None:
        if isinstance(cause, Timer) and step.state != before:
            order.append(cause.name)

    run(Ticking(most=2, after=0, patience=1), Conditions(messages=1, interval=1), 1, observe=observe)
    assert order[-3:] == ["patient"] * 3
    assert "patient" not in order[:-3]


def test_a_run_that_does_not_end_is_given_up() -> None:
    with pytest.raises(PrecedesError, match="M011 plain: execution 4 of seed 9 takes more than 500 steps"):
        Simulator(Ticking(most=10**9), Conditions(messages=1), most_steps=500).run(9, 4)


# ---- crashes ----


@dataclass(frozen=True)
class Keeps(Plain):
    """Counts; a crash halves what it has, and it starts again with that and a view."""

    def crash(self, here: Here, state: int) -> int:
        return state // 2

    def recover(self, here: Here, state: int) -> Step[int]:
        return Step(state + 100, (View(frozenset({0, 1, 2})),))


def test_an_entity_stops_and_starts_again() -> None:
    before_after: list[tuple[int, int]] = []

    def observe(at: Here, before: Any, cause: Hashable, step: Step[Any], time: int) -> None:
        if cause is None:
            before_after.append((before, step.state))

    done = run(Keeps(), replace(MANY, crash=1.0, recovery=1.0), 1, observe=observe)
    assert done.counters["crashes"] == done.counters["recoveries"] == 3 == len(before_after)
    assert all(after == before + 100 for before, after in before_after)
    assert done.counters["vanished"] > 0
    for history in done.execution.histories:
        kinds = [event.kind for event in history.events]
        place = kinds.index(EventKind.CRASH)
        assert kinds[place + 1 : place + 3] == [EventKind.RECOVER, EventKind.VIEW]
        assert history.events[place + 2].members == ("E1", "E2", "E3")


def test_what_has_nothing_left_stays_stopped() -> None:
    done = run(Plain(), replace(MANY, crash=1.0, recovery=1.0), 1)
    assert done.states == (None, None, None)
    assert done.counters["recoveries"] == 0
    assert {history.events[-1].kind for history in done.execution.histories} == {EventKind.CRASH}


# ---- logs ----


@dataclass(frozen=True)
class Sorting(Protocol[tuple[Message, ...]]):
    """Keeps what comes sorted by name."""

    name: ClassVar[str] = "sorting"

    @property
    def network(self) -> Network:
        return Reliable()

    def start(self, here: Here) -> tuple[Message, ...]:
        return ()

    def send(self, here: Here, state: tuple[Message, ...], message: Message) -> Step[tuple[Message, ...]]:
        return Step(state, (Transmit(message),))

    def arrive(self, here: Here, state: Any, packet: Hashable, sender: int) -> Step[tuple[Message, ...]]:
        assert isinstance(packet, Message)
        return Step(tuple(sorted((*state, packet), key=lambda m: m.name)), (Arrive(packet), Deliver(packet)))

    def receipt_log(self, state: tuple[Message, ...]) -> tuple[Message, ...]:
        return state


def test_a_receipt_log_that_is_rearranged_is_recorded_as_it_is_in_the_end() -> None:
    done = run(Sorting(), Conditions(messages=8, deviation=900), 1)
    for entity, state in zip(done.execution.entities, done.states, strict=True):
        assert done.execution.delivered(entity) == tuple(message.name for message in state)
        events = done.execution.history(entity).events
        assert [event.time for event in events] == sorted(event.time or 0 for event in events)
        assert Counter(event.kind for event in events)[EventKind.DELIVER] == 8
        arrived = {event.message: event.time for event in events if event.kind is EventKind.ARRIVE}
        delivered = {event.message: event.time for event in events if event.kind is EventKind.DELIVER}
        assert all(delivered[message] >= arrived[message] for message in arrived)
        assert delivered != arrived


# ---- mistakes ----


@pytest.mark.parametrize(
    ("conditions", "protocol", "text"),
    [
        (Conditions(loss=0.1), Plain(), "the network of plain does not lose packets, but loss is 0.1"),
        (Conditions(duplication=0.1), Plain(given=Timed()), "does not duplicate packets"),
        (Conditions(corruption=0.1), InTurn(), "does not corrupt packets"),
        (Conditions(skew=1), Plain(), "clocks 1 ticks apart are more than plain assumes"),
        (Conditions(skew=3, delay=2, deviation=1), Plain(given=Timed(skew=2)), "clocks 3 ticks apart"),
        (Conditions(entities=1), Plain(), "one entity has no others to send to"),
        (Conditions(), Plain(given=Timed(0, 4)), "hardly ever fall between 0 and 4"),
        (Conditions(delay=9, deviation=0), Plain(given=Timed(0, 4)), "hardly ever fall between 0 and 4"),
    ],
)
def test_conditions_that_the_network_does_not_know_are_refused(
    conditions: Conditions, protocol: Protocol[Any], text: str
) -> None:
    with pytest.raises(PrecedesError, match=text):
        run(protocol, conditions, 1)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("raises", "M005 broken: arrive of E. raised KeyError"),
        ("nonsense", "M006 broken: a handler returned 'nonsense'"),
        ("nowhere", "M006 broken: a handler transmitted to entity 9"),
        ("due", "M009 broken: timer t is due at a time"),
        ("invents", "M008 broken: .* has deliver of c7, which nobody was asked to send"),
    ],
)
def test_a_mistake_of_the_model_is_told(how: str, text: str) -> None:
    with pytest.raises(PrecedesError, match=text):
        run(Broken(how=how), Conditions(messages=5), 1)


# ---- whole protocols ----


def test_a_right_protocol_is_clean_and_a_wrong_one_is_not() -> None:
    conditions = replace(MANY, messages=20, duplication=0.1)
    for claim in InTurn.claims:
        assert verdicts(InTurn(), claim, conditions, 30) == {TRUE: 30}
    for mistake in ("at once", "forgets", "again", "one at a time"):
        assert any(verdicts(InTurn(mistake=mistake), claim, conditions, 30)[FALSE] for claim in InTurn.claims)


def test_requests_of_ones_own() -> None:
    everybody = frozenset(range(3))
    simulator = Simulator(
        Plain(), Conditions(), requests=lambda _: [Request(5, 2, everybody)], delays=lambda _: 7
    )
    done = simulator.run(1, 1)
    assert times(done.execution, EventKind.SEND) == {("E3", "c1"): 5}
    assert times(done.execution, EventKind.DELIVER) == dict.fromkeys(((f"E{k}", "c1") for k in (1, 2, 3)), 12)
