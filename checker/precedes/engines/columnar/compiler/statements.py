"""From a formula to the statements that judge it.

Quantifiers become loops over the shortest range that their guards allow, left as soon as a value decides
them: false for a universal one, true for an existential one. An unknown instance never ends a loop, for the
reasons of all of them are told. Guards are what a variable must satisfy for the body to matter: the
conjuncts of a range and, below it, the quantifier-free premises of an implication (for an existential,
conjuncts of the body). A guard of an inner quantifier that does not mention its variable is judged outside
of its loop.

While it writes, emission notes the `Chain` of variables whose values, where the loops were left, show why
the formula is false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final, assert_never

from precedes.core.formula import (
    TRUTH,
    Acknowledged,
    Acyclic,
    AddressedTo,
    And,
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
from precedes.core.traversal import free_variables
from precedes.core.verdict import Reason
from precedes.engines.columnar.compiler.comparisons import compared
from precedes.engines.columnar.compiler.domains import Guard, domain, guards_and_body, parts_named
from precedes.engines.columnar.compiler.incomplete_atoms import IncompleteAtoms
from precedes.engines.columnar.compiler.incomplete_comparisons import compared_openly
from precedes.engines.columnar.compiler.source_text import (
    LONGEST,
    YES,
    Code,
    Extent,
    Source,
    all_of,
    both,
    either,
    equal,
    inverse,
)
from precedes.engines.columnar.compiler.terms import SimpleAtom, Terms
from precedes.logic.parts import written_out
from precedes.native.codes import NO_VIEWS

DEEPEST: Final = 40
"""Indentation at which a part is written as a function of its own: Python allows 100 levels."""

MOST_LOOPS: Final = 12
"""Nested loops at which a part is written as a function of its own: Python allows 20."""


NOTHING: Final = (None, None)
"""What a variable stands for that is neither an entity nor a message."""


@dataclass(frozen=True, slots=True)
class Link:
    """A variable of a loop that was left, and what its body adds: the entity or the message that it stands for, or both
    of a delivery, as expressions.
    """

    entity: str | None
    message: str | None
    inner: Chain | None


@dataclass(frozen=True, slots=True)
class InPart:
    """A variable that names the part in which the rest was found. It is shown where nothing else says which it is."""

    local: str
    inner: Chain | None


@dataclass(frozen=True, slots=True)
class Fork:
    """One of several parts decided: the variable `chosen` says which, by its number."""

    chosen: str
    branches: tuple[Chain | None, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """Several parts decided together."""

    chains: tuple[Chain, ...]


@dataclass(frozen=True, slots=True)
class Cycle:
    """The relation with this number has a cycle."""

    relation: int


Chain = Link | InPart | Fork | Together | Cycle


class Emission:
    """Writes the statements for a formula whose binders have different names.

    After `value(formula, shows)`, `chain` shows why the formula has the truth value `shows`, if loops do. What is
    `sought` is asked only whether it may be true: the first instance that is not false ends a loop, and so do no steps
    that are left.
    """

    def __init__(self, terms: Terms, *, sought: bool = False) -> None:
        self.terms = terms
        self._sought = sought
        self.chain: Chain | None = None
        self._known: dict[Formula, Code] = {}
        self._around: tuple[Extent, ...] = ()

    @property
    def source(self) -> Source:
        """Where statements are written to."""
        return self.terms.source

    def value(self, formula: Formula, shows: bool | None = None) -> Code:
        """Write what it takes to judge the formula; its value as an expression."""
        self.chain = None
        if (code := self._pure(formula)) is not None:
            return code
        if self.source.depth > DEEPEST or self.source.loops > MOST_LOOPS:
            return self._outlined(formula)
        match formula:
            case Not(body):
                return inverse(self.value(body, None if shows is None else not shows))
            case And(parts):
                return self._joined(parts, shows, every=True)
            case Or(parts):
                return self._joined(parts, shows, every=False)
            case Implies(left, right):
                return self._joined((Not(left), right), shows, every=False)
            case Iff(left, right):
                sides = [self.source.assigned(self.value(side)) for side in (left, right)]
                self.chain = None
                return equal(*sides)
            case Forall() | Exists():
                return self._quantified(formula, shows)
            case Acyclic(first, second, body):
                return self._acyclic(first, second, body, shows)
            case Per():
                return self.value(written_out(formula), shows)
            case Comparison():
                compare = compared if self.terms.facts.complete else compared_openly
                return compare(formula, self.terms)
            case (
                Truth() | Undetermined() | InLog() | Precedes() | Repeated() | Sent() | IsDestination()
                | SameEntity() | SameMessage() | SameText() | SamePart() | DeliveredAt() | DeliveredBefore()
                | SameDelivery() | InFlight() | Acknowledged() | Faulty() | HappensBefore() | FailureLine()
                | Quiescent() | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore()
                | InstallsAgain() | SameView()
            ):  # fmt: skip
                return self.source.assigned(self._atom(formula))
            case _:
                assert_never(formula)

    # ---- expressions -------------------------------------------------------------------------------------

    def _pure(self, formula: Formula) -> Code | None:
        """The formula as one expression, where it has one of reasonable length."""
        code = self._expression(formula)
        return code if code is not None and len(code.text) <= LONGEST else None

    def _expression(self, formula: Formula) -> Code | None:
        if self._known and (known := self._known.get(formula)) is not None:
            return known
        match formula:
            case Forall() | Exists() | Acyclic() | Per() | Comparison():
                return None
            case Not(body):
                code = self._pure(body)
                return None if code is None else inverse(code)
            case And(parts):
                codes = self._all_pure(parts)
                return None if codes is None else both(codes)
            case Or(parts):
                codes = self._all_pure(parts)
                return None if codes is None else either(codes)
            case Implies(left, right):
                codes = self._all_pure((Not(left), right))
                return None if codes is None else either(codes)
            case Iff(left, right):
                codes = self._all_pure((left, right))
                return None if codes is None else equal(*codes)
            case (
                Truth() | Undetermined() | InLog() | Precedes() | Repeated() | Sent() | IsDestination()
                | SameEntity() | SameMessage() | SameText() | SamePart() | DeliveredAt() | DeliveredBefore()
                | SameDelivery() | InFlight() | Acknowledged() | Faulty() | HappensBefore() | FailureLine()
                | Quiescent() | IsMember() | AddressedTo() | SameGroup() | Installs() | InstallsBefore()
                | InstallsAgain() | SameView()
            ):  # fmt: skip
                return self._atom(formula)
            case _:
                assert_never(formula)

    def _all_pure(self, parts: Sequence[Formula]) -> list[Code] | None:
        codes = []
        for part in parts:
            if (code := self._pure(part)) is None:
                return None
            codes.append(code)
        return codes

    def _atom(self, atom: SimpleAtom) -> Code:
        if self.terms.facts.complete:
            return self.terms.atom(atom)
        placed = isinstance(atom, Precedes) and all(
            self._known.get(InLog(message, atom.log)) == YES for message in (atom.first, atom.second)
        )
        return IncompleteAtoms(self.terms).atom(atom, placed)

    def _outlined(self, formula: Formula) -> Code:
        """The formula in a function of its own, so that nesting stays within what Python takes."""
        outer, known = self.source, self._known
        name = outer.fresh("part")
        self.terms.source, self._known = Source(outer.needs, depth=1, loops=0), {}
        self.source.line(f"return {self.value(formula).value}")
        variables = ", ".join(["SHARED", *self.terms.scope.values()])
        outer.needs.functions.append("\n".join(["@jit", f"def {name}({variables}):", *self.source.lines]))
        self.terms.source, self._known, self.chain = outer, known, None
        return outer.assigned(Code(f"{name}({variables})", False))

    # ---- connectives -------------------------------------------------------------------------------------

    def _joined(self, parts: tuple[Formula, ...], shows: bool | None, every: bool) -> Code:
        """Kleene's and (`every`) or or: the parts one after another, expressions first, until one decides."""
        source = self.source
        deciding = "-1" if every else "0"
        fork = source.fresh("chosen") if shows is (not every) else None
        value = source.fresh("value")
        undecided = f"{value} == -1" if self._sought and not every else f"{value} != {deciding}"
        branches: list[Chain | None] = [None] * len(parts)
        source.line(f"{value} = {'0' if every else '-1'}")
        if fork is not None:
            source.line(f"{fork} = -1")
        ordered = sorted(range(len(parts)), key=lambda number: self._pure(parts[number]) is None)
        for place, number in enumerate(ordered):
            with ExitStack() as nested:
                if place > 0:
                    nested.enter_context(source.block(f"if {undecided}:"))
                code = self.value(parts[number], shows)
                branches[number] = self.chain
                source.line(
                    f"{value} = {value} | {code.value}"
                    if every
                    else f"{value} = either({value}, {code.value})"
                )
                if fork is not None and self.chain is not None:
                    with source.block(f"if {value} == {deciding}:"):
                        source.line(f"{fork} = {number}")
        chains = tuple(chain for chain in branches if chain is not None)
        self.chain = None
        if chains:
            self.chain = Together(chains) if fork is None else Fork(fork, tuple(branches))
            if fork is not None:
                source.needs.chained[fork] = None
        return Code(value, False)

    # ---- binders -----------------------------------------------------------------------------------------

    def _quantified(self, formula: Forall | Exists, shows: bool | None) -> Code:
        source, universal, variable = self.source, isinstance(formula, Forall), formula.variable
        guards, body = guards_and_body(formula)
        inside = [guard for guard in guards if variable in free_variables(guard.formula)]
        local = source.fresh(letter_of(variable))
        naming = parts_named(formula)
        value = source.fresh("value")
        source.line(f"{value} = {'0' if universal else '-1'}")
        unknown = isinstance(variable, ViewVariable)
        if unknown:
            # Nobody knows which views there are.
            with source.block(f"if {self.terms.views_unknown()}:"):
                source.line(f"{value} = {NO_VIEWS}")
        known, self._known = self._known, dict(self._known)
        units: list[str] = []
        with ExitStack() as nested:
            if unknown:
                nested.enter_context(source.block(f"if {value} != {NO_VIEWS}:"))
            for guard in guards:
                if guard not in inside and (condition := self._judged(guard, units)) != "True":
                    nested.enter_context(source.block(f"if {condition}:"))
            through = domain(variable, inside, naming, self.terms)
            if through.condition is not None:
                nested.enter_context(source.block(f"if {through.condition}:"))
            self.terms.scope[variable.name] = local
            index = local if through.column is None else source.fresh("index")
            with (
                source.block(f"for {index} in range({through.bounds}):"),
                self._going_through(through.extent),
            ):
                if self._sought:
                    self._count_step(value)
                if through.column is not None:
                    source.line(f"{local} = {through.value(index)}")
                if through.exact is not None:
                    self._known[through.exact.formula] = YES
                self._inner_guards([guard for guard in inside if guard is not through.exact], units)
                self._hoist(body, universal)
                code = self.value(body, shows if shows is (not universal) else None)
                self._take(value, code, units, universal)
        self._known = known
        del self.terms.scope[variable.name]
        if shows is universal or shows is None:
            self.chain = None
        elif naming or self.stands_for(variable, local) != NOTHING:
            source.needs.chained[local] = None
            shown = self.stands_for(variable, local)
            self.chain = InPart(local, self.chain) if naming else Link(*shown, self.chain)
        return Code(value, False)

    def _count_step(self, value: str) -> None:
        """Leave the loop of a quantifier undecided once there are no more steps."""
        self.source.table("seeking")
        self.source.line("left_steps[0] -= 1")
        with self.source.block("if left_steps[0] < 0:"):
            self.source.line(f"{value} = {int(Reason.NOT_DECIDED)}")
            self.source.line("break")

    @contextmanager
    def _going_through(self, *extents: Extent) -> Iterator[None]:
        """Note a loop, or several, inside those that are open."""
        around, self._around = self._around, (*self._around, *extents)
        self.source.needs.extents.append(self._around)
        yield
        self._around = around

    def stands_for(self, variable: Variable, local: str) -> tuple[str | None, str | None]:
        """The local numbers of the entity and of the message that a variable stands for, under its local name."""
        match variable:
            case EntityVariable():
                return local, None
            case MessageVariable():
                return None, local
            case DeliveryVariable():
                entity, message = (self.source.column(f"made_{column}") for column in ("entity", "message"))
                return f"{entity}[{local}]", f"{message}[{local}]"
            case GroupVariable() | ViewVariable():
                return NOTHING
            case _:
                assert_never(variable)

    def _met(self, guard: Guard, code: Code) -> str:
        """The condition that an instance with this value of a guard is gone through: on incomplete executions one
        that is certainly in the range.
        """
        return code.not_false if self.terms.facts.complete or not guard.ranged else code.true

    def _judged(self, guard: Guard, units: list[str]) -> str:
        """Judge a guard; the condition that it is met. What may be unknown about it then is noted in `units`, and below
        it need not be judged again.
        """
        code = self.value(guard.formula)
        if code.boolean:
            self._known[guard.formula] = YES
            return code.text
        code = self.source.assigned(code, "guard")
        condition = self._met(guard, code)
        if condition == code.true:
            self._known[guard.formula] = YES
        else:
            units.append(code.text)
            self._known[guard.formula] = code
        return condition

    def _inner_guards(self, guards: Sequence[Guard], units: list[str]) -> None:
        """Go on with the next instance where a guard is not met; conditions come first."""
        conditions, others = [], []
        for guard in guards:
            code = self._pure(guard.formula)
            if code is not None and (code.boolean or self._met(guard, code) == code.true):
                conditions.append(code.true)
                self._known[guard.formula] = YES
            else:
                others.append(guard)
        self._skip_unless(all_of(conditions))
        for guard in others:
            self._skip_unless(self._judged(guard, units))

    def _hoist(self, body: Formula, universal: bool) -> None:
        """Judge here the guards of inner quantifiers of the same kind that do not mention what those bind."""
        while isinstance(body, Forall if universal else Exists) and not isinstance(
            body.variable, ViewVariable
        ):
            guards, body = guards_and_body(body)
            for guard in guards:
                names = {variable.name for variable in free_variables(guard.formula)}
                known = guard.formula == TRUTH or guard.formula in self._known
                if known or not names <= self.terms.scope.keys():
                    continue
                code = self._pure(guard.formula)
                if code is not None:
                    code = self.source.assigned(code, "guard") if not code.boolean else code
                    condition = self._met(guard, code)
                    self._skip_unless(condition)
                    self._known[guard.formula] = YES if condition == code.true else code

    def _skip_unless(self, condition: str) -> None:
        if condition != "True":
            with self.source.block(f"if not ({condition}):"):
                self.source.line("continue")

    def _take(self, value: str, code: Code, units: Sequence[str], universal: bool) -> None:
        """Take one instance into the value of a quantifier, and leave the loop where that decides it."""
        source = self.source
        deciding = "-1" if universal else "0"
        if not units and code.boolean:
            with source.block(f"if {inverse(code).text if universal else code.text}:"):
                source.line(f"{value} = {deciding}")
                source.line("break")
            return
        instance = code.value
        if units:
            united = " | ".join(units)
            instance = f"implied({united}, {instance})" if universal else f"{united} | {instance}"
        source.line(
            f"{value} = {value} | {instance}" if universal else f"{value} = either({value}, {instance})"
        )
        decided = f"{value} != -1" if self._sought and not universal else f"{value} == {deciding}"
        with source.block(f"if {decided}:"):
            source.line("break")

    def _acyclic(
        self, first: MessageVariable, second: MessageVariable, body: Formula, shows: bool | None
    ) -> Code:
        source = self.source
        source.table("cycles")
        number = source.needs.relations
        source.needs.relations += 1
        p, q = source.fresh("p"), source.fresh("p")
        self.terms.scope |= {first.name: p, second.name: q}
        pairs = self._going_through("messages", "messages")
        with source.block(f"for {p} in range(m):"), source.block(f"for {q} in range(m):"), pairs:
            source.line(f"relation_{number}[{p} * m + {q}] = {self.value(body).value}")
        del self.terms.scope[first.name], self.terms.scope[second.name]
        self.chain = Cycle(number) if shows is False else None
        return source.assigned(Code(f"acyclic(m, relation_{number}, left, degree, waiting)", False))


def letter_of(variable: Variable) -> str:
    """What the local name of a variable begins with."""
    match variable:
        case EntityVariable():
            return "e"
        case MessageVariable():
            return "p"
        case DeliveryVariable():
            return "d"
        case GroupVariable():
            return "g"
        case ViewVariable():
            return "v"
        case _:
            assert_never(variable)
