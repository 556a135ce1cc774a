"""Tokens as one line: which stand apart and which do not. The printer writes trees in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from precedes.core.printable import columns
from precedes.language.parsing.lexer import Token

_OPERANDS: Final = frozenset(
    (
        *("NAME", "QUOTED", "INT", "NUMBER", "DELTA", "EPSILON", "TRUE", "FALSE"),
        *("RPAR", "RSQB", "RBRACE"),
    )
)
"""After one of these, `-` is an operator between two terms, and no sign."""
_OPENING: Final = frozenset(("LPAR", "LSQB", "BEFORE", "LBRACE", "UNDER"))
_CLOSING: Final = frozenset(("RPAR", "RSQB", "RBRACE"))
_JOINED: Final = frozenset(("TIME", "CARET", "DOTS", "UNDER", "LESC", "RESC"))
"""What has no space on either side."""
_NO_SPACE_AFTER: Final = frozenset(("LPAR", "LSQB", "BEFORE", "LBRACE", "SEND", "DELIVER"))
_NO_SPACE_BEFORE: Final = frozenset(("RPAR", "RSQB", "RBRACE", "COMMA", "COLON", "LSQB"))
_BEFORE_ARGUMENTS: Final = frozenset(
    (
        *("NAME", "QUOTED", "ACYCLIC", "INT", "RESC", "RBRACE"),
        *("ARRIVE", "DISCARD", "ACK", "NACK"),
    )
)
"""What `(` follows without a space: a function, a definition, the sender of a message."""


def line(tokens: Sequence[Token], rule: str) -> str:
    """The tokens of a statement, or of a part of one, on one line. `rule` is the grammar rule of the statement."""
    parts: list[str] = []
    opened: list[str] = []
    after_operand = is_sign = False
    for index, token in enumerate(tokens):
        kind = token.type
        in_braces = bool(opened) and opened[-1] in ("LBRACE", "UNDER")
        if index and not (
            is_sign or _joined(tokens[index - 1], token, is_log=rule == "log", in_braces=in_braces)
        ):
            parts.append(" ")
        parts.append(token.text)
        is_sign = kind == "MINUS" and not after_operand
        after_operand = kind in _OPERANDS
        if kind in _OPENING:
            opened.append(kind)
        elif kind in _CLOSING and opened:
            # What stands after `<[L]` is a term of its own.
            after_operand = opened.pop() != "BEFORE"
    return "".join(parts)


def width(text: str) -> int:
    """How many columns of a terminal a line takes."""
    return columns(text)


def _joined(before: Token, token: Token, *, is_log: bool, in_braces: bool) -> bool:
    """Whether no space stands between two tokens."""
    left, right = before.type, token.type
    if left in _JOINED or right in _JOINED or left in _NO_SPACE_AFTER or right in _NO_SPACE_BEFORE:
        return True
    if right == "LPAR":
        return left in _BEFORE_ARGUMENTS
    if not is_log:
        return False
    if right == "LBRACE":
        # `a_ {2}` is the message `a_`; without the space it reads as the paper's `a_{2}`.
        return not before.text.endswith("_")
    return "EQUAL" in (left, right) or (in_braces and left in ("COMMA", "COLON"))
