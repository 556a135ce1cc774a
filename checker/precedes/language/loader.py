"""From a file to its scenarios and claims, for `precedes check`.

All mistakes of a file are reported at once: text that does not parse, unknown names and conflicting sorts in
definitions, impossible scenarios, and mistakes in expectations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from precedes.core.diagnostics import Diagnostic, PrecedesError, Span
from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.garbage_collection import paused
from precedes.core.verdict import Verdict
from precedes.language import syntax
from precedes.language.errors import Mistakes, in_order
from precedes.language.library import Library, standard_library
from precedes.language.parsing.parser import Broken, Reading, read
from precedes.language.printer import statement_text
from precedes.language.requirements import check_scope, requirement_of
from precedes.language.scenarios import Group, build_scenario
from precedes.language.sorts.inference import infer_sentence


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a scenario says the verdict of a requirement is; `text` is the statement as printed."""

    expected: Verdict
    requirement: Requirement
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Scenario:
    """An execution written by hand and what is expected of it."""

    name: str
    title: str | None
    source: str | None
    execution: Execution
    expectations: tuple[Expectation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Claim:
    """A question to the solver; `text` is the statement as printed."""

    kind: syntax.QuestionKind
    requirement: Requirement
    bounds: tuple[syntax.Size, ...]
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class CompiledFile:
    """What a file asks.

    `library` has the file's own definitions on top of those that it was compiled with.
    """

    path: str | None
    scenarios: tuple[Scenario, ...]
    claims: tuple[Claim, ...]
    library: Library


def compile_text(text: str, path: str | None = None, library: Library | None = None) -> CompiledFile:
    """A file, from its text.

    PrecedesError with every mistake in it, also where some of its statements do not parse.
    """
    reading = read(text, path)
    if not reading.diagnostics:
        return compile_source(reading.source, library)
    raise PrecedesError(in_order((*reading.diagnostics, *_further(reading, library or standard_library()))))


def compile_source(source: syntax.SourceFile, library: Library | None = None) -> CompiledFile:
    """A file, from its syntax tree. PrecedesError with every mistake in it."""
    mistakes = Mistakes(source.path, source.lines)
    with paused():
        file = _File(source, library or standard_library(), mistakes)
        file.infer(list(_grouped(source, ())))
        mistakes.check()
        compiled = file.compile()
        mistakes.check()
    return compiled


def _further(reading: Reading, library: Library) -> list[Diagnostic]:
    """The mistakes beside those for which some statements did not parse, and not because of them."""
    mistakes = Mistakes(reading.source.path, reading.source.lines)
    file = _File(reading.source, library, mistakes)
    file.infer(list(_grouped(reading.source, reading.broken)))
    missing = {f"there is no predicate or service {broken.name}" for broken in reading.broken if broken.name}
    return [diagnostic for diagnostic in mistakes.found if diagnostic.message not in missing]


def _grouped(source: syntax.SourceFile, broken: tuple[Broken, ...]) -> Iterator[Group]:
    """The scenarios of a file, in order; what stands before the first is a group without a head."""
    head: syntax.ScenarioHead | None = None
    statements: list[syntax.Cluster | syntax.Group | syntax.Log | syntax.Set | syntax.Expect] = []
    sound = True
    failed = iter(broken)
    next_failed = next(failed, None)
    for index in range(len(source.statements) + 1):
        while next_failed is not None and next_failed.index == index:
            if next_failed.rule == "scenario":
                yield Group(head, tuple(statements), sound)
                head, statements = None, []
            sound = sound and next_failed.rule in ("definition", "attribute", "question", "expect")
            next_failed = next(failed, None)
        if index == len(source.statements):
            break
        statement = source.statements[index]
        if isinstance(statement, syntax.ScenarioHead):
            yield Group(head, tuple(statements), sound)
            head, statements, sound = statement, [], True
        elif not isinstance(statement, syntax.Definition | syntax.AttributeDeclaration | syntax.Question):
            statements.append(statement)
    yield Group(head, tuple(statements), sound)


@dataclass(frozen=True, slots=True)
class _Checked:
    """A scenario before its formulas are lowered."""

    head: syntax.ScenarioHead
    execution: Execution
    expectations: tuple[tuple[syntax.Expect, syntax.Sentence], ...]


class _File:
    """The passes over one file: names and sorts of everything first, then, if all is well, lowering."""

    def __init__(self, source: syntax.SourceFile, library: Library, mistakes: Mistakes) -> None:
        self.source = source
        self.mistakes = mistakes
        defines = any(
            isinstance(statement, syntax.Definition | syntax.AttributeDeclaration)
            for statement in source.statements
        )
        self.library = Library([source], library, mistakes) if defines else library
        self.checked: list[_Checked] = []
        self.questions: list[tuple[syntax.Question, syntax.Sentence]] = []

    def infer(self, groups: list[Group]) -> None:
        """Tell every mistake of names, sorts and scenarios."""
        self.library.check(self.mistakes)
        for group in groups:
            if group.head is not None and group.sound:
                self.scenario(group, group.head)
            elif group.sound:
                for statement in group.statements:
                    hint = 'begin a scenario: scenario name "title"'
                    self.mistakes.tell(
                        "S015", "this belongs to a scenario, but there is none", statement.span, hint
                    )
        for question in self.source.statements:
            if isinstance(question, syntax.Question):
                typed = infer_sentence(question.sentence, self.library, None, self.mistakes)
                self.questions.append((question, typed))

    def scenario(self, group: Group, head: syntax.ScenarioHead) -> None:
        execution, scope = build_scenario(group, self.library, self.mistakes)
        expectations = tuple(
            (statement, check_scope(statement.sentence, self.library, scope, self.mistakes))
            for statement in group.statements
            if isinstance(statement, syntax.Expect)
        )
        self.checked.append(_Checked(head, execution, expectations))

    def compile(self) -> CompiledFile:
        """Lower what is asked; what cannot be written out is told."""
        scenarios: list[Scenario] = []
        for checked in self.checked:
            cluster = checked.execution.entities
            expectations: list[Expectation] = []
            for statement, sentence in checked.expectations:
                found = requirement_of(sentence, self.library, cluster, self.mistakes)
                if found is not None:
                    text = statement_text(statement)
                    expectations.append(Expectation(statement.expected, found, text, statement.span))
            head = checked.head
            scenarios.append(
                Scenario(
                    head.name.text, head.title, head.source, checked.execution, tuple(expectations), head.span
                )
            )
        claims: list[Claim] = []
        for question, sentence in self.questions:
            found = requirement_of(sentence, self.library, (), self.mistakes)
            if found is not None:
                claims.append(
                    Claim(question.kind, found, question.sizes, statement_text(question), question.span)
                )
        return CompiledFile(self.source.path, tuple(scenarios), tuple(claims), self.library)
