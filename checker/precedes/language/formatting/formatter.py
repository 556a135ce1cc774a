"""A .prec file in the one layout, with its comments.

Only spaces, line breaks and blank lines change, never a word: `∀` stays `∀`, parentheses stay. So the meaning
stays, and this is checked each time. What the printer writes has this layout already, where it fits on its line.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from precedes.core.diagnostics import PrecedesError
from precedes.language.errors import Mistakes
from precedes.language.formatting.formula_lines import INDENT, WIDTH, formula_lines
from precedes.language.formatting.spacing import line, width
from precedes.language.parsing.lexer import (
    RawStatement,
    Token,
    begins_no_line,
    scan_with_comments,
)
from precedes.language.parsing.parser import read
from precedes.language.printer import BETWEEN_LOGS

_BEFORE_COMMENT: Final = 2
_TAILS: Final = ("AMONG", "WITH")


def formatted(text: str, path: str | None = None) -> str:
    """The text of a file in the one layout.

    Lines end as the first line of the text does. PrecedesError with every mistake of a text that does not parse.
    """
    reading = read(text, path)
    if reading.diagnostics:
        raise PrecedesError(reading.diagnostics)
    before = _Words.of(text)
    result = "".join(f"{each}\n" for each in _file_lines(before))
    after = _Words.of(result)
    same_words = (after.spelled, after.said) == (before.spelled, before.said)
    if not same_words or read(result).source != reading.source:
        # Words that come apart, run together or begin another statement: a file is never written so.
        raise AssertionError("the formatted text would say something else")
    return result.replace("\n", "\r\n") if text.partition("\n")[0].endswith("\r") else result


@dataclass(frozen=True, slots=True)
class _Words:
    """What a file is made of."""

    statements: list[RawStatement]
    comments: list[Token]

    @classmethod
    def of(cls, text: str) -> _Words:
        return cls(*scan_with_comments(text.removeprefix("\ufeff"), Mistakes(None, ())))

    @property
    def spelled(self) -> list[tuple[str, str]]:
        return [(token.type, token.text) for statement in self.statements for token in statement.tokens]

    @property
    def said(self) -> list[str]:
        return [comment.text.rstrip() for comment in self.comments]


@dataclass(slots=True)
class _Item:
    """A statement, logs that stand beside each other, or a comment that stands alone."""

    rule: str
    first: int
    last: int
    """The lines of the text that it was on."""
    cells: list[RawStatement] = field(default_factory=list)
    inside: list[Token] = field(default_factory=list)
    """Comments between its words."""
    comment: Token | None = None
    """The comment behind it; of a comment, itself."""
    lines: list[str] = field(default_factory=list)


def _file_lines(words: _Words) -> Iterator[str]:
    items = _items(words)
    for item in items:
        if not _is_in_table(item):
            item.lines = _item_lines(item)
    for table in _tables(items):
        _lay_out(table)
    opening = _blocks(items)
    pending: list[tuple[str, Token | None]] = []
    for place, item in enumerate(items):
        if place and (item.first - items[place - 1].last > 1 or place in opening):
            yield from _commented(pending)
            yield ""
            pending = []
        alone = item.rule == "comment"
        pending += [(each, None) for each in item.lines[:-1]]
        pending.append((item.lines[-1], None if alone else item.comment))
    yield from _commented(pending)


# ---- what stands in a file ---------------------------------------------------------------------------------


def _items(words: _Words) -> list[_Item]:
    """The statements and comments of a file in order; logs of one line are one item."""
    found: list[_Item] = []
    for statement in words.statements:
        first, last = statement.tokens[0].line, statement.tokens[-1].line
        if found and statement.rule == found[-1].rule == "log" and found[-1].last == first:
            found[-1].cells.append(statement)
            found[-1].last = last
        else:
            found.append(_Item(statement.rule, first, last, [statement]))
    alone: list[_Item] = []
    begun = [_place(item.cells[0].tokens[0]) for item in found]
    for comment in words.comments:
        number = bisect(begun, _place(comment)) - 1
        before = found[number] if number >= 0 else None
        if before is not None and _place(comment) < _place(before.cells[-1].tokens[-1]):
            before.inside.append(comment)
        elif before is not None and before.last == comment.line:
            before.comment = comment
        else:
            alone.append(_Item("comment", comment.line, comment.line, comment=comment))
    # In the order of the text: what stands on one line keeps the order that it has.
    return sorted((*found, *alone), key=lambda item: item.first)


def _place(token: Token) -> tuple[int, int]:
    return token.line, token.column


def _blocks(items: Sequence[_Item]) -> set[int]:
    """Where a scenario begins, or the comment right above it: a blank line stands before it."""
    found: set[int] = set()
    for first in [place for place, item in enumerate(items) if item.rule == "scenario"]:
        begin = first
        while (
            begin and items[begin - 1].rule == "comment" and items[begin].first - items[begin - 1].last == 1
        ):
            begin -= 1
        found.add(begin)
    return found


# ---- statements --------------------------------------------------------------------------------------------


def _item_lines(item: _Item) -> list[str]:
    if item.rule == "comment":
        assert item.comment is not None
        return [item.comment.text.rstrip()]
    if item.inside:
        return _as_it_stands(item)
    [statement] = item.cells
    tokens, rule = statement.tokens, statement.rule
    flat = line(tokens, rule)
    if width(flat) <= WIDTH:
        return [flat]
    if rule == "scenario":
        return _head(tokens)
    if rule == "definition":
        return _definition(tokens)
    if rule in ("expect", "question"):
        return _sentence(tokens, rule)
    return _filled(tokens, rule)


def _definition(tokens: Sequence[Token]) -> list[str]:
    """A definition that is longer than a line: its title, its source, its formula."""
    assign = next(place for place, token in enumerate(tokens) if token.type == "ASSIGN")
    head, body = tokens[:assign], tokens[assign + 1 :]
    rest = formula_lines(body, INDENT + len(":= "), INDENT + len(":= "))
    formula = [f"{' ' * INDENT}{tokens[assign].text} {rest[0]}", *rest[1:]]
    flat = line(head, "definition")
    return [*([flat] if width(flat) <= WIDTH else _head(head)), *formula]


def _head(tokens: Sequence[Token]) -> list[str]:
    """The name of a scenario or of a definition, its title and its source, each on a line."""
    places = range(2, len(tokens))
    sources = [place for place in places if tokens[place].type == "SOURCE"]
    titles = [place for place in places if tokens[place].type == "QUOTED" and place - 1 not in sources]
    starts = sorted((0, *titles, *sources))
    pieces = [tokens[start:end] for start, end in zip(starts, (*starts[1:], len(tokens)), strict=True)]
    first, *further = (line(piece, "definition") for piece in pieces)
    return [first, *(" " * INDENT + each for each in further)]


def _sentence(tokens: Sequence[Token], rule: str) -> list[str]:
    """`expect`, `claim`, `refute` or `find` with a formula that is longer than a line."""
    begins = 2 if rule == "expect" and tokens[1].type in ("DENIED", "UNKNOWN") else 1
    head = line(tokens[:begins], rule)
    # Reserved words, which stand nowhere else.
    ends = next((place for place, token in enumerate(tokens) if token.type in _TAILS), len(tokens))
    first, *rest = formula_lines(tokens[begins:ends], INDENT, width(head) + 1)
    tail = [" " * INDENT + line(tokens[ends:], rule)] if ends < len(tokens) else []
    return [f"{head} {first}", *rest, *tail]


def _filled(tokens: Sequence[Token], rule: str) -> list[str]:
    """As many words on a line as it takes; further lines are indented."""
    found: list[str] = []
    current = ""
    for chunk in _chunks(tokens, rule):
        text = line(chunk, rule)
        if current and width(current) + 1 + width(text) > WIDTH and not begins_no_line(chunk[0]):
            found.append(current)
            current = " " * INDENT + text
        else:
            current = f"{current} {text}" if current else text
    return [*found, current]


def _chunks(tokens: Sequence[Token], rule: str) -> Iterator[Sequence[Token]]:
    """The pieces of a cluster, a group or a log that may stand on different lines."""
    start = depth = 0
    for place in range(1, len(tokens)):
        before, token = tokens[place - 1], tokens[place]
        depth += (before.type in ("LSQB", "LBRACE", "UNDER")) - (before.type in ("RSQB", "RBRACE"))
        apart = len(line([before, token], rule)) > len(before.text) + len(token.text)
        # The word that begins a statement, a view before its members and the end of a log stay where they are.
        kept = place == 1 or before.type in ("VIEW", "MINUS") or token.type in ("OPEN", "CLOSE")
        if apart and depth == 0 and not kept:
            yield tokens[start:place]
            start = place
    yield tokens[start:]


def _as_it_stands(item: _Item) -> list[str]:
    """A statement with comments between its words keeps its lines; in each, the spaces between words are set."""
    words: dict[int, list[Token]] = {}
    for cell in item.cells:
        for token in cell.tokens:
            words.setdefault(token.line, []).append(token)
    comments = {comment.line: comment for comment in item.inside}
    found: list[str] = []
    for number in sorted({*words, *comments}):
        tokens = words.get(number, [])
        text = line(tokens, item.rule) if tokens else ""
        first = tokens[0] if tokens else comments[number]
        indent = 0 if number == item.first else max(INDENT, first.column - 1)
        comment = comments[number].text.rstrip() if number in comments else ""
        behind = f"{' ' * _BEFORE_COMMENT}{comment}" if text and comment else comment
        found.append(f"{' ' * indent}{text}{behind}")
    return found


# ---- logs in columns ---------------------------------------------------------------------------------------


def _is_in_table(item: _Item) -> bool:
    return item.rule == "log" and not item.inside


def _tables(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    """Logs in lines that follow each other; comments may stand between these, as the marks of a figure do."""
    current: list[_Item] = []
    for place, item in enumerate(items):
        follows = place > 0 and item.first - items[place - 1].last <= 1
        if current and not (follows and (_is_in_table(item) or item.rule == "comment")):
            yield current
            current = []
        if _is_in_table(item):
            current.append(item)
    if current:
        yield current


def _lay_out(table: Sequence[_Item]) -> None:
    """Write the logs of a table below each other, each under the log that stands at the same place in the line above.

    Where a line would be too long, every log of the table has a line of its own.
    """
    rows = [[line(cell.tokens, "log") for cell in item.cells] for item in table]
    widths: dict[int, int] = {}
    for row in rows:
        for column, text in enumerate(row[:-1]):
            widths[column] = max(widths.get(column, 0), width(text))
    texts = [_row(row, widths) for row in rows]
    fits = all(width(text) <= WIDTH for text in texts)
    for item, text in zip(table, texts, strict=True):
        if fits:
            item.lines = [text]
        else:
            item.lines = [each for cell in item.cells for each in _log_lines(cell)]


def _row(row: Sequence[str], widths: dict[int, int]) -> str:
    *before, last = row
    return (
        "".join(f"{text}{' ' * (widths[n] - width(text) + BETWEEN_LOGS)}" for n, text in enumerate(before))
        + last
    )


def _log_lines(log: RawStatement) -> list[str]:
    text = line(log.tokens, "log")
    return [text] if width(text) <= WIDTH else _filled(log.tokens, "log")


# ---- comments ----------------------------------------------------------------------------------------------


def _commented(lines: Sequence[tuple[str, Token | None]]) -> Iterator[str]:
    """Lines with the comments behind them; those of lines that follow each other begin in one column."""
    start = 0
    while start < len(lines):
        end = start + 1
        if lines[start][1] is None:
            yield lines[start][0]
        else:
            while end < len(lines) and lines[end][1] is not None:
                end += 1
            column = max(width(text) for text, _ in lines[start:end]) + _BEFORE_COMMENT
            for text, comment in lines[start:end]:
                assert comment is not None
                yield f"{text}{' ' * (column - width(text))}{comment.text.rstrip()}"
        start = end
