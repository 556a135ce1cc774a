"""Parts that many states and packets have, kept once.

A handler makes a new state, and with it a new vector and new sets, which mostly equal those of an earlier state. Of
85,000 states of the auxiliary procedure there are 21,000 sets of records, and 286 vectors.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

PARTS: Final = frozenset({tuple, frozenset})
"""The classes of parts that are kept once: they cannot change."""


class SharedParts:
    """The tuples and sets that are fields of frozen dataclasses, by class and field."""

    def __init__(self) -> None:
        self._of: dict[type, list[tuple[str, dict[Any, Any]]]] = {}

    def share(self, value: Any) -> None:
        """Let a value that has been hashed have equal parts of earlier ones instead of its own."""
        of = type(value)
        fields = self._of.get(of)
        if fields is None:
            fields = self._of[of] = _fields(of)
        for name, known in fields:
            part = getattr(value, name)
            if type(part) in PARTS:
                try:
                    first = known.setdefault(part, part)
                except TypeError:
                    # The class has a hash of its own that leaves this field out.
                    continue
                if first is not part:
                    object.__setattr__(value, name, first)


def _fields(of: type) -> list[tuple[str, dict[Any, Any]]]:
    """The fields by which a frozen dataclass is hashed, none of any other class."""
    if not dataclasses.is_dataclass(of):
        return []
    params = of.__dataclass_params__  # type: ignore[attr-defined]
    if not (params.frozen and params.eq):
        return []
    return [(one.name, {}) for one in dataclasses.fields(of) if one.compare and one.hash is not False]
