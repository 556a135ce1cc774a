"""The plan of a scan: every requirement and all of its parts, each formula once.

A plan is made before any trace is read, without numpy or numba, and can be pickled for a worker. A composite
such as `ST` is the conjunction of its parts. A connective between closed formulas is applied to their values.
Everything below is a step: a tuned kernel decides it if its definition is recognized, otherwise the compiled
formula does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from precedes.core.diagnostics import usage
from precedes.core.formula import (
    Acyclic,
    And,
    Atom,
    Attribute,
    Exists,
    Forall,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Per,
    Requirement,
)
from precedes.core.mode import completed
from precedes.core.traversal import attributes_in, walk
from precedes.logic.canonical_form import Node, canonical
from precedes.logic.contents import groups_in, names_in, views_in
from precedes.logic.families import implying, member_of_family
from precedes.logic.lemmas import consequences
from precedes.logic.recognition import DEFINITIONS, UNTUNED, recognise


@dataclass(frozen=True, slots=True)
class Asked:
    """A definition that may be decided before an execution is laid out: of a whole, or of each part that the values of
    attributes make.
    """

    definition: str
    per: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One formula to evaluate on each execution; `definition` is its name where it is recognized.

    With attributes `per`, the definition is asked of each part that their values make; if `alike`, of each two messages
    with the same values, so that a message without one is compared with all. A definition that has a number is asked
    with `bound`. Where a definition that the formula is `implied_by` holds of a complete execution, the formula does.
    What is `sought` is only asked whether it may be true, so that what is false is so, and what holds or is unknown may
    be either.
    """

    formula: Formula
    definition: str | None
    per: tuple[Attribute, ...] = ()
    sought: bool = False
    alike: bool = False
    bound: int = 0
    implied_by: str | None = None

    @property
    def kernel(self) -> str | None:
        """The tuned kernel that decides it on complete executions; None where it is compiled, or asked of parts."""
        return None if self.per or self.definition in UNTUNED else self.definition

    @property
    def screened(self) -> Asked | None:
        """What makes the formula hold of a complete execution of which it holds; None where nothing is recognized."""
        name = self.implied_by or self.definition
        return None if name is None else Asked(name, () if self.implied_by else self.per)

    @property
    def is_screened(self) -> bool:
        """Whether the formula is what `screened` says, so that it also does not hold where this does not."""
        return self.implied_by is None and self.definition is not None


@dataclass(frozen=True, slots=True)
class Value:
    """The value of the step with this number."""

    step: int


@dataclass(frozen=True, slots=True)
class Both:
    """Kleene's and over any number of parts; `true` over none."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Inverse:
    """Kleene's not."""

    part: Expression


@dataclass(frozen=True, slots=True)
class Followed:
    """The part; on incomplete executions, the part and what follows from it (`precedes.logic.lemmas`)."""

    part: Expression
    consequences: tuple[Expression, ...]


Expression = Value | Both | Inverse | Followed


