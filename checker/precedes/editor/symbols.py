"""What a file has, as an outline, and what each of its names is, for colors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import assert_never

from precedes.core.diagnostics import Span
from precedes.editor.analysis import Analysis
from precedes.editor.occurrences import Kind, Occurrence
from precedes.language import syntax
from precedes.language.printer import statement_text


class Heading(Enum):
    """What an entry of an outline stands for."""

    SCENARIO = "scenario"
    PREDICATE = "predicate"
    SERVICE = "service"
    ATTRIBUTE = "attribute"
    QUESTION = "question"
    EXPECTATION = "expectation"


@dataclass(frozen=True, slots=True)
class Entry:
    """A part of a file: its name, where that stands, and the lines that it has, from 1."""

    heading: Heading
    name: str
    detail: str
    span: Span
    first: int
    last: int
    below: tuple[Entry, ...] = field(default=())


def outline(analysis: Analysis) -> tuple[Entry, ...]:
    """Scenarios with what they expect, definitions, attributes and questions. A statement that does not parse is in
    none.
    """
    found: list[Entry] = []
    scenario: Entry | None = None
    for statement, first, last in _with_lines(analysis):
        entry = _entry(statement, first, last)
        if entry is not None and entry.heading is Heading.SCENARIO:
            found += [scenario] if scenario else []
            scenario = entry
        elif entry is not None and (entry.heading is not Heading.EXPECTATION or scenario is None):
            found.append(entry)
        elif scenario is not None:
            below = scenario.below if entry is None else (*scenario.below, entry)
            scenario = replace(scenario, last=last, below=below)
    found += [scenario] if scenario else []
    return tuple(sorted(found, key=lambda one: one.first))


def _with_lines(analysis: Analysis) -> Iterator[tuple[syntax.Statement, int, int]]:
    """The statements that parse, each with its first and last line."""
    ends = {(raw.tokens[0].line, raw.tokens[0].column): raw.tokens[-1].line for raw in analysis.statements}
    for statement in analysis.source.statements:
        span = statement.span
        yield statement, span.line, ends.get((span.line, span.column), span.line)


def _entry(statement: syntax.Statement, first: int, last: int) -> Entry | None:
    match statement:
        case syntax.ScenarioHead(name, title):
            return Entry(Heading.SCENARIO, name.text, title or "", name.span, first, last)
        case syntax.Definition(kind, name, _, title):
            heading = Heading.SERVICE if kind is syntax.DefinitionKind.SERVICE else Heading.PREDICATE
            return Entry(heading, name.text, title or "", name.span, first, last)
        case syntax.AttributeDeclaration(name, sort):
            return Entry(Heading.ATTRIBUTE, name.text, sort.value, name.span, first, last)
        case syntax.Question():
            return Entry(Heading.QUESTION, statement_text(statement), "", statement.span, first, last)
        case syntax.Expect():
            return Entry(Heading.EXPECTATION, statement_text(statement), "", statement.span, first, last)
        case syntax.Cluster() | syntax.Group() | syntax.Log() | syntax.Set():
            # They belong to the scenario, whose lines they lengthen.
            return None
        case _:
            assert_never(statement)


def colored(analysis: Analysis) -> tuple[tuple[Span, Kind, bool], ...]:
    """The names of a file with their kinds, in the order of the text, none over another; the last value says whether
    the name is introduced there.
    """
    found: list[Occurrence] = []
    for one in analysis.occurrences:
        overlaps = (
            found and found[-1].span.line == one.span.line and found[-1].span.end_column > one.span.column
        )
        if not (one.by_place or overlaps):
            found.append(one)
    return tuple((one.span, one.symbol.kind, one.defines) for one in found)
