"""EDN, as Clojure programs print it: the part of it that histories and messages of Jepsen and Maelstrom are written in.

Maps are dicts, vectors, lists and sets are tuples, keywords are `Keyword`. A tagged value is the value without its tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from precedes.traces.formats.values import RowError, shown

_TOKEN: Final = re.compile(
    r"""[\s,]+ | ;[^\n]*
    | (?P<text>\#?"(?:[^"\\]|\\.)*")
    | (?P<open>\#?\{|\(|\[) | (?P<close>[\])}])
    | (?P<discard>\#_) | (?P<tag>\#[^\s,()\[\]{}";]+)
    | (?P<letter>\\(?:[a-z]+|u[0-9a-fA-F]{4}|\S))
    | (?P<atom>[^\s,()\[\]{}";\\\#][^\s,()\[\]{}";\\]*)""",
    re.VERBOSE | re.DOTALL,
)
_CLOSED_BY: Final = {"{": "}", "#{": "}", "(": ")", "[": "]"}
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,400}N?", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{0,400})?([eE][+-]?[0-9]{1,4})?M?", re.ASCII)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CONSTANTS: Final = {"nil": None, "true": True, "false": False}
_DEEPEST: Final = 256


class Keyword(str):
    """A keyword, without its colon."""

    __slots__ = ()


@dataclass(slots=True)
class _Open:
    """A collection that is not closed yet; `discards` is how many of the next values are left out."""

    bracket: str
    line: int
    values: list[Any] = field(default_factory=list)
    discards: int = 0
    dangling: bool = False
    """The last token was a tag, which needs a value."""


def values(text: str, line: int = 1) -> Iterator[tuple[int, Any]]:
    """The values of a text, those in a vector or list that comes first one by one, each with the line where it begins.
    Raises Unreadable.
    """
    stack = [_Open("", line)]
    place = begun = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise Unreadable(line, f"there is no EDN at {shown(text[place : place + 20])}")
        kind, token = match.lastgroup, match[0]
        place = match.end()
        top = stack[-1]
        match kind:
            case "open" if begun or not _around(stack, token):
                stack.append(_Open(token, line))
                if len(stack) > _DEEPEST:
                    raise Unreadable(line, "the brackets are nested too deeply")
            case "open":
                stack.append(_Open("around " + token, line))
            case "close":
                if (
                    top.dangling
                    or top.discards
                    or _CLOSED_BY.get(top.bracket.removeprefix("around ")) != token
                ):
                    raise Unreadable(line, f"{shown(token)} closes nothing")
                stack.pop()
                if not top.bracket.startswith("around "):
                    begun = top.line
                    _put(stack[-1], _closed(top))
            case "discard":
                top.discards += 1
            case "tag":
                top.dangling = True
            case None:
                pass
            case _:
                begun = line
                _put(top, _single(kind or "", token))
        line += token.count("\n")
        if stack[-1].bracket.startswith("around ") or len(stack) == 1:
            yield from ((begun, value) for value in stack[-1].values)
            stack[-1].values.clear()
    if len(stack) > 1 or stack[0].discards or stack[0].dangling:
        raise Unreadable(stack[-1].line, "what begins here does not end: the file may be cut off")


class Unreadable(Exception):
    """Text that is no EDN, or no EDN that a history has, at a line."""

    def __init__(self, line: int, message: str, code: str = "T007") -> None:
        super().__init__(line, message)
        self.line = line
        self.error = RowError(code, message, "histories are EDN, one operation after the other")


def _around(stack: list[_Open], bracket: str) -> bool:
    """Whether a bracket opens a vector or list around the values."""
    return len(stack) == 1 and bracket in "([" and not stack[0].discards and not stack[0].dangling


def _put(top: _Open, value: object) -> None:
    top.dangling = False
    if top.discards:
        top.discards -= 1
    else:
        top.values.append(value)


def _closed(done: _Open) -> object:
    """The value of a collection. Raises Unreadable for a map with a name twice or without a value."""
    if done.bracket != "{":
        return tuple(done.values)
    if len(done.values) % 2:
        raise Unreadable(done.line, "a map has a name without a value")
    names = done.values[::2]
    if any(isinstance(name, dict) or (isinstance(name, tuple) and _has_map(name)) for name in names):
        raise Unreadable(done.line, "a map has a map as a name")
    found = dict(zip(names, done.values[1::2], strict=True))
    if len(found) < len(names):
        raise Unreadable(done.line, "a map has a name twice", "T008")
    return found


def _has_map(value: tuple[Any, ...]) -> bool:
    return any(isinstance(each, dict) or (isinstance(each, tuple) and _has_map(each)) for each in value)


def _single(kind: str, token: str) -> object:
    """The value of a token: a text, a letter, a keyword, a number, a constant; a symbol is its text."""
    if kind == "text":
        return _ESCAPE.sub(_letter, token.removeprefix("#")[1:-1])
    if kind == "letter":
        return token[1:]
    if token.startswith(":"):
        return Keyword(token[1:])
    if token in _CONSTANTS:
        return _CONSTANTS[token]
    if _WHOLE.fullmatch(token):
        return int(token.removesuffix("N"))
    return Decimal(token.removesuffix("M")) if _DECIMAL.fullmatch(token) else token


def _letter(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped[1:], 16)) if len(escaped) == 5 else _ESCAPED.get(escaped, escaped)
