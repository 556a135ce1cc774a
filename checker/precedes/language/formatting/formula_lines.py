"""A formula over as many lines as it needs.

The tokens become a tree of what may be broken: connectives, what stands in front of a formula, parentheses. A
part that fits on a line is one line. Of a part that does not fit, the outermost is broken first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from precedes.language.formatting.spacing import line, width
from precedes.language.parsing.lexer import Token

WIDTH: Final = 100
"""The longest line, as far as words can be put on another: that of the pages of the documents."""
INDENT: Final = 2

_WEAKEST_FIRST: Final = ("IFF", "IMPLIES", "OR", "AND")
_OPENING: Final = frozenset(("LPAR", "LSQB", "BEFORE", "LBRACE"))
_CLOSING: Final = frozenset(("RPAR", "RSQB", "RBRACE"))
_REACHING: Final = frozenset(("FORALL", "EXISTS", "ALWAYS", "QUIESCENT"))
"""What is said of everything to its right."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    """What is not broken."""

    text: str


@dataclass(frozen=True, slots=True)
class _Prefixed:
    """`forall p: forall q in L:` and the formula that it is said of."""

    text: str
    body: _Node


@dataclass(frozen=True, slots=True)
class _Chain:
    """`a and b and c`; `words` are the connectives as they are written, one between any two parts."""

    parts: tuple[_Node, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Implication:
    """`left implies right`."""

    left: _Node
    word: str
    right: _Node


@dataclass(frozen=True, slots=True)
class _Brackets:
    """`f(`, what is between the parentheses, and `)` with what follows it; `parts` stand with commas between them."""

    opening: str
    parts: tuple[_Node, ...]
    closing: str


_Node = _Leaf | _Prefixed | _Chain | _Implication | _Brackets


def formula_lines(tokens: Sequence[Token], indent: int, column: int) -> list[str]:
    """A formula that begins at a column, counted from 0; further lines begin with `indent` spaces or more.

    The first line is without what stands before it.
    """
    return _lines(_node(tokens), indent, column)


# ---- from tokens to what may be broken ---------------------------------------------------------------------


def _node(tokens: Sequence[Token]) -> _Node:
    connectives = _connectives(tokens)
    for kind in _WEAKEST_FIRST:
        places = [place for place in connectives if tokens[place].type == kind]
        if places and kind == "IMPLIES":
            first = places[0]
            return _Implication(_node(tokens[:first]), tokens[first].text, _node(tokens[first + 1 :]))
        if places:
            ends = (*places, len(tokens))
            starts = (0, *(place + 1 for place in places))
            parts = tuple(_node(tokens[start:end]) for start, end in zip(starts, ends, strict=True))
            return _Chain(parts, tuple(tokens[place].text for place in places))
    if head := _head(tokens):
        return _prefixed(line(tokens[:head], ""), _node(tokens[head:]))
    return _term(tokens)


def _prefixed(text: str, body: _Node) -> _Prefixed:
    """Quantifiers that follow each other stand on one line."""
    return (
        _Prefixed(f"{text} {body.text}", body.body) if isinstance(body, _Prefixed) else _Prefixed(text, body)
    )


def _connectives(tokens: Sequence[Token]) -> list[int]:
    """Where the connectives stand that are in no parentheses and below no quantifier."""
    found: list[int] = []
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token.type in _OPENING) - (token.type in _CLOSING)
        if depth == 0 and token.type in _REACHING:
            break
        if depth == 0 and token.type in _WEAKEST_FIRST:
            found.append(place)
    return found


def _head(tokens: Sequence[Token]) -> int:
    """How many tokens stand in front of a formula: `forall p, q in L:`, `acyclic`'s `p, q:`, `not`; 0 if none do."""
    if tokens[0].type in ("NOT", "ALWAYS", "QUIESCENT"):
        return 1
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token.type in _OPENING) - (token.type in _CLOSING)
        if depth == 0 and token.type == "COLON":
            return place + 1
    return 0


