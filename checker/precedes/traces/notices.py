"""Notices of a reader of traces, and their collector.

A notice is not an error: the run goes on. Codes are stable, from T101. Notices are sorted by code, then by
text, whatever the order in which files and blocks were read, so that all engines print the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

UNKNOWN_COLUMN: Final = "T101"
NO_SEQ: Final = "T102"
ROW_TWICE: Final = "T103"
SEND_REPEATED: Final = "T104"
VALUE_IGNORED: Final = "T105"
FILE_IGNORED: Final = "T106"
FILE_TWICE: Final = "T107"
CLOCK_OUTSIDE: Final = "T108"
SENT_TO_ALL: Final = "T109"
ONLY_ADDRESSED: Final = "T110"
COMMA: Final = "T111"
NOT_SENT: Final = "T112"
TIMES_AGAINST_ROWS: Final = "T113"
TIMES_AGAINST_SEQ: Final = "T114"
CLOCKS_AGAINST_ROWS: Final = "T115"
CLOCKS_SET_ASIDE: Final = "T116"
CLOCKS_CANNOT_ORDER: Final = "T117"
NO_ATTRIBUTE: Final = "T118"
NO_ROW: Final = "T120"
LESS_EXACT: Final = "T121"
FOREIGN_LOG: Final = "T123"
ROW_IGNORED: Final = "T122"
LONG: Final = "T124"
OTHER_VERSION: Final = "T125"

MOST_NAMES: Final = 10_000
"""Names of entities that are kept to find out which are addressed only; of more nothing is said."""

_SHOWN: Final = 3


def unknown_column(name: str) -> str:
    """What is told of a column that no trace has."""
    return f"column `{name}` is unknown and was ignored"


def no_attribute(name: str, *, parted: bool) -> str:
    """What is told of messages that lack an attribute that is asked for; `parted`: something is asked per value."""
    outside = f"they are in no part of `per {name}`, and " if parted else ""
    return f"messages have no `{name}`: {outside}what depends on it is unknown"


def no_event_attribute(name: str) -> str:
    """What is told of deliveries that lack an attribute that is asked for."""
    return f"deliveries have no `{name}`: what depends on it is unknown"


@dataclass(frozen=True, slots=True, order=True)
class Example:
    """A place at which something was met, `text` in words; the first is shown."""

    execution: str
    file_order: int
    row: int
    text: str


@dataclass(frozen=True, slots=True, order=True)
class Notice:
    """One thing told. `count` says how often it was met; None where only that it was met is told. `first`: where."""

    code: str
    text: str
    count: int | None = None
    first: Example | None = None

    def render(self) -> str:
        """`CODE text (count; first: where)`."""
        told = [] if self.count is None else [f"{self.count:,}"]
        told += [] if self.first is None else [f"first: {self.first.text}"]
        return f"{self.code} {self.text}" + (f" ({'; '.join(told)})" if told else "")


@dataclass(frozen=True, slots=True)
class Addressing:
    """Who was met and who was meant in some executions. `met` have rows or are named as senders or by the user;
    `addressed` stand in destinations and, in some execution, nowhere else. None: too many to be kept. `chosen`: some
    send names its destinations.
    """

    met: frozenset[str] | None = frozenset()
    addressed: frozenset[str] = frozenset()
    chosen: bool = False

    def __or__(self, other: Addressing) -> Addressing:
        chosen = self.chosen or other.chosen
        if self.met is None or other.met is None:
            return Addressing(None, frozenset(), chosen)
        met, addressed = self.met | other.met, self.addressed | other.addressed
        if len(met) + len(addressed) > MOST_NAMES:
            return Addressing(None, frozenset(), chosen)
        return Addressing(met, addressed, chosen)


NO_ADDRESSING: Final = Addressing()
"""That of no execution."""


class Notices:
    """Collects notices; equal ones are told once, their counts added. Picklable, unless somebody hears `aloud`, at
    once, what is told beforehand.
    """

    def __init__(self, notices: Iterable[Notice] = (), aloud: Callable[[str], None] | None = None) -> None:
        self.aloud = aloud
        self._counts: dict[tuple[str, str], int | None] = {}
        self._first: dict[tuple[str, str], Example] = {}
        self.addressing = NO_ADDRESSING
        self.merge(notices)

    def once(self, code: str, text: str) -> None:
        """Tell something that has no number."""
        self._add(code, text, None)

    def beforehand(self, code: str, text: str) -> None:
        """Tell something that has no number, before it takes its time."""
        if self.aloud is not None and (code, text) not in self._counts:
            self.aloud(f"{code} {text}")
        self._add(code, text, None)

    def count(self, code: str, text: str, number: int, example: Example | None = None) -> None:
        """Tell that something was met `number` times more, perhaps with one place; nothing for 0."""
        if number:
            self._add(code, text, number, example)

    def total(self, code: str) -> int:
        """How often everything with a code was met."""
        return sum(count or 0 for (of, _), count in self._counts.items() if of == code)

    def heard(self, addressing: Addressing) -> None:
        """Take in who was met and who was meant in some more executions."""
        self.addressing |= addressing

    def merge(self, other: Iterable[Notice]) -> None:
        """Take over some notices."""
        for notice in other:
            self._add(notice.code, notice.text, notice.count, notice.first)

    def unite(self, other: Notices) -> None:
        """Take over all that another collector, perhaps in another process, was told."""
        for (code, text), count in other._counts.items():
            self._add(code, text, count, other._first.get((code, text)))
        self.heard(other.addressing)

    def all(self, *, violated: bool = True) -> tuple[Notice, ...]:
        """All notices, by code and text. Where nothing is `violated`, it is not told that every send is to all."""
        told = [
            Notice(code, text, count, self._first.get((code, text)))
            for (code, text), count in self._counts.items()
            if code != SENT_TO_ALL or violated or self.addressing.chosen
        ]
        return tuple(sorted((*told, *self._only_addressed()), key=lambda notice: (notice.code, notice.text)))

    def _only_addressed(self) -> Iterable[Notice]:
        met, addressed = self.addressing.met, self.addressing.addressed
        if met is not None and (silent := sorted(addressed - met)):
            names = [json.dumps(name, ensure_ascii=False) for name in silent[:_SHOWN]]
            more = "" if len(silent) <= _SHOWN else f" and {len(silent) - _SHOWN:,} more"
            listed = ", ".join(names) + more
            text = f"destinations have no row anywhere; they are misspelled, or have no events: {listed}"
            yield Notice(ONLY_ADDRESSED, text, len(silent))

    def _add(self, code: str, text: str, number: int | None, example: Example | None = None) -> None:
        before = self._counts.get((code, text))
        self._counts[code, text] = number if before is None else before + (number or 0)
        if example is not None:
            self._first[code, text] = min(example, self._first.get((code, text), example))
