"""Parts that many states and packets have, kept once.

A handler makes a new state, and with it a new vector and new sets, which mostly equal those of an earlier state. Of
85,000 states of the auxiliary procedure there are 21,000 sets of records, and 286 vectors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from precedes.protocol.validation.equal_values import EqualValues

PARTS: Final = frozenset({tuple, frozenset})
"""The classes of parts that are kept once: they cannot change."""

Sharing: TypeAlias = Callable[[Any], None]
"""Lets a value have the parts that are kept."""


class SharedParts:
    """The tuples and sets that are fields of frozen dataclasses, by class and field."""

    def __init__(self, equal: EqualValues) -> None:
        self._of: dict[type, Sharing] = {}
        self._equal = equal

    def share(self, value: Any) -> None:
        """Let a value that has been hashed have equal parts of earlier ones instead of its own."""
        of = type(value)
        sharing = self._of.get(of)
        if sharing is None:
            sharing = self._of[of] = _sharing(of, self._equal)
        sharing(value)


def _sharing(of: type, equal: EqualValues) -> Sharing:
    """What lets values of a class share parts: code for its fields, which takes half the time of a loop, or less."""
    lines = ["def share(value):", "    pass"]
    names = _fields(of)
    for number, name in enumerate(names):
        lines += [
            f"    part = value.{name}",
            # What is empty is mostly what the state before had.
            "    if part and type(part) in parts:",
            "        try:",
            f"            first = known{number}(part, part)",
            "        except TypeError:",
            # The class has a hash of its own that leaves this field out.
            "            first = part",
            "        if first is not part:",
            "            compare(first, part)",
            f"            put(value, {name!r}, first)",
        ]
    made: dict[str, Any] = {f"known{number}": {}.setdefault for number in range(len(names))}
    made |= {"parts": PARTS, "put": object.__setattr__, "compare": equal.compare}
    exec("\n".join(lines), made)  # noqa: S102 - of names of fields, as dataclasses does it
    sharing: Sharing = made["share"]
    return sharing


def _fields(of: type) -> list[str]:
    """The fields by which a frozen dataclass is hashed, none of any other class."""
    if not dataclasses.is_dataclass(of):
        return []
    params = of.__dataclass_params__  # type: ignore[attr-defined]
    if not (params.frozen and params.eq):
        return []
    return [one.name for one in dataclasses.fields(of) if one.compare and one.hash is not False]
