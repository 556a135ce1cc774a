"""Why a requirement has the value it has: the bindings that violate it and the facts that make it false.

A witness is found by going down the formula where it fails: into the parts that are false, into a quantifier
with the first thing that breaks it. What is passed on the way is kept as facts, ground atoms with their
values: those that fail and, as `context`, those that make the failure one (the range of a quantifier, the
premise of an implication). Prose is made of them elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, assert_never

from precedes.engines.reference.evaluation import Evaluator, agreed_interleaving
from precedes.engines.reference.grounding import ground
from precedes.engines.reference.happens_before import HappensBeforeRelation, Occurrence
from precedes.engines.reference.mentions import entities_in, happens_before_in, messages_in
from precedes.engines.reference.relations import shortest_cycle
from precedes.execution import Execution
from precedes.formula import (
    Acyclic,
    And,
    Comparison,
    EntityVariable,
    Exists,
    FailureLine,
    Forall,
    Formula,
    HappensBefore,
    Iff,
    Implies,
    InLog,
    IsDestination,
    MessageVariable,
    Not,
    Or,
    Precedes,
    Repeated,
    Requirement,
    SameEntity,
    SameMessage,
    Sent,
    Truth,
    Undetermined,
)
from precedes.verdict import FALSE, TRUE, negation, reasons

Binding = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Fact:
    """A closed statement about the execution and its value.

    `context` where it is not itself what fails. A false `Exists` has, as `instances`, one fact at least for
    each thing in its range.
    """

    formula: Formula
    value: int
    context: bool = False
    instances: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Witness:
    """One way in which a requirement fails (or, where it is unknown, one place at which it is not decided).

    `bindings` are the variables down to the failing point with their values; of a cycle, its messages in
    order, numbered. `messages` and `entities` are all that it concerns, chains of happens-before included, in
    order of first appearance and in the cluster's order. `part` is the named requirement that fails: the one
    asked for or a part of it.
    """

    bindings: tuple[Binding, ...]
    messages: tuple[str, ...]
    entities: tuple[str, ...]
    part: str
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The value of a requirement on an execution, and why.

    `witnesses` are those of a violation, smallest first, `undecided` the places at which an unknown verdict
    is open. `vacuous`: it holds, but no quantifier over messages met one. `execution` is the one the
    witnesses are about: the one judged, or an interleaving of it where every interleaving fails.
    """

    value: int
    reasons: tuple[str, ...]
    witnesses: tuple[Witness, ...]
    vacuous: bool
    undecided: tuple[Witness, ...]
    execution: Execution


def explain(requirement: Requirement, execution: Execution, limit: int = 1) -> Explanation:
    """Judge a requirement and give up to `limit` witnesses, no two of them about the same messages and
    entities.
    """
    evaluator = Evaluator(execution)
    value = evaluator.value(requirement.formula)
    agreed = agreed_interleaving(requirement.formula, execution, value)
    if agreed is not None:
        value, execution = agreed
        evaluator = Evaluator(execution)
        evaluator.value(requirement.formula)
    vacuous = value == TRUE and not evaluator.met and quantifies_over_messages(requirement.formula)
    found: tuple[Witness, ...] = ()
    if value != TRUE:
        found = tuple(islice(_distinct(_candidates(requirement, evaluator, _kind(value), limit)), limit))
    return Explanation(
        value,
        reasons(value),
        found if value == FALSE else (),
        vacuous,
        () if value == FALSE else found,
        execution,
    )


_UNKNOWN: Final = 1

CANDIDATES: Final = 100
"""How many witnesses, in the order of the cluster and of first appearance, the smallest are chosen from."""

SEARCHED: Final = 50_000
"""How many bindings are gone through for more witnesses once there is one."""


def _kind(value: int) -> int:
    """TRUE, FALSE, or one number for everything unknown."""
    return value if value in (TRUE, FALSE) else _UNKNOWN


def _candidates(requirement: Requirement, evaluator: Evaluator, kind: int, limit: int) -> Iterator[Witness]:
    """Part by part the first witnesses, those first that take the fewest messages and entities to tell."""
    for part in _failing_parts(requirement, evaluator, kind):
        found: list[Witness] = []
        with suppress(_SearchedEnoughError):
            causes = islice(_Causes(evaluator).of(part.formula, kind), CANDIDATES + limit)
            found.extend(_witness(part, cause, evaluator) for cause in causes)
        yield from sorted(found, key=_size)


def _size(witness: Witness) -> tuple[int, int, int]:
    """Messages, entities, and the different things that the variables stand for."""
    return len(witness.messages), len(witness.entities), len({value for _, value in witness.bindings})


def _distinct(witnesses: Iterable[Witness]) -> Iterator[Witness]:
    """Of the witnesses about the same messages and entities, the first."""
    seen: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()
    for witness in witnesses:
        key = (witness.part, witness.messages, witness.entities)
        if key not in seen:
            seen.add(key)
            yield witness