@dataclass(frozen=True, slots=True)
class Listing:
    """How the offenders of a leaf in an execution are listed: the first `limit`, and how many there are.

    They are listed in every execution if `everywhere`, else in those that a report shows.
    """

    limit: int
    everywhere: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What a scan evaluates. `names` has every name once, each requirement before its parts.

    `expressions` are aligned with them, their values being numbers of `steps`.

    `leaves` are the requirements without parts, `composites` the others, and `below` the leaves under each name, in the
    order of the parts. `mentioned` are the entities, messages, groups and views that they name; `of_views` and
    `of_groups` say whether they speak of any. `listing` says how offenders are listed; None: a scan stops at the first.
    `watched` are names of which is wanted since when they are violated.
    """

    names: tuple[str, ...]
    expressions: tuple[Expression, ...]
    steps: tuple[Step, ...]
    leaves: dict[str, Requirement]
    composites: dict[str, Requirement]
    below: dict[str, tuple[str, ...]]
    mentioned: frozenset[str]
    of_views: bool
    of_groups: bool
    listing: Listing | None = None
    watched: tuple[str, ...] = ()

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """What is asked of messages and deliveries, each attribute once, in the order of their names."""
        formulas = (*(leaf.formula for leaf in self.leaves.values()), *(step.formula for step in self.steps))
        found = {attribute for formula in formulas for attribute in attributes_in(formula)}
        return tuple(sorted(found, key=lambda attribute: attribute.name))

    @property
    def parted(self) -> frozenset[str]:
        """The names of the attributes by whose values something is asked."""
        found = {
            a.name
            for leaf in self.leaves.values()
            for n in walk(leaf.formula)
            if isinstance(n, Per)
            for a in n.attributes
        }
        return frozenset(found)

    def asking(self, step: int, *, complete: bool) -> str:
        """The first name that asks for a step, one without parts if there is any."""
        asking = [
            name
            for name, expression in zip(self.names, self.expressions, strict=True)
            if step in _steps(expression, complete=complete)
        ]
        return next((name for name in asking if name in self.leaves), asking[0])

    def needed(self, *, complete: bool) -> tuple[int, ...]:
        """The numbers of the steps that complete executions need, or incomplete ones."""
        found = {step for one in self.expressions for step in _steps(one, complete=complete)}
        return tuple(sorted(found))


def conjuncts(expression: Both | Followed, *, complete: bool) -> tuple[Expression, ...]:
    """What a conjunction is of. What follows from a part is looked at on incomplete executions only."""
    if isinstance(expression, Both):
        return expression.parts
    return (expression.part,) if complete else (expression.part, *expression.consequences)


def _steps(expression: Expression, *, complete: bool) -> Iterator[int]:
    match expression:
        case Value(step):
            yield step
        case Inverse(part):
            yield from _steps(part, complete=complete)
        case Both() | Followed():
            for part in conjuncts(expression, complete=complete):
                yield from _steps(part, complete=complete)
        case _:
            assert_never(expression)


def plan(requirements: Sequence[Requirement], sought: Sequence[Requirement] = ()) -> Plan:
    """The plan for the requirements, as they are asked of completed executions, and for what is `sought` besides: of
    that only what is false is told from the rest.

    PrecedesError where one name stands for two different formulas.
    """
    named: dict[str, Requirement] = {}
    for requirement in _with_parts(map(completed, (*requirements, *sought))):
        known = named.setdefault(requirement.name, requirement)
        if known.formula != requirement.formula and canonical(known.formula) != canonical(
            requirement.formula
        ):
            raise usage(
                f"{requirement.name} stands for two different formulas",
                "give each requirement a name of its own",
            )
    builder = _Builder()
    only = {requirement.name for requirement in sought}
    expressions = tuple(
        builder.sought(requirement.formula) if name in only else builder.requirement(requirement)
        for name, requirement in named.items()
    )
    leaves = leaves_of(tuple(named.values()))
    return Plan(
        names=tuple(named),
        expressions=expressions,
        steps=tuple(builder.steps),
        leaves=leaves,
        composites={name: requirement for name, requirement in named.items() if requirement.parts},
        below={name: tuple(dict.fromkeys(_leaves(requirement))) for name, requirement in named.items()},
        mentioned=frozenset[str]().union(*(names_in(leaf.formula) for leaf in leaves.values())),
        of_views=any(views_in(leaf.formula) for leaf in leaves.values()),
        of_groups=any(groups_in(leaf.formula) for leaf in leaves.values()),
    )


def leaves_of(requirements: Iterable[Requirement]) -> dict[str, Requirement]:
    """The requirements, and the parts below them, that have no parts themselves."""
    return {each.name: each for each in _with_parts(requirements) if not each.parts}


def _with_parts(requirements: Iterable[Requirement]) -> Iterator[Requirement]:
    for requirement in requirements:
        yield requirement
        yield from _with_parts(requirement.parts)


def _leaves(requirement: Requirement) -> Iterator[str]:
    if not requirement.parts:
        yield requirement.name
    for part in requirement.parts:
        yield from _leaves(part)


@dataclass(slots=True)
class _Builder:
    """Collects the steps; equal formulas share one."""

    steps: list[Step] = field(default_factory=list)
    known: dict[frozenset[Node], Expression] = field(default_factory=dict)

    def requirement(self, requirement: Requirement) -> Expression:
        if requirement.parts:
            parts = Both(tuple(self.requirement(part) for part in requirement.parts))
            return self._followed(parts, requirement.formula)
        return self.formula(requirement.formula)

    def _followed(self, part: Expression, formula: Formula) -> Expression:
        following = tuple(self.formula(one) for one in consequences(formula))
        return Followed(part, following) if following else part

    def formula(self, formula: Formula) -> Expression:
        form = canonical(formula)
        if form not in self.known:
            self.known[form] = self._new(formula)
        return self.known[form]

    def sought(self, formula: Formula) -> Expression:
        """In one step, whatever the formula is made of: one part that may be true is enough."""
        form = canonical(formula)
        return self.known.get(form) or self._step(Step(formula, None, sought=True))

    def _new(self, formula: Formula) -> Expression:
        definitions = recognise(formula)
        if definitions is not None:
            if len(definitions) == 1:
                return self._followed(self._step(Step(formula, definitions[0])), formula)
            return self._followed(
                Both(tuple(self.formula(DEFINITIONS[name]) for name in definitions)), formula
            )
        if isinstance(formula, Atom):
            return self._step(Step(formula, None))
        match formula:
            case Not(body):
                return Inverse(self.formula(body))
            case And(parts):
                return self._followed(Both(tuple(self.formula(part) for part in parts)), formula)
            case Or(parts):
                return Inverse(Both(tuple(Inverse(self.formula(part)) for part in parts)))
            case Implies(left, right):
                return _implication(self.formula(left), self.formula(right))
            case Iff(left, right):
                sides = self.formula(left), self.formula(right)
                return Both((_implication(*sides), _implication(*reversed(sides))))
            case Per():
                return self._per(formula)
            case Forall() | Exists() | Acyclic():
                return self._step(_compared(formula))
            case _:
                assert_never(formula)

    def _per(self, formula: Per) -> Expression:
        """A conjunction is asked of each part if each of its conjuncts is."""
        definitions = recognise(formula.body) or ()
        if len(definitions) == 1:
            return self._step(Step(formula, definitions[0], formula.attributes))
        member = member_of_family(formula.body)
        if member is not None and not member.alike:
            return self._step(Step(formula, member.name, formula.attributes, bound=member.bound))
        parts: tuple[Formula, ...] = tuple(DEFINITIONS[name] for name in definitions)
        if not parts and isinstance(formula.body, And):
            parts = formula.body.parts
        if not parts:
            return self._step(Step(formula, None))
        return Both(tuple(self.formula(replace(formula, body=part)) for part in parts))

    def _step(self, step: Step) -> Expression:
        self.steps.append(step)
        return Value(len(self.steps) - 1)


def _compared(formula: Formula) -> Step:
    """The step for a formula that is none of `DEFINITIONS`."""
    member = member_of_family(formula)
    if member is None:
        return Step(formula, None, implied_by=implying(formula))
    if member.alike:
        return Step(formula, member.name, member.alike, alike=True, implied_by=member.name)
    # What keeps the order of every sender lets nothing overtake.
    return Step(formula, member.name, bound=member.bound, implied_by="order_preserving")


def _implication(left: Expression, right: Expression) -> Expression:
    return Inverse(Both((left, Inverse(right))))
