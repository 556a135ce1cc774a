"""Comparisons of numbers on an incomplete execution.

Positions, sizes and vector times only grow as rows are added: what was recorded is the least that they are, and there
is no most. Times and clocks of recorded events stay what they are; those of others are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from precedes.core.execution import Event, EventKind, view_number
from precedes.core.formula import (
    ArrivalEvent,
    AttributeOf,
    Comparison,
    DeliveryAttribute,
    DeliveryEvent,
    DeliveryPosition,
    DeliveryTime,
    Delta,
    Epsilon,
    EventTerm,
    LogTerm,
    MessageTerm,
    Nth,
    Position,
    RecordedClock,
    Relation,
    SendEvent,
    SendLog,
    Size,
    TimeOf,
    VectorTime,
    ViewNumber,
)
from precedes.core.verdict import FALSE, TRUE, Reason
from precedes.engines.reference.incomplete_names import INCOMPLETE, IncompleteNames
from precedes.engines.reference.terms import Terms, Unknown
from precedes.logic.linear_forms import LinearForm, Measure, is_time, linear_form


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of a measure.

    With `reasons` nothing is known. Else it is `number` or, where it `grows`, at least that. `sure`: it is there in
    every completion. `placed`: its place in a log was recorded.
    """

    number: Fraction = Fraction(0)
    grows: bool = False
    sure: bool = True
    placed: bool = False
    reasons: int = 0


