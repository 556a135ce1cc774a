"""Parts that many states and packets have, kept once.

A handler makes a new state, and with it a new vector and new sets, which mostly equal those of an earlier state. Of
85,000 states of the auxiliary procedure there are 21,000 sets of records, and 286 vectors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, TypeAlias

PARTS: Final = frozenset({tuple, frozenset})
"""The classes of parts that are kept once: they cannot change."""


Known: TypeAlias = dict[Any, Any]
"""The parts of one field, by themselves."""
Reader: TypeAlias = Callable[[Any], tuple[Any, ...]]
"""Reads the fields of a value."""


class SharedParts:
    """The tuples and sets that are fields of frozen dataclasses, by class and field."""

    def __init__(self) -> None:
        self._of: dict[type, tuple[Reader, list[tuple[str, Known]]]] = {}
        """Of each class what reads its fields, and their names."""

    def share(self, value: Any) -> None:
        """Let a value that has been hashed have equal parts of earlier ones instead of its own."""
        of = type(value)
        found = self._of.get(of)
        if found is None:
            names = _fields(of)
            # Of one name it would be the field itself.
            reader: Reader = attrgetter(*names, names[0]) if names else _nothing
            found = self._of[of] = reader, [(name, {}) for name in names]
        read, fields = found
        for (name, known), part in zip(fields, read(value), strict=False):
            # What is empty is mostly what the state before had.
            if part and type(part) in PARTS:
                try:
                    first = known.setdefault(part, part)
                except TypeError:
                    # The class has a hash of its own that leaves this field out.
                    continue
                if first is not part:
                    object.__setattr__(value, name, first)


def _nothing(_: Any) -> tuple[Any, ...]:
    return ()


def _fields(of: type) -> list[str]:
    """The fields by which a frozen dataclass is hashed, none of any other class."""
    if not dataclasses.is_dataclass(of):
        return []
    params = of.__dataclass_params__  # type: ignore[attr-defined]
    if not (params.frozen and params.eq):
        return []
    return [one.name for one in dataclasses.fields(of) if one.compare and one.hash is not False]
