"""Sorts: what every name in a formula stands for, inferred from how it is used.

Every variable, and every term with an open sort, has a cell with the sorts that it may still have. Each use
narrows the cell. The result is the same formula with `Name.sort` filled in. Unknown names, wrong numbers of
arguments and conflicts are reported here, a conflict with both places. So `lowering` never meets one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Protocol, assert_never, cast

from precedes.core.diagnostics import Span
from precedes.core.formula import Attribute, Carrier
from precedes.core.suggestions import did_you_mean, intended
from precedes.language import syntax
from precedes.language.errors import Mistakes
from precedes.language.parsing.lexer import UNITS_HINT, no_unit
from precedes.language.printer import term_text
from precedes.language.quoting import quoted, shown
from precedes.language.sorts.cells import ANY, BOUND, COMPARED, ORDERED, Cell, Cells
from precedes.language.syntax import Sort
from precedes.language.vocabulary import (
    COLUMNS,
    DELIVERY,
    EVERY,
    FUNCTIONS,
    MESSAGE,
    RELATIONS,
    VIEW,
    Alternatives,
    signature,
)

Signature = tuple[Alternatives, ...]


class Definitions(Protocol):
    """Where names are looked up, and all of them, for suggestions."""

    def signature(self, name: str) -> Signature | None:
        """The sorts that the parameters of a definition may have; None where there is none of that name."""

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of that name; None where none is declared."""

    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes."""

    def __iter__(self) -> Iterator[str]:
        """The names of the definitions."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of a scenario that its formulas may use: its cluster, in order, its messages, groups and views."""

    entities: tuple[str, ...]
    messages: frozenset[str]
    groups: frozenset[str] = frozenset()
    views: frozenset[str] = frozenset()

    def sorts(self, name: str) -> frozenset[Sort]:
        """What a name stands for; it may be several things."""
        named = (
            (Sort.ENTITY, self.entities),
            (Sort.MESSAGE, self.messages),
            (Sort.GROUP, self.groups),
            (Sort.VIEW, self.views),
        )
        return frozenset(sort for sort, names in named if name in names)

    def names(self) -> tuple[str, ...]:
        """All of them, for suggestions."""
        return (*self.entities, *sorted(self.messages), *sorted(self.groups), *sorted(self.views))


_NAMED: Final = frozenset((Sort.ENTITY, Sort.MESSAGE, Sort.GROUP, Sort.VIEW))
"""What a name in a formula may stand for, beside a text."""

_Term = tuple[Cell, Callable[[], syntax.Term]]
_Formula = Callable[[], syntax.Formula]
_Environment = Mapping[str, Cell]


def infer_sentence(
    sentence: syntax.Sentence, definitions: Definitions, scope: Scope | None, mistakes: Mistakes
) -> syntax.Sentence:
    """A sentence with its sorts. Without a scope a name must be bound or quoted."""
    inference = _Inference(definitions, scope, mistakes)
    built = inference.formula(sentence.formula, {})
    for member in sentence.among:
        inference.reference(member)
    inference.settle()
    return sentence if inference.failed else replace(sentence, formula=built())


def infer_definition(
    definition: syntax.Definition, definitions: Definitions, mistakes: Mistakes
) -> syntax.Definition:
    """A definition with the sorts of its parameters and of all in it.

    Only a quoted name is a name of an execution there.
    """
    inference = _Inference(definitions, None, mistakes)
    environment: dict[str, Cell] = {}
    for parameter in definition.parameters:
        if parameter.name.text in environment:
            mistakes.tell("N009", f"{parameter.name.text} is a parameter twice", parameter.name.span)
        allowed = ANY if parameter.sort is None else frozenset((parameter.sort,))
        environment[parameter.name.text] = inference.named(parameter.name, allowed)
    built = inference.formula(definition.body, environment)
    inference.settle()
    if inference.failed:
        return definition
    parameters = tuple(
        syntax.Parameter(
            replace(p.name, sort=environment[p.name.text].sort()), environment[p.name.text].sort()
        )
        for p in definition.parameters
    )
    return replace(definition, parameters=parameters, body=built())