class IncompleteNumbers:
    """The comparisons on one incomplete execution, under the bindings of its terms."""

    def __init__(self, terms: Terms, names: IncompleteNames) -> None:
        self._terms = terms
        self._names = names
        self._recorded = terms.recorded

    def compared(self, comparison: Comparison) -> int:
        """The value of a comparison; one of what is there in no completion is false."""
        form = linear_form(comparison)
        measured = {measure: self._measured(measure) for measure in form.factors}
        known: dict[Measure, Measured] = {}
        for measure, found in measured.items():
            if found is None:
                return FALSE
            known[measure] = found
        reasons = 0
        for found in known.values():
            reasons |= found.reasons
        if reasons:
            return reasons
        difference = form.constant + sum(factor * known[m].number for m, factor in form.factors.items())
        if any(map(is_time, known)):
            epsilon = self._recorded.execution.epsilon
            if -epsilon < difference < epsilon:
                return Reason.EPSILON
        rises, falls = _directions(form, known)
        value = _relation(comparison.relation, None if falls else difference, None if rises else difference)
        sure = all(found.sure for found in known.values())
        return INCOMPLETE if value is None or (value == TRUE and not sure) else value

    # ---- measures ------------------------------------------------------------------------------------------

    def _measured(self, measure: Measure) -> Measured | None:
        """None for what is there in no completion."""
        match measure:
            case Delta():
                delta = self._recorded.execution.delta
                return Measured(reasons=Reason.NO_DELTA) if delta is None else Measured(Fraction(delta))
            case Epsilon():
                return Measured(Fraction(self._recorded.execution.epsilon))
            case TimeOf(event):
                return self._time(event)
            case Position(part=None):
                return self._position(measure.message, measure.log)
            case Size(part=None):
                return self._size(measure.log)
            case DeliveryPosition(part=None):
                return self._delivery_position(measure)
            case Position() | Size() | DeliveryPosition():
                # Which messages of the part are missing is not known.
                return Measured(reasons=INCOMPLETE)
            case Nth(delivery):
                made = self._terms.delivery(delivery)
                found = self._terms.number(measure)
                if isinstance(found, Unknown):
                    return Measured(reasons=found.reasons)
                # The first delivery stays the first; before another one there may be more.
                first = made is not None and made.nth == 1
                return Measured(
                    Fraction(1 if made is None else made.nth), grows=not first, sure=made is not None
                )
            case DeliveryTime():
                when = self._terms.number(measure)
                if when is None or isinstance(when, Unknown):
                    return Measured(reasons=INCOMPLETE if when is None else when.reasons)
                return Measured(Fraction(when))
            case DeliveryAttribute():
                carried = self._terms.number(measure)
                if carried is None or isinstance(carried, Unknown):
                    return Measured(reasons=INCOMPLETE if carried is None else carried.reasons)
                return Measured(Fraction(carried))
            case AttributeOf():
                value = self._terms.number(measure)
                return (
                    Measured(reasons=INCOMPLETE) if not isinstance(value, int) else Measured(Fraction(value))
                )
            case ViewNumber(view):
                return self._view_number(self._names.view(view))
            case RecordedClock(event, entity):
                return self._clock(event, self._names.entity(entity))
            case VectorTime(event, entity):
                return self._vector_time(event, self._names.entity(entity))
            case _:
                assert_never(measure)

    def _view_number(self, view: str | None) -> Measured:
        """Nobody knows which view the view of an event is, and one that was not recorded may not be there."""
        if self._recorded.execution.views_unknown:
            return Measured(reasons=Reason.NO_VIEWS)
        if view is None or view not in self._recorded.execution.views:
            return Measured(reasons=INCOMPLETE)
        number = view_number(view)
        return Measured(reasons=Reason.NO_VIEW_NUMBER) if number is None else Measured(Fraction(number))

    def _delivery_position(self, position: DeliveryPosition) -> Measured | None:
        """At least what was recorded: there may be more deliveries before it."""
        made, here = self._terms.delivery(position.delivery), self._names.entity(position.entity)
        if made is None or here is None:
            return Measured(Fraction(1), grows=True, sure=False)
        if made.entity != here:
            return None
        found = self._terms.number(position)
        if isinstance(found, Unknown):
            return Measured(reasons=found.reasons)
        assert found is not None
        return Measured(Fraction(found), grows=True)

    def _event(self, term: EventTerm) -> Event | Measured:
        recorded, message = self._recorded, self._names.message(term.message)
        match term:
            case SendEvent():
                sender = recorded.sender(message)
                if sender is None:
                    return Measured(reasons=INCOMPLETE)
                if not recorded.logged(message):
                    return Measured(reasons=Reason.SEND_NOT_LOGGED)
                return recorded.first[EventKind.SEND, message, sender]
            case DeliveryEvent(_, at):
                kind = recorded.execution.delivery
            case ArrivalEvent(_, at):
                if not recorded.has_arrivals:
                    return Measured(reasons=Reason.NO_ARRIVAL)
                kind = EventKind.ARRIVE
            case _:
                assert_never(term)
        entity = self._names.entity(at)
        event = None if entity is None else recorded.first.get((kind, message, entity))
        if event is None or entity is None:
            return Measured(reasons=INCOMPLETE)
        once = isinstance(term, DeliveryEvent) and recorded.delivery_count[entity, message] == 1
        doubt = recorded.doubt[entity]
        return Measured(reasons=doubt) if doubt and not once else event

    def _time(self, term: EventTerm) -> Measured:
        event = self._event(term)
        if isinstance(event, Measured):
            return event
        if not self._recorded.clocks_fit:
            return Measured(reasons=Reason.CLOCKS)
        return Measured(reasons=Reason.NO_TIME) if event.time is None else Measured(Fraction(event.time))

    def _clock(self, term: EventTerm, entity: str | None) -> Measured:
        if entity is None or entity not in self._recorded.place:
            return Measured(reasons=INCOMPLETE)
        event = self._event(term)
        if isinstance(event, Measured):
            return event
        if event.clock is None:
            return Measured(reasons=Reason.NO_CLOCK)
        return Measured(Fraction(event.clock.get(entity, 0)))

    def _vector_time(self, term: EventTerm, entity: str | None) -> Measured:
        if self._recorded.doubts:
            return Measured(reasons=self._recorded.doubts)
        relation = self._terms.row_order
        if relation.cycle:
            return Measured(reasons=Reason.CYCLE)
        event = relation.named(self._names.event(term))
        if event is None or entity is None or entity not in self._recorded.place:
            return Measured(grows=True, sure=False)
        counted = (
            other == event or relation.before(other, event) == TRUE for other in relation.of_entity(entity)
        )
        return Measured(Fraction(sum(counted)), grows=True)

    def _position(self, term: MessageTerm, log: LogTerm) -> Measured | None:
        message, recorded = self._names.message(term), self._recorded
        if not isinstance(log, SendLog):
            place = self._names.received(message, self._names.entity(log.entity))
            entity = self._names.entity(log.entity)
            if place is None or entity is None:
                return Measured(Fraction(1), grows=True, sure=False)
            doubt = recorded.doubt[entity]
            return (
                Measured(reasons=doubt) if doubt else Measured(Fraction(place + 1), grows=True, placed=True)
            )
        inside = self._names.in_send_log(message, log)
        if inside == FALSE:
            return None
        if inside != TRUE or not recorded.logged(message):
            return Measured(Fraction(1), grows=True, sure=inside == TRUE)
        sender = recorded.sender(message)
        if sender is not None and recorded.doubt[sender]:
            return Measured(reasons=recorded.doubt[sender])
        before = self._logged(log)[: recorded.send_place[message]]
        return Measured(Fraction(1 + self._count(before, log)), grows=True, placed=True)

    def _size(self, log: LogTerm) -> Measured:
        entity, place = self._names.entity(log.entity), self._recorded.place
        to = self._names.entity(log.to) if isinstance(log, SendLog) and log.to is not None else entity
        if entity is None or entity not in place or to not in place:
            return Measured(grows=True, sure=False)
        if not isinstance(log, SendLog):
            return Measured(Fraction(len(self._recorded.delivered[entity])), grows=True, placed=True)
        if log.to is None:
            return Measured(Fraction(len(self._recorded.sent_by[entity])), grows=True, placed=True)
        return Measured(Fraction(self._count(self._logged(log), log)), grows=True, placed=True)

    def _logged(self, log: SendLog) -> Sequence[str]:
        """The logged sends of the entity whose log it is."""
        entity = self._names.entity(log.entity)
        assert entity is not None
        return self._recorded.execution.sent(entity)

    def _count(self, messages: Iterable[str], log: SendLog) -> int:
        return sum(self._names.in_send_log(message, log) == TRUE for message in messages)


