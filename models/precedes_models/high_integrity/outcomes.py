"""What the high-integrity protocol makes of given faults: noticed, missed, misnamed or falsely reported, round by
round, with the exact probability where neighbors are drawn.

The handlers of the protocol run in one order, phase by phase: data, queries, answers, time-outs, requests. Faults
are given, not searched for. That every order comes to the same ends is tested by the explorer, with dead nodes.
Every draw of neighbors is followed, and configurations that have become equal are joined, so probabilities are
exact fractions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, assert_never

from precedes.protocol import Choose, Here, Message, Outcome, Step, Timer, Transmit, replace
from precedes_models.high_integrity.faults import (
    ORIGIN,
    Broken,
    Corrupted,
    Dead,
    Dies,
    Fault,
    Lost,
    Phase,
    Stale,
)
from precedes_models.high_integrity.protocol import HighIntegrity
from precedes_models.high_integrity.state import Data, Part, Report, State, flipped, part_of, payload, stale

CERTAIN: Final = Fraction(1)
LAST_OF: Final = {
    # A handler asks when the data comes and answers when the query comes: who dies before it answers, dies before that.
    Phase.DATA: Phase.DATA,
    Phase.QUERY: Phase.DATA,
    Phase.ANSWER: Phase.ANSWER,
    Phase.REQUEST: Phase.REQUEST,
}
"""The last phase in which a node that dies after a step is alive."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A round as it was when its requests were in.

    `lacking` did not get the data of this round, or got other data, whether they live or have stopped before it
    came; `stopped` are all that have stopped. `named` is what the origin learned, by requests and by itself.
    """

    lacking: frozenset[int]
    stopped: frozenset[int]
    named: frozenset[int]
    alarm: bool

    @property
    def noticed(self) -> bool:
        """Some node lacks the data and somebody knows that something is wrong."""
        return bool(self.lacking) and (bool(self.named) or self.alarm)

    @property
    def unnoticed(self) -> bool:
        """Some node lacks the data and nobody knows of anything: missed_failure of the round."""
        return bool(self.lacking) and not self.named and not self.alarm

    @property
    def missed(self) -> frozenset[int]:
        """Nodes that lack the data and are not named."""
        return self.lacking - self.named

    @property
    def false(self) -> frozenset[int]:
        """Nodes that are named though they live and have the data: false_report."""
        return self.named - self.lacking - self.stopped

    @property
    def misnamed(self) -> bool:
        """Some node lacks the data, and of those that are named none does and none has stopped."""
        return bool(self.lacking and self.named) and not self.named & (self.lacking | self.stopped)


@dataclass(frozen=True, slots=True)
class End:
    """What has become of it: the rounds, and what step 7 did."""

    rounds: tuple[Seen, ...]
    removed: frozenset[int]
    removed_falsely: frozenset[int]
    lacking: frozenset[int]
    """Members that live and have no copy or another one, or stopped before any came, and were not removed."""
    alarm: bool

    @property
    def detection_delay(self) -> int | None:
        """The number, from 1, of the first round in which a failure was noticed; None: in none."""
        return next((k for k, seen in enumerate(self.rounds, start=1) if seen.noticed), None)


@dataclass(frozen=True)
class _Flight:
    kind: Phase
    sender: int
    receiver: int
    packet: Hashable

    @property
    def order(self) -> tuple[int, int, int]:
        return int(self.kind), self.receiver, self.sender


@dataclass(frozen=True)
class _Configuration:
    states: tuple[State, ...]
    live: frozenset[int]
    flying: tuple[_Flight, ...]
    lost: frozenset[Lost]
    """Losses that have happened."""
    passed: int
    """The phases of the first round that are over, up to this one."""


@dataclass
class _Play:
    """The run of one protocol under some faults; `outcomes` remembers what handlers returned."""

    protocol: HighIntegrity
    entities: int
    faults: tuple[Fault, ...]
    outcomes: dict[tuple[Hashable, ...], Outcome[State]]
    message: Message = field(init=False)
    mortal: bool = field(init=False)
    """Whether anybody dies."""

    def __post_init__(self) -> None:
        self.message = Message(ORIGIN, 1, frozenset(range(self.entities)))
        self.mortal = any(isinstance(fault, Dies) for fault in self.faults)

    def begin(self) -> Iterator[tuple[Fraction, _Configuration]]:
        dead = frozenset(fault.node for fault in self.faults if isinstance(fault, Dead))
        live = frozenset(range(self.entities)) - dead
        here = Here(ORIGIN, self.entities)
        start = tuple(self.protocol.start(Here(node, self.entities)) for node in range(self.entities))
        before = _Configuration(start, live, (), frozenset(), 0)
        if ORIGIN in live:
            outcome = self.protocol.send(here, start[ORIGIN], self.message)
            assert outcome is not None
            yield from self._after(before, ORIGIN, outcome)

    def round(self, start: Iterable[tuple[Fraction, _Configuration]]) -> dict[_Configuration, Fraction]:
        """Run until only the origin's decision about the round, or nothing, is left."""
        finished: dict[_Configuration, Fraction] = defaultdict(Fraction)
        open_: list[tuple[Fraction, _Configuration]] = list(start)
        while open_:
            probability, configuration = open_.pop()
            following = self._next(configuration)
            if following is None:
                finished[configuration] += probability
            else:
                open_.extend(
                    (probability if part is CERTAIN else probability * part, after)
                    for part, after in following
                )
        return finished

    def decide(self, configuration: _Configuration) -> list[tuple[Fraction, _Configuration]]:
        """The origin's decision; empty where it takes none any more."""
        timers = self._timers(configuration)
        if not timers:
            return []
        return self._expire(configuration, *timers[0])

    def _next(self, configuration: _Configuration) -> list[tuple[Fraction, _Configuration]] | None:
        if configuration.flying:
            first = min(configuration.flying, key=lambda flight: flight.order)
            if first.kind > configuration.passed:
                configuration = self._pass(configuration, int(first.kind) - 1)
            return self._arrive(configuration, first)
        timers = self._timers(configuration)
        if configuration.passed < Phase.ANSWER:
            return [(CERTAIN, self._pass(configuration, Phase.ANSWER))]
        if not timers or timers[0][1].patience == 2:
            if configuration.passed < Phase.HEARD:
                return [(CERTAIN, self._pass(configuration, Phase.HEARD))]
            return None
        return self._expire(configuration, *timers[0])

    def _pass(self, configuration: _Configuration, phase: int) -> _Configuration:
        """The end of all phases up to one: who dies after them stops."""
        if not self.mortal:
            return replace(configuration, passed=max(phase, configuration.passed))
        dying = {
            fault.node
            for fault in self.faults
            if isinstance(fault, Dies) and configuration.passed < LAST_OF[fault.after] <= phase
        }
        return replace(
            configuration, live=configuration.live - dying, passed=max(phase, configuration.passed)
        )

    def _timers(self, configuration: _Configuration) -> list[tuple[int, Timer]]:
        running = [
            (node, timer)
            for node in sorted(configuration.live)
            for timer in self.protocol.timers(Here(node, self.entities), configuration.states[node])
        ]
        least = min((timer.patience for _, timer in running), default=0)
        return [one for one in running if one[1].patience == least]

    def _arrive(self, before: _Configuration, flight: _Flight) -> list[tuple[Fraction, _Configuration]]:
        flying = list(before.flying)
        flying.remove(flight)
        configuration = replace(before, flying=tuple(flying))
        packet, receiver = flight.packet, flight.receiver
        for fault in self.faults:
            match fault:
                case Lost(kind, sender, to):
                    if (kind, sender, to) == (
                        flight.kind,
                        flight.sender,
                        receiver,
                    ) and fault not in before.lost:
                        return [(CERTAIN, replace(configuration, lost=before.lost | {fault}))]
                case Broken(one, other):
                    if {one, other} == {flight.sender, receiver}:
                        return [(CERTAIN, configuration)]
                case Corrupted(node):
                    if node == receiver and isinstance(packet, Data) and packet.round == 0:
                        packet = replace(packet, payload=flipped(packet.payload, node))
                case Stale(node):
                    if node == receiver and isinstance(packet, Data) and packet.round == 0:
                        packet = replace(packet, payload=stale(packet.message))
                case Dead() | Dies():
                    pass
                case _ as never:
                    assert_never(never)
        if receiver not in configuration.live:
            return [(CERTAIN, configuration)]
        state = configuration.states[receiver]
        key = (receiver, state, packet, flight.sender)
        if key not in self.outcomes:
            here = Here(receiver, self.entities)
            self.outcomes[key] = self.protocol.arrive(here, state, packet, flight.sender)
        return list(self._after(configuration, receiver, self.outcomes[key]))

    def _expire(
        self, before: _Configuration, node: int, timer: Timer
    ) -> list[tuple[Fraction, _Configuration]]:
        key = (node, before.states[node], timer)
        if key not in self.outcomes:
            here = Here(node, self.entities)
            self.outcomes[key] = self.protocol.expire(here, before.states[node], timer)
        return list(self._after(before, node, self.outcomes[key]))

    def _after(
        self, before: _Configuration, node: int, outcome: Outcome[State]
    ) -> Iterator[tuple[Fraction, _Configuration]]:
        options: Sequence[tuple[Fraction, Step[State]]]
        if isinstance(outcome, Choose):
            # The weights are floats of fractions with small denominators, and come back exactly.
            weights = [Fraction(weight).limit_denominator(1_000_000) for weight, _ in outcome.options]
            whole = sum(weights)
            options = [
                (weight / whole, step) for weight, (_, step) in zip(weights, outcome.options, strict=True)
            ]
        else:
            options = ((CERTAIN, outcome),)
        for probability, step in options:
            states = (*before.states[:node], step.state, *before.states[node + 1 :])
            flying = before.flying + tuple(self._sent(before, node, step))
            yield probability, _Configuration(states, before.live, flying, before.lost, before.passed)

    def _sent(self, before: _Configuration, node: int, step: Step[State]) -> Iterator[_Flight]:
        silent = before.passed < Phase.QUERY and Dies(node, Phase.DATA) in self.faults
        for action in step.actions:
            if isinstance(action, Transmit):
                kind = Phase[type(action.packet).__name__.upper()]
                # Who dies with the data before it has asked has still multicast it, where it is the origin.
                if silent and kind is not Phase.DATA:
                    continue
                assert action.to is not None
                yield from (_Flight(kind, node, to, action.packet) for to in sorted(action.to))

    # ------------------------------------------------------------------------------------------------ judging

    def seen(self, configuration: _Configuration) -> Seen:
        origin = part_of(configuration.states[ORIGIN], ORIGIN)
        members = origin.members
        stopped = frozenset(range(self.entities)) - configuration.live
        lacking = frozenset(node for node in members if not self._has(configuration, node, origin.round))
        reports = origin.reports if ORIGIN in configuration.live else frozenset[Report]()
        named = {node for report in reports if report.round == origin.round for node in report.failed}
        return Seen(lacking, stopped, frozenset(named), self._alarm(configuration))

    def _has(self, configuration: _Configuration, node: int, round_: int) -> bool:
        part = part_of(configuration.states[node], ORIGIN)
        # Who stopped after it had the data is not one that the data did not reach.
        current = part.round >= round_ or (node not in configuration.live and part.round >= 0)
        return current and part.copy == payload(self.message)

    def _alarm(self, configuration: _Configuration) -> bool:
        return any(part_of(configuration.states[node], ORIGIN).alarm for node in configuration.live)

    def end(self, configuration: _Configuration, rounds: tuple[Seen, ...]) -> End:
        origin: Part = part_of(configuration.states[ORIGIN], ORIGIN)
        has = frozenset(node for node in origin.members if self._has(configuration, node, 0))
        return End(
            rounds,
            origin.removed,
            origin.removed & has & configuration.live,
            frozenset(origin.members) - has - origin.removed,
            self._alarm(configuration),
        )


