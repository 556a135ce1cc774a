"""Terms: the entity, message, event, log or number of the core that a sorted term stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never, cast

from precedes.core import formula as core
from precedes.language import syntax
from precedes.language.lowering.partial_terms import (
    Hoists,
    LogValue,
    LoweringRefused,
    Part,
    difference_of,
    hoist,
    position_in,
    scaled,
    slice_of,
    sum_of,
)
from precedes.language.sorts.inference import constant, log_sort
from precedes.language.syntax import Sort
from precedes.language.vocabulary import FUNCTIONS, UNITS


@dataclass(frozen=True, slots=True)
class Related:
    """A relation between messages, and what the names in it stand for where it was written."""

    relation: syntax.Relation
    environment: Environment


@dataclass(frozen=True, slots=True)
class Deliveries:
    """`DL[entity]`."""

    entity: core.EntityTerm


@dataclass(frozen=True, slots=True)
class Installed:
    """`VL[entity]`."""

    entity: core.EntityTerm


Value = (
    core.EntityTerm
    | core.MessageTerm
    | core.DeliveryTerm
    | core.EventTerm
    | core.NumberTerm
    | core.TextTerm
    | core.GroupTerm
    | core.ViewTerm
    | LogValue
    | Deliveries
    | Installed
    | Related
)

Environment = Mapping[str, "Value"]


@dataclass(slots=True)
class Terms:
    """The terms of one formula. `cluster` is the scenario's, in order; empty where there is none."""

    cluster: tuple[str, ...] = ()

    def value(self, term: syntax.Term, sort: Sort | None, environment: Environment, hoists: Hoists) -> Value:
        match sort:
            case Sort.ENTITY:
                return self.entity(term, environment, hoists)
            case Sort.MESSAGE:
                return self.message(term, environment, hoists)
            case Sort.LOG:
                return self.log(term, environment, hoists)
            case Sort.EVENT:
                return self.event(term, environment, hoists)
            case Sort.TIME | Sort.DURATION | Sort.NUMBER:
                return self.number(term, environment, hoists)
            case Sort.TEXT:
                return self.text(term, environment, hoists)
            case Sort.DELIVERY:
                return self.delivery(term, environment)
            case Sort.RELATION:
                return self.relation(term, environment)
            case Sort.DELIVERIES:
                return self.deliveries(term, environment, hoists)
            case Sort.GROUP:
                return self.group(term, environment)
            case Sort.VIEW:
                return self.view(term, environment, hoists)
            case Sort.VIEWS:
                return self.installed(term, environment, hoists)
            case None:
                raise AssertionError("a parameter without a sort was lowered")
            case _:
                assert_never(sort)

    def sort_of(self, term: syntax.Term) -> Sort | None:
        """The sort of a term after inference; None for a term that arithmetic leaves to its other side."""
        match term:
            case syntax.Name(sort=sort):
                return sort
            case syntax.Place():
                return Sort.ENTITY
            case syntax.Quantity(unit=unit):
                return Sort.NUMBER if unit is None else Sort.DURATION
            case syntax.Bound():
                return Sort.DURATION
            case syntax.EntityLog(kind):
                return log_sort(kind)
            case syntax.Slice() | syntax.Shared():
                return Sort.LOG
            case syntax.At():
                return Sort.MESSAGE
            case syntax.EntitySet():
                return None
            case syntax.Relation():
                return Sort.RELATION
            case syntax.Apply(function, attribute=attribute):
                return FUNCTIONS[function].result if attribute is None else Sort(attribute.sort.value)
            case syntax.Negative(inner):
                return self.sort_of(inner)
            case syntax.Arithmetic(operator, left, right):
                one, other = self.sort_of(left), self.sort_of(right)
                if operator in (syntax.Operator.TIMES, syntax.Operator.OVER):
                    return other if constant(left) is not None else one
                if operator is syntax.Operator.MINUS and one is Sort.TIME and other is Sort.TIME:
                    return Sort.DURATION
                return Sort.TIME if Sort.TIME in (one, other) else one
            case _:
                assert_never(term)

    def entity(self, term: syntax.Term, environment: Environment, hoists: Hoists) -> core.EntityTerm:
        match term:
            case syntax.Name(text, quoted):
                if not quoted and text in environment:
                    return cast(core.EntityTerm, environment[text])
                return core.EntityNamed(text)
            case syntax.Place(number):
                return core.EntityNamed(self.cluster[number - 1])
            case syntax.Apply(function="sender", arguments=(message,)):
                return core.Sender(self.message(message, environment, hoists))
            case syntax.Apply(function="receiver", arguments=(delivery,)):
                return core.ReceiverOf(self.delivery(delivery, environment))
            case syntax.Apply(function="owner", arguments=(log,)):
                value = self.log(log, environment, hoists)
                return value.log.entity if isinstance(value, Part) else value.entity
            case _:
                raise AssertionError(f"no entity: {term}")

    def relation(self, term: syntax.Term, environment: Environment) -> Related:
        match term:
            case syntax.Name(text):
                return cast(Related, environment[text])
            case syntax.Relation():
                return Related(term, environment)
            case _:
                raise AssertionError(f"no relation: {term}")

    def delivery(self, term: syntax.Term, environment: Environment) -> core.DeliveryTerm:
        if isinstance(term, syntax.Name) and term.text in environment:
            return cast(core.DeliveryTerm, environment[term.text])
        raise AssertionError(f"no delivery: {term}")

    def deliveries(self, term: syntax.Term, environment: Environment, hoists: Hoists) -> Deliveries:
        match term:
            case syntax.Name(text):
                return cast(Deliveries, environment[text])
            case syntax.EntityLog(entity=entity):
                return Deliveries(self.entity(entity, environment, hoists))
            case _:
                raise AssertionError(f"no log of deliveries: {term}")

    def group(self, term: syntax.Term, environment: Environment) -> core.GroupTerm:
        if isinstance(term, syntax.Name):
            if not term.quoted and term.text in environment:
                return cast(core.GroupTerm, environment[term.text])
            return core.GroupNamed(term.text)
        raise AssertionError(f"no group: {term}")

    def view(self, term: syntax.Term, environment: Environment, hoists: Hoists) -> core.ViewTerm:
        match term:
            case syntax.Name(text, quoted):
                if not quoted and text in environment:
                    return cast(core.ViewTerm, environment[text])
                return core.ViewNamed(text)
            case syntax.Apply(function="view", arguments=(happening,)):
                if self.sort_of(happening) is Sort.DELIVERY:
                    return core.ViewOf(self.delivery(happening, environment))
                return core.ViewOf(self.event(happening, environment, hoists))
            case _:
                raise AssertionError(f"no view: {term}")

    def installed(self, term: syntax.Term, environment: Environment, hoists: Hoists) -> Installed:
        match term:
            case syntax.Name(text):
                return cast(Installed, environment[text])
            case syntax.EntityLog(entity=entity):
                return Installed(self.entity(entity, environment, hoists))
            case _:
                raise AssertionError(f"no log of views: {term}")

    def message(self, term: syntax.Term, environment: Environment, hoists: Hoists) -> core.MessageTerm:
        match term:
            case syntax.Name(text, quoted):
                if not quoted and text in environment:
                    return cast(core.MessageTerm, environment[text])
                return core.MessageNamed(text)
            case syntax.Apply(function="message", arguments=(delivery,)):
                return core.MessageOf(self.delivery(delivery, environment))
            case syntax.Apply(function=("top" | "last") as end, arguments=(log,)):
                return hoist(end, self.log(log, environment, hoists), None, hoists)
            case syntax.At(log, place):
                value = self.log(log, environment, hoists)
                return hoist("at", value, self.number(place, environment, hoists), hoists)
            case _:
                raise AssertionError(f"no message: {term}")

    def event(self, term: syntax.Term, environment: Environment, hoists: Hoists) -> core.EventTerm:
        """An event; a message stands for its send."""
        if isinstance(term, syntax.Apply) and term.function in ("send", "deliver", "arrive"):
            message = self.message(term.arguments[0], environment, hoists)
            if term.function == "send":
                return core.SendEvent(message)
            make = core.DeliveryEvent if term.function == "deliver" else core.ArrivalEvent
            return make(message, self.entity(term.arguments[1], environment, hoists))
        if isinstance(term, syntax.Name) and not term.quoted:
            value = environment.get(term.text)
            if isinstance(value, core.EventTerm):
                return value
        return core.SendEvent(self.message(term, environment, hoists))

    def log(self, term: syntax.Term, environment: Environment, hoists: Hoists) -> LogValue:
        match term:
            case syntax.Name(text):
                return cast(LogValue, environment[text])
            case syntax.EntityLog(kind, entity, to):
                owner = self.entity(entity, environment, hoists)
                if kind is syntax.LogKind.RL:
                    return core.ReceiptLog(owner)
                return core.SendLog(owner, None if to is None else self.entity(to, environment, hoists))
            case syntax.Slice(log, start, stop):
                base = self.log(log, environment, hoists)
                first = None if start is None else self.number(start, environment, hoists)
                end = None if stop is None else self.number(stop, environment, hoists)
                return slice_of(base, first, end)
            case _:
                raise AssertionError(f"no log: {term}")

    def number(self, term: syntax.Term, environment: Environment, hoists: Hoists) -> core.NumberTerm:
        match term:
            case syntax.Name(text):
                return cast(core.NumberTerm, environment[text])
            case syntax.Quantity(value, unit):
                if unit is None:
                    return core.Constant(value, core.Dimension.NUMBER)
                return core.Constant(value * UNITS[unit], core.Dimension.DURATION)
            case syntax.Bound(name):
                return core.Delta() if name == "delta" else core.Epsilon()
            case syntax.Negative(inner):
                return scaled(Fraction(-1), self.number(inner, environment, hoists))
            case syntax.Arithmetic(operator, left, right):
                return self.arithmetic(operator, left, right, environment, hoists)
            case syntax.Apply(arguments=(carrier,), attribute=core.Attribute() as attribute):
                if attribute.carrier is core.Carrier.EVENT:
                    return core.DeliveryAttribute(attribute, self.delivery(carrier, environment))
                return core.AttributeOf(attribute, self.message(carrier, environment, hoists))
            case syntax.Apply(function="position", arguments=(delivery, log)) if (
                self.sort_of(log) is Sort.DELIVERIES
            ):
                made_by = self.deliveries(log, environment, hoists).entity
                return core.DeliveryPosition(self.delivery(delivery, environment), made_by)
            case syntax.Apply(function="position", arguments=(message, log)):
                where = self.log(log, environment, hoists)
                return position_in(self.message(message, environment, hoists), where, hoists)
            case syntax.Apply(function="size", arguments=(log,)):
                whole = self.log(log, environment, hoists)
                if isinstance(whole, Part):
                    hint = "size(L) is the size of a whole log; for a part, write a condition on positions"
                    raise LoweringRefused(
                        "N014", "size needs a whole log, not a part of one", term.span, hint
                    )
                return core.Size(whole)
            case syntax.Apply(function="number", arguments=(view,)):
                return core.ViewNumber(self.view(view, environment, hoists))
            case syntax.Apply(function="nth", arguments=(delivery,)):
                return core.Nth(self.delivery(delivery, environment))
            case syntax.Apply(function="time", arguments=(delivery,)):
                return core.DeliveryTime(self.delivery(delivery, environment))
            case syntax.Apply(function="send_time", arguments=(message,)):
                return core.TimeOf(core.SendEvent(self.message(message, environment, hoists)))
            case syntax.Apply(function=("deliver_time" | "arrive_time") as kind, arguments=(message, entity)):
                make = core.DeliveryEvent if kind == "deliver_time" else core.ArrivalEvent
                event = make(
                    self.message(message, environment, hoists), self.entity(entity, environment, hoists)
                )
                return core.TimeOf(event)
            case syntax.Apply(function=("clock" | "implied_clock") as kind, arguments=(event_term, entity)):
                component = core.RecordedClock if kind == "clock" else core.VectorTime
                return component(
                    self.event(event_term, environment, hoists), self.entity(entity, environment, hoists)
                )
            case _:
                raise AssertionError(f"no number: {term}")

    def text(self, term: syntax.Term, environment: Environment, hoists: Hoists) -> core.TextTerm:
        match term:
            case syntax.Name(text, quoted):
                return core.Text(text) if quoted else cast(core.TextTerm, environment[text])
            case syntax.Apply(arguments=(carrier,), attribute=core.Attribute() as attribute):
                if attribute.carrier is core.Carrier.EVENT:
                    return core.DeliveryText(attribute, self.delivery(carrier, environment))
                return core.TextOf(attribute, self.message(carrier, environment, hoists))
            case _:
                raise AssertionError(f"no text: {term}")

    def arithmetic(
        self,
        operator: syntax.Operator,
        left: syntax.Term,
        right: syntax.Term,
        environment: Environment,
        hoists: Hoists,
    ) -> core.NumberTerm:
        match operator:
            case syntax.Operator.PLUS:
                return sum_of(self.number(left, environment, hoists), self.number(right, environment, hoists))
            case syntax.Operator.MINUS:
                return difference_of(
                    self.number(left, environment, hoists), self.number(right, environment, hoists)
                )
            case syntax.Operator.TIMES:
                factor = constant(right)
                if factor is not None:
                    return scaled(factor, self.number(left, environment, hoists))
                return scaled(constant(left) or Fraction(0), self.number(right, environment, hoists))
            case syntax.Operator.OVER:
                return scaled(1 / (constant(right) or Fraction(1)), self.number(left, environment, hoists))
            case _:
                assert_never(operator)
