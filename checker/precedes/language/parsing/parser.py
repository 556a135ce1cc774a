"""From statements to the syntax tree.

`grammar.lark` defines the shapes, and `tree_builder` makes the nodes. Each statement is parsed separately, so
that all mistakes of a file are reported at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, cast

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.garbage_collection import paused
from precedes.language import syntax
from precedes.language.errors import Mistakes, in_order
from precedes.language.parsing.lalr import END, Automaton, Unexpected
from precedes.language.parsing.lexer import (
    GROUP_HINT,
    UNITS_HINT,
    RawStatement,
    Token,
    meant_statement,
    no_unit,
    scan,
    scan_formula,
)
from precedes.language.parsing.tables import tables
from precedes.language.parsing.tree_builder import Builder, Mistake, name_text
from precedes.language.quoting import quoted
from precedes.language.vocabulary import GROUP, HISTORY_WORDS, KEYWORDS, SYMBOLS, UNITS

_SHOWN: Final = (
    {kind: f"`{symbol}`" for symbol, kind in reversed(SYMBOLS.items())}
    | {kind: f"`{word}`" for word, kind in KEYWORDS.items() if word.isascii()}
    | {kind: f"`{word}`" for word, kind in HISTORY_WORDS.items()}
    | {
        "GROUP": f"`{GROUP}`",
        "NAME": "a name",
        "INT": "a number",
        "NUMBER": "a number",
        "QUOTED": "a quotation",
        "OPEN": "`<`",
        "CLOSE": "`]`",
    }
    | {END: "the end of the statement"}
)
_NAMING: Final = ("scenario", "cluster", "group", "log", "definition", "expect")
_WORDS: Final = ("NAME", "INT", "NUMBER")
_COMPARATORS: Final = ("LESS", "AT_MOST", "EQUAL", "DIFFERENT", "MORE", "AT_LEAST", "LEADS", "BEFORE", "IN")


@dataclass(frozen=True, slots=True)
class Broken:
    """A statement that did not parse: what it would have been, and the name that it would have defined."""

    rule: str
    name: str | None
    index: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read of a file: the statements that parse, those that do not, and why."""

    source: syntax.SourceFile
    broken: tuple[Broken, ...]
    diagnostics: tuple[Diagnostic, ...]


def parse(text: str, path: str | None = None) -> syntax.SourceFile:
    """The syntax tree of a file; PrecedesError with every mistake in it."""
    reading = read(text, path)
    if reading.diagnostics:
        raise PrecedesError(reading.diagnostics)
    return reading.source


def read(text: str, path: str | None = None) -> Reading:
    """As `parse`, but what can be read is returned beside the mistakes."""
    text = text.removeprefix("\ufeff")
    lines = tuple(line.rstrip("\r") for line in text.split("\n"))
    mistakes = Mistakes(path, lines)
    statements: list[syntax.Statement] = []
    broken: list[Broken] = []
    with paused():
        for raw in scan(text, mistakes):
            statement = _parse(raw, mistakes) if raw.sound else None
            if statement is None:
                broken.append(Broken(raw.rule, _defined(raw), len(statements)))
            else:
                statements.append(cast(syntax.Statement, statement))
    return Reading(syntax.SourceFile(tuple(statements), path, lines), tuple(broken), in_order(mistakes.found))


def parse_sentence(text: str, where: str | None = None) -> syntax.Sentence:
    """A formula that stands alone, as after `--require`, which `where` names; PrecedesError where it is none."""
    mistakes = Mistakes(where, text.split("\n"))
    raw = scan_formula(text, mistakes)
    sentence = _parse(raw, mistakes) if raw.sound else None
    mistakes.check()
    return cast(syntax.Sentence, sentence)


def acceptable(raw: RawStatement) -> frozenset[str]:
    """The terminals that may follow the tokens of a statement that is being written; `END` where it may end."""
    return _automaton().acceptable(raw.rule, raw.tokens) if raw.rule else frozenset()


def _defined(raw: RawStatement) -> str | None:
    if raw.rule == "definition" and len(raw.tokens) > 1 and raw.tokens[1].type in ("NAME", "QUOTED"):
        return name_text(raw.tokens[1])
    return None


def _parse(raw: RawStatement, mistakes: Mistakes) -> object | None:
    """The node of one statement, or None with the mistake told."""
    builder = _builder()
    builder.mistakes.clear()
    node: object = None
    last = raw.tokens[-1] if raw.tokens else Token(END, "", 1, 1, 1)
    try:
        node = _automaton().run(raw.rule, raw.tokens, Token(END, "", last.line, last.end, last.end + 1))
    except Unexpected as error:
        builder.mistakes.append(_unexpected(error.token, raw, error.expected))
    for mistake in builder.mistakes:
        mistakes.tell(mistake.code, mistake.message, mistake.span, mistake.hint)
    return None if builder.mistakes else node


