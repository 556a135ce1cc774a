"""What a name or a word means, as Markdown: for the pointer that rests on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Final, assert_never

from precedes.core.diagnostics import Span
from precedes.core.execution import EventKind, Execution
from precedes.editor.analysis import Analysis
from precedes.editor.occurrences import Kind, Occurrence
from precedes.language import syntax
from precedes.language.errors import Mistakes
from precedes.language.formatting.formatter import formatted
from precedes.language.library import Library
from precedes.language.parsing.lexer import Token, scan_formula
from precedes.language.printer import statement_text
from precedes.language.quoting import shown
from precedes.language.vocabulary import (
    ATOMS,
    CONNECTIVES,
    FUNCTIONS,
    GROUP,
    KEYWORDS,
    LOG_TERMS,
    NUMBERS,
    RELATIONS,
    STATEMENT_FORMS,
    Notation,
    signature,
)

_LOGS: Final = frozenset(kind.value for kind in syntax.LogKind)
_ALIKE: Final = (
    {"EQUAL", "DIFFERENT", "LESS", "AT_MOST", "MORE", "AT_LEAST"},
    {"PLUS", "MINUS"},
    {"STAR", "SLASH"},
)
_LOOKED_FOR: Final = frozenset(
    (
        *KEYWORDS.values(),
        "GROUP",
        "BEFORE",
        "LEADS",
        "DOTS",
        "AMPERSAND",
        *(kind for kinds in _ALIKE for kind in kinds),
    )
)
"""The words and signs of which something is told."""


@dataclass(frozen=True, slots=True)
class Note:
    """What is told of a place, and how far the place reaches."""

    span: Span
    markdown: str


def note(analysis: Analysis, line: int, column: int) -> Note | None:
    """What the name or the word at a place means; None if nothing is known of it."""
    one = analysis.occurrence_at(line, column)
    if one is not None:
        text = _of_name(analysis, one)
        return None if text is None else Note(one.span, text)
    token = analysis.token_at(line, column)
    text = None if token is None else _of_word(token)
    return None if token is None or text is None else Note(token.span, text)


# ---- names -------------------------------------------------------------------------------------------------


def _of_name(analysis: Analysis, one: Occurrence) -> str | None:
    name = one.symbol.name
    match one.symbol.kind:
        case Kind.DEFINITION:
            return _definition(name, analysis.library)
        case Kind.ATTRIBUTE:
            return _attribute(name, analysis.library)
        case Kind.BUILT_IN:
            return built_in(name)
        case Kind.VARIABLE:
            sort = _sort(analysis, one)
            return f"variable {shown(name)}" + (f": {sort.value}" if sort else "")
        case Kind.SCENARIO:
            heads = [s for s in analysis.source.statements if isinstance(s, syntax.ScenarioHead)]
            return _code(statement_text(heads[one.symbol.scope - 1]))
        case Kind.ENTITY | Kind.MESSAGE | Kind.GROUP | Kind.VIEW:
            execution = _execution(analysis, one.symbol.scope)
            return f"{one.symbol.kind.value} {shown(name)}" + (
                "" if execution is None else _in_execution(one, execution)
            )
        case _:
            assert_never(one.symbol.kind)


def _definition(name: str, library: Library) -> str | None:
    try:
        written, _ = library.written(name)
    except KeyError:
        return None
    parts = [_code(formatted(statement_text(replace(written, title=None, source=None))))]
    parts += [f"{written.title}"] if written.title else []
    parts += [f"*{written.source}*"] if written.source else []
    return "\n\n".join(parts)


def _attribute(name: str, library: Library) -> str | None:
    try:
        declaration, _ = library.declared(name)
    except KeyError:
        return None
    return _code(statement_text(declaration))


def built_in(name: str) -> str:
    """A function or a relation of the language."""
    word = RELATIONS[name] if name in RELATIONS else FUNCTIONS[name]
    return f"{_code(signature(name, word.parameters))}\n\n{word.meaning}"


def _sort(analysis: Analysis, one: Occurrence) -> syntax.Sort | None:
    """What a variable stands for: one of its places may know."""
    known = (each.sort for each in analysis.occurrences if each.symbol == one.symbol)
    return next((sort for sort in known if sort is not None), None)


def _execution(analysis: Analysis, number: int) -> Execution | None:
    """The execution of a scenario by its number, from 1; None if the text has mistakes."""
    if analysis.compiled is None or not 1 <= number <= len(analysis.compiled.scenarios):
        return None
    return analysis.compiled.scenarios[number - 1].execution


def _in_execution(one: Occurrence, execution: Execution) -> str:
    name = one.symbol.name
    match one.symbol.kind:
        case Kind.ENTITY:
            return f", number {execution.entities.index(name) + 1} of the cluster"
        case Kind.GROUP | Kind.VIEW:
            inside = (execution.groups if one.symbol.kind is Kind.GROUP else execution.views)[name]
            return f": {', '.join(shown(entity) for entity in execution.entities if entity in inside)}"
        case Kind.MESSAGE:
            return _journey(name, execution)
        case _:
            raise AssertionError(f"{name} is not in an execution")


def _journey(name: str, execution: Execution) -> str:
    """Who sent a message, to whom, and who delivered it."""
    message = execution.messages[name]
    entities = [entity for entity in execution.entities if entity in (message.destinations or ())]
    addressed = [*map(shown, entities), *(f"group {shown(group)}" for group in sorted(message.groups))]
    by = [
        shown(history.entity)
        for history in execution.histories
        if any(event.kind is EventKind.DELIVER and event.message == name for event in history.events)
    ]
    sent = "sent by nobody" if message.sender is None else f"sent by {shown(message.sender)}"
    to = f" to {', '.join(addressed) or 'nobody'}" if message.sender is not None else ""
    return f": {sent}{to}; delivered by {', '.join(by) or 'nobody'}"


# ---- words of the language ---------------------------------------------------------------------------------


def _of_word(token: Token) -> str | None:
    if token.type == "NAME":
        if token.text in {*FUNCTIONS, *RELATIONS}:
            return built_in(token.text)
        return word(token.text) if token.text in _LOGS else None
    return word(token.type) or None


def word(kind: str) -> str:
    """The forms that begin with a word or sign, by its terminal, or with a log, such as `RL`; empty if none does."""
    forms = (
        [one for one in LOG_TERMS if one.form.startswith(f"{kind}[")]
        if kind in _LOGS
        else _forms().get(kind, [])
    )
    return "\n\n".join(_code(one.form) + (f"\n\n{one.meaning}" if one.meaning else "") for one in forms)


@cache
def _forms() -> dict[str, list[Notation]]:
    """The forms of the language by the word or sign that one looks for them by."""
    found: dict[str, list[Notation]] = {}
    for one in (*STATEMENT_FORMS, *CONNECTIVES, *ATOMS, *LOG_TERMS, *NUMBERS):
        for kind in _heads(one.form):
            found.setdefault(kind, []).append(one)
    return found


def _heads(form: str) -> list[str]:
    """The first word or sign of a form, those that are used as it is, and the first of each alternative."""
    tokens = scan_formula(form, Mistakes(None, ())).tokens
    kinds = ["GROUP" if token.text == GROUP else token.type for token in tokens]
    wanted = [place for place, kind in enumerate(kinds) if kind in _LOOKED_FOR]
    if not wanted:
        return []
    first = kinds[wanted[0]]
    alike = next((family for family in _ALIKE if first in family), {first})
    return list(
        dict.fromkeys(
            kinds[place]
            for place in wanted
            if kinds[place] in alike or (place and kinds[place - 1] == "COMMA" and first != "FIND")
        )
    )


def _code(text: str) -> str:
    return f"```precedes\n{text.rstrip()}\n```"
