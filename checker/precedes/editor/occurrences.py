"""Where the names of a file are, and which of them are one thing.

A name of a scenario is an entity, a message, a group or a view of that scenario; a variable belongs to the words
that bind it; definitions, attributes and scenarios belong to the file. What a name in a formula stands for is what
the inference of sorts says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, assert_never

from precedes.core.diagnostics import PrecedesError, Span
from precedes.core.execution import EventKind
from precedes.language import syntax
from precedes.language.errors import Mistakes
from precedes.language.library import Library
from precedes.language.quoting import quoted
from precedes.language.sorts.inference import Scope, infer_sentence
from precedes.language.syntax import Sort
from precedes.language.vocabulary import FUNCTIONS, RELATIONS


class Kind(Enum):
    """What a name is a name of."""

    SCENARIO = "scenario"
    DEFINITION = "definition"
    ATTRIBUTE = "attribute"
    ENTITY = "entity"
    MESSAGE = "message"
    GROUP = "group"
    VIEW = "view"
    VARIABLE = "variable"
    BUILT_IN = "built-in word"


@dataclass(frozen=True, slots=True)
class Symbol:
    """One thing that has a name. `scope` tells things of one name apart: the scenario, or what binds a variable."""

    kind: Kind
    name: str
    scope: int = 0


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where a thing is named. `defines` is where it is introduced; `by_place` where an entity is a number."""

    symbol: Symbol
    span: Span
    defines: bool = False
    by_place: bool = False
    sort: Sort | None = None


_KINDS: Final = {
    Sort.ENTITY: Kind.ENTITY,
    Sort.MESSAGE: Kind.MESSAGE,
    Sort.GROUP: Kind.GROUP,
    Sort.VIEW: Kind.VIEW,
}
_Variables = Mapping[str, Symbol]


def occurrences(source: syntax.SourceFile, library: Library) -> tuple[Occurrence, ...]:
    """Every name in a file, in the order of the text."""
    names = _Names(library)
    for statement in source.statements:
        if isinstance(statement, syntax.ScenarioHead):
            names.begin(_scenario(source.statements, statement))
        names.statement(statement)
    return tuple(sorted(dict.fromkeys(names.found), key=lambda one: (one.span.line, one.span.column)))


@dataclass(frozen=True, slots=True)
class _Scenario:
    """What a scenario has names for."""

    entities: tuple[str, ...] = ()
    messages: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    views: frozenset[str] = frozenset()
    sent: frozenset[str] = frozenset()
    """The messages that somebody sends."""

    @property
    def scope(self) -> Scope:
        return Scope(self.entities, self.messages, self.groups, self.views)

    def kinds(self, name: str) -> list[Kind]:
        return [_KINDS[sort] for sort in self.scope.sorts(name)]


def _scenario(statements: Sequence[syntax.Statement], head: syntax.ScenarioHead) -> _Scenario:
    start = next(place for place, statement in enumerate(statements) if statement is head)
    own: list[syntax.Statement] = []
    for statement in statements[start + 1 :]:
        if isinstance(statement, syntax.ScenarioHead):
            break
        own.append(statement)
    logs = [one for one in own if isinstance(one, syntax.Log)]
    items = [(log, item) for log in logs for item in log.items]
    entries = [(log, item) for log, item in items if isinstance(item, syntax.Entry)]
    return _Scenario(
        tuple(name.text for one in own if isinstance(one, syntax.Cluster) for name in one.entities),
        frozenset(item.message.text for _, item in entries),
        frozenset(one.name.text for one in own if isinstance(one, syntax.Group)),
        frozenset(
            item.view.text for _, item in items if isinstance(item, syntax.Change) and item.view is not None
        ),
        frozenset(item.message.text for log, item in entries if _sends(log, item)),
    )


def _sends(log: syntax.Log, item: syntax.Entry) -> bool:
    return item.event is EventKind.SEND or (item.event is None and log.kind is syntax.LogKind.SL)