def _failing_parts(requirement: Requirement, evaluator: Evaluator, kind: int) -> Iterator[Requirement]:
    """The smallest named parts of that value; the requirement itself where it has no such part."""
    failing = [part for part in requirement.parts if _kind(evaluator.value(part.formula)) == kind]
    if not failing:
        yield requirement
    for part in failing:
        yield from _failing_parts(part, evaluator, kind)


def _witness(part: Requirement, cause: _Cause, evaluator: Evaluator) -> Witness:
    recorded = evaluator.recorded
    concerned = [fact.formula for fact in _all_facts(cause.facts)]
    chain = (
        chain_of(cause.facts, evaluator.terms.happens_before)
        if any(map(happens_before_in, concerned))
        else ()
    )
    messages = {message for formula in concerned for message in messages_in(formula)}
    messages |= {event.message for event in chain if event.message is not None} | set(cause.messages)
    entities = {entity for formula in concerned for entity in entities_in(formula)}
    entities |= {event.entity for event in chain} | set(cause.entities)
    return Witness(
        cause.bindings,
        tuple(message for message in recorded.messages if message in messages),
        tuple(entity for entity in recorded.place if entity in entities),
        part.name,
        tuple(dict.fromkeys(cause.facts)),
    )


def chain_of(facts: Sequence[Fact], relation: HappensBeforeRelation) -> tuple[Occurrence, ...]:
    """The events of the chains of all facts that say that one event happens before another; of a cycle, its
    events.
    """
    if relation.cycle:
        return relation.cycle
    events: list[Occurrence] = []
    for fact in _all_facts(facts):
        for atom in happens_before_in(fact.formula):
            first, second = relation.named(atom.first), relation.named(atom.second)
            if first is not None and second is not None:
                events += relation.chain(first, second)
    return tuple(dict.fromkeys(events))


def _all_facts(facts: Iterable[Fact]) -> Iterator[Fact]:
    for fact in facts:
        yield fact
        yield from _all_facts(fact.instances)


def quantifies_over_messages(formula: Formula) -> bool:
    """Whether a formula speaks of messages by quantifiers alone: with none of them met, it has said nothing.
    """
    return not messages_in(formula) and _has_message_binder(formula)


def _has_message_binder(formula: Formula) -> bool:
    match formula:
        case Forall(variable, extent, body) | Exists(variable, extent, body):
            return (
                not isinstance(variable, EntityVariable)
                or _has_message_binder(extent)
                or _has_message_binder(body)
            )
        case Acyclic():
            return True
        case Not(body):
            return _has_message_binder(body)
        case And(parts) | Or(parts):
            return any(map(_has_message_binder, parts))
        case Implies(left, right) | Iff(left, right):
            return _has_message_binder(left) or _has_message_binder(right)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Cause:
    """A way in which a formula comes to its value. `messages` and `entities` are the bound ones."""

    bindings: tuple[Binding, ...] = ()
    facts: tuple[Fact, ...] = ()
    messages: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    def __add__(self, other: _Cause) -> _Cause:
        return _Cause(
            self.bindings + other.bindings,
            self.facts + other.facts,
            self.messages + other.messages,
            self.entities + other.entities,
        )

    def as_context(self) -> _Cause:
        """The same, its facts not being what fails."""
        return replace(self, facts=tuple(replace(fact, context=True) for fact in self.facts))


class _SearchedEnoughError(Exception):
    """There is a witness, and the search for smaller ones has gone through `SEARCHED` bindings."""