def first_round(
    protocol: HighIntegrity,
    entities: int,
    given: Sequence[Fault],
    memory: dict[tuple[Hashable, ...], Outcome[State]],
) -> Mapping[Seen, Fraction]:
    """What the first round comes to, with probabilities; empty where the origin is dead: nothing is sent.

    `memory` is for the handlers' outcomes, to be shared by calls with the same protocol and number of entities.
    """
    play = _Play(protocol, entities, tuple(given), memory)
    seen: dict[Seen, Fraction] = defaultdict(Fraction)
    for configuration, probability in play.round(play.begin()).items():
        seen[play.seen(configuration)] += probability
    return seen


def to_the_end(
    protocol: HighIntegrity,
    entities: int,
    given: Sequence[Fault],
    memory: dict[tuple[Hashable, ...], Outcome[State]],
) -> Mapping[End, Fraction]:
    """What all rounds and step 7 come to, with probabilities; see `first_round`."""
    play = _Play(protocol, entities, tuple(given), memory)
    ends: dict[End, Fraction] = defaultdict(Fraction)
    now: dict[tuple[_Configuration, tuple[Seen, ...]], Fraction] = {}
    for configuration, probability in play.round(play.begin()).items():
        now[configuration, (play.seen(configuration),)] = probability
    while now:
        following: dict[tuple[_Configuration, tuple[Seen, ...]], Fraction] = defaultdict(Fraction)
        for (configuration, rounds), probability in now.items():
            decided = play.decide(configuration)
            if not decided or part_of(decided[0][1].states[ORIGIN], ORIGIN).ended:
                last = decided[0][1] if decided else configuration
                ends[play.end(last, rounds)] += probability
                continue
            for after, share in play.round(decided).items():
                following[after, (*rounds, play.seen(after))] += probability * share
        now = following
    return ends
