"""Comparisons of numbers on incomplete executions: positions, sizes and vector times only grow.

They say what `precedes.engines.reference.incomplete_numbers` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Final, assert_never

from precedes.core.formula import (
    AttributeOf,
    Comparison,
    DeliveryAttribute,
    DeliveryPosition,
    DeliveryTime,
    Delta,
    Epsilon,
    LogTerm,
    Nth,
    Part,
    Position,
    RecordedClock,
    Relation,
    Sender,
    SendLog,
    Size,
    TimeOf,
    VectorTime,
    ViewNumber,
    ViewTerm,
)
from precedes.core.verdict import Reason
from precedes.engines.columnar.compiler.comparisons import (
    Measurement,
    may_be_any,
    measured,
    written_difference,
)
from precedes.engines.columnar.compiler.incomplete_atoms import OPEN, IncompleteAtoms
from precedes.engines.columnar.compiler.source_text import Code, all_of
from precedes.engines.columnar.compiler.terms import Operand, Terms
from precedes.logic.linear_forms import Measure, is_time, linear_form
from precedes.native.codes import NO_VALUE, NO_VIEWS

RELATIONS: Final = {Relation.LESS: 0, Relation.AT_MOST: 1, Relation.EQUAL: 2}
"""How `compared_openly` is told the relation."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The names of what was written for a measure: `status` is 0 where it is `number` or, if it `grows`, at least
    that; -1 where it is there in no completion; else reasons. `sure`: it is there in every one. `placed`: its place
    in a log was recorded. `moves`: the condition that it may be more at all.
    """

    status: str
    number: str
    grows: bool = False
    sure: str = "True"
    placed: str = "False"
    moves: str = "True"


def compared_openly(comparison: Comparison, terms: Terms) -> Code:
    """Write the statements that judge a comparison; its value is a variable."""
    source = terms.source
    form = linear_form(comparison)
    scale = lcm(form.constant.denominator, *(factor.denominator for factor in form.factors.values()))
    factors = {measure: int(factor * scale) for measure, factor in form.factors.items()}
    found = {measure: _measured(measure, terms) for measure in factors}
    value = source.fresh("value")
    statuses = [each.status for each in found.values() if each.status != "0"]
    source.line(f"{value} = {' | '.join(statuses) or '0'}")
    with source.block(f"if {value} == 0:"):
        parts = [(found[measure].number, factor) for measure, factor in factors.items()]
        any_number = any(map(may_be_any, factors))
        difference = written_difference(parts, int(form.constant * scale), source, any_number=any_number)
        rises, falls = _directions(factors, found)
        sure = all_of([each.sure for each in found.values()])
        relation = RELATIONS[comparison.relation]
        judged = f"compared_openly({relation}, {difference}, {rises}, {falls}, {sure})"
        if any(map(is_time, factors)):
            band = source.column("epsilon") if scale == 1 else f"{source.column('epsilon')} * {scale}"
            judged = f"{int(Reason.EPSILON)} if abs({difference}) < {band} else {judged}"
        source.line(f"{value} = {judged}")
    return Code(value, False)


def _directions(factors: dict[Measure, int], found: dict[Measure, Measured]) -> tuple[str, str]:
    """The conditions that the form may be more, and that it may be less, than it is with the least numbers."""
    logs: dict[LogTerm | Measure, list[Measure]] = {}
    for measure in factors:
        if found[measure].grows:
            logs.setdefault(measure.log if isinstance(measure, Position | Size) else measure, []).append(
                measure
            )
    sums: list[str] = []
    for group in logs.values():
        together = all_of([found[measure].placed for measure in group])
        for measure in group:
            behind_it = " + ".join(
                f"{factors[other]} * ({_behind(other, found)} >= {_behind(measure, found)})"
                for other in group
            )
            alone = str(factors[measure])
            if found[measure].moves != "True":
                alone = f"({alone} if {found[measure].moves} else 0)"
            sums.append(alone if len(group) == 1 else f"({behind_it} if {together} else {alone})")
    rises, falls = ([f"{one} {sign} 0" for one in sums] for sign in (">", "<"))
    return f"({' or '.join(rises)})" if rises else "False", f"({' or '.join(falls)})" if falls else "False"


def _behind(measure: Measure, found: dict[Measure, Measured]) -> str:
    """The place in its log from which on a row that is added moves it."""
    number = found[measure].number
    return f"{number} + 1" if isinstance(measure, Size) else number


def _measured(measure: Measure, terms: Terms) -> Measured:
    """Write the statements that measure."""
    match measure:
        case Delta() | Epsilon():
            return Measured(*measured(measure, terms))
        case Position(part=Part()) | Size(part=Part()) | DeliveryPosition(part=Part()):
            # Which messages of the part are missing is not known.
            return Measured(str(OPEN), "0")
        case (
            TimeOf() | RecordedClock() | Position() | Size() | AttributeOf() | VectorTime() | Nth() | DeliveryTime()
            | DeliveryPosition() | DeliveryAttribute() | ViewNumber()
        ):  # fmt: skip
            return _Writer(terms).written(measure)
        case _:
            assert_never(measure)


class _Writer:
    """Writes the statements for one measure."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.source = terms.source
        self.status, self.number = self.source.fresh("status"), self.source.fresh("number")
        self.recorded = Measurement(terms, self.source, self.status, self.number)

    def written(
        self,
        measure: TimeOf
        | RecordedClock
        | Position
        | Size
        | AttributeOf
        | VectorTime
        | Nth
        | DeliveryTime
        | DeliveryPosition
        | DeliveryAttribute
        | ViewNumber,
    ) -> Measured:
        match measure:
            case Nth():
                self._start(0, 0)
                self.recorded.write(measure)
                # The first delivery stays the first; before another one there may be more.
                return Measured(self.status, self.number, True, moves=f"{self.number} > 1")
            case DeliveryPosition():
                return self._delivery_position(measure)
            case DeliveryTime() | DeliveryAttribute():
                self._start(0, 0)
                self.recorded.write(measure)
                return Measured(self.status, self.number)
            case AttributeOf(attribute, message):
                self._start(0, 0)
                number = self.terms.carried(attribute, self.terms.message(message))
                self.source.line(f"{self.number} = {number}")
                with self.source.block(f"if {self.number} == {NO_VALUE}:"):
                    self.source.line(f"{self.status} = {OPEN}")
                return Measured(self.status, self.number)
            case ViewNumber(view):
                return self._view_number(view)
            case TimeOf() | RecordedClock():
                self._start(OPEN, 0)
                self.recorded.write(measure)
                return Measured(self.status, self.number)
            case Position(message, log):
                if isinstance(log, SendLog):
                    return self._position_in_send_log(self.terms.message(message), log)
                return self._grown(measure, least=1)
            case Size(log):
                if isinstance(log, SendLog) and log.to is not None:
                    return self._size_of_part(log)
                return self._grown(measure, least=0)
            case VectorTime():
                return self._vector_time(measure)
            case _:
                assert_never(measure)

    def _view_number(self, term: ViewTerm) -> Measured:
        """Open where the view was not recorded, or is that of an event."""
        view = self.source.fresh("view")
        self._start(OPEN, 0)
        self.source.line(f"{view} = {IncompleteAtoms(self.terms).recorded_view(term)}")
        with self.source.block(f"if {view} >= 0:"):
            self.recorded.of_view(view)
        with self.source.block(f"if {self.terms.views_unknown()}:"):
            self.source.line(f"{self.status} = {NO_VIEWS}")
        return Measured(self.status, self.number)

    def _start(self, status: int, number: int) -> None:
        self.source.line(f"{self.status} = {status}")
        self.source.line(f"{self.number} = {number}")

    def _grown(self, measure: Position | Size, least: int) -> Measured:
        """At least what was recorded; what was not is nowhere sure."""
        self._start(-1, least)
        self.recorded.write(measure)
        sure = f"{self.status} == 0"
        doubt = "0" if self.terms.facts.ordered else f"max({self.status}, 0)"
        return Measured(doubt, self.number, True, sure, sure)

    def _delivery_position(self, position: DeliveryPosition) -> Measured:
        """At least what was recorded; -1 at another entity, and open at one that may be any."""
        i = self.terms.entity(position.entity)
        self._start(-1, 1)
        self.recorded.write(position)
        if not isinstance(position.entity, Sender) or i.certain:
            return Measured(self.status, self.number, True)
        sure = self.source.fresh("sure")
        self.source.line(f"{sure} = {i.exists}")
        with self.source.block(f"if not {sure}:"):
            self.source.line(f"{self.status} = 0")
        return Measured(self.status, self.number, True, sure)

    def _position_in_send_log(self, message: Operand, log: SendLog) -> Measured:
        inside, placed = self.source.fresh("inside"), self.source.fresh("placed")
        self.source.line(f"{inside} = {IncompleteAtoms(self.terms).in_send_log(message, log)}")
        self._start(0, 1)
        self.source.line(f"{placed} = {inside} == 0")
        if not self.terms.facts.logged:
            with self.source.block(f"if {placed}:"):
                self.source.line(f"{placed} = {self.terms.of_message('send_logged', message)}")
        with self.source.block(f"if {placed}:"):
            place = f"{self.terms.of_message('send_position', message)} + 1"
            number = place if log.to is None else self.recorded.sublog_size(log, place)
            self.source.line(f"{self.number} = {number}")
            self.recorded.doubted(self.terms.entity(log.entity))
        with self.source.block(f"if {inside} == -1:"):
            self.source.line(f"{self.status} = -1")
        return Measured(self.status, self.number, True, f"{inside} == 0", placed)

    def _size_of_part(self, log: SendLog) -> Measured:
        assert log.to is not None
        entity, to = self.terms.entity(log.entity), self.terms.entity(log.to)
        sure = self.source.fresh("sure")
        self._start(0, 0)
        self.source.line(f"{sure} = {all_of([entity.exists, to.exists])}")
        with self.source.block(f"if {sure}:"):
            length = self.recorded.length("sent_offsets", entity)
            self.source.line(f"{self.number} = {self.recorded.sublog_size(log, length)}")
        return Measured("0", self.number, True, sure, sure)

    def _vector_time(self, measure: VectorTime) -> Measured:
        self.source.table("row_vector")
        self._start(0, 0)
        doubt = "" if self.terms.facts.ordered else f"{self.recorded.any_doubt()} or "
        self.source.line(f"{self.status} = {doubt}row_cycle")
        entity, event = self.terms.entity(measure.entity), self.terms.event(measure.event)
        sure = self.source.fresh("sure")
        self.source.line(f"{sure} = {all_of([f'{self.status} == 0', entity.exists, event.exists])}")
        with self.source.block(f"if {sure}:"):
            number = self.recorded.certain_time(event.text, entity, "counted_rows")
            self.source.line(f"{self.number} = {number}")
        return Measured(self.status, self.number, True, sure)