class _Causes:
    """The ways in which formulas come to their values under the evaluator's current bindings, the smallest
    first.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._seen = 0
        self._found = False

    def _kind_of(self, formula: Formula, as_recorded: bool) -> int:
        return _kind(self._evaluator.value(formula, as_recorded))

    def of(self, formula: Formula, kind: int, as_recorded: bool = False) -> Iterator[_Cause]:
        """The causes of a formula that has a value of this kind."""
        match formula:
            case Not(body):
                yield from self.of(body, negation(kind), as_recorded)
            case And(parts):
                yield from self._several(parts, kind, TRUE, as_recorded)
            case Or(parts):
                yield from self._several(parts, kind, FALSE, as_recorded)
            case Implies(left, right):
                yield from self._implication(left, right, kind, as_recorded)
            case Iff(left, right):
                first = self._first(left, as_recorded)
                yield from (
                    first + cause for cause in self.of(right, self._kind_of(right, as_recorded), as_recorded)
                )
            case Forall(variable, extent, body):
                if kind == TRUE:
                    yield self._whole(formula, kind)
                else:
                    yield from self._instances(variable, extent, body, kind, as_recorded)
            case Exists(variable, extent, body):
                if kind == FALSE:
                    yield self._none(formula, as_recorded)
                else:
                    yield from self._instances(variable, extent, body, kind, as_recorded)
            case Acyclic():
                yield from self._cycle(formula, kind, as_recorded)
            case (
                Truth() | Undetermined() | InLog() | Precedes() | Repeated() | Sent() | IsDestination()
                | SameEntity() | SameMessage() | HappensBefore() | Comparison() | FailureLine()
            ):  # fmt: skip
                yield self._whole(formula, self._evaluator.value(formula, as_recorded))
            case _:
                assert_never(formula)

    def _whole(self, formula: Formula, value: int) -> _Cause:
        return _Cause(facts=(Fact(ground(formula, self._evaluator.terms), value),))

    def _first(self, formula: Formula, as_recorded: bool) -> _Cause:
        return next(self.of(formula, self._kind_of(formula, as_recorded), as_recorded))

    def _several(
        self, parts: Sequence[Formula], kind: int, neutral: int, as_recorded: bool
    ) -> Iterator[_Cause]:
        """Of a conjunction (neutral TRUE) or disjunction (neutral FALSE)."""
        if kind == neutral:
            cause = _Cause()
            for part in parts:
                cause += self._first(part, as_recorded)
            yield cause
            return
        for part in parts:
            if self._kind_of(part, as_recorded) == kind:
                yield from self.of(part, kind, as_recorded)

    def _implication(self, left: Formula, right: Formula, kind: int, as_recorded: bool) -> Iterator[_Cause]:
        premise = self._kind_of(left, as_recorded)
        if premise == FALSE:
            yield from self.of(left, FALSE, as_recorded)
            return
        conclusion = self._kind_of(right, as_recorded)
        if conclusion == TRUE and kind == TRUE:
            yield from self.of(right, TRUE, as_recorded)
            return
        first = self._first(left, as_recorded)
        if premise == TRUE:
            first = first.as_context()
        yield from (first + cause for cause in self.of(right, conclusion, as_recorded))

    def _instances(
        self,
        variable: EntityVariable | MessageVariable,
        extent: Formula,
        body: Formula,
        kind: int,
        as_recorded: bool,
    ) -> Iterator[_Cause]:
        """Of a universal that fails or an existential that holds; or of either where it is unknown."""
        evaluator = self._evaluator
        entity = isinstance(variable, EntityVariable)
        bound = evaluator.terms.entities if entity else evaluator.terms.messages
        for inside in evaluator.instances(variable, extent):
            self._seen += 1
            if self._found and self._seen > SEARCHED:
                raise _SearchedEnoughError
            here = kind if self._is_nested(body, kind) else self._kind_of(body, as_recorded)
            fits = here == kind and inside == TRUE if kind != _UNKNOWN else _UNKNOWN in (_kind(inside), here)
            if not fits:
                continue
            name = bound[variable.name]
            binding = _Cause(
                ((variable.name, name),), (), () if entity else (name,), (name,) if entity else ()
            )
            within = self._first_in_range(extent)
            if inside == TRUE:
                within = within.as_context()
            for cause in self.of(body, here, as_recorded):
                self._found = True
                yield binding + within + cause

    @staticmethod
    def _is_nested(body: Formula, kind: int) -> bool:
        """Whether going into the body finds out by itself whether it has this value, once and not at every
        level.
        """
        return (kind == FALSE and isinstance(body, Forall)) or (kind == TRUE and isinstance(body, Exists))

    def _first_in_range(self, extent: Formula) -> _Cause:
        return _Cause() if extent == Truth(True) else self._first(extent, as_recorded=True)

    def _none(self, formula: Exists, as_recorded: bool) -> _Cause:
        """Of an existential that fails: for everything in its range, why that does not do."""
        facts: list[Fact] = []
        for _ in self._evaluator.instances(formula.variable, formula.range):
            facts += self._first(formula.body, as_recorded).facts
        return _Cause(facts=(Fact(ground(formula, self._evaluator.terms), FALSE, instances=tuple(facts)),))

    def _cycle(self, formula: Acyclic, kind: int, as_recorded: bool) -> Iterator[_Cause]:
        """The shortest cycle, with what relates each of its messages to the next."""
        evaluator = self._evaluator
        certain, _ = evaluator.related(formula.first, formula.second, formula.body, as_recorded)
        cycle = shortest_cycle(certain)
        if kind != FALSE or not cycle:
            yield self._whole(formula, kind)
            return
        cause = _Cause(
            tuple((f"{formula.first.name}{n}", name) for n, name in enumerate(cycle, start=1)), (), cycle
        )
        for first, second in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            with evaluator.bound(formula.first, first), evaluator.bound(formula.second, second):
                related = self._first(formula.body, as_recorded)
            cause += replace(related, bindings=())
        yield cause
