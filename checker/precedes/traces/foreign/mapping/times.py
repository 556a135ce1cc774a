"""Times as logs write them, as the times of a trace. A time without a zone is refused: nobody knows when it was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from precedes.traces.foreign.mapping.definition import TIME_FORMATS
from precedes.traces.foreign.mapping.fields import BadEntryError, unfit
from precedes.traces.foreign.rows import seconds
from precedes.traces.formats.values import shown

_DIGITS: Final = {"epoch_s": 9, "epoch_ms": 6, "epoch_us": 3, "epoch_ns": 0}
"""How many digits of nanoseconds follow those of a unit."""
_MOST_DIGITS: Final = 30
_OFFSET: Final = re.compile(r"(?P<sign>[+-])(?P<hours>[01]\d|2[0-3]):?(?P<minutes>[0-5]\d)")
_DIRECTIVE: Final = re.compile(r"%([A-Za-z%])")
_DATES: Final = ({"Y", "m", "d"}, {"Y", "b", "d"}, {"Y", "B", "d"}, {"Y", "j"}, {"G", "V", "u"})
_DATES_SHORT: Final = tuple({"y" if letter == "Y" else letter for letter in each} for each in _DATES)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """How times are written: a word of `TIME_FORMATS`, or a format of strptime with the zone of what it reads."""

    text: str
    zone: tzinfo | None = None
    zone_name: str = ""


def time_format(text: str | None, zone: str | None) -> TimeFormat | None:
    """What a mapping says of times; None: they are as a trace has them. Raises BadEntryError."""
    if text is None or text in TIME_FORMATS:
        if zone is not None:
            raise BadEntryError("only a format such as %Y-%m-%d %H:%M:%S takes a zone", "leave out `zone`")
        return None if text is None else TimeFormat(text)
    directives = {letter.replace("h", "b") for letter in _DIRECTIVE.findall(text)}
    if not directives:
        raise BadEntryError(
            f"there is no time format {text}",
            f"write {', '.join(TIME_FORMATS)}, or a format such as %Y-%m-%d %H:%M:%S.%f",
        )
    if not directives & {"c"} and not any(date <= directives for date in (*_DATES, *_DATES_SHORT)):
        hint = 'a field beside it may have the date: field = "{date} {time}". Else leave the time out'
        raise BadEntryError(f"{text} has no whole date", hint)
    try:
        datetime.strptime("", text)  # noqa: DTZ007
    except (ValueError, re.error, IndexError) as error:
        if "does not match" not in str(error):
            raise BadEntryError(f"{text} is not a time format: {error}", "see strptime of Python") from error
    if "z" in directives:
        if zone is not None:
            raise BadEntryError("the format has %z, and a zone is set beside it", "leave out `zone`")
        return TimeFormat(text)
    if zone is None:
        raise BadEntryError(
            "the time has no zone", 'say where that is: zone = "UTC", "+09:00" or "Europe/Berlin"'
        )
    return TimeFormat(text, _zone(zone), zone)


def _zone(name: str) -> tzinfo:
    if name in ("UTC", "Z"):
        return UTC
    if found := _OFFSET.fullmatch(name):
        size = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
        return timezone(-size if found["sign"] == "-" else size)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadEntryError(f"there is no zone {name}", 'write "UTC", "+09:00" or "Europe/Berlin"') from error


def time_of(value: object, given: TimeFormat) -> object:
    """A time of a log as `time` of a trace. Raises RowError."""
    if given.text in _DIGITS:
        return seconds(_epoch(value, given.text))
    if not isinstance(value, str):
        raise unfit(f"the time is {shown(value)}, not a text", "epoch_ms and the like read numbers")
    if given.text == "rfc3339":
        if ":" not in value:
            raise unfit(
                f"the time is {shown(value)}, not as RFC 3339 writes it", "such as 2026-11-27T10:15:30.25Z"
            )
        return value
    return seconds(_parsed(value, given))


def _epoch(value: object, unit: str) -> int:
    try:
        if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
            raise InvalidOperation
        number = Decimal(value)
        if not number.is_finite() or number.adjusted() > _MOST_DIGITS or number.adjusted() < -_MOST_DIGITS:
            raise InvalidOperation
    except InvalidOperation as error:
        raise unfit(f"the time is {shown(value)}, not a number ({unit})", "correct `format`") from error
    return int(number.scaleb(_DIGITS[unit]).to_integral_value(ROUND_HALF_EVEN))


def _parsed(value: str, given: TimeFormat) -> int:
    try:
        moment = datetime.strptime(value, given.text)  # noqa: DTZ007  (the zone follows)
    except ValueError as error:
        raise unfit(
            f"the time is {shown(value)}, not of the form {given.text}", "correct `format`"
        ) from error
    if moment.tzinfo is None:
        if given.zone is None:
            raise unfit(
                f"the time is {shown(value)}, which has no zone", 'write `zone = "UTC"` beside the format'
            )
        moment = _once(moment, given, value)
    return (moment - _EPOCH) // _MICROSECOND * 1000


def _once(moment: datetime, given: TimeFormat, value: str) -> datetime:
    """A time in a zone, if it is in it exactly once. Raises RowError where clocks are put back or forward."""
    here = moment.replace(tzinfo=given.zone)
    if here.utcoffset() != here.replace(fold=1).utcoffset():
        said = f"the time {shown(value)} is twice or never in {given.zone_name}, because clocks change"
        raise unfit(said, "log times in UTC, or with their offset")
    return here