class _Names:
    """A walk over the statements of a file."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.found: list[Occurrence] = []
        self.scenario = _Scenario()
        self.number = 0
        self.binders = 0
        self.met: set[Symbol] = set()

    def begin(self, scenario: _Scenario) -> None:
        self.scenario = scenario
        self.number += 1

    def add(self, symbol: Symbol, span: Span, *, defines: bool = False, sort: Sort | None = None) -> None:
        self.found.append(Occurrence(symbol, span, defines, sort=sort))

    def named(self, kind: Kind, name: syntax.Name, *, defines: bool = False) -> None:
        """A name of the scenario."""
        self.add(Symbol(kind, name.text, self.number), name.span, defines=defines)

    def reference(self, reference: syntax.Reference) -> None:
        """An entity, by its name or by its place in the cluster."""
        if isinstance(reference, syntax.Name):
            if reference.text in self.scenario.entities:
                self.named(Kind.ENTITY, reference)
        elif 1 <= reference.number <= len(self.scenario.entities):
            symbol = Symbol(Kind.ENTITY, self.scenario.entities[reference.number - 1], self.number)
            self.found.append(Occurrence(symbol, reference.span, by_place=True))

    # statements

    def statement(self, statement: syntax.Statement) -> None:
        match statement:
            case syntax.ScenarioHead(name):
                self.named(Kind.SCENARIO, name, defines=True)
            case syntax.Cluster(entities):
                for name in entities:
                    self.named(Kind.ENTITY, name, defines=True)
            case syntax.Group(name, members):
                self.named(Kind.GROUP, name, defines=True)
                for member in members:
                    self.reference(member)
            case syntax.Log(_, owner, items):
                self.reference(owner)
                for item in items:
                    self.item(statement, item)
            case syntax.Set():
                pass
            case syntax.Expect(_, sentence) | syntax.Question(_, sentence):
                within = self.scenario if isinstance(statement, syntax.Expect) else None
                self.sentence(sentence, within)
            case syntax.Definition():
                self.definition(statement)
            case syntax.AttributeDeclaration(name):
                self.add(Symbol(Kind.ATTRIBUTE, name.text), name.span, defines=True)
            case _:
                assert_never(statement)

    def item(self, log: syntax.Log, item: syntax.LogItem) -> None:
        match item:
            case syntax.Mark():
                pass
            case syntax.Change(_, members, _, view):
                if view is not None:
                    symbol = Symbol(Kind.VIEW, view.text, self.number)
                    self.add(symbol, view.span, defines=symbol not in self.met)
                    self.met.add(symbol)
                self.destinations(members)
            case syntax.Entry(_, message, sender, _, destinations, _, carried):
                symbol = Symbol(Kind.MESSAGE, message.text, self.number)
                # Where it is sent; if nobody sends it, where it is met first.
                defines = _sends(log, item) or (
                    message.text not in self.scenario.sent and symbol not in self.met
                )
                self.met.add(symbol)
                self.add(symbol, message.span, defines=defines)
                if sender is not None:
                    self.reference(sender)
                self.destinations(destinations)
                for each in carried:
                    self.add(Symbol(Kind.ATTRIBUTE, each.attribute.text), each.attribute.span)
            case _:
                assert_never(item)

    def destinations(self, destinations: syntax.Destinations | None) -> None:
        if destinations is not None:
            for member in destinations.members:
                self.reference(member)
            for group in destinations.groups:
                # The span is that of `group:billing`.
                name = replace(group.span, column=group.span.end_column - _width(group))
                self.named(Kind.GROUP, replace(group, span=name))

    def definition(self, definition: syntax.Definition) -> None:
        self.add(Symbol(Kind.DEFINITION, definition.name.text), definition.name.span, defines=True)
        typed = definition
        try:
            # Of two definitions of one name, the library has the first.
            if self.library.written(definition.name.text)[0] is definition:
                typed = self.library.definition(definition.name.text)
        except (PrecedesError, KeyError):
            pass
        sorts = {parameter.name.text: parameter.sort for parameter in typed.parameters}
        bound = self.bind((each.name for each in definition.parameters), sorts)
        within, self.scenario = self.scenario, _Scenario()
        self.formula(typed.body, bound)
        self.scenario = within

    def sentence(self, sentence: syntax.Sentence, scenario: _Scenario | None) -> None:
        scope = None if scenario is None else scenario.scope
        typed = infer_sentence(sentence, self.library, scope, Mistakes(None, ()))
        within, self.scenario = self.scenario, scenario or _Scenario()
        self.formula(typed.formula, {})
        for member in sentence.among:
            self.reference(member)
        self.scenario = within

    # formulas

    def bind(
        self, variables: Iterable[syntax.Name], sorts: Mapping[str, Sort | None] | None = None
    ) -> dict[str, Symbol]:
        self.binders += 1
        bound: dict[str, Symbol] = {}
        for name in variables:
            bound[name.text] = Symbol(Kind.VARIABLE, name.text, self.binders)
            sort = name.sort if sorts is None else sorts.get(name.text)
            self.add(bound[name.text], name.span, defines=True, sort=sort)
        return bound

    def formula(self, formula: syntax.Formula, variables: _Variables) -> None:
        match formula:
            case syntax.Truth() | syntax.Undetermined():
                pass
            case syntax.Call(name, arguments):
                self.called(name, formula.span, variables)
                self.terms(arguments or (), variables)
            case (
                syntax.Compare(_, left, right)
                | syntax.HappensBefore(left, right)
                | syntax.Member(left, right)
            ):
                self.terms((left, right), variables)
            case syntax.Precedes(first, log, second):
                self.terms((first, log, second), variables)
            case syntax.Not(body) | syntax.InMode(_, body):
                self.formula(body, variables)
            case syntax.And(parts) | syntax.Or(parts):
                for part in parts:
                    self.formula(part, variables)
            case syntax.Implies(first, second) | syntax.Iff(first, second):
                self.formula(first, variables)
                self.formula(second, variables)
            case syntax.Quantified(_, names, within, body):
                if within is not None:
                    self.term(within, variables)
                self.formula(body, {**variables, **self.bind(names)})
            case syntax.Acyclic(first, second, body):
                self.formula(body, {**variables, **self.bind((first, second))})
            case syntax.Per(body, keys):
                self.formula(body, variables)
                for key in keys:
                    self.add(Symbol(Kind.ATTRIBUTE, key.text), key.span)
            case _:
                assert_never(formula)

    def called(self, name: str, span: Span, variables: _Variables) -> None:
        """The name in front of arguments, or a name that is a formula."""
        own = Span(span.line, span.column, span.column + len(name))
        if name in variables:
            self.add(variables[name], own)
        elif name in RELATIONS:
            self.add(Symbol(Kind.BUILT_IN, name), own)
        elif name in self.library:
            self.add(Symbol(Kind.DEFINITION, name), own)

    def terms(self, terms: Iterable[syntax.Term], variables: _Variables) -> None:
        for term in terms:
            self.term(term, variables)

    def term(self, term: syntax.Term, variables: _Variables) -> None:
        match term:
            case syntax.Name():
                self.name(term, variables)
            case syntax.Place():
                self.reference(term)
            case syntax.Quantity() | syntax.Bound():
                pass
            case syntax.EntityLog(_, entity, to):
                self.terms((entity,) if to is None else (entity, to), variables)
            case syntax.Apply(function, arguments):
                own = Span(term.span.line, term.span.column, term.span.column + len(function))
                if term.attribute is not None or function not in FUNCTIONS:
                    self.add(Symbol(Kind.ATTRIBUTE, function), own)
                else:
                    self.add(Symbol(Kind.BUILT_IN, function), own)
                self.terms(arguments, variables)
            case syntax.At(log, place):
                self.terms((log, place), variables)
            case syntax.Slice(log, start, stop):
                self.terms((log, *(end for end in (start, stop) if end is not None)), variables)
            case syntax.Shared(parts):
                self.terms(parts, variables)
            case syntax.EntitySet(members):
                for member in members:
                    self.reference(member)
            case syntax.Relation(first, second, body):
                self.formula(body, {**variables, **self.bind((first, second))})
            case syntax.Arithmetic(_, left, right):
                self.terms((left, right), variables)
            case syntax.Negative(inner):
                self.term(inner, variables)
            case _:
                assert_never(term)

    def name(self, name: syntax.Name, variables: _Variables) -> None:
        if not name.quoted and name.text in variables:
            self.add(variables[name.text], name.span, sort=name.sort)
            return
        kinds = self.scenario.kinds(name.text)
        if name.sort is not None:
            kind = _KINDS.get(name.sort)
            kinds = [kind] if kind in kinds else []
        # Without sorts, because of a mistake elsewhere, a quoted name may as well be a text.
        elif name.quoted or len(kinds) > 1:
            kinds = []
        for kind in kinds:
            self.named(kind, name)


def _width(name: syntax.Name) -> int:
    """How many columns a name takes, as the printer writes it."""
    return len(quoted(name.text) if name.quoted else name.text)