def _directions(form: LinearForm, known: Mapping[Measure, Measured]) -> tuple[bool, bool]:
    """Whether the form may be more, and whether it may be less, than it is with the least numbers.

    A row that is added to a log moves everything behind it by one: the form changes by the factors of all that,
    together. What has no known place in a log grows by itself.
    """
    logs: dict[LogTerm | Measure, list[tuple[Fraction, Fraction]]] = {}
    for measure, factor in form.factors.items():
        found = known[measure]
        if isinstance(measure, Position | Size):
            behind = found.number + isinstance(measure, Size)
            logs.setdefault(measure.log, []).append((behind, factor))
        elif found.grows:
            logs[measure] = [(found.number, factor)]
    sums: list[Fraction] = []
    for log, group in logs.items():
        placed = all(
            found.placed for m, found in known.items() if isinstance(m, Position | Size) and m.log == log
        )
        for place, factor in group:
            behind_it = sum((other for at, other in group if at >= place), Fraction(0))
            sums.append(behind_it if placed else factor)
    return any(one > 0 for one in sums), any(one < 0 for one in sums)


def _relation(relation: Relation, least: Fraction | None, most: Fraction | None) -> int | None:
    """The value of `number relation 0` for a number between the two; None where it depends on the number."""
    below, above = most is not None and most < 0, least is not None and least > 0
    match relation:
        case Relation.LESS:
            return TRUE if below else FALSE if least is not None and least >= 0 else None
        case Relation.AT_MOST:
            return TRUE if most is not None and most <= 0 else FALSE if above else None
        case Relation.EQUAL:
            return FALSE if below or above else TRUE if least == most == 0 else None
        case _:
            assert_never(relation)