def calls(formula: syntax.Formula) -> list[syntax.Call]:
    """Every call in a formula, found without recursion."""
    found: list[syntax.Call] = []
    waiting: list[syntax.Formula] = [formula]
    while waiting:
        node = waiting.pop()
        match node:
            case syntax.Call():
                found.append(node)
            case (
                syntax.Not(body)
                | syntax.InMode(_, body)
                | syntax.Quantified(body=body)
                | syntax.Acyclic(body=body)
                | syntax.Per(body)
            ):
                waiting.append(body)
            case syntax.And(parts) | syntax.Or(parts):
                waiting.extend(parts)
            case syntax.Implies(left, right) | syntax.Iff(left, right):
                waiting += (left, right)
            case (
                syntax.Truth()
                | syntax.Undetermined()
                | syntax.Compare()
                | syntax.Member()
                | syntax.Precedes()
                | syntax.HappensBefore()
            ):
                pass
            case _:
                assert_never(node)
    return found


class _Inference(Cells):
    def __init__(self, definitions: Definitions, scope: Scope | None, mistakes: Mistakes) -> None:
        self.definitions = definitions
        self.scope = scope
        super().__init__(mistakes)

    # terms

    def term(self, term: syntax.Term, environment: _Environment) -> _Term:
        match term:
            case syntax.Name():
                return self.name(term, environment)
            case syntax.Place():
                self.reference(term)
                return Cell(frozenset((Sort.ENTITY,)), term.span), lambda: term
            case syntax.Quantity(unit=unit):
                sort = Sort.NUMBER if unit is None else Sort.DURATION
                return Cell(frozenset((sort,)), term.span), lambda: term
            case syntax.Bound():
                return Cell(frozenset((Sort.DURATION,)), term.span), lambda: term
            case syntax.EntityLog(_, entity, to):
                first = self.of_sort(entity, (Sort.ENTITY,), environment)
                second = None if to is None else self.of_sort(to, (Sort.ENTITY,), environment)
                return Cell(frozenset((log_sort(term.kind),)), term.span), lambda: replace(
                    term, entity=first(), to=None if second is None else second()
                )
            case syntax.Apply():
                return self.apply(term, environment)
            case syntax.At(log, index):
                base = self.of_sort(log, (Sort.LOG,), environment)
                number = self.of_sort(index, (Sort.NUMBER,), environment)
                return Cell(frozenset((Sort.MESSAGE,)), term.span), lambda: replace(
                    term, log=base(), place=number()
                )
            case syntax.Slice(log, start, stop):
                base = self.of_sort(log, (Sort.LOG,), environment)
                ends = [
                    None if end is None else self.of_sort(end, (Sort.NUMBER,), environment)
                    for end in (start, stop)
                ]
                return Cell(frozenset((Sort.LOG,)), term.span), lambda: replace(
                    term,
                    log=base(),
                    start=ends[0]() if ends[0] else None,
                    stop=ends[1]() if ends[1] else None,
                )
            case syntax.Shared() | syntax.EntitySet():
                self.mistakes.tell("N015", f"{term_text(term)} can stand only after `in`", term.span)
                return Cell(), lambda: term
            case syntax.Relation(first, second, body):
                cells = self.bind((first, second), frozenset((Sort.MESSAGE,)))
                inner = self.formula(body, {**environment, **cells})
                return Cell(frozenset((Sort.RELATION,)), term.span), lambda: replace(term, body=inner())
            case syntax.Arithmetic():
                return self.arithmetic(term, environment)
            case syntax.Negative(inner):
                cell, built = self.term(inner, environment)
                self.narrow(cell, frozenset((Sort.DURATION, Sort.NUMBER)), inner)
                return cell, lambda: replace(term, term=built())
            case _:
                assert_never(term)

    def of_sort(
        self, term: syntax.Term, allowed: Alternatives, environment: _Environment
    ) -> Callable[[], syntax.Term]:
        cell, built = self.term(term, environment)
        self.narrow(cell, frozenset(allowed), term)
        return built

    def name(self, name: syntax.Name, environment: _Environment) -> _Term:
        if not name.quoted and name.text in environment:
            cell = environment[name.text]
            return cell, lambda: replace(name, sort=cell.sort())
        if self.scope is None:
            if not name.quoted:
                if self.is_predicate(name):
                    return Cell(), lambda: name
                hint = (
                    _as_quantity(name.text)
                    or did_you_mean(name.text, environment)
                    or f"introduce it, forall {name.text}: ...; if it is the name of an entity or a message, quote it: "
                    f"{quoted(name.text)}"
                )
                self.mistakes.tell("N002", f"there is no {shown(name.text)} here", name.span, hint)
            cell = self.named(name, _NAMED | {Sort.TEXT} if name.quoted else _NAMED)
        else:
            allowed = self.scope.sorts(name.text)
            if name.quoted:
                allowed |= {Sort.TEXT}
            elif not allowed:
                if self.is_predicate(name):
                    return Cell(), lambda: name
                self.missing(name, environment)
            cell = self.named(name, allowed or ANY)
        return cell, lambda: replace(name, sort=cell.sort())

    def missing(self, name: syntax.Name, environment: _Environment) -> None:
        """A scenario has nothing of that name."""
        assert self.scope is not None
        known = (*environment, *self.scope.names())
        elsewhere = "the scenario has nothing of that name; to introduce a variable, write "
        hint = (
            _as_quantity(name.text) or did_you_mean(name.text, known) or f"{elsewhere}forall {name.text}: ..."
        )
        self.mistakes.tell("N002", f"there is no {shown(name.text)} here", name.span, hint)

    def clash(self, cell: Cell, allowed: frozenset[Sort], term: syntax.Term) -> None:
        """As ever, but a quoted name that stands for nothing in the scenario is missing where no text can be."""
        named = allowed & (_NAMED | {Sort.EVENT})
        if named and isinstance(term, syntax.Name) and self.is_only_a_text(term):
            self.missing(term, {})
        else:
            super().clash(cell, allowed, term)

    def is_only_a_text(self, name: syntax.Name) -> bool:
        """Whether a quoted name stands for nothing in the scenario."""
        return name.quoted and self.scope is not None and not self.scope.sorts(name.text)

    def compares_written_texts(self, left: syntax.Term, right: syntax.Term) -> bool:
        """Whether two quoted names are compared of which one stands for nothing: as texts they would say nothing."""
        sides = [side for side in (left, right) if isinstance(side, syntax.Name) and side.quoted]
        missing = [side for side in sides if self.is_only_a_text(side)] if len(sides) == 2 else []
        for side in missing:
            self.missing(side, {})
        return bool(missing)

    def is_predicate(
        self, name: syntax.Name, hint: str = "a predicate is a formula, so use it alone"
    ) -> bool:
        """Whether a term is the name of a predicate; told, and then nothing more is said of it."""
        if self.definitions.signature(name.text) is None:
            return False
        self.mistakes.tell("N002", f"{name.text} is a predicate, but a term is needed here", name.span, hint)
        return True

    def compares_a_predicate(self, left: syntax.Term, right: syntax.Term, environment: _Environment) -> bool:
        """Whether a predicate is compared with a duration, as in `deadline <= 100ms`; told."""
        for side, other in ((left, right), (right, left)):
            if isinstance(side, syntax.Name) and not side.quoted and side.text not in environment:
                there = self.scope is not None and bool(self.scope.sorts(side.text))
                if isinstance(other, syntax.Quantity) and other.unit is not None and not there:
                    given = term_text(other)
                    hint = (
                        f"use it alone, and set its delta separately: --delta {given}, "
                        f"or `delta {given}` in a scenario"
                    )
                    return self.is_predicate(side, hint)
        return False

    def reference(self, reference: syntax.Reference) -> None:
        """An entity by place or name, where it is known which there are."""
        if self.scope is None:
            if isinstance(reference, syntax.Place):
                named = 'name the entity: RL["name"]'
                self.mistakes.tell(
                    "N010", "there is no cluster here, so entities have no numbers", reference.span, named
                )
        elif isinstance(reference, syntax.Place):
            if not 1 <= reference.number <= len(self.scope.entities):
                count = len(self.scope.entities)
                self.mistakes.tell(
                    "N011",
                    f"there is no entity {reference.number}",
                    reference.span,
                    f"the cluster has {count}",
                )
        elif reference.text not in self.scope.entities:
            hint = did_you_mean(reference.text, self.scope.entities)
            self.mistakes.tell("N011", f"there is no entity {shown(reference.text)}", reference.span, hint)

    def attribute(self, term: syntax.Apply, attribute: Attribute, environment: _Environment) -> _Term:
        of = MESSAGE if attribute.carrier is Carrier.MESSAGE else DELIVERY
        arguments = self.arguments(term.function, term.arguments, (of,), term.span, environment)
        sort = Sort(attribute.sort.value)
        return Cell(frozenset((sort,)), term.span), lambda: replace(
            term, arguments=arguments(), attribute=attribute
        )

    def declared(self, name: syntax.Name) -> Attribute | None:
        """The attribute that stands after `per`; told where there is none."""
        found = self.definitions.attribute(name.text)
        if found is None:
            hint = did_you_mean(name.text, self.definitions.attributes()) or declaration(name.text)
            self.mistakes.tell("N016", f"there is no attribute {shown(name.text)}", name.span, hint)
        elif found.carrier is Carrier.EVENT:
            told = f"{name.text} is an attribute of events, and a part has messages"
            self.mistakes.tell("N016", told, name.span, "ask per value of an attribute of messages")
        return found

    def apply(self, term: syntax.Apply, environment: _Environment) -> _Term:
        function = FUNCTIONS.get(term.function)
        attribute = self.definitions.attribute(term.function)
        # `position(p)` is what the system claims, `position(p, L)` is counted.
        if attribute is not None and (function is None or len(term.arguments) == 1):
            return self.attribute(term, attribute, environment)
        if function is None:
            if term.function in RELATIONS or self.definitions.signature(term.function) is not None:
                what = f"{term.function} is a predicate, but a term is needed here"
                self.mistakes.tell("N003", what, term.span)
            else:
                known = (*FUNCTIONS, *self.definitions.attributes())
                hint = did_you_mean(term.function, known) or declaration(term.function)
                self.mistakes.tell("N003", f"there is no function {term.function}", term.span, hint)
            for argument in term.arguments:
                self.term(argument, environment)
            return Cell(), lambda: term
        if term.function == "position" and len(term.arguments) == 2:
            return self.position(term, environment)
        if function.result is None:
            self.mistakes.tell("N015", f"{term_text(term)} can stand only after `in`", term.span)
        arguments = self.arguments(term.function, term.arguments, function.parameters, term.span, environment)
        result = ANY if function.result is None else frozenset((function.result,))
        return Cell(result, term.span), lambda: replace(term, arguments=arguments())

    def position(self, term: syntax.Apply, environment: _Environment) -> _Term:
        """The place of a message in a log, or of a delivery in `DL[i]`."""
        member, where = term.arguments
        cell, log = self.term(where, environment)
        of_deliveries = cell.root().allowed == {Sort.DELIVERIES}
        if not of_deliveries:
            self.narrow(cell, frozenset((Sort.LOG,)), where)
        built = self.of_sort(member, DELIVERY if of_deliveries else MESSAGE, environment)
        return Cell(frozenset((Sort.NUMBER,)), term.span), lambda: replace(term, arguments=(built(), log()))

    def arguments(
        self,
        name: str,
        given: tuple[syntax.Term, ...],
        wanted: tuple[Alternatives, ...],
        span: Span,
        environment: _Environment,
    ) -> Callable[[], tuple[syntax.Term, ...]]:
        if len(given) != len(wanted):
            hint = signature(name, wanted) if wanted else f"use {name} alone"
            self.mistakes.tell("N004", f"{name} has {_counted(len(wanted))}, not {len(given)}", span, hint)
            built = [self.term(argument, environment)[1] for argument in given]
        else:
            built = [
                self.of_sort(argument, allowed, environment)
                for argument, allowed in zip(given, wanted, strict=True)
            ]
        return lambda: tuple(build() for build in built)

    def arithmetic(self, term: syntax.Arithmetic, environment: _Environment) -> _Term:
        left, built_left = self.term(term.left, environment)
        right, built_right = self.term(term.right, environment)

        def build() -> syntax.Term:
            return replace(term, left=built_left(), right=built_right())

        match term.operator:
            case syntax.Operator.PLUS | syntax.Operator.MINUS:
                result = Cell(ORDERED, term.span)
                self.narrow(left, ORDERED, term.left)
                self.narrow(right, ORDERED, term.right)
                self.sums.append((term, (left, right, result)))
                return result, build
            case syntax.Operator.TIMES | syntax.Operator.OVER:
                factor = constant(term.right)
                scaled, other = left, term.left
                if factor is None and term.operator is syntax.Operator.TIMES:
                    factor, scaled, other = constant(term.left), right, term.right
                if factor is None:
                    hint = "2 * x and x / 2 are linear, x * y is not"
                    self.mistakes.tell(
                        "N012", "arithmetic is linear: one side must be a number", term.span, hint
                    )
                elif factor == 0 and term.operator is syntax.Operator.OVER:
                    self.mistakes.tell("N012", "division by zero", term.span)
                self.narrow(scaled, frozenset((Sort.DURATION, Sort.NUMBER)), other)
                return scaled, build
            case _:
                assert_never(term.operator)

    # formulas

    def formula(self, formula: syntax.Formula, environment: _Environment) -> _Formula:
        match formula:
            case syntax.Truth() | syntax.Undetermined():
                return lambda: formula
            case syntax.Call():
                return self.call(formula, environment)
            case syntax.Compare(comparator, left, right):
                if self.compares_a_predicate(left, right, environment):
                    return lambda: formula
                if self.compares_written_texts(left, right):
                    return lambda: formula
                equality = comparator in (syntax.Comparator.EQUAL, syntax.Comparator.DIFFERENT)
                allowed = COMPARED if equality else ORDERED
                one, built_one = self.term(left, environment)
                other, built_other = self.term(right, environment)
                self.narrow(one, allowed, left)
                self.narrow(other, allowed, right)
                self.unify(one, other, right)
                return lambda: replace(formula, left=built_one(), right=built_other())
            case syntax.Member(element, collection):
                sorts, built_collection = self.collection(collection, environment)
                built_element = self.of_sort(element, sorts, environment)
                return lambda: replace(formula, element=built_element(), collection=built_collection())
            case syntax.Precedes(first, log, second):
                within, ordered = self.log(log, environment)
                ends = [self.of_sort(end, ordered, environment) for end in (first, second)]
                built = [ends[0], within, ends[1]]
                return lambda: replace(formula, first=built[0](), log=built[1](), second=built[2]())
            case syntax.HappensBefore(first, second):
                ends = [
                    self.of_sort(term, (Sort.MESSAGE, Sort.EVENT), environment) for term in (first, second)
                ]
                return lambda: replace(formula, first=ends[0](), second=ends[1]())
            case syntax.Not(body) | syntax.InMode(_, body):
                inner = self.formula(body, environment)
                return lambda: replace(formula, body=inner())
            case syntax.And(parts) | syntax.Or(parts):
                inside = [self.formula(part, environment) for part in parts]
                return lambda: replace(formula, parts=tuple(part() for part in inside))
            case syntax.Implies(left, right) | syntax.Iff(left, right):
                sides = (self.formula(left, environment), self.formula(right, environment))
                return lambda: replace(formula, left=sides[0](), right=sides[1]())
            case syntax.Quantified():
                return self.quantified(formula, environment)
            case syntax.Acyclic(first_name, second_name, body):
                cells = self.bind((first_name, second_name), frozenset((Sort.MESSAGE,)))
                inner = self.formula(body, {**environment, **cells})
                return lambda: replace(
                    formula,
                    first=replace(first_name, sort=Sort.MESSAGE),
                    second=replace(second_name, sort=Sort.MESSAGE),
                    body=inner(),
                )
            case syntax.Per(body, names):
                inner = self.formula(body, environment)
                found = tuple(filter(None, map(self.declared, names)))
                for name in names:
                    if names.index(name) != len(names) - 1 - names[::-1].index(name):
                        self.mistakes.tell("N009", f"{name.text} stands after `per` twice", name.span)
                        break
                return lambda: replace(formula, body=inner(), attributes=found)
            case _:
                assert_never(formula)

    def bind(self, variables: tuple[syntax.Name, ...], allowed: frozenset[Sort]) -> dict[str, Cell]:
        cells: dict[str, Cell] = {}
        for variable in variables:
            if variable.text in cells:
                self.mistakes.tell("N009", f"{variable.text} is bound twice", variable.span)
            cells[variable.text] = self.named(variable, allowed)
        return cells

    def quantified(self, formula: syntax.Quantified, environment: _Environment) -> _Formula:
        allowed, built_range = BOUND, None
        if formula.range is not None:
            sorts, built_range = self.collection(formula.range, environment)
            allowed = frozenset(sorts)
        cells = self.bind(formula.variables, allowed)
        inner = self.formula(formula.body, {**environment, **cells})
        return lambda: replace(
            formula,
            variables=tuple(replace(v, sort=cells[v.text].sort()) for v in formula.variables),
            range=None if built_range is None else built_range(),
            body=inner(),
        )

    def collection(
        self, term: syntax.Term, environment: _Environment
    ) -> tuple[Alternatives, Callable[[], syntax.Term]]:
        """The sorts that the members of a collection may have."""
        if isinstance(term, syntax.Apply) and term.function in ("dest", "members"):
            arguments = self.arguments(
                term.function, term.arguments, FUNCTIONS[term.function].parameters, term.span, environment
            )
            groups = (Sort.GROUP,) if term.function == "dest" else ()
            return (Sort.ENTITY, *groups), lambda: replace(term, arguments=arguments())
        if isinstance(term, syntax.EntitySet):
            built = [self.of_sort(member, (Sort.ENTITY,), environment) for member in term.members]
            return (Sort.ENTITY,), lambda: replace(
                term, members=tuple(cast(syntax.Reference, build()) for build in built)
            )
        if isinstance(term, syntax.Shared):
            logs = [self.of_sort(part, (Sort.LOG,), environment) for part in term.parts]
            return MESSAGE, lambda: replace(term, parts=tuple(log() for log in logs))
        if isinstance(term, syntax.Name) and self.is_every(term, environment):
            return (EVERY[term.text],), lambda: replace(term, sort=EVERY[term.text])
        built_log, members = self.log(term, environment)
        return members, built_log

    def is_every(self, name: syntax.Name, environment: _Environment) -> bool:
        """Whether a name after `in` is `groups` or `views`, and no variable."""
        return name.text in EVERY and not name.quoted and name.text not in environment

    def log(
        self, term: syntax.Term, environment: _Environment
    ) -> tuple[Callable[[], syntax.Term], Alternatives]:
        """A log, and the sort of its members: deliveries in `DL[i]`, views in `VL[i]`, messages in all others."""
        cell, built = self.term(term, environment)
        if cell.root().allowed == {Sort.DELIVERIES}:
            return built, DELIVERY
        if cell.root().allowed == {Sort.VIEWS}:
            return built, VIEW
        self.narrow(cell, frozenset((Sort.LOG,)), term)
        return built, MESSAGE

    def call(self, call: syntax.Call, environment: _Environment) -> _Formula:
        if (given := environment.get(call.name)) is not None and call.arguments is not None:
            name = syntax.Name(call.name, False, call.span)
            self.narrow(given, frozenset((Sort.RELATION,)), name)
            both = self.arguments(call.name, call.arguments, (MESSAGE, MESSAGE), call.span, environment)
            return lambda: replace(call, arguments=both())
        relation = RELATIONS.get(call.name)
        if relation is not None:
            wanted: tuple[Alternatives, ...] = relation.parameters
            if call.arguments is None and wanted:
                self.mistakes.tell(
                    "N004", f"{call.name} needs arguments", call.span, signature(call.name, wanted)
                )
                return lambda: call
        else:
            parameters = self.definitions.signature(call.name)
            if parameters is None:
                self.unknown(call, environment)
                return lambda: call
            wanted = parameters
            if call.arguments is None and (
                open_ := [s[0] for s in parameters if Sort.ENTITY not in s and Sort.LOG not in s]
            ):
                hint = f"{signature(call.name, wanted)}; without arguments it applies to every entity or receipt log"
                self.mistakes.tell(
                    "N004", f"{call.name} needs arguments: one is a {open_[0].value}", call.span, hint
                )
                return lambda: call
        if call.arguments is None:
            return lambda: call
        if call.name == "repeated" and len(call.arguments) == len(wanted):
            return self.repeated(call, call.arguments, environment)
        arguments = self.arguments(call.name, call.arguments, wanted, call.span, environment)
        return lambda: replace(call, arguments=arguments())

    def repeated(
        self, call: syntax.Call, arguments: tuple[syntax.Term, ...], environment: _Environment
    ) -> _Formula:
        """A message in its log, or a view in that of views."""
        what, where = arguments
        cell, log = self.term(where, environment)
        views = cell.root().allowed == {Sort.VIEWS}
        self.narrow(cell, frozenset((Sort.VIEWS if views else Sort.LOG,)), where)
        repeats = self.of_sort(what, VIEW if views else MESSAGE, environment)
        return lambda: replace(call, arguments=(repeats(), log()))

    def unknown(self, call: syntax.Call, environment: _Environment) -> None:
        if call.name in environment:
            hint: str | None = f"{call.name} is a variable, but a formula is needed here"
        elif self.definitions.attribute(call.name) is not None:
            hint = f"{call.name} is an attribute: compare its value, {call.name}(...) = ..."
        elif call.name in FUNCTIONS:
            hint = f"{call.name} is a function: compare its result, {call.name}(...) = ..."
        else:
            hint = intended(call.name, (*self.definitions, *RELATIONS))
        self.mistakes.tell("N001", f"there is no predicate or service {call.name}", call.span, hint)
        for argument in call.arguments or ():
            self.term(argument, environment)


