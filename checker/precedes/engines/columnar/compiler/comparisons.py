"""Comparisons of numbers as integer arithmetic.

`left relation right` becomes `left - right relation 0`, a linear form over what can be measured, its
fractions cleared by scaling both sides. Arithmetic on times is exact as long as the scaled difference
itself fits an int64, whatever the parts are, for it wraps; where the formula scales its terms, the sign of
a difference too large for that is that of the same sum in floating point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Final, assert_never

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
    MessageOf,
    Nth,
    Part,
    Position,
    ReceiptLog,
    RecordedClock,
    Relation,
    SendEvent,
    SendLog,
    Size,
    TimeOf,
    VectorTime,
    ViewNumber,
    ViewTerm,
)
from precedes.core.verdict import Reason
from precedes.engines.columnar.compiler.source_text import Carried, Code, Source, all_of
from precedes.engines.columnar.compiler.terms import NO_ARRIVAL, UNLOGGED, Operand, Terms
from precedes.engines.columnar.runtime import events, logs, memberships
from precedes.logic.linear_forms import Measure, is_time, linear_form
from precedes.native.codes import (
    GROUP_CHOOSES,
    NO_ATTRIBUTE,
    NO_TIME_GIVEN,
    NO_VALUE,
    NO_VIEW_NUMBER,
    NO_VIEWS,
)

LARGE: Final = 2**62
"""A constant from here on is handled in floating point."""

OPERATORS: Final = {Relation.LESS: "<", Relation.AT_MOST: "<=", Relation.EQUAL: "=="}


def compared(comparison: Comparison, terms: Terms) -> Code:
    """Write the statements that judge a comparison; its value is a variable."""
    source = terms.source
    form = linear_form(comparison)
    factors, constant = form.factors, form.constant
    scale = lcm(constant.denominator, *(factor.denominator for factor in factors.values()))
    value = source.fresh("value")
    found: list[tuple[str, Fraction]] = []
    doubts: list[str] = []
    known = True
    for measure, factor in factors.items():
        status, number = measured(measure, terms, doubts if known else None)
        found.append((number, factor * scale))
        doubts += [status] if status != "0" else []
        known = known and (terms.facts.clocked or not isinstance(measure, RecordedClock))
    timed = any(map(is_time, factors))
    source.line(f"{value} = {' | '.join(doubts) or '0'}")
    with source.block(f"if {value} == 0:"):
        difference = written_difference(
            [(number, int(factor)) for number, factor in found],
            int(constant * scale),
            source,
            any_number=any(map(may_be_any, factors)),
        )
        judged = f"0 if {difference} {OPERATORS[comparison.relation]} 0 else -1"
        if timed:
            band = source.column("epsilon") if scale == 1 else f"{source.column('epsilon')} * {scale}"
            judged = f"{int(Reason.EPSILON)} if abs({difference}) < {band} else ({judged})"
        source.line(f"{value} = {judged}")
    return Code(value, False)


def may_be_any(measure: Measure) -> bool:
    """Whether it may be as large as fits: it is recorded as a number, and counts nothing."""
    return isinstance(measure, AttributeOf | DeliveryAttribute | ViewNumber)


def written_difference(
    parts: list[tuple[str, int]], constant: int, source: Source, *, any_number: bool
) -> str:
    """The name of the linear form, or an expression for it. `any_number`: what is measured may be as large as fits."""
    used = [(number, factor) for number, factor in parts if factor != 0]

    def text(one: str) -> str:
        products = [number if factor == 1 else f"{factor}{one} * {number}" for number, factor in used]
        return " + ".join([*products, f"{constant}{one}"])

    name = source.fresh("difference")
    if abs(constant) >= (2 * LARGE if any_number else LARGE) or any(
        abs(factor) >= LARGE for _, factor in used
    ):
        source.line(f"{name} = {text('.0')}")
        return name
    source.line(f"{name} = {text('')}")
    if not any_number and all(abs(factor) == 1 for _, factor in used):
        return name
    rough = source.fresh("rough")
    source.line(f"{rough} = {text('.0')}")
    chosen = source.fresh("difference")
    source.line(f"{chosen} = {name}")
    with source.block(f"if abs({rough}) > {LARGE}.0:"):
        source.line(f"{chosen} = {LARGE} if {rough} > 0.0 else {-LARGE}")
    return chosen


def measured(measure: Measure, terms: Terms, doubts: Sequence[str] | None = ()) -> tuple[str, str]:
    """Write the statements that measure; the names of the status (0 known, -1 nothing to measure, else
    reasons) and of the number, which is asked for only where each of the `doubts` is 0, too. `doubts` None: nowhere.
    """
    source = terms.source
    match measure:
        case Delta():
            missing = f"{source.column('delta')} == {NO_TIME_GIVEN}"
            return f"({int(Reason.NO_DELTA)} if {missing} else 0)", "delta"
        case Epsilon():
            return "0", source.column("epsilon")
        case (
            TimeOf() | Position() | Size() | AttributeOf() | RecordedClock() | VectorTime() | Nth() | DeliveryTime()
            | DeliveryPosition() | DeliveryAttribute() | ViewNumber()
        ):  # fmt: skip
            status, number = source.fresh("status"), source.fresh("number")
            source.line(f"{status} = -1")
            source.line(f"{number} = 0")
            Measurement(terms, source, status, number, doubts).write(measure)
            return status, number
        case _:
            assert_never(measure)


class Measurement:
    """Writes statements that set `status` and `number`, which are -1 and 0 so far; a number that takes long only where
    the status and each of the `doubts` is 0, and nowhere if these are None.
    """

    def __init__(
        self, terms: Terms, source: Source, status: str, number: str, doubts: Sequence[str] | None = ()
    ) -> None:
        self.terms = terms
        self.source = source
        self.status = status
        self.number = number
        self._wanted = None if doubts is None else " and ".join(f"{each} == 0" for each in (status, *doubts))

    def write(
        self,
        measure: TimeOf
        | Position
        | Size
        | AttributeOf
        | RecordedClock
        | VectorTime
        | Nth
        | DeliveryTime
        | DeliveryPosition
        | DeliveryAttribute
        | ViewNumber,
    ) -> None:
        match measure:
            case Nth(delivery):
                self._known(self.terms.of_delivery("nth", delivery))
                receiver = Operand(self.terms.of_delivery("entity", delivery), True)
                self.doubted(receiver, self.terms.of_delivery("repeated", delivery))
            case DeliveryTime(delivery):
                self._time(self.terms.of_delivery("time", delivery))
            case DeliveryPosition():
                self._delivery_position(measure)
            case DeliveryAttribute(attribute, delivery):
                self._known(self.terms.made_with(attribute, delivery))
                with self.source.block(f"if {self.number} == {NO_VALUE}:"):
                    self.source.line(f"{self.status} = {NO_ATTRIBUTE}")
            case ViewNumber(view):
                self._view_number(view)
            case Position(part=Part() as part):
                self._position_in_part(measure, part)
            case Size(part=Part() as part):
                self._size_in_part(measure.log, part)
            case AttributeOf(attribute, message):
                p = self.terms.message(message)
                with self.source.block(f"if {p.exists}:"):
                    self._known(self.terms.carried(attribute, p))
                    with self.source.block(f"if {self.number} == {NO_VALUE}:"):
                        self.source.line(f"{self.status} = {NO_ATTRIBUTE}")
            case TimeOf(event):
                self._time_of(event)
            case Position(message, log):
                p = self.terms.message(message)
                if isinstance(log, SendLog):
                    self._position_in_send_log(p, log)
                else:
                    i = self.terms.entity(log.entity)
                    place = self.terms.received(p, i)
                    with self.source.block(f"if {all_of([p.exists, i.exists, f'{place} >= 0'])}:"):
                        self._known(f"{place} + 1")
                        self.doubted(i)
            case Size(log):
                i = self.terms.entity(log.entity)
                if isinstance(log, SendLog):
                    self._size_of_send_log(i, log)
                else:
                    with self.source.block(f"if {i.exists}:"):
                        self._known(self.length("delivered_offsets", i))
            case RecordedClock(event, entity):
                i = self.terms.entity(entity)
                with self.source.block(f"if {i.exists}:"), self._logged(event) as found:
                    self._clock(found, i)
                    self.unsure(event)
            case VectorTime(event, entity):
                i = self.terms.entity(entity)
                with self.source.block(f"if {i.exists}:"), self.event(event) as found:
                    self._vector_time(found, i)
            case _:
                assert_never(measure)

    def _view_number(self, term: ViewTerm) -> None:
        unknown, view = self.terms.views_unknown(), self.source.fresh("view")
        with self.source.block(f"if {unknown}:"):
            self.source.line(f"{self.status} = {NO_VIEWS}")
        with self.source.block(f"if not {unknown}:"):
            self.source.line(f"{view} = {self.terms.view(term)}")
            with self.source.block(f"if {view} < -1:"):
                self.source.line(f"{self.status} = {memberships.UNKNOWN} - {view}")
            with self.source.block(f"if {view} >= 0:"):
                self.of_view(view)

    def of_view(self, view: str) -> None:
        """The number of a view that is there."""
        place = f"{self.source.column('view_offsets')}[x] + {view}"
        self._known(f"{self.source.column('view_numbers')}[{place}]")
        with self.source.block(f"if {self.number} == {NO_VALUE}:"):
            self.source.line(f"{self.status} = {NO_VIEW_NUMBER}")

    def _delivery_position(self, position: DeliveryPosition) -> None:
        """How many deliveries of the entity, or those of a part, there are up to the delivery."""
        delivery, part = self.terms.delivery(position.delivery), position.part
        i = self.terms.entity(position.entity)
        conditions = [i.exists, f"{self.terms.of_delivery('entity', position.delivery)} == {i.text}"]
        start = f"{self.source.column('made_offsets')}[first_entity + {i.text}]"
        number = f"{delivery} + 1 - {start}"
        if part is not None:
            p, of = self.terms.message(MessageOf(position.delivery)), self.terms.message(part.message)
            conditions.append(self.terms.in_part(p, of, part.attributes))
            members = self.source.carried(Carried("part", part.attributes))
            wanted = self.terms.part(part.attributes, p)
            number = self.source.call(
                logs.made_in_part, f"{wanted}, {start}, {delivery} + 1, here, columns, {members}"
            )
        with self.source.block(f"if {all_of(conditions)}:"):
            self._known(number)
            self.doubted(i)

    # ---- parts -------------------------------------------------------------------------------------------

    def _position_in_part(self, measure: Position, part: Part) -> None:
        """How many of the part there are up to the place in the log of all."""
        p, of = self.terms.message(measure.message), self.terms.message(part.message)
        with self.source.block(f"if {self.terms.in_part(p, of, part.attributes)}:"):
            self.write(replace(measure, part=None))
            with self.source.block(f"if {self.status} == 0:"):
                wanted = self.terms.part(part.attributes, p)
                if isinstance(measure.log, SendLog):
                    upto = f"{self.terms.of_message('send_position', p)} + 1"
                    number = self._sent_in_part(wanted, measure.log, upto, part)
                else:
                    i = self.terms.entity(measure.log.entity)
                    number = self._received_in_part(wanted, i, f"{self.terms.received(p, i)} + 1", part)
                self.source.line(f"{self.number} = {number}")

    def _size_in_part(self, log: SendLog | ReceiptLog, part: Part) -> None:
        of = self.terms.message(part.message)
        with self.source.block(f"if {of.exists}:"):
            self.write(Size(log))
            with self.source.block(f"if {self.status} == 0:"):
                wanted, i = self.terms.part(part.attributes, of), self.terms.entity(log.entity)
                if not isinstance(log, SendLog):
                    number = self._received_in_part(wanted, i, self.length("delivered_offsets", i), part)
                else:
                    number = self._sent_in_part(wanted, log, self.length("sent_offsets", i), part)
                    if log.to is None and not self.terms.facts.logged:
                        members = self.source.carried(Carried("part", part.attributes))
                        unlogged = f"{wanted}, {i.text}, here, columns, {members}"
                        number += f" + {self.source.call(logs.unlogged_in_part, unlogged)}"
                self.source.line(f"{self.number} = {number}")

    def _received_in_part(self, wanted: str, entity: Operand, upto: str, part: Part) -> str:
        members = self.source.carried(Carried("part", part.attributes))
        arguments = f"{wanted}, {entity.text}, {upto}, here, columns, {members}"
        return self.source.call(logs.received_in_part, arguments)

    def _sent_in_part(self, wanted: str, log: SendLog, upto: str, part: Part) -> str:
        self.source.table("addressed")
        to = "-1" if log.to is None else self.terms.entity(log.to).text
        members = self.source.carried(Carried("part", part.attributes))
        sublog = f"Sublog({self.terms.entity(log.entity).text}, {upto}, {to})"
        arguments = f"{wanted}, {sublog}, here, columns, addressed, {members}"
        return self.source.call(logs.sent_in_part, arguments)

    # ---- times -------------------------------------------------------------------------------------------

    def _time_of(self, event: EventTerm) -> None:
        match event:
            case SendEvent(message):
                p = self.terms.message(message)
                with self.source.block(
                    f"if {all_of([p.exists, self.terms.of_message('sender', p) + ' >= 0'])}:"
                ):
                    if not self.terms.facts.logged:
                        self.source.line(f"{self.status} = {UNLOGGED}")
                        with self.source.block(f"if {self.terms.of_message('send_logged', p)}:"):
                            self._time(self.terms.of_message("send_time", p))
                    else:
                        self._time(self.terms.of_message("send_time", p))
            case DeliveryEvent(message, entity):
                p, i = self.terms.message(message), self.terms.entity(entity)
                place = self.terms.received(p, i)
                start = f"{self.source.column('delivered_offsets')}[first_entity + {i.text}]"
                with self.source.block(f"if {all_of([p.exists, i.exists, f'{place} >= 0'])}:"):
                    self._time(f"{self.source.column('delivered_time')}[{start} + {place}]")
                    self.unsure(event)
            case ArrivalEvent():
                with self._logged(event) as found:
                    base = f"{self.source.column('event_offsets')}[first_entity]"
                    self._time(f"{self.source.column('event_time')}[{base} + {found}]")
                    self.unsure(event)
            case _:
                assert_never(event)

    def unsure(self, event: EventTerm) -> None:
        """Of several deliveries the first is meant; which that is depends on the order of the entity's events."""
        if self.terms.facts.ordered:
            return
        match event:
            case SendEvent():
                pass
            case DeliveryEvent(message, entity):
                i = self.terms.entity(entity)
                place = self.terms.received(self.terms.message(message), i)
                start = f"{self.source.column('delivered_offsets')}[first_entity + {i.text}]"
                self.doubted(i, f"{self.source.column('repeated')}[{start} + {place}]")
            case ArrivalEvent(_, entity):
                self.doubted(self.terms.entity(entity))
            case _:
                assert_never(event)

    def _known(self, number: str) -> None:
        self.source.line(f"{self.number} = {number}")
        self.source.line(f"{self.status} = 0")

    def doubted(self, entity: Operand, condition: str = "True") -> None:
        """What was measured is not known where the order of the entity's events is not, if a condition holds."""
        if self.terms.facts.ordered:
            return
        doubt = self.terms.doubt(entity)
        with self.source.block(f"if {all_of([f'{doubt} > 0', condition])}:"):
            self.source.line(f"{self.status} = {doubt}")

    def _time(self, time: str) -> None:
        self.source.table("misfit")
        self.source.line(f"{self.number} = {time}")
        missing = f"({int(Reason.NO_TIME)} if {self.number} == {NO_TIME_GIVEN} else 0)"
        self.source.line(f"{self.status} = misfit if misfit > 0 else {missing}")

    def length(self, offsets: str, entity: Operand) -> str:
        """How many entries an entity has."""
        column = self.source.column(offsets)
        return f"{column}[first_entity + {entity.text} + 1] - {column}[first_entity + {entity.text}]"

    # ---- events ------------------------------------------------------------------------------------------

    @contextmanager
    def event(self, term: EventTerm) -> Iterator[str]:
        """The block in which the event exists; the expression for its number."""
        event = self.terms.event(term)
        if isinstance(term, ArrivalEvent):
            self.source.table("arrivals")
            with self.source.block("if not arrivals:"):
                self.source.line(f"{self.status} = {NO_ARRIVAL}")
        with self.source.block(f"if {event.exists}:"):
            yield event.text

    @contextmanager
    def _logged(self, term: EventTerm) -> Iterator[str]:
        """The block in which the event was logged; a send that was not is unknown."""
        with self.event(term) as event:
            if self.terms.facts.logged or not isinstance(term, SendEvent):
                yield event
                return
            self.source.line(f"{self.status} = {UNLOGGED}")
            with self.source.block(f"if {event} < count:"):
                yield event

    def _vector_time(self, event: str, entity: Operand) -> None:
        """By the rows alone: recorded clocks are compared with it."""
        self.source.table("row_vector")
        self.source.line(f"{self.status} = row_cycle")
        if not self.terms.facts.ordered:
            self.source.line(f"{self.status} = {self.any_doubt()} or row_cycle")
        if not self.terms.facts.logged:
            with self.source.block(f"if {self.status} == 0:"):
                self.source.table("row_possible")
                arguments = f"{event}, {entity.text}, here, columns, row_past, row_possible"
                doubt = self.source.call(events.vector_time_doubt, arguments)
                self.source.line(f"{self.status} = {doubt}")
        if self._wanted is not None:
            with self.source.block(f"if {self._wanted}:"):
                self.source.line(f"{self.number} = {self.certain_time(event, entity, 'counted')}")

    def any_doubt(self) -> str:
        """Why the order of some entity's events is not known, or 0."""
        return f"any_doubt(n, first_entity, {self.source.column('history_doubt')})"

    def certain_time(self, event: str, entity: Operand, counting: str) -> str:
        """How many events of the entity certainly happen before the event or are it.

        `counting` is the table that says how many of them each event stands for.
        """
        self.source.table("row_vector")
        self.source.table(counting)
        if not self.terms.facts.logged:
            self.source.table("row_past")
            arguments = f"{event}, {entity.text}, here, columns, row_past, counted"
            return self.source.call(events.vector_time_with_gaps, arguments)
        arguments = f"{event}, {entity.text}, here, columns, row_vector, counted"
        return self.source.call(events.vector_time, arguments)

    def _clock(self, event: str, entity: Operand) -> None:
        if not self.terms.facts.clocked:
            self.source.line(f"{self.status} = {int(Reason.NO_CLOCK)}")
            return
        place = f"{self.source.column('event_offsets')}[first_entity] + {event}"
        recorded = f"{self.source.column('clock_recorded')}[{place}]"
        self.source.line(f"{self.status} = 0 if {recorded} else {int(Reason.NO_CLOCK)}")
        columns = ", ".join(self.source.column(f"clock_{name}") for name in ("offsets", "entities", "counts"))
        with self.source.block(f"if {self._wanted}:"):
            self.source.line(f"{self.number} = clock_component({place}, {entity.text}, {columns})")

    # ---- send logs ---------------------------------------------------------------------------------------

    def _unlogged(self, entity: Operand) -> str:
        sender, logged = self.source.column("sender"), self.source.column("send_logged")
        return f"unlogged_sends({entity.text}, m, first_message, {sender}, {logged})"

    def sublog_size(self, log: SendLog, upto: str) -> str:
        """How many of the first logged sends of an entity go to another."""
        assert log.to is not None
        self.source.table("addressed")
        entity, to = self.terms.entity(log.entity), self.terms.entity(log.to)
        return self.source.call(
            logs.sublog_size, f"{entity.text}, {to.text}, {upto}, here, columns, addressed"
        )

    def _position_in_send_log(self, message: Operand, log: SendLog) -> None:
        entity = self.terms.entity(log.entity)
        with self.source.block(f"if {self.terms.sent_by(message, entity)}:"):
            if not self.terms.facts.logged:
                self.source.line(f"{self.status} = {UNLOGGED} if {self._unlogged(entity)} > 0 else 0")
            else:
                self.source.line(f"{self.status} = 0")
            place = f"{self.terms.of_message('send_position', message)} + 1"
            if log.to is None:
                self.source.line(f"{self.number} = {place}")
                self.doubted(entity, f"{self.status} == 0")
                return
            to = self.terms.entity(log.to)
            addressed = self.terms.is_addressed(message, to)
            with self.source.block(f"if not ({to.exists}) or {addressed.value} == -1:"):
                self.source.line(f"{self.status} = -1")
            self._group_chooses(entity, to)
            with self.source.block(f"if {self.status} == 0:"):
                self.source.line(f"{self.number} = {self.sublog_size(log, place)}")
            self.doubted(entity, f"{self.status} == 0")

    def _group_chooses(self, entity: Operand, to: Operand) -> None:
        """Say that a group chooses what is in SL of an entity to another, if one does."""
        if self.terms.facts.direct:
            return
        self.source.table("group_addressed")
        chooses = self.source.call(
            memberships.group_chooses, f"{entity.text}, {to.text}, here, columns, addressed"
        )
        with self.source.block(f"if {self.status} == 0 and {chooses}:"):
            self.source.line(f"{self.status} = {GROUP_CHOOSES}")

    def _size_of_send_log(self, entity: Operand, log: SendLog) -> None:
        length = self.length("sent_offsets", entity)
        if log.to is None:
            with self.source.block(f"if {entity.exists}:"):
                self._known(length if self.terms.facts.logged else f"{length} + {self._unlogged(entity)}")
            return
        to = self.terms.entity(log.to)
        with self.source.block(f"if {entity.exists} and {to.exists}:"):
            if self.terms.facts.logged and self.terms.facts.direct:
                self._known(self.sublog_size(log, length))
                return
            unlogged = "False" if self.terms.facts.logged else f"{self._unlogged(entity)} > 0"
            self.source.line(f"{self.status} = {UNLOGGED} if {unlogged} else 0")
            self._group_chooses(entity, to)
            with self.source.block(f"if {self.status} == 0:"):
                self.source.line(f"{self.number} = {self.sublog_size(log, length)}")
