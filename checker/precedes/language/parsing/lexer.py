"""From the text of a file to its statements, each a list of tokens.

The lexer separates statements before any of them is parsed, so a mistake in one statement leaves the others
readable. A statement begins at a reserved word or at the head of a log, such as `RL1: <`. This module knows
comments, quotation marks, the brackets `< ... ]` of logs, and how deeply a statement is nested. The parser
reads what a statement says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from precedes.core.diagnostics import Span
from precedes.core.suggestions import did_you_mean
from precedes.language.errors import Mistakes
from precedes.language.vocabulary import GROUP, HISTORY_WORDS, KEYWORDS, STATEMENTS, SYMBOLS, UNITS

MAXIMUM_DEPTH: Final = 100
"""How deeply a formula may be nested.

Every later pass recurses over the tree, so the bound keeps Python's stack safe.
"""

_DEPTH_HINT: Final = f"{MAXIMUM_DEPTH} levels is the most; name parts of it as predicates"
_TOKEN: Final = re.compile(
    r"[^\S\n]*(?:(?P<SKIP>\#[^\n]*|\Z)"
    r"|(?P<NEWLINE>\n)"
    r"|(?P<NUMBER>[0-9]+\.[0-9]+[^\W\d_]*)"
    r"|(?P<WORD>(?:(?!_\{)\w)+)"
    r'|(?P<QUOTED>"(?:[^"\\\n]|\\[^\n])*")'
    r"|(?P<SYMBOL>" + "|".join(re.escape(s) for s in sorted(SYMBOLS, key=len, reverse=True)) + ")"
    r'|(?P<UNCLOSED>"[^\n]*)'
    r"|(?P<STRANGE>.))"
)
_LOG_NAME: Final = re.compile(r"(?:SL|RL|H)[0-9]+")
_INTEGER: Final = re.compile(r"[0-9]+")
_QUANTITY: Final = re.compile("[0-9]+(?:" + "|".join(UNITS) + ")")
_NUMERAL: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)([^\W\d_]*)")
UNITS_HINT: Final = f"the units are {', '.join(unit for unit in UNITS if unit.isascii())}"
GROUP_HINT: Final = f"write a group as {GROUP} NAME: E1 E2"
_STATEMENT_WORDS: Final = tuple(
    word for word, kind in KEYWORDS.items() if kind in STATEMENTS and word.isascii()
)
_ENDS: Final = frozenset(
    (
        "NAME",
        "INT",
        "NUMBER",
        "QUOTED",
        "RPAR",
        "RSQB",
        "CLOSE",
        "RBRACE",
        "TRUE",
        "FALSE",
        "DELTA",
        "EPSILON",
    )
)
_NAMING: Final = frozenset(("SCENARIO", "CLUSTER", "PREDICATE", "SERVICE"))
_DECIDING: Final = frozenset((*STATEMENTS, "LESS", "RSQB", "NOT"))
_PERSISTENT: Final = frozenset(("FORALL", "EXISTS", "ALWAYS", "QUIESCENT", "IMPLIES", "IFF"))
_WITHIN: Final = frozenset(("NOT", "MINUS", "PLUS", "STAR", "SLASH"))
_OPENING: Final = frozenset(("LPAR", "LSQB", "BEFORE", "LBRACE"))
_CLOSING: Final = frozenset(("RPAR", "RSQB", "RBRACE"))
_RESETTING: Final = frozenset(("AND", "OR", "COMMA", "COLON"))


class Token:
    """A word, number, quotation or symbol. `type` is the grammar's terminal; `end` is the column after it."""

    __slots__ = ("column", "end", "line", "text", "type")

    def __init__(self, kind: str, text: str, line: int, column: int, end: int) -> None:
        self.type = kind
        self.text = text
        self.line = line
        self.column = column
        self.end = end

    @property
    def span(self) -> Span:
        """Where the token stands."""
        return Span(self.line, self.column, self.end)


@dataclass(frozen=True, slots=True)
class RawStatement:
    """One statement.

    The grammar rule that it should be, and its tokens. `sound` is False where a mistake in it was told
    already.
    """

    rule: str
    tokens: list[Token]
    sound: bool = True


