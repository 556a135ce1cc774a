"""From an execution to what the oracle reads, and which of its questions may be asked: where nothing is
unknown."""

from __future__ import annotations

from collections.abc import Iterator

from precedes.core.execution import EventKind, Execution
from tests.oracle import oracle


def run_of(execution: Execution) -> oracle.Run:
    """The execution over plain lists, entities in their order; times as they are, clocks as lists."""
    number = {entity: i for i, entity in enumerate(execution.entities)}
    histories: list[list[tuple[str, str, float | None]]] = []
    clocks: list[list[list[int] | None]] = []
    for history in execution.histories:
        events, recorded = [], []
        for event in history.events:
            if event.kind is EventKind.SEND:
                what = "send"
            elif event.kind is execution.delivery:
                what = "deliver"
            elif event.kind is EventKind.ARRIVE:
                what = "arrive"
            elif event.kind in (EventKind.LOCAL, EventKind.ACK, EventKind.NACK):
                what = event.kind.value
            elif event.kind is EventKind.VIEW:
                what = "view"
            else:
                continue
            events.append((what, event.message or event.view or "", event.time))
            recorded.append(
                None if event.clock is None else [event.clock.get(e, 0) for e in execution.entities]
            )
        histories.append(events)
        clocks.append(recorded)
    to = {
        m.name: {number[e] for e in m.destinations}
        for m in execution.messages.values()
        if m.destinations is not None
    }
    crashed = set()
    for i, history in enumerate(execution.histories):
        for event in history.events:
            if event.kind is EventKind.CRASH:
                crashed.add(i)
            elif event.kind is EventKind.RECOVER:
                crashed.discard(i)
    marked = bool(execution.marks) and set(execution.marks) == set(execution.entities)
    marks = [execution.marks[e] for e in execution.entities] if marked else None
    carried = {
        m.name: {attribute.name: value for attribute, value in m.attributes.items()}
        for m in execution.messages.values()
    }
    run = oracle.Run(histories, to, execution.delta, clocks, crashed, marks, carried)
    run.to_groups = {m.name: set(m.groups) for m in execution.messages.values()}
    run.groups = {group: {number[e] for e in inside} for group, inside in execution.groups.items()}
    run.members = {
        view: {number[e] for e in inside if e in number} for view, inside in execution.views.items()
    }
    return run


def questions(execution: Execution, run: oracle.Run) -> Iterator[str]:
    """The names that have an answer of true or false on the execution: not those that ask whom a message is for, where
    one is for a group.
    """
    chosen = any(run.chosen(m) for m in run.to)
    return (name for name in _asked(execution, run) if not (chosen and name in oracle.DESTINED))


def _asked(execution: Execution, run: oracle.Run) -> Iterator[str]:
    messages = execution.messages.values()
    if execution.doubt or any(history.doubt for history in execution.histories):
        return
    if not execution.complete or any(not m.logged and m.sender is not None for m in messages):
        return
    yield from oracle.LOGS
    yield "once_per_group"
    if not oracle.owed_by_another(run):
        yield "kept_by_groups"
    yield from acknowledged(run)
    if len(run.position) == len(execution.messages):
        yield from oracle.PLACED
    if run.marks is not None and oracle.failure_line_of(run) is not None:
        yield "failure_line"
    if not all(history.interleaved for history in execution.histories) or not oracle.possible(run):
        return
    events = [event for history in run.histories for event in history]
    clocks = [clock for kept in run.clocks for clock in kept]
    exact = all(
        clock is not None
        for clock, (what, _, _) in zip(clocks, events, strict=True)
        if what in oracle.CLOCKED
    )
    evidence = execution.by_clocks and any(clock is not None for clock in clocks)
    # Clocks that are evidence add nothing to what the rows say only if they are what the rows imply.
    if evidence and not (exact and oracle.vector_time(run)):
        return
    yield from oracle.CAUSAL
    if not run.unviewed:
        decided = oracle.comparable(run) or not oracle.local_monotonicity(run)
        yield from (name for name in oracle.VIEWS if decided or name != "local_monotonicity")
    if exact:
        yield "vector_time"
    sent = {m: time for what, m, time in events if what == "send"}
    if execution.delta is None or execution.epsilon or any(time is None for _, _, time in events):
        return
    if any(time < sent[m] for what, m, time in events if what == "deliver" and m in sent):  # type: ignore[operator]
        return
    yield from oracle.TIMED
    if any(what == "arrive" for what, _, _ in events) or not any(run.to.values()):
        yield "timely_delivery"


def acknowledged(run: oracle.Run) -> Iterator[str]:
    """The names about acknowledgements that have an answer: all of them where some are recorded, else those that hold
    whatever was acknowledged.
    """
    if run.acknowledged or run.received == run.rl:
        yield "only_in_flight_repeats"
    if run.acknowledged or oracle.ordered_until_acknowledged(run):
        yield "ordered_until_acknowledged"
