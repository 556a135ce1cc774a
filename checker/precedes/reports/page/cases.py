"""Violations of recorded executions as the cases of a page."""

from __future__ import annotations

from collections.abc import Iterator

from precedes.core.calendar_dates import date_of, is_date
from precedes.core.execution import EventKind, Execution
from precedes.engines.scan.partials import Violation
from precedes.reports.page.contents import Case
from precedes.reports.places import Place
from precedes.reports.space_time.marks import marks_of


def case_of(violation: Violation) -> Case:
    """A violation with what a page can be filtered by and has charts of."""
    explanation = violation.explanation
    witness = explanation.witnesses[0] if explanation.witnesses else None
    execution = explanation.execution if witness is not None else violation.cut
    marks = marks_of(violation.requirement, execution, witness)
    deliveries = [place for place in sorted(marks.places, key=_in_order) if place[1] is execution.delivery]
    times = [time for place in deliveries if (time := _time(execution, *place)) is not None]
    about = next((name for _, _, name in deliveries if name in execution.messages), None)
    return Case(
        violation.predicate,
        violation.execution,
        marks.told.removeprefix(f"{violation.predicate}: "),
        day=_day(min(times)) if times else "",
        part="" if about is None else _part(execution, about),
        pairs=tuple(dict.fromkeys(_pairs(execution, deliveries))),
        lag=max(_lags(execution, deliveries), default=None),
        execution=execution,
        marks=marks,
    )


def _in_order(place: Place) -> tuple[str, str, str]:
    return place[0], place[1].value, place[2]


def _time(execution: Execution, entity: str, kind: EventKind, message: str) -> int | None:
    events = execution.history(entity).events
    return next((e.time for e in events if e.kind is kind and e.message == message), None)


def _day(time: int) -> str:
    """The date of a time, in UTC; nothing for times that are none of a calendar."""
    return date_of(time) if is_date(time) else ""


def _part(execution: Execution, message: str) -> str:
    carried = execution.messages[message].attributes
    return ", ".join(f"{attribute.name} {carried[attribute]}" for attribute in carried)


def _pairs(execution: Execution, deliveries: list[Place]) -> Iterator[tuple[str, str]]:
    """From whom to whom."""
    for entity, _, name in deliveries:
        sender = execution.messages[name].sender if name in execution.messages else None
        if sender is not None and sender != entity:
            yield sender, entity


def _lags(execution: Execution, deliveries: list[Place]) -> Iterator[int]:
    """How long the messages took."""
    for place in deliveries:
        sender = execution.messages[place[2]].sender if place[2] in execution.messages else None
        delivered = _time(execution, *place)
        sent = (
            None if sender not in execution.entities else _time(execution, sender, EventKind.SEND, place[2])
        )
        if delivered is not None and sent is not None:
            yield delivered - sent