@dataclass(slots=True)
class _Splitter:
    mistakes: Mistakes
    statements: list[RawStatement] = field(default_factory=list)
    comments: list[Token] = field(default_factory=list)

    def words(self, text: str) -> list[Token]:
        tokens: list[Token] = []
        line, base = 1, -1
        for match in _TOKEN.finditer(text):
            group = match.lastgroup or ""
            found, end = match[group], match.end()
            if group == "WORD":
                kind = KEYWORDS.get(found) or (_numeric(found) if found[0].isdigit() else "NAME")
            elif group == "SYMBOL":
                kind = SYMBOLS[found]
            elif group == "NEWLINE":
                line, base = line + 1, end - 1
                continue
            elif group == "SKIP":
                if found:
                    self.comments.append(Token("COMMENT", found, line, end - len(found) - base, end - base))
                continue
            elif group in ("QUOTED", "NUMBER"):
                kind = group
            else:
                self.unreadable(group, found, Span(line, end - len(found) - base, end - base))
                continue
            tokens.append(Token(kind, found, line, end - len(found) - base, end - base))
        return tokens

    def unreadable(self, group: str, found: str, span: Span) -> None:
        if group == "UNCLOSED":
            hint = 'close it with " on the same line'
            self.mistakes.tell("P002", "the quotation is never closed", span, hint)
        else:
            shown = found if found.isprintable() else f"U+{ord(found):04X}"
            self.mistakes.tell("P001", f"the character {shown} has no meaning here", span, _quote_hint(found))

    def split(self, tokens: list[Token]) -> None:
        current: list[Token] = []
        rule = ""
        opened: Token | None = None
        for index, token in enumerate(tokens):
            if opened is None and _begins_group(tokens, index):
                token.type = "GROUP"
            kind = token.type
            if kind not in _DECIDING:
                if opened is not None and kind == "NAME":
                    token.type = HISTORY_WORDS.get(token.text, kind)
                current.append(token)
                continue
            previous = tokens[index - 1].type if index else ""
            if kind == "LESS" and previous == "COLON" and (head := _head(current)):
                begun = current[-head:]
                del current[-head:]
                self.finish(rule, current, opened)
                current, rule, opened = begun, "log", token
                token.type = "OPEN"
            elif kind == "RSQB" and opened is not None and not _in_brackets(current):
                token.type = "CLOSE"
                current.append(token)
                self.finish(rule, current, None)
                current, rule, opened = [], "", None
                continue
            elif previous in _NAMING and tokens[index - 1].line == token.line and kind in STATEMENTS:
                # Meant as a name: the parser says that it is reserved.
                pass
            elif kind in STATEMENTS and (
                kind not in ("DELTA", "EPSILON") or rule == "group" or _sets(tokens, index)
            ):
                self.finish(rule, current, opened)
                current, rule, opened = [], STATEMENTS[kind], None
            elif kind == "NOT" and previous == "EXPECT":
                token.type = "DENIED"
            current.append(token)
        self.finish(rule, current, opened)

    def finish(self, rule: str, tokens: list[Token], opened: Token | None) -> None:
        if not tokens:
            return
        sound = False
        if opened is not None:
            self.mistakes.tell("P003", "the log is never closed", opened.span, "write a log as < a b c ]")
        elif not rule:
            self.tell_stranger(tokens[0])
        elif deep := too_deep(tokens):
            self.mistakes.tell("P006", "nested too deep", deep.span, _DEPTH_HINT)
        elif rule in ("cluster", "group") and (mistyped := _mistyped(tokens)):
            self.tell_stranger(mistyped)
        else:
            sound = True
        self.statements.append(RawStatement(rule, tokens, sound))

    def tell_stranger(self, token: Token) -> None:
        if _LOG_NAME.fullmatch(token.text):
            hint = f"write a log as {token.text}: < a b ]"
            self.mistakes.tell("P005", f"{token.text} does not begin a log here", token.span, hint)
            return
        if token.text == GROUP:
            told = f"{GROUP} does not begin a group here"
            self.mistakes.tell("P005", told, token.span, GROUP_HINT)
            return
        words = ", ".join((*_STATEMENT_WORDS, GROUP))
        hint = meant_statement(token.text) or f"one of {words}, or a log, RL1: < a b ]"
        self.mistakes.tell("P005", f"no statement begins with {token.text}", token.span, hint)


def scan(text: str, mistakes: Mistakes) -> list[RawStatement]:
    """The statements of a file, in their order."""
    return scan_with_comments(text, mistakes)[0]


def scan_with_comments(text: str, mistakes: Mistakes) -> tuple[list[RawStatement], list[Token]]:
    """The statements of a file, and its comments, which stand between their tokens."""
    splitter = _Splitter(mistakes)
    splitter.split(splitter.words(text))
    return splitter.statements, splitter.comments


def scan_formula(text: str, mistakes: Mistakes) -> RawStatement:
    """The tokens of a formula that stands alone."""
    tokens = _Splitter(mistakes).words(text)
    deep = too_deep(tokens)
    if deep:
        mistakes.tell("P006", "nested too deep", deep.span, _DEPTH_HINT)
    return RawStatement("sentence", tokens, sound=deep is None)