def _broken_name(token: Token, raw: RawStatement) -> str | None:
    """A name that a character in it cut in pieces, as `msg-1`, or that has spaces, as a title has."""
    place = next((k for k, each in enumerate(raw.tokens) if each is token), None)
    if not place:
        return None
    first = last = place
    while first and _adjoin(raw.tokens[first - 1], raw.tokens[first]):
        first -= 1
    while last + 1 < len(raw.tokens) and _adjoin(raw.tokens[last], raw.tokens[last + 1]):
        last += 1
    pieces = raw.tokens[first : last + 1]
    if (
        token.type in ("MINUS", "SLASH", "COLON", "PLUS", "DOTS", "STAR")
        and pieces[0].type in _WORDS
        and len(pieces) > 1
    ):
        return "".join(piece.text for piece in pieces)
    if raw.rule in ("scenario", "definition") and place == 2 and token.type in _WORDS:
        words = [each for each in raw.tokens[1:] if each.line == token.line]
        count = next((k for k, each in enumerate(words) if each.type not in _WORDS), len(words))
        return " ".join(word.text for word in words[:count])
    return None


def _adjoin(left: Token, right: Token) -> bool:
    joined = (*_WORDS, "MINUS", "SLASH", "COLON", "PLUS", "DOTS", "STAR")
    return left.line == right.line and left.end == right.column and {left.type, right.type} <= set(joined)


def _unexpected(token: Token, raw: RawStatement, expected: frozenset[str]) -> Mistake:
    if token.type == "NAME" and "NUMBER" in expected and (what := no_unit(token.text)):
        return Mistake("P012", what, token.span, UNITS_HINT)
    what = "the end" if token.type == END else token.text
    return Mistake("P004", f"{what} is not expected here", token.span, _hint(token, raw, expected))


def _hint(token: Token, raw: RawStatement, expected: frozenset[str]) -> str | None:
    """What would be right in the place of a token, as well as that can be said."""
    if token.text in KEYWORDS and token.text.isalpha() and "QUOTED" in expected and "LPAR" not in expected:
        if raw.rule == "definition":
            return f"{token.text} is a reserved word: choose another name"
        whose = "a message of that name" if raw.rule == "log" else "as a name it"
        return f'{token.text} is a reserved word: {whose} is written "{token.text}"'
    if raw.rule in _NAMING and (name := _broken_name(token, raw)):
        if raw.rule == "definition":
            one_word = re.sub(r"\W+", "_", name)
            return f"the name of a {raw.tokens[0].text} is one word: {one_word}"
        return f"a name with {'spaces' if ' ' in name else 'other characters'} is quoted: {quoted(name)}"
    if token.type == "COMMA" and raw.rule in ("log", "cluster", "group"):
        return f"separate {'messages' if raw.rule == 'log' else 'entities'} with spaces, not commas"
    if token.type == "NAME" and token.text in UNITS:
        return f"write the unit directly after its number: 10{token.text}"
    begins_line = all(
        t.line < token.line or t.column >= token.column for t in raw.tokens if t.line <= token.line
    )
    if begins_line and token.type == "NAME" and token.text == GROUP:
        return GROUP_HINT
    if begins_line and token.type == "NAME" and (meant := meant_statement(token.text)):
        return meant
    if token.type in _COMPARATORS and any(t.type in _COMPARATORS for t in raw.tokens if t is not token):
        return "comparisons cannot be chained: write a < b and b < c"
    if END not in expected and ("RPAR" in expected or "RSQB" in expected) and "AND" in expected:
        return "a `)` is missing" if "RPAR" in expected else "a `]` is missing"
    if {"LPAR", "FORALL"} <= expected:
        return "a formula is expected here"
    if {"LPAR", "MINUS", "NAME"} <= expected:
        return "a term is expected here"
    shown = sorted(
        {_SHOWN[kind] for kind in expected if kind in _SHOWN}, key=lambda word: ("`" in word, word)
    )
    if len(shown) > 1:
        return f"expected {', '.join(shown[:-1])} or {shown[-1]}" if len(shown) <= 8 else None
    return f"expected {shown[0]}" if shown else None


@cache
def _builder() -> Builder:
    return Builder()


@cache
def _automaton() -> Automaton:
    return Automaton(tables(), _builder())