def _term(tokens: Sequence[Token]) -> _Node:
    """A formula without connectives: it is broken in its longest parentheses, if it has any."""
    opened: list[int] = []
    longest = (0, 0)
    for place, token in enumerate(tokens):
        if token.type in _OPENING:
            opened.append(place)
        elif token.type in _CLOSING:
            first = opened.pop()
            if not opened and tokens[first].type == "LPAR" and place - first > longest[1] - longest[0]:
                longest = (first, place)
    first, last = longest
    if last - first < 2:
        return _Leaf(line(tokens, ""))
    inside = tokens[first + 1 : last]
    opening, closing = line(tokens[: first + 1], ""), line(tokens[last:], "")
    # What commas separate in `p, q: F` are its variables.
    commas = [] if _head(inside) else _commas(inside)
    starts, ends = (0, *(place + 1 for place in commas)), (*commas, len(inside))
    parts = tuple(_node(inside[start:end]) for start, end in zip(starts, ends, strict=True))
    return _Brackets(opening, parts, closing)


def _commas(tokens: Sequence[Token]) -> list[int]:
    depth = 0
    found: list[int] = []
    for place, token in enumerate(tokens):
        depth += (token.type in _OPENING) - (token.type in _CLOSING)
        if depth == 0 and token.type == "COMMA":
            found.append(place)
    return found


# ---- from these to lines -----------------------------------------------------------------------------------


def _flat(node: _Node) -> str:
    match node:
        case _Leaf(text):
            return text
        case _Prefixed(text, body):
            return f"{text} {_flat(body)}"
        case _Chain(parts, words):
            rest = "".join(f" {word} {_flat(part)}" for word, part in zip(words, parts[1:], strict=True))
            return _flat(parts[0]) + rest
        case _Implication(left, word, right):
            return f"{_flat(left)} {word} {_flat(right)}"
        case _Brackets(opening, parts, closing):
            return f"{opening}{', '.join(map(_flat, parts))}{closing}"
        case _:
            assert_never(node)


def _lines(node: _Node, indent: int, column: int, tail: int = 0) -> list[str]:
    """The lines of a node; the first without what stands before it, the others with their indentation. `tail` is how
    many columns follow the last line.
    """
    flat = _flat(node)
    if column + width(flat) + tail <= WIDTH:
        return [flat]
    # What is said of the rest stands to the left of it.
    deeper = indent + INDENT if column == indent else indent
    match node:
        case _Leaf(text):
            return [text]
        case _Prefixed(text, body):
            return _followed(text, body, (indent, deeper, column), tail)
        case _Chain(parts, words):
            found = _lines(parts[0], indent, column)
            tails = (*(0 for _ in words[1:]), tail)
            for word, part, behind in zip(words, parts[1:], tails, strict=True):
                further = indent if _is_grouped(part) else indent + INDENT
                first, *rest = _lines(part, further, indent + width(word) + 1, behind)
                found += [f"{' ' * indent}{word} {first}", *rest]
            return found
        case _Implication(left, word, right):
            *before, last = _lines(left, indent, column, width(word) + 1)
            premise = f"{last} {word}"
            at = width(premise) + (0 if before else column)
            if before and at + 1 + width(_flat(right)) + tail <= WIDTH:
                return [*before, f"{premise} {_flat(right)}"]
            return [*before, *_followed(premise, right, (indent, deeper, 0 if before else column), tail)]
        case _Brackets(opening, parts, closing):
            inside = [_further(part, indent + INDENT, 1) for part in parts]
            for one in inside[:-1]:
                one[-1] += ","
            return [opening, *(each for one in inside for each in one), " " * indent + closing]
        case _:
            assert_never(node)


def _is_grouped(node: _Node) -> bool:
    """Whether a node is a formula between parentheses, and not a function of something; `not (...)` is one, too."""
    if isinstance(node, _Prefixed):
        return _is_grouped(node.body)
    return isinstance(node, _Brackets) and node.opening == "("


def _followed(text: str, body: _Node, place: tuple[int, int, int], tail: int) -> list[str]:
    """A text and what it is said of, on the lines below it; parentheses open behind the text."""
    indent, deeper, column = place
    if _is_grouped(body):
        first, *rest = _lines(body, indent, column + width(text) + 1, tail)
        return [f"{text} {first}", *rest]
    return [text, *_further(body, deeper, tail)]


def _further(node: _Node, indent: int, tail: int) -> list[str]:
    """The lines of a node that begins a line."""
    first, *rest = _lines(node, indent, indent, tail)
    return [" " * indent + first, *rest]
