"""What an exploration finds of a model with a mistake, as a trace: judged by the model without the mistake.

The judge may lose, copy and corrupt as many packets as the bounds of the exploration allow, and let as many time-outs
expire as the behavior has that was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, assert_never

from precedes.core.counts import counted
from precedes.core.execution import EventKind, Execution
from precedes.core.formula import Attribute, AttributeSort, Carrier
from precedes.core.verdict import Verdict
from precedes.jobs.conform import Judged
from precedes.protocol import Message, Protocol
from precedes.protocol.bounds import Bounds
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.observation import Reading
from precedes.protocol.conformance.state_values import shown as value_of
from precedes.protocol.conformance.verdicts import Deviates, Limits
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.histories import EVERYTHING, Entry, Histories, entries, rearrange
from precedes.protocol.moves import (
    Arrived,
    Began,
    Crashed,
    Expired,
    Lost,
    Move,
    Recovered,
    Requested,
    Ticked,
    Vanished,
)
from precedes.protocol.network import Timed
from precedes.reports.conform import first_said
from precedes_models.dynamic_cluster.protocol import DynamicCluster
from precedes_models.high_integrity.protocol import HighIntegrity
from precedes_models.st.protocol import SelectiveTotalOrder
from precedes_models.total_order.protocol import TotalOrder
from tests.models.delta_causal import bugs as of_delta_causal
from tests.models.dynamic_cluster import bugs as of_cluster
from tests.models.dynamic_cluster.exploring import bounds as to_all
from tests.models.high_integrity import bugs as of_integrity
from tests.models.high_integrity.exploring import bounds as of_one
from tests.models.st import bugs as of_st
from tests.models.st.exploring import bounds as to_some
from tests.models.to import bugs as of_to
from tests.models.to.channel import two_resets

STATES: Final = 20_000
"""Of the search for a run, for one execution."""
STATES_OF_THREE: Final = 1_000
"""The same for three entities on one channel, where a state takes ten times as long."""
STATES_OF_LONG: Final = 3_000_000
"""The same where a long search decides: one or five minutes of the processor, and up to 3.2 GB."""


@dataclass(frozen=True, slots=True)
class Case:
    """A model with a mistake, and the bounds of an exploration that finds it. `fields`: what of the states is recorded
    with each event. `behavior`: what is judged where no exploration comes so far.
    """

    mistaken: Protocol[Any]
    bounds: Bounds
    states: int = STATES
    fields: tuple[str, ...] = ()
    behavior: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """A behavior that was judged: what it breaks, within which limits, the verdict and what is said of it."""

    broken: str
    limits: Limits
    verdict: Verdict
    said: str


class _Found(NamedTuple):
    """What a behavior breaks, and whether nothing is in flight where it ends."""

    broken: str
    behavior: Sequence[Move]
    quiescent: bool


_NO_ROW: Final = next(each for each in of_delta_causal.BUGS if isinstance(each[0], of_delta_causal.NoRow))
SHOWS: Final[tuple[Case, ...]] = (
    Case(
        of_st.AcknowledgesEarly(confirms=False, repeats=1),
        to_some(3, "a{2,3} a{2} b{2} c{2}", 0, depth=11),
        fields=("pal", "arl"),
    ),
    Case(
        of_st.PreAcknowledgesEarly(confirms=False, repeats=1),
        to_some(3, "a{1,3} b{1,3}", 0),
        fields=("al", "prl"),
    ),
    Case(of_st.MixesUpTheAcks(confirms=False, repeats=1), to_some(2, "a{1} a{1}", 0), fields=("al",)),
    Case(of_st.ForgetsWhatItSent(confirms=False, repeats=1), to_some(2, "a{2}", 1)),
    Case(
        of_st.GoesOnTooSoon(confirms=False, repeats=1),
        to_some(2, "a{2} a{2}", 1),
        fields=("preq", "received"),
    ),
    Case(of_cluster.AcknowledgesTooEarly(), to_all(2)),
    Case(
        of_cluster.DeletesNothing(hasty=of_cluster.HASTY),
        to_all(3, script="c", losses=1, depth=15),
        STATES_OF_THREE,
        fields=("data.req",),
    ),
)
"""Mistakes that the bounds of their test do not show in sends and deliveries, and that other bounds or states do."""
LONG: Final = (of_st.NeverAsks, of_to.AcceptsWithGaps, of_cluster.NeverIgnores)
"""Mistakes that take a long search."""


def mistakes() -> Iterator[Case]:
    """The seeded mistakes of ST, TO, the dynamic cluster and high-integrity multicast, and one of Δ-causal order.

    The bounds are those of their tests, or others that show more.
    """
    other = {type(case.mistaken): case for case in SHOWS}
    for case in (*_of_tests(), Case(_NO_ROW[0], _NO_ROW[1])):
        states = STATES_OF_LONG if isinstance(case.mistaken, LONG) else case.states
        yield other.get(type(case.mistaken), replace(case, states=states))


def _of_tests() -> Iterator[Case]:
    for st, entities, sends, losses, _ in of_st.BUGS:
        yield Case(st, to_some(entities, sends, losses))
    for to, within, *_ in of_to.BROKEN:
        yield Case(to(), within)
    joins = of_to.JoinsWithAnOldLog()
    played = two_resets(joins, "c1")
    assert played.rest()
    yield Case(joins, to_all(3, script="abc", losses=3), STATES_OF_THREE, behavior=tuple(played.behavior))
    for cluster, hasty, within in dict.fromkeys(each[:3] for each in of_cluster.BROKEN):
        states = STATES if within.entities < 3 else STATES_OF_THREE
        yield Case(cluster(hasty=hasty), within, states)
    for node, faults, _ in of_integrity.BROKEN:
        yield Case(node, of_one(4, **faults))


FORMS: Final[dict[str, Case]] = {
    "dynamic-cluster": Case(DynamicCluster(as_written=True), to_all(2, crashes=1, depth=20)),
    "high-integrity": Case(HighIntegrity(as_written=True), of_one(3, dead=1, losses=1)),
    "st": Case(
        SelectiveTotalOrder(as_written=True, confirms=False, repeats=2),
        to_some(2, "a{1,2} b{1,2}", 1, depth=14),
        fields=("preq", "received"),
    ),
    "to": Case(TotalOrder(as_written=True), to_all(2, script="ab", losses=1, depth=19)),
}
"""The forms as written, by the name of the model."""


def tried(case: Case, other: Protocol[Any]) -> Iterator[Tried]:
    """Whether the executions that break something conform to another model, the shortest first: each as it is, and as
    one that was recorded to its end where nothing is in flight.
    """
    asked: list[tuple[Execution, Limits]] = []
    for found in _found(case):
        execution = recorded(case.mistaken, case.bounds.entities, found.behavior, case.fields)
        for quiescent in (False, True) if found.quiescent else (False,):
            limits = replace(limits_of(case, found.behavior), quiescent=quiescent)
            if (execution, limits) in asked:
                continue
            asked.append((execution, limits))
            reading = Reading(case.bounds.entities, state=tuple((name, name) for name in case.fields))
            answer, naming = Judge(other, limits, reading).judge(execution)
            said = getattr(answer, "reason", "")
            if isinstance(answer, Deviates):
                said = first_said(Judged(execution, answer, naming, other), answer)
            yield Tried(found.broken, limits, answer.verdict, said)


def _found(case: Case) -> Iterator[_Found]:
    if case.behavior:
        yield _Found("order_equivalent", case.behavior, quiescent=True)
        return
    for finding in explore(case.mistaken, case.bounds).findings:
        yield _Found(finding.property, finding.behavior, finding.quiescent)


def limits_of(case: Case, behavior: Sequence[Move]) -> Limits:
    """What a run may have that was not recorded."""
    within, timeouts = case.bounds, sum(isinstance(move, Expired) for move in behavior)
    return Limits(within.losses, within.duplicates, within.corruptions, timeouts, case.states)


def limits_said(case: Case, limits: Limits) -> str:
    """The limits in words: `2 entities, 1 loss, 3 time-outs`."""
    parts = [counted(case.bounds.entities, "entity", "entities")]
    parts += [counted(limits.losses, "loss", "losses")] if limits.losses else []
    parts += [counted(limits.corruptions, "corruption")] if limits.corruptions else []
    parts += [counted(limits.timeouts, "time-out")] if limits.timeouts else []
    parts += [f"with {' and '.join(case.fields)}"] if case.fields else []
    parts += ["chosen step by step"] if case.behavior else []
    return ", ".join([*parts, *(["to the end"] if limits.quiescent else [])])


def recorded(
    protocol: Protocol[Any], entities: int, behavior: Sequence[Move], fields: Sequence[str] = ()
) -> Execution:
    """The execution that a behavior comes to, as a simulation records it: also of a protocol that rearranges what it
    received, its sends and deliveries are in one order. `fields`: of the state after an event, as attributes of it.
    """
    logs: list[list[Entry]] = [[] for _ in range(entities)]
    receipts: list[tuple[Message, ...]] = [()] * entities
    after: dict[tuple[int, Entry], Any] = {}
    rearranges = type(protocol).receipt_log is not Protocol.receipt_log
    now = 0 if isinstance(protocol.network, Timed) else None
    request: Message | None
    for move in behavior:
        match move:
            case Began(stopped=stopped):
                for entity in stopped:
                    logs[entity].append(Entry(EventKind.CRASH, None, now))
                continue
            case Crashed(entity):
                logs[entity].append(Entry(EventKind.CRASH, None, now))
                continue
            case Recovered(entity, step):
                logs[entity].append(Entry(EventKind.RECOVER, None, now))
                request = None
            case Requested(entity, request, step):
                pass
            case Arrived(entity=entity, step=step) | Expired(entity=entity, step=step):
                request = None
            case Ticked(tick):
                now = tick
                continue
            case Lost() | Vanished():
                continue
            case _:
                assert_never(move)
        log, before = logs[entity], len(logs[entity])
        log += entries(step, request, EVERYTHING, now, rearranges=rearranges)
        if rearranges:
            known, receipts[entity] = receipts[entity], protocol.receipt_log(step.state) or ()
            rearrange(log, known, receipts[entity], now)
        if len(log) > before:
            after[entity, log[-1]] = step.state
    execution = Histories(protocol, entities).execution([tuple(log) for log in logs], "found")
    return _with_states(execution, logs, after, fields) if fields else execution


def _with_states(
    execution: Execution,
    logs: Sequence[Sequence[Entry]],
    after: dict[tuple[int, Entry], Any],
    fields: Sequence[str],
) -> Execution:
    """The execution with fields of states, where a step has come to its last event."""
    named = [(Attribute(name, AttributeSort.TEXT, Carrier.EVENT), name) for name in fields]
    histories = []
    for entity, history in enumerate(execution.histories):
        states = [after.get((entity, entry)) for entry in logs[entity]]
        events = [
            event if state is None else replace(event, attributes=_values(state, named))
            for event, state in zip(history.events, states, strict=True)
        ]
        histories.append(replace(history, events=tuple(events)))
    return replace(execution, histories=tuple(histories))


def _values(state: Any, named: Sequence[tuple[Attribute, str]]) -> dict[Attribute, str | int]:
    values = ((attribute, value_of(state, name)) for attribute, name in named)
    return {attribute: value for attribute, value in values if value is not None}
