"""Causes: the bindings and facts that give a formula its value.

The search for causes descends into the parts that decide the formula, and into a quantifier with the first
element that decides it. On the way it keeps facts, which are ground atoms with their values: the facts that
decide and, as `context`, the facts without which they would not decide (the range of a quantifier, the
premise of an implication).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from precedes.core.counts import ordinal
from precedes.core.formula import (
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
    Attribute,
    Comparison,
    DeliveredAt,
    DeliveredBefore,
    DeliveryVariable,
    EntityVariable,
    Exists,
    FailureLine,
    Faulty,
    Forall,
    Formula,
    GroupVariable,
    HappensBefore,
    Iff,
    Implies,
    InFlight,
    InLog,
    Installs,
    InstallsAgain,
    InstallsBefore,
    IsDestination,
    IsMember,
    MessageVariable,
    Not,
    Or,
    Per,
    Precedes,
    Quiescent,
    Repeated,
    SameDelivery,
    SameEntity,
    SameGroup,
    SameMessage,
    SamePart,
    SameText,
    SameView,
    Sent,
    Truth,
    Undetermined,
    Variable,
    ViewVariable,
)
from precedes.core.verdict import FALSE, TRUE, negation
from precedes.core.witness import Binding, Fact
from precedes.engines.reference.evaluation import Evaluator
from precedes.engines.reference.ground import ground
from precedes.engines.reference.relations import shortest_cycle
from precedes.engines.reference.terms import Terms
from precedes.logic.parts import asked_of_each, of_its_own, written_out

UNKNOWN: Final = 1
"""What `kind_of` makes of every unknown value."""

SEARCHED: Final = 50_000
"""How many bindings are gone through for more witnesses once there is one."""


def kind_of(value: int) -> int:
    """TRUE, FALSE, or one number for everything unknown."""
    return value if value in (TRUE, FALSE) else UNKNOWN


@dataclass(frozen=True, slots=True)
class Cause:
    """A way in which a formula comes to its value. `messages` and `entities` are the bound ones."""

    bindings: tuple[Binding, ...] = ()
    facts: tuple[Fact, ...] = ()
    messages: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    def __add__(self, other: Cause) -> Cause:
        return Cause(
            self.bindings + other.bindings,
            self.facts + other.facts,
            self.messages + other.messages,
            self.entities + other.entities,
        )

    def as_context(self) -> Cause:
        """The same, its facts not being what fails."""
        return replace(self, facts=tuple(replace(fact, context=True) for fact in self.facts))


class SearchedEnoughError(Exception):
    """There is a witness, and the search for smaller ones has gone through `SEARCHED` bindings."""


class Causes:
    """The ways in which formulas come to their values under the evaluator's current bindings, the smallest
    first.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._seen = 0
        self._found = False

    def _kind_of(self, formula: Formula) -> int:
        return kind_of(self._evaluator.value(formula))

    def of(self, formula: Formula, kind: int) -> Iterator[Cause]:
        """The causes of a formula that has a value of this kind."""
        match formula:
            case Not(body):
                yield from self.of(body, negation(kind))
            case And(parts):
                yield from self._several(parts, kind, TRUE)
            case Or(parts):
                yield from self._several(parts, kind, FALSE)
            case Implies(left, right):
                yield from self._implication(left, right, kind)
            case Iff(left, right):
                first = self._first(left)
                yield from (first + cause for cause in self.of(right, self._kind_of(right)))
            case Forall(variable, extent, body):
                if kind == TRUE:
                    yield self._whole(formula, kind)
                elif self._evaluator.has_unknown_domain(variable):
                    yield from self._of_unknown_domain(formula, kind)
                else:
                    yield from self._instances(variable, extent, body, kind)
            case Exists(variable, extent, body):
                if self._evaluator.has_unknown_domain(variable):
                    yield from self._of_unknown_domain(formula, kind)
                elif kind == FALSE:
                    yield self._none(formula)
                else:
                    yield from self._instances(variable, extent, body, kind)
            case Acyclic():
                yield from self._cycle(formula, kind)
            case Per():
                yield from self._per(formula, kind)
            case (
                Truth() | Undetermined() | InLog() | Precedes() | Repeated() | Sent() | IsDestination()
                | SameEntity() | SameMessage() | SameText() | SamePart() | Faulty() | HappensBefore() | Comparison()
                | FailureLine() | Quiescent() | DeliveredAt() | DeliveredBefore() | SameDelivery() | InFlight()
                | Acknowledged() | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore()
                | InstallsAgain() | SameView()
            ):  # fmt: skip
                yield self._whole(formula, self._evaluator.value(formula))
            case _:
                assert_never(formula)

    def _of_unknown_domain(self, formula: Forall | Exists, kind: int) -> Iterator[Cause]:
        """It is unknown and nothing else, which a caller that goes into it without looking need not know."""
        if kind == UNKNOWN:
            yield self._whole(formula, self._evaluator.value(formula))

    def _per(self, formula: Per, kind: int) -> Iterator[Cause]:
        """A part in which the body fails; where it is not known whether there is one, why."""
        if kind == TRUE:
            yield self._whole(formula, kind)
        else:
            yield from self.of(asked_of_each(formula) if kind == FALSE else written_out(formula), kind)

    def _whole(self, formula: Formula, value: int) -> Cause:
        return Cause(facts=(Fact(ground(formula, self._evaluator.terms), value),))

    def _first(self, formula: Formula) -> Cause:
        return next(self.of(formula, self._kind_of(formula)))

    def _several(self, parts: Sequence[Formula], kind: int, neutral: int) -> Iterator[Cause]:
        """Of a conjunction (neutral TRUE) or disjunction (neutral FALSE)."""
        if kind == neutral:
            cause = Cause()
            for part in parts:
                cause += self._first(part)
            yield cause
            return
        for part in parts:
            if self._kind_of(part) == kind:
                yield from self.of(part, kind)

    def _implication(self, left: Formula, right: Formula, kind: int) -> Iterator[Cause]:
        premise = self._kind_of(left)
        if premise == FALSE:
            yield from self.of(left, FALSE)
            return
        conclusion = self._kind_of(right)
        if conclusion == TRUE and kind == TRUE:
            yield from self.of(right, TRUE)
            return
        first = self._first(left)
        if premise == TRUE:
            first = first.as_context()
        yield from (first + cause for cause in self.of(right, conclusion))

    def _instances(
        self,
        variable: Variable,
        extent: Formula,
        body: Formula,
        kind: int,
    ) -> Iterator[Cause]:
        """Of a universal that fails or an existential that holds; or of either where it is unknown."""
        evaluator = self._evaluator
        attributes = of_its_own(variable, extent, body) if isinstance(variable, MessageVariable) else ()
        for inside in evaluator.instances(variable, extent, body):
            self._seen += 1
            if self._found and self._seen > SEARCHED:
                raise SearchedEnoughError
            here = kind if self._is_nested(body, kind) else self._kind_of(body)
            fits = here == kind and inside == TRUE if kind != UNKNOWN else UNKNOWN in (kind_of(inside), here)
            if not fits:
                continue
            binding = binding_of(variable, attributes, evaluator.terms)
            within = self._first_in_range(extent)
            if inside == TRUE:
                within = within.as_context()
            for cause in self.of(body, here):
                self._found = True
                yield binding + within + cause

    @staticmethod
    def _is_nested(body: Formula, kind: int) -> bool:
        """Whether going into the body finds out by itself whether it has this value, once and not at every
        level.
        """
        return (kind == FALSE and isinstance(body, Forall)) or (kind == TRUE and isinstance(body, Exists))

    def _first_in_range(self, extent: Formula) -> Cause:
        return Cause() if extent == Truth(True) else self._first(extent)

    def _none(self, formula: Exists) -> Cause:
        """Of an existential that fails: for everything in its range, why that does not do."""
        facts: list[Fact] = []
        for _ in self._evaluator.instances(formula.variable, formula.range, formula.body):
            facts += self._first(formula.body).facts
        return Cause(facts=(Fact(ground(formula, self._evaluator.terms), FALSE, instances=tuple(facts)),))

    def _cycle(self, formula: Acyclic, kind: int) -> Iterator[Cause]:
        """The shortest cycle, with what relates each of its messages to the next."""
        evaluator = self._evaluator
        certain, _ = evaluator.related(formula.first, formula.second, formula.body)
        cycle = shortest_cycle(certain)
        if kind != FALSE or not cycle:
            yield self._whole(formula, kind)
            return
        cause = Cause(
            tuple((f"{formula.first.name}{n}", name) for n, name in enumerate(cycle, start=1)), (), cycle
        )
        for first, second in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            with evaluator.bound(formula.first, first), evaluator.bound(formula.second, second):
                related = self._first(formula.body)
            cause += replace(related, bindings=())
        yield cause


def binding_of(variable: Variable, attributes: tuple[Attribute, ...], terms: Terms) -> Cause:
    """What the variable stands for now; of one that ranges over the parts of attributes, the values of the part."""
    match variable:
        case EntityVariable(label):
            name = terms.entities[label]
            return Cause(((label, name),), entities=(name,))
        case MessageVariable(label):
            name = terms.messages[label]
            if not attributes:
                return Cause(((label, name),), messages=(name,))
            values = terms.values(name, attributes) or ()
            return Cause(tuple((a.name, str(value)) for a, value in zip(attributes, values, strict=True)))
        case DeliveryVariable(label):
            made = terms.deliveries[label]
            which = made.message if made.nth == 1 else f"{made.message} ({ordinal(made.nth)})"
            return Cause(((label, which),), messages=(made.message,), entities=(made.entity,))
        case GroupVariable(label):
            return Cause(((label, terms.groups[label]),))
        case ViewVariable(label):
            return Cause(((label, terms.views[label]),))
        case _:
            assert_never(variable)
