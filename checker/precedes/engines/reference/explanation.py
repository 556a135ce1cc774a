"""Why a requirement has the value it has: the bindings that violate it and the facts that make it false.

A witness is one of the causes of a value, with everything that it concerns; prose is made of its facts
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final

from precedes.core.execution import Execution
from precedes.core.formula import (
    DeliveryVariable,
    EntityVariable,
    Formula,
    GroupVariable,
    HappensBefore,
    MessageNamed,
    MessageVariable,
    Requirement,
    Sender,
    Variable,
    ViewVariable,
)
from precedes.core.mode import completed
from precedes.core.traversal import bound, entities_in, messages_in, walk
from precedes.core.verdict import FALSE, TRUE, reasons
from precedes.core.witness import Explanation, Fact, Witness
from precedes.engines.reference.causes import Cause, Causes, SearchedEnoughError, kind_of
from precedes.engines.reference.evaluation import Evaluator, agreed_interleaving, judged
from precedes.engines.reference.happens_before import HappensBeforeRelation, Occurrence


def explain(requirement: Requirement, execution: Execution, limit: int = 1) -> Explanation:
    """Judge a requirement and give up to `limit` witnesses, no two of them about the same messages and
    entities.
    """
    requirement = _judged(completed(requirement), execution)
    evaluator = Evaluator(execution)
    value = evaluator.value(requirement.formula)
    agreed = agreed_interleaving(requirement.formula, execution, value)
    if agreed is not None:
        value, execution = agreed
        evaluator = Evaluator(execution)
        evaluator.value(requirement.formula)
    vacuous = value == TRUE and _had_nothing_to_check(requirement.formula, evaluator)
    found: tuple[Witness, ...] = ()
    if value != TRUE:
        found = tuple(islice(_distinct(_candidates(requirement, evaluator, kind_of(value), limit)), limit))
    return Explanation(
        value,
        reasons(value),
        found if value == FALSE else (),
        vacuous,
        () if value == FALSE else found,
        execution,
    )


def _judged(requirement: Requirement, execution: Execution) -> Requirement:
    """See `evaluation.judged`."""
    parts = tuple(_judged(part, execution) for part in requirement.parts)
    return replace(requirement, formula=judged(requirement.formula, execution), parts=parts)


CANDIDATES: Final = 100
"""How many witnesses, in the order of the cluster and of first appearance, the smallest are chosen from."""


def _candidates(requirement: Requirement, evaluator: Evaluator, kind: int, limit: int) -> Iterator[Witness]:
    """Part by part the first witnesses, those first that take the fewest messages and entities to tell."""
    for part in _failing_parts(requirement, evaluator, kind):
        found: list[Witness] = []
        with suppress(SearchedEnoughError):
            causes = islice(Causes(evaluator).of(part.formula, kind), CANDIDATES + limit)
            found.extend(_witness(part, cause, evaluator) for cause in causes)
        of_entities = {node.name for node in walk(part.formula) if isinstance(node, EntityVariable)}
        yield from sorted(found, key=partial(_size, of_entities))


def _size(of_entities: Set[str], witness: Witness) -> tuple[int, int, int]:
    """Messages, entities, and the different things that the variables stand for. An entity and a message of one id are
    two.
    """
    different = {(name in of_entities, value) for name, value in witness.bindings}
    return len(witness.messages), len(witness.entities), len(different)


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
    failing = [part for part in requirement.parts if kind_of(evaluator.value(part.formula)) == kind]
    if not failing:
        yield requirement
    for part in failing:
        yield from _failing_parts(part, evaluator, kind)


def _witness(part: Requirement, cause: Cause, evaluator: Evaluator) -> Witness:
    recorded = evaluator.recorded
    concerned = [fact.formula for fact in _all_facts(cause.facts)]
    chain = (
        chain_of(cause.facts, evaluator.terms.happens_before)
        if any(map(_happens_before_in, concerned))
        else ()
    )
    messages = {message for formula in concerned for message in messages_in(formula)}
    messages |= {event.message for event in chain if event.message is not None} | set(cause.messages)
    entities = {entity for formula in concerned for entity in entities_in(formula)}
    entities |= {
        sender
        for formula in concerned
        for node in walk(formula)
        if isinstance(node, Sender) and isinstance(node.message, MessageNamed)
        if (sender := recorded.sender(node.message.name)) is not None
    }
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
        for atom in _happens_before_in(fact.formula):
            first, second = relation.named(atom.first), relation.named(atom.second)
            if first is not None and second is not None:
                events += relation.chain(first, second)
    return tuple(dict.fromkeys(events))


def _all_facts(facts: Iterable[Fact]) -> Iterator[Fact]:
    for fact in facts:
        yield fact
        yield from _all_facts(fact.instances)


def _had_nothing_to_check(formula: Formula, evaluator: Evaluator) -> bool:
    """Whether a formula speaks of messages by quantifiers alone and none was in their ranges; of one that speaks of no
    messages, the same for groups and views.
    """
    bound_kinds = {type(variable) for node in walk(formula) for variable in bound(node)}
    messages: set[type[Variable]] = {MessageVariable, DeliveryVariable}
    asked = bound_kinds & messages or bound_kinds & {GroupVariable, ViewVariable}
    return bool(asked) and not messages_in(formula) and not asked & evaluator.met


def _happens_before_in(formula: Formula) -> tuple[HappensBefore, ...]:
    return tuple(node for node in walk(formula) if isinstance(node, HappensBefore))
