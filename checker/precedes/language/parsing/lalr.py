"""Runs the tables of an LALR grammar over tokens.

lark makes the tables (see `parser`). They are stored as plain data. So a start with stored tables neither
imports lark nor builds a parser, and each token costs a few table lookups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from precedes.language.parsing.lexer import Token

END = "$END"


@dataclass(frozen=True, slots=True)
class Rule:
    """One production: what it makes, of how many symbols, and the method of the builder that makes the node.

    `method` is None for repetitions, whose parts join those of the production around them. A `transparent`
    production has one part and is that part.
    """

    origin: str
    size: int
    method: str | None
    transparent: bool


@dataclass(frozen=True, slots=True)
class Tables:
    """What to do in a state, by terminal or nonterminal.

    n >= 0: shift and go to state n; n < 0: reduce by rule -1 - n.
    """

    states: tuple[Mapping[str, int], ...]
    rules: tuple[Rule, ...]
    starts: Mapping[str, int]
    ends: Mapping[str, int]


class Unexpected(Exception):
    """A token that cannot stand where it does, and the terminals that could."""

    def __init__(self, token: Token, expected: frozenset[str]) -> None:
        super().__init__(token.text)
        self.token = token
        self.expected = expected


class _Parts(list[Any]):
    """The parts of a repetition."""


class Automaton:
    """The tables with the methods of a builder."""

    def __init__(self, tables: Tables, builder: object) -> None:
        self._tables = tables
        self._rules: list[tuple[str, int, bool, Callable[[list[Any]], Any] | None]] = [
            (rule.origin, rule.size, rule.transparent, getattr(builder, rule.method) if rule.method else None)
            for rule in tables.rules
        ]
        self._chains: dict[tuple[int, int, str], int] = {}

    def run(self, start: str, tokens: Sequence[Token], end: Token) -> Any:
        """What the tokens are as a `start`; Unexpected where they are none."""
        states, rules, last = self._tables.states, self._rules, self._tables.ends[start]
        stack = [self._tables.starts[start]]
        values: list[Any] = []
        for index, token in enumerate((*tokens, end)):
            kind = token.type
            while True:
                todo = states[stack[-1]].get(kind)
                if todo is None:
                    raise Unexpected(token, self.acceptable(start, tokens[:index]))
                if todo >= 0:
                    stack.append(todo)
                    values.append(token)
                    break
                origin, size, transparent, build = rules[-1 - todo]
                if transparent:
                    stack[-1] = self._passed(stack[-2], stack[-1], kind)
                else:
                    parts = self._parts(values, size, build is None)
                    del stack[len(stack) - size :]
                    values.append(parts if build is None else build(parts))
                    stack.append(states[stack[-1]][origin])
                if kind == END and stack[-1] == last:
                    return values[-1]
        raise AssertionError("the end of the tokens was shifted")

    def acceptable(self, start: str, tokens: Sequence[Token]) -> frozenset[str]:
        """The terminals that can follow the tokens. Each is tried: the tables promise more than fits."""
        stack = [self._tables.starts[start]]
        for token in tokens:
            stack = self._followed(start, stack, token.type) or stack
        candidates = {kind for state in self._tables.states for kind in state if kind.isupper()}
        return frozenset(kind for kind in candidates if self._followed(start, stack, kind))

    def _followed(self, start: str, stack: list[int], kind: str) -> list[int] | None:
        """The stack after one more terminal; None where it does not fit."""
        states, last = self._tables.states, self._tables.ends[start]
        stack = list(stack)
        while (todo := states[stack[-1]].get(kind)) is not None:
            if todo >= 0:
                return [*stack, todo]
            origin, size, _, _ = self._rules[-1 - todo]
            del stack[len(stack) - size :]
            stack.append(states[stack[-1]][origin])
            if kind == END and stack[-1] == last:
                return stack
        return None

    def _passed(self, below: int, state: int, kind: str) -> int:
        """The state after all transparent productions that fit: a name is a term, a sum, a formula."""
        known = self._chains.get((below, state, kind))
        if known is not None:
            return known
        passed = state
        while (todo := self._tables.states[passed].get(kind)) is not None and todo < 0:
            origin, _, transparent, _ = self._rules[-1 - todo]
            if not transparent:
                break
            passed = self._tables.states[below][origin]
        self._chains[below, state, kind] = passed
        return passed

    @staticmethod
    def _parts(values: list[Any], size: int, repetition: bool) -> list[Any]:
        """Take the parts of a production off the values; a repetition grows in place, in linear time."""
        if not size:
            return _Parts()
        taken = values[-size:]
        del values[-size:]
        first = taken[0]
        if repetition and type(first) is _Parts:
            parts, rest = first, taken[1:]
        else:
            parts, rest = _Parts(), taken
        for value in rest:
            if type(value) is _Parts:
                parts.extend(value)
            else:
                parts.append(value)
        return parts