def is_plain(name: str, in_log: bool = False) -> bool:
    """Whether a name can stand without quotes, in a log or elsewhere."""
    word = _TOKEN.match(name)
    return (
        word is not None
        and word.lastgroup == "WORD"
        and word.span("WORD") == (0, len(name))
        and name not in KEYWORDS
        # Before braces it would read as the paper's `m_{23}`.
        and not name.endswith("_")
        and not (in_log and name in HISTORY_WORDS)
        and not _INTEGER.fullmatch(name)
        and not _QUANTITY.fullmatch(name)
    )


def numeral(text: str) -> tuple[str, str]:
    """The digits and the unit of a number token; the unit may be empty or unknown."""
    match = _NUMERAL.fullmatch(text)
    return (match.group(1), match.group(2)) if match else (text, "")


def no_unit(text: str) -> str | None:
    """`h is no unit`, of a number with letters behind it that are none."""
    _, unit = numeral(text)
    return f"{unit} is not a unit" if unit and unit not in UNITS else None


def meant_statement(word: str) -> str | None:
    """`did you mean expect?`, where a reserved word that begins a statement is near."""
    return did_you_mean(word, _STATEMENT_WORDS)


def too_deep(tokens: list[Token]) -> Token | None:
    """The token at which nesting passes `MAXIMUM_DEPTH`, counted without recursion."""
    persistent, within = [0], [0]
    depth = 0
    for token in tokens:
        kind = token.type
        if kind in _OPENING:
            if kind == "LSQB":
                within[-1] += 1
                depth += 1
            persistent.append(0)
            within.append(0)
            depth += 1
        elif kind in _CLOSING:
            if len(within) > 1:
                depth -= persistent.pop() + within.pop() + 1
        elif kind in _PERSISTENT:
            persistent[-1] += 1
            depth += 1 - within[-1]
            within[-1] = 0
        elif kind in _WITHIN:
            within[-1] += 1
            depth += 1
        elif kind in _RESETTING:
            depth -= within[-1]
            within[-1] = 0
        if depth > MAXIMUM_DEPTH:
            return token
    return None


def _numeric(word: str) -> str:
    """The terminal of a word that begins with a digit: `1C` is a name."""
    return "INT" if _INTEGER.fullmatch(word) else "NUMBER" if _QUANTITY.fullmatch(word) else "NAME"


def _sets(tokens: list[Token], index: int) -> bool:
    """Whether `delta` begins a statement here, rather than being a term of a formula that goes on."""
    if index and tokens[index - 1].type not in _ENDS:
        return False
    begins_line = not index or tokens[index - 1].line < tokens[index].line
    return begins_line or (index + 1 < len(tokens) and tokens[index + 1].type in ("INT", "NUMBER"))


def _begins_group(tokens: list[Token], index: int) -> bool:
    """Whether `group billing:` begins here; before a log it is the last name of a cluster, `group RL1: <`."""
    if tokens[index].type != "NAME" or tokens[index].text != GROUP:
        return False
    kinds = [token.type for token in tokens[index + 1 : index + 4]]
    return kinds[:1] in (["NAME"], ["QUOTED"]) and kinds[1:2] == ["COLON"] and kinds[2:] != ["LESS"]


def _head(tokens: list[Token]) -> int:
    """How many of the last tokens are the head of a log, `RL1 :` or `RL[Pi] :`; 0 where they are not."""
    kinds = [token.type for token in tokens[-5:]]
    if kinds[-2:] == ["NAME", "COLON"]:
        return 2
    if len(kinds) == 5 and kinds[:2] == ["NAME", "LSQB"] and kinds[3:] == ["RSQB", "COLON"]:
        return 5
    return 0


def _in_brackets(tokens: list[Token]) -> bool:
    """Whether the last `[` is still open, after a message or in the head of a log that stands where it cannot."""
    for token in reversed(tokens):
        if token.type in ("LSQB", "RSQB", "OPEN"):
            return token.type == "LSQB"
    return False


def _mistyped(tokens: list[Token]) -> Token | None:
    """A name in a cluster or a group that was meant to begin a statement. As an entity it would ask nothing."""
    for before, token in pairwise(tokens):
        if token.line != before.line and begins_no_line(token):
            return token
    return None


def begins_no_line(token: Token) -> bool:
    """Whether a name would be taken for a mistyped statement if a line of a cluster or a group began with it."""
    if token.type != "NAME":
        return False
    return token.text == GROUP or bool(meant_statement(token.text) or _LOG_NAME.fullmatch(token.text))


def _quote_hint(character: str) -> str | None:
    if character in "“”«»'‘’`":
        return 'quotations are written "..."'
    if character == ";":
        return "statements need no separator"
    return "put names with other characters in quotation marks"
