"""Times and durations as they are written in figures and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from precedes.core.calendar_dates import is_date
from precedes.core.execution import Execution

_UNITS: Final = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def duration(nanoseconds: int | Fraction) -> tuple[str, str]:
    """A number and the largest unit in which it is at least one."""
    if not nanoseconds:
        return "0", "s"
    exact = Fraction(nanoseconds)
    unit, size = next(((u, s) for u, s in _UNITS if not -s < exact < s), _UNITS[-1])
    value = exact / size
    if value.denominator == 1:
        return str(value), unit
    return f"{float(value):.9f}".rstrip("0").rstrip("."), unit


def duration_text(nanoseconds: int | Fraction) -> str:
    """`4 s`, `1.5 ms`."""
    return " ".join(duration(nanoseconds))


@dataclass(frozen=True, slots=True)
class Clock:
    """Tells the times of one execution: as they are, or from `origin` on where they are dates."""

    origin: int = 0

    def text(self, nanoseconds: int | Fraction) -> str:
        """`4 s`; `+1.5 ms` from the first event on."""
        return ("+" if self.origin else "") + duration_text(nanoseconds - self.origin)

    def mark(self, nanoseconds: int) -> str:
        """`@4`, `@1.5ms`, as a figure writes it; a date comes out as what passed since the first event."""
        number, unit = duration(nanoseconds - self.origin)
        return f"@{number}{'' if unit == 's' else unit}"


def clock_of(execution: Execution) -> Clock:
    """The clock of an execution."""
    times = [
        event.time for history in execution.histories for event in history.events if event.time is not None
    ]
    return Clock(min(times)) if times and is_date(min(times)) else Clock()
