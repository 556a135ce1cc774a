"""Whether values of a model that are equal are the same: also of the same classes, however deep.

A search takes equal states for one, and equal packets, and keeps equal parts of them once. In Python a named tuple
equals any other tuple with the same fields, and `True` equals 1. A handler can tell them apart, so a model in which two
such values meet is judged as another one. Where a value equals a known one, the two are compared: at first every
time, later now and then, or every time on request.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Set
from typing import Any, Final

from precedes.core.diagnostics import PrecedesError
from precedes.protocol.model import Protocol
from precedes.protocol.validation import errors

ALL_OF: Final = 1 << 11
"""So many pairs are all looked at ..."""
EVERY: Final = 64
"""... and from then on one in so many."""


class EqualValues:
    """Holds equal values of a model against each other. PrecedesError M020 where their classes differ."""

    def __init__(self, protocol: Protocol[Any], *, every: bool = False) -> None:
        self._protocol = protocol
        self._every = every
        self._pairs = 0

    def compare(self, known: Any, value: Any) -> None:
        """Take a value into account that equals a known one: where it is looked at, compare."""
        if known is value:
            return
        self._pairs += 1
        if self._every or self._pairs <= ALL_OF or self._pairs % EVERY == 0 or type(known) is not type(value):
            different = difference(known, value)
            if different is not None:
                raise self._mistake(*different)

    def _mistake(self, known: Any, value: Any) -> PrecedesError:
        one, other = type(known).__name__, type(value).__name__
        return errors.mistake(
            self._protocol,
            "M020",
            f"{errors.short(known)} of the class {one} equals {errors.short(value)} of the class {other}",
            "in states and packets let values of different classes differ: frozen dataclasses do, named tuples and"
            " numbers do not",
        )


def difference(one: Any, other: Any) -> tuple[Any, Any] | None:
    """Of two equal values, the parts whose classes differ; None: there are none."""
    if one is other:
        return None
    if type(one) is not type(other):
        return one, other
    pairs: Any = ()
    if isinstance(one, tuple):
        pairs = zip(one, other, strict=True)
    elif isinstance(one, Set):
        known = {each: each for each in other}
        pairs = ((each, known[each]) for each in one)
    elif isinstance(one, Mapping):
        keys = {key: key for key in other}
        pairs = (pair for key, each in one.items() for pair in ((key, keys[key]), (each, other[key])))
    elif dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one) if field.compare]
        pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return next((found for pair in pairs if (found := difference(*pair)) is not None), None)
