"""What may be written next: the words that the grammar allows, and the names that there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from precedes.core.diagnostics import Span
from precedes.core.formula import AttributeSort, Carrier
from precedes.editor.analysis import Analysis
from precedes.editor.hover import built_in, word
from precedes.editor.occurrences import Kind, Occurrence
from precedes.language import syntax
from precedes.language.errors import Mistakes
from precedes.language.library import Library, profile_library
from precedes.language.parsing.lalr import END
from precedes.language.parsing.lexer import RawStatement, Token, scan_with_comments
from precedes.language.parsing.parser import acceptable
from precedes.language.quoting import written
from precedes.language.vocabulary import (
    EVERY,
    FUNCTIONS,
    GROUP,
    HISTORY_WORDS,
    KEYWORDS,
    RELATIONS,
    STATEMENTS,
)

_WORD: Final = re.compile(r"\w*\Z")
_SPELLED: Final = {kind: word for word, kind in (KEYWORDS | HISTORY_WORDS).items() if word.isascii()}
_OPENING: Final = frozenset(("LPAR", "LSQB", "BEFORE", "LBRACE", "UNDER"))
_CLOSING: Final = frozenset(("RPAR", "RSQB", "RBRACE"))
_LOGS: Final = (syntax.LogKind.SL, syntax.LogKind.RL, syntax.LogKind.DL, syntax.LogKind.VL)
_WRITTEN_LOGS: Final = (syntax.LogKind.SL, syntax.LogKind.RL, syntax.LogKind.H)


class Role(Enum):
    """What a suggestion is, for the sign that an editor puts before it."""

    KEYWORD = "keyword"
    DEFINITION = "definition"
    FUNCTION = "function"
    ATTRIBUTE = "attribute"
    LOG = "log"
    SORT = "sort"
    ENTITY = "entity"
    MESSAGE = "message"
    GROUP = "group"
    VIEW = "view"
    VARIABLE = "variable"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that may stand in the place of the word that was begun. `detail` is a few words, `markdown` the rest."""

    text: str
    role: Role
    detail: str = ""
    markdown: str = ""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What may stand at a place, and the part of a word that it takes the place of."""

    span: Span
    found: tuple[Suggestion, ...] = ()


def suggestions(analysis: Analysis, line: int, column: int) -> Suggestions:
    """What may be written at a place. Nothing is suggested in comments, in quotations, and where a new name stands."""
    before = analysis.lines[: line - 1]
    current = analysis.lines[line - 1][: column - 1] if line <= len(analysis.lines) else ""
    begun = _WORD.search(current)
    start = begun.start() if begun else len(current)
    span = Span(line, start + 1, column)
    mistakes = Mistakes(None, ())
    statements, comments = scan_with_comments("\n".join((*before, current[:start])), mistakes)
    inside = [comment for comment in comments if comment.line == line]
    if inside or any(told.code == "P002" and told.span and told.span.line == line for told in mistakes.found):
        return Suggestions(span)
    writing = _Writing(
        analysis, statements[-1] if statements else RawStatement("", []), line, not current[:start].strip()
    )
    return Suggestions(span, tuple(dict.fromkeys(writing.all())))


@dataclass(frozen=True, slots=True)
class _Writing:
    """The statement that is being written, up to a place; `begins_line` if nothing stands before that on its line."""

    analysis: Analysis
    statement: RawStatement
    line: int
    begins_line: bool

    def all(self) -> Iterator[Suggestion]:
        tokens = self.statement.tokens
        expected = acceptable(self.statement)
        ended = not tokens or END in expected or not self.statement.rule
        if ended and self.begins_line:
            yield from _keywords((*STATEMENTS,))
            yield Suggestion(GROUP, Role.KEYWORD, "", word("GROUP"))
        if ended and tokens and (self.begins_line or self.statement.rule == "log"):
            yield from self._missing_logs()
        if tokens:
            yield from _keywords(expected - self._elsewhere(ended=ended))
            yield from self._names(expected)

    def _elsewhere(self, *, ended: bool) -> set[str]:
        """Words that the grammar allows and that mean something else here."""
        found = set(STATEMENTS) if ended else set()
        if self.statement.rule == "log" and not self.statement.tokens[0].text.startswith(
            syntax.LogKind.H.value
        ):
            found |= set(HISTORY_WORDS.values())
        return found

    def _names(self, expected: frozenset[str]) -> Iterator[Suggestion]:
        match self.statement.rule:
            case "" | "cluster" | "scenario" | "set" if _begins_log(self.statement.tokens):
                yield from self._of_scenario(Kind.ENTITY)
            case "log":
                yield from self._in_log()
            case "group":
                yield from self._of_scenario(Kind.ENTITY)
            case "attribute":
                yield from _declaration(len(self.statement.tokens))
            case "expect" | "question" | "definition" if "NAME" in expected:
                yield from self._in_formula()
            case _:
                pass

    # logs

    def _missing_logs(self) -> Iterator[Suggestion]:
        """The logs that the entities of the scenario do not have yet."""
        number = self._scenario()
        entities = [one.symbol.name for one in self.analysis.occurrences if _is_entity_of(one, number)]
        heads = {f"{line.split(':')[0].strip()}" for line in self.analysis.lines}
        for kind in _WRITTEN_LOGS:
            for place, entity in enumerate(entities, start=1):
                head = f"{kind.value}{place}"
                if head not in heads:
                    yield Suggestion(f"{head}: < ", Role.LOG, entity)

    def _in_log(self) -> Iterator[Suggestion]:
        tokens = self.statement.tokens
        opened = _opened(tokens)
        if opened is None and tokens[-1].type == "CARET":
            yield from self._of_scenario(Kind.ENTITY)
        elif opened is None and any(token.type == "OPEN" for token in tokens) and tokens[-1].type != "CLOSE":
            yield from self._of_scenario(Kind.MESSAGE)
        elif opened is not None and opened.type in ("LBRACE", "UNDER"):
            if tokens[-1].type == "COLON":
                yield from self._of_scenario(Kind.GROUP)
            else:
                yield from self._of_scenario(Kind.ENTITY)
        elif opened is not None and opened.type == "LPAR":
            yield from self._of_scenario(Kind.MESSAGE)
        elif opened is not None and tokens[1] is opened:
            yield from self._of_scenario(Kind.ENTITY)
        elif opened is not None and tokens[-1].type != "EQUAL":
            yield from _attributes(self.analysis.library, "", tuple(Carrier))

    # formulas

    def _in_formula(self) -> Iterator[Suggestion]:
        tokens = self.statement.tokens
        kinds = [token.type for token in tokens]
        if self.statement.rule == "definition" and "ASSIGN" not in kinds:
            if kinds[-1] == "COLON":
                yield from (Suggestion(sort.value, Role.SORT) for sort in syntax.Sort)
        elif "WITH" in kinds:
            yield from (Suggestion(counted.value, Role.KEYWORD) for counted in syntax.Counted)
        elif "AMONG" in kinds:
            yield from self._of_scenario(Kind.ENTITY)
        elif _is_after_per(kinds):
            yield from _attributes(self.analysis.library, "", (Carrier.MESSAGE,))
        elif not _is_binding(kinds):
            yield from self._terms(tokens)

    def _terms(self, tokens: Sequence[Token]) -> Iterator[Suggestion]:
        yield from (Suggestion(name, Role.VARIABLE) for name in _bound(tokens))
        if self.statement.rule == "expect":
            for kind in (Kind.ENTITY, Kind.MESSAGE, Kind.GROUP, Kind.VIEW):
                yield from self._of_scenario(kind)
        if tokens[-1].type == "IN":
            yield from (Suggestion(name, Role.KEYWORD, f"every {sort.value}") for name, sort in EVERY.items())
        yield from (Suggestion(f"{kind.value}[", Role.LOG, "", word(kind.value)) for kind in _LOGS)
        yield from _definitions(self.analysis.library)
        for name in (*RELATIONS, *FUNCTIONS):
            yield Suggestion(name, Role.FUNCTION, "built in", built_in(name))
        yield from _attributes(self.analysis.library, "(", tuple(Carrier))

    # names of the scenario

    def _scenario(self) -> int:
        """The number of the scenario that the line is in."""
        heads = [one for one in self.analysis.occurrences if one.symbol.kind is Kind.SCENARIO]
        return sum(one.span.line < self.line for one in heads)

    def _of_scenario(self, kind: Kind) -> Iterator[Suggestion]:
        number = self._scenario()
        for one in self.analysis.occurrences:
            if one.symbol.kind is kind and one.symbol.scope == number and not one.by_place:
                yield Suggestion(written(one.symbol.name), Role(kind.value), kind.value)


def _begins_log(tokens: Sequence[Token]) -> bool:
    """Whether a log by name begins: `RL[`."""
    return (
        len(tokens) > 1
        and tokens[-1].type == "LSQB"
        and tokens[-2].text in {kind.value for kind in _WRITTEN_LOGS}
    )


def _is_entity_of(one: Occurrence, number: int) -> bool:
    return one.symbol.kind is Kind.ENTITY and one.symbol.scope == number and one.defines


def _keywords(kinds: Iterable[str]) -> Iterator[Suggestion]:
    for kind in sorted(kinds):
        if kind in _SPELLED:
            yield Suggestion(_SPELLED[kind], Role.KEYWORD, "", word(kind))


def _declaration(place: int) -> Iterator[Suggestion]:
    """What stands in `attribute key of message: text` at a place."""
    words: dict[int, Sequence[str]] = {
        2: ("of",),
        3: [carrier.value for carrier in Carrier],
        5: [sort.value for sort in AttributeSort],
    }
    yield from (Suggestion(each, Role.SORT) for each in words.get(place, ()))


def _definitions(library: Library) -> Iterator[Suggestion]:
    for name in dict.fromkeys((*library.names(), *profile_library().own())):
        definition, _ = library.written(name)
        yield Suggestion(name, Role.DEFINITION, definition.kind.value, definition.title or "")


def _attributes(library: Library, ending: str, carriers: Sequence[Carrier]) -> Iterator[Suggestion]:
    for name in library.attributes():
        attribute = library.attribute(name)
        if attribute is not None and attribute.carrier in carriers:
            detail = f"{attribute.sort.value} of a {attribute.carrier.value}"
            yield Suggestion(f"{name}{ending}", Role.ATTRIBUTE, detail)


def _opened(tokens: Sequence[Token]) -> Token | None:
    """The bracket that is still open."""
    opened: list[Token] = []
    for token in tokens:
        if token.type in _OPENING:
            opened.append(token)
        elif token.type in _CLOSING and opened:
            opened.pop()
    return opened[-1] if opened else None


def _is_after_per(kinds: Sequence[str]) -> bool:
    """Whether an attribute stands here: after `per`, or `per (topic,`."""
    if kinds[-1] == "PER":
        return True
    start = len(kinds) - 1 - kinds[::-1].index("LPAR") if "LPAR" in kinds else 0
    return start > 0 and kinds[start - 1] == "PER" and set(kinds[start + 1 :]) <= {"NAME", "COMMA"}


def _is_binding(kinds: Sequence[str]) -> bool:
    """Whether a new variable stands here: after `forall`, or `forall p,`."""
    for kind in reversed(kinds):
        if kind in ("FORALL", "EXISTS"):
            return True
        if kind not in ("NAME", "COMMA"):
            return False
    return False


def _bound(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The variables that were introduced in a statement so far: behind quantifiers, parameters, those of relations."""
    found: list[str] = []
    binding = False
    for place, token in enumerate(tokens):
        if token.type in ("FORALL", "EXISTS"):
            binding = True
        elif token.type in ("IN", "COLON"):
            binding = False
        elif token.type == "NAME" and (binding or _is_parameter(tokens, place)):
            found.append(token.text)
    return tuple(dict.fromkeys(found))


def _is_parameter(tokens: Sequence[Token], place: int) -> bool:
    """Whether a name is a parameter of the definition, or is introduced before a colon: `acyclic(p, q: F)`."""
    before = tokens[place - 1].type if place else ""
    assigned = any(token.type == "ASSIGN" for token in tokens[:place])
    if tokens[0].type in ("PREDICATE", "SERVICE") and not assigned:
        return place > 1 and before in ("LPAR", "COMMA")
    after = [token.type for token in tokens[place + 1 : place + 4]]
    return (before == "LPAR" and after == ["COMMA", "NAME", "COLON"]) or (
        before == "COMMA" and after[:1] == ["COLON"]
    )
