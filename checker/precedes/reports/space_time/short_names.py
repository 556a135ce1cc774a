"""Long ids as a picture shows them: their beginning and their end. The whole id is in a tooltip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from precedes.core.execution import Execution
from precedes.language.quoting import quoted, shown

LONGEST: Final = 20
"""Characters of an id that is shown whole."""
_TAIL: Final = 10
"""Ids that are made by programs differ at the end."""


@dataclass(frozen=True, slots=True)
class ShortNames:
    """Ids by the text that stands for them in one picture. Two ids never have the same text."""

    texts: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, execution: Execution) -> ShortNames:
        """Those of the entities, messages, groups and views of an execution."""
        kinds = (execution.entities, execution.messages, execution.groups, execution.views)
        texts: dict[str, str] = {}
        for names in kinds:
            texts |= _shortened(names)
        return cls(texts)

    def __call__(self, name: str) -> str:
        """The text of an id, as sentences write it where it is not shortened."""
        return self.texts.get(name) or shown(name)


def _shortened(names: Iterable[str]) -> dict[str, str]:
    """The texts of the long ones. Those that would be alike keep more of their beginning, at last the whole."""
    waiting = [name for name in names if len(name) > LONGEST]
    texts: dict[str, str] = {}
    head = LONGEST - _TAIL - 1
    while waiting:
        tried = {name: name if len(name) <= head + _TAIL + 1 else _middle_out(name, head) for name in waiting}
        shown = list(tried.values())
        alike = [name for name, text in tried.items() if text != name and shown.count(text) > 1]
        texts |= {name: _quoted(name, tried[name]) for name in waiting if name not in alike}
        waiting, head = alike, 2 * head
    return texts


def _middle_out(name: str, head: int) -> str:
    return f"{name[:head]}…{name[-_TAIL:]}"


def _quoted(name: str, text: str) -> str:
    return text if shown(name) == name else quoted(text)
