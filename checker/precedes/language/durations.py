"""Numbers with units, as nanoseconds: exact, and within int64."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from precedes.core.diagnostics import usage
from precedes.language.errors import Mistakes
from precedes.language.parsing.lexer import numeral
from precedes.language.printer import term_text
from precedes.language.syntax import Quantity
from precedes.language.vocabulary import UNITS

_LARGEST: Final = 2**63 - 1
_DIGITS: Final = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?")
_HINT: Final = "write 100ms, 1.5s or 2min; a number alone is in seconds"


def nanoseconds(quantity: Quantity, mistakes: Mistakes) -> int | None:
    """A time in a scenario; without unit, seconds. None, and told, where int64 cannot hold it."""
    found = _exact(quantity.value, quantity.unit or "s")
    if isinstance(found, int):
        return found
    mistakes.tell(
        "S016", f"{term_text(quantity)} is {found}", quantity.span, "times are whole nanoseconds in 64 bits"
    )
    return None


def duration(text: str) -> int:
    """`100ms` as nanoseconds, as options give it; PrecedesError for what is no duration."""
    digits, unit = numeral(text.strip())
    if not _DIGITS.fullmatch(digits):
        raise usage(f"{text!r} is no duration", _HINT)
    if unit and unit not in UNITS:
        raise usage(f"{text!r} is not a duration: there is no unit {unit}", _HINT)
    found = _exact(Fraction(digits), unit or "s")
    if isinstance(found, str):
        raise usage(f"{text!r} is {found}", _HINT)
    return found


def _exact(value: Fraction, unit: str) -> int | str:
    inside = value * UNITS[unit]
    if inside.denominator != 1:
        return "finer than a nanosecond"
    return int(inside) if abs(inside) <= _LARGEST else "more than 292 years"
