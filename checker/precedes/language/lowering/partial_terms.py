"""Partial terms and parts of logs, expanded.

`top(L)`, `last(L)` and `L[h]` may be undefined. An atom about one of them becomes "there is such a message,
and the atom is true of it". `Hoists` collects these messages while the atom is lowered, and wraps the atom.
`L[..h]` and `L[h..]` become the log with bounds on positions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from precedes.core import formula as core
from precedes.core.diagnostics import Span
from precedes.language.errors import Mistakes

_NONE: Final = core.Constant(Fraction(0), core.Dimension.NUMBER)
_ONE: Final = core.Constant(Fraction(1), core.Dimension.NUMBER)


class LoweringRefused(Exception):
    """The formula cannot be written out. Holds what a diagnostic needs."""

    def __init__(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.span, self.hint = code, message, span, hint

    def tell(self, mistakes: Mistakes) -> None:
        """Tell it, at its place."""
        mistakes.tell(self.code, self.message, self.span, self.hint)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a log: messages at the places that the guards allow, counted from after `origin`."""

    log: core.LogTerm
    origin: core.NumberTerm
    lowest: tuple[core.NumberTerm, ...] = ()
    highest: tuple[core.NumberTerm, ...] = ()


LogValue = core.LogTerm | Part


def fresh(name: str, scope: frozenset[str]) -> str:
    """The name, or with the least number behind it the one that nothing around has."""
    candidate, number = name, 1
    while candidate in scope:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


@dataclass(slots=True)
class Hoists:
    """The messages that an atom speaks of through partial terms.

    Each is a variable, its range, and what it must satisfy.
    """

    scope: frozenset[str]
    found: dict[tuple[object, ...], tuple[core.MessageVariable, core.Formula, core.Formula]] = field(
        default_factory=dict
    )

    def wrap(self, atom: core.Formula) -> core.Formula:
        for variable, range_, condition in reversed(self.found.values()):
            atom = core.Exists(variable, range_, core.conjunction(condition, atom))
        return atom


def hoist(kind: str, log: LogValue, place: core.NumberTerm | None, hoists: Hoists) -> core.MessageVariable:
    key = (kind, log, place)
    known = hoists.found.get(key)
    if known is not None:
        return known[0]
    variable = core.MessageVariable(fresh(kind, hoists.scope))
    hoists.scope |= {variable.name}
    whole = log.log if isinstance(log, Part) else log
    here = core.Position(variable, whole)
    condition: core.Formula
    if place is not None:
        origin = log.origin if isinstance(log, Part) else _NONE
        condition = _equal(here, sum_of(place, origin))
    elif isinstance(log, Part):
        other = core.MessageVariable(fresh("other", hoists.scope))
        pair = (other, variable) if kind == "top" else (variable, other)
        condition = core.Forall(other, within_log(other, log), core.Not(core.Precedes(*pair, whole)))
    else:
        condition = _equal(here, _ONE if kind == "top" else core.Size(whole))
    hoists.found[key] = (variable, within_log(variable, log), condition)
    return variable


def slice_of(log: LogValue, start: core.NumberTerm | None, stop: core.NumberTerm | None) -> Part:
    base = log if isinstance(log, Part) else Part(log, _NONE)
    lowest, highest, origin = base.lowest, base.highest, base.origin
    if stop is not None:
        highest = (*highest, sum_of(stop, origin))
    if start is not None:
        lowest = (*lowest, sum_of(start, origin))
        origin = sum_of(origin, difference_of(start, _ONE))
    return Part(base.log, origin, lowest, highest)


def within_log(message: core.MessageTerm, log: LogValue) -> core.Formula:
    if not isinstance(log, Part):
        return core.InLog(message, log)
    here = core.Position(message, log.log)
    return core.conjunction(
        core.InLog(message, log.log),
        *(_at_most(bound, here) for bound in log.lowest),
        *(_at_most(here, bound) for bound in log.highest),
    )


def precedes_in(first: core.MessageTerm, second: core.MessageTerm, log: LogValue) -> core.Formula:
    if not isinstance(log, Part):
        return core.Precedes(first, second, log)
    return core.conjunction(
        within_log(first, log), within_log(second, log), core.Precedes(first, second, log.log)
    )


def position_in(message: core.MessageTerm, log: LogValue, hoists: Hoists) -> core.NumberTerm:
    """The place of a message in a log.

    In a part of one the atom around it also asks that the message be in the part.
    """
    if not isinstance(log, Part):
        return core.Position(message, log)
    key = ("position", log, message)
    if key not in hoists.found:
        variable = core.MessageVariable(fresh("found", hoists.scope))
        hoists.scope |= {variable.name}
        hoists.found[key] = (variable, within_log(variable, log), core.SameMessage(variable, message))
    return difference_of(core.Position(hoists.found[key][0], log.log), log.origin)


def _equal(left: core.NumberTerm, right: core.NumberTerm) -> core.Comparison:
    return core.Comparison(core.Relation.EQUAL, left, right, core.Dimension.NUMBER)


def _at_most(left: core.NumberTerm, right: core.NumberTerm) -> core.Comparison:
    return core.Comparison(core.Relation.AT_MOST, left, right, core.Dimension.NUMBER)


def sum_of(left: core.NumberTerm, right: core.NumberTerm) -> core.NumberTerm:
    if isinstance(left, core.Constant) and isinstance(right, core.Constant):
        return core.Constant(left.value + right.value, left.dimension)
    if isinstance(right, core.Constant) and right.value == 0:
        return left
    if isinstance(left, core.Constant) and left.value == 0 and left.dimension is core.Dimension.NUMBER:
        return right
    return core.Sum(left, right)


def difference_of(left: core.NumberTerm, right: core.NumberTerm) -> core.NumberTerm:
    if isinstance(left, core.Constant) and isinstance(right, core.Constant):
        return core.Constant(left.value - right.value, left.dimension)
    if isinstance(right, core.Constant) and right.value == 0:
        return left
    return core.Difference(left, right)


def scaled(factor: Fraction, term: core.NumberTerm) -> core.NumberTerm:
    if isinstance(term, core.Constant):
        return core.Constant(factor * term.value, term.dimension)
    return term if factor == 1 else core.Scaled(factor, term)