def log_sort(kind: syntax.LogKind) -> Sort:
    """What a log of an entity is."""
    match kind:
        case syntax.LogKind.DL:
            return Sort.DELIVERIES
        case syntax.LogKind.VL:
            return Sort.VIEWS
        case syntax.LogKind.SL | syntax.LogKind.RL | syntax.LogKind.H:
            return Sort.LOG
        case _:
            assert_never(kind)


def declaration(name: str) -> str:
    """How an attribute of a name is declared, if it can be."""
    if name in COLUMNS:
        return f"{name} is a column of a trace, but nothing that a message carries"
    return f"to declare an attribute of messages, write: attribute {name} of message: text"


def _as_quantity(name: str) -> str | None:
    """What to say of a name that was to be a time."""
    what = no_unit(name)
    return None if what is None else f"as a time it is none: {what}; {UNITS_HINT}"


def constant(term: syntax.Term) -> Fraction | None:
    """The number that a term without names and units is."""
    match term:
        case syntax.Quantity(value, None):
            return value
        case syntax.Negative(inner):
            positive = constant(inner)
            return None if positive is None else -positive
        case syntax.Arithmetic(operator, left, right):
            one, other = constant(left), constant(right)
            if one is None or other is None:
                return None
            match operator:
                case syntax.Operator.PLUS:
                    return one + other
                case syntax.Operator.MINUS:
                    return one - other
                case syntax.Operator.TIMES:
                    return one * other
                case syntax.Operator.OVER:
                    return one / other if other else None
                case _:
                    assert_never(operator)
        case syntax.Quantity() | syntax.Name() | syntax.Place() | syntax.Bound() | syntax.EntityLog():
            return None
        case syntax.Apply() | syntax.At() | syntax.Slice() | syntax.Shared() | syntax.EntitySet():
            return None
        case syntax.Relation():
            return None
        case _:
            assert_never(term)


def _counted(number: int) -> str:
    return "no arguments" if number == 0 else "1 argument" if number == 1 else f"{number} arguments"
