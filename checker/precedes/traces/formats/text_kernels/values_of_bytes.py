"""Values of cells and of JSON, from bytes. In the subset of Python that numba compiles."""

from __future__ import annotations

from typing import Final, NamedTuple

from precedes.native.codes import NO_TIME_GIVEN
from precedes.native.compiled_functions import inlined
from precedes.traces.formats.text_kernels.sheet import DEST, Sheet, code_of, events_table

TAB: Final = 9
LINE: Final = 10
RETURN: Final = 13
BLANK: Final = 32
QUOTE: Final = 34
COMMA: Final = 44
MINUS: Final = 45
POINT: Final = 46
ZERO: Final = 48
NINE: Final = 57
COLON: Final = 58
SEMICOLON: Final = 59
OPEN: Final = 91
BACKSLASH: Final = 92
CLOSE: Final = 93
PLUS: Final = 43
SLASH: Final = 47
BACKSPACE: Final = 8
FORM_FEED: Final = 12
A, B, E, F, L, N, R, S, T, U, Z = b"abeflnrstuz"

_SECONDS: Final = 10
"""Digits of the seconds of a time, at most: nanoseconds of more may not fit 64 bits."""
_LARGEST_SECONDS: Final = 9_000_000_000
_WHOLE: Final = 18
"""Digits of a whole number, at most."""
_NANOSECONDS: Final = 9
_MOST_PLACES: Final = 30
_FIVE: Final = 5
_BILLION: Final = 1_000_000_000
_DAY: Final = 86_400
_DATE: Final = 19
"""Letters of 2026-11-27T10:15:30."""
_ZONE: Final = 6
"""Letters of +09:00."""
_FIRST_YEAR: Final = 1700
_LAST_YEAR: Final = 2200
_BEFORE_1970: Final = 719_468
"""Days from the first of March of the year 0."""
_SURROGATES: Final = (0xD800, 0xDFFF)


class Text(NamedTuple):
    """Where a text of JSON ends, without its escapes, and what comes after it; negative if it is none."""

    end: int
    after: int


@inlined
def is_digit(letter: int) -> bool:
    """Whether it is one of 0 to 9."""
    return ZERO <= letter <= NINE


@inlined
def after_blanks(sheet: Sheet, place: int) -> int:
    """The first place that is no blank."""
    while sheet.text[place] == BLANK or sheet.text[place] == TAB or sheet.text[place] == RETURN:
        place += 1
    return place


@inlined
def text_at(sheet: Sheet, start: int) -> Text:
    """The text of JSON that begins after a quotation mark. Escapes are replaced where they are."""
    place = start
    while True:
        letter = int(sheet.text[place])
        if letter == QUOTE:
            return Text(place, place + 1)
        if letter < BLANK:
            return Text(-1, -1)
        if letter == BACKSLASH:
            return unescaped(sheet, place)
        place += 1


def unescaped(sheet: Sheet, place: int) -> Text:
    """The rest of a text from its first escape on."""
    end = place
    while True:
        letter = int(sheet.text[place])
        if letter == QUOTE:
            return Text(end, place + 1)
        if letter < BLANK:
            return Text(-1, -1)
        if letter != BACKSLASH:
            sheet.text[end] = letter
            end += 1
            place += 1
            continue
        meant = escaped(sheet, place + 1)
        if meant < 0 or _SURROGATES[0] <= meant <= _SURROGATES[1]:
            return Text(-1, -1)
        place += 6 if sheet.text[place + 1] == U else 2
        end = written(sheet, end, meant)


def escaped(sheet: Sheet, place: int) -> int:
    """The character that is escaped, after its backslash; -1: none is."""
    letter = int(sheet.text[place])
    if letter == U:
        meant = 0
        for k in range(place + 1, place + 5):
            digit = hexadecimal(int(sheet.text[k]))
            if digit < 0:
                return -1
            meant = 16 * meant + digit
        return meant
    if letter == QUOTE or letter == BACKSLASH or letter == SLASH:
        return letter
    if letter == N:
        return LINE
    if letter == T:
        return TAB
    if letter == R:
        return RETURN
    if letter == B:
        return BACKSPACE
    return FORM_FEED if letter == F else -1


def hexadecimal(letter: int) -> int:
    """The value of a digit, -1 for any other letter."""
    if is_digit(letter):
        return letter - ZERO
    small = letter | BLANK
    return small - A + 10 if A <= small <= F else -1


def written(sheet: Sheet, place: int, character: int) -> int:
    """Write a character as UTF-8, and say where it ends."""
    if character < 0x80:
        sheet.text[place] = character
        return place + 1
    if character < 0x800:
        sheet.text[place] = 0xC0 | (character >> 6)
        sheet.text[place + 1] = 0x80 | (character & 0x3F)
        return place + 2
    sheet.text[place] = 0xE0 | (character >> 12)
    sheet.text[place + 1] = 0x80 | ((character >> 6) & 0x3F)
    sheet.text[place + 2] = 0x80 | (character & 0x3F)
    return place + 3


@inlined
def whole_end(sheet: Sheet, start: int) -> int:
    """Where the whole number of JSON that begins here ends, if it is the text of itself; else -1."""
    place = start + (sheet.text[start] == MINUS)
    first = place
    while is_digit(int(sheet.text[place])):
        place += 1
    if place == first or place - first > _WHOLE:
        return -1
    if sheet.text[first] == ZERO and (place - first > 1 or first > start):
        return -1
    following = int(sheet.text[place])
    return -1 if following == POINT or following | BLANK == E else place


@inlined
def whole_of(sheet: Sheet, start: int, end: int) -> int:
    """The whole number from 0 that letters are; -1 for any other ones."""
    if start == end or end - start > _WHOLE:
        return -1
    value = 0
    for k in range(start, end):
        if not is_digit(int(sheet.text[k])):
            return -1
        value = 10 * value + int(sheet.text[k]) - ZERO
    return value


@inlined
def time_of(sheet: Sheet, start: int, end: int) -> int:
    """The nanoseconds of a number of seconds, or of RFC 3339 text; `NO_TIME_GIVEN` for what is neither, or unusual."""
    negative = sheet.text[start] == MINUS
    place = start + negative
    seconds = 0
    first = place
    while place < end and is_digit(int(sheet.text[place])):
        seconds = 10 * seconds + int(sheet.text[place]) - ZERO
        place += 1
        if place - first > _SECONDS:
            return NO_TIME_GIVEN
    if place < end and sheet.text[place] == MINUS and not negative:
        return moment_of(sheet, start, end)
    if place == first or (sheet.text[first] == ZERO and place - first > 1) or seconds > _LARGEST_SECONDS:
        return NO_TIME_GIVEN
    nanoseconds = seconds * _BILLION
    if place < end:
        part = fraction_of(sheet, place, end)
        if part < 0:
            return NO_TIME_GIVEN
        nanoseconds += part
    return -nanoseconds if negative else nanoseconds


@inlined
def fraction_of(sheet: Sheet, point: int, end: int) -> int:
    """The nanoseconds of decimal places after a point, half to even; -1 for anything else."""
    places = end - point - 1
    if sheet.text[point] != POINT or places == 0 or places > _MOST_PLACES:
        return -1
    value = 0
    half = 0
    beyond = 0
    for k in range(places):
        digit = int(sheet.text[point + 1 + k]) - ZERO
        if digit < 0 or digit > NINE - ZERO:
            return -1
        if k < _NANOSECONDS:
            value = 10 * value + digit
        elif k == _NANOSECONDS:
            half = digit
        else:
            beyond |= digit
    for _ in range(places, _NANOSECONDS):
        value *= 10
    up = half > _FIVE or (half == _FIVE and (beyond > 0 or value % 2 == 1))
    return value + up


def digits_of(sheet: Sheet, start: int, count: int) -> int:
    """The number that so many digits are; negative if one of them is none."""
    value = 0
    for k in range(start, start + count):
        if not is_digit(int(sheet.text[k])):
            return -_BILLION
        value = 10 * value + int(sheet.text[k]) - ZERO
    return value


def moment_of(sheet: Sheet, start: int, end: int) -> int:
    """The nanoseconds since 1970 of RFC 3339 text of a usual year, or `NO_TIME_GIVEN`."""
    if end - start < _DATE + 1 or sheet.text[start + 4] != MINUS or sheet.text[start + 7] != MINUS:
        return NO_TIME_GIVEN
    between = int(sheet.text[start + 10])
    if between | BLANK != T and between != BLANK:
        return NO_TIME_GIVEN
    if sheet.text[start + 13] != COLON or sheet.text[start + 16] != COLON:
        return NO_TIME_GIVEN
    days = days_of(digits_of(sheet, start, 4), digits_of(sheet, start + 5, 2), digits_of(sheet, start + 8, 2))
    hour, minute = digits_of(sheet, start + 11, 2), digits_of(sheet, start + 14, 2)
    second = digits_of(sheet, start + 17, 2)
    if days < 0 or not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60):
        return NO_TIME_GIVEN
    place = start + _DATE
    part = 0
    if sheet.text[place] == POINT:
        point = place
        place += 1
        while is_digit(int(sheet.text[place])):
            place += 1
        part = fraction_of(sheet, point, place) if place - point <= _NANOSECONDS + 1 else -1
    offset = offset_of(sheet, place, end)
    if part < 0 or offset < -_DAY:
        return NO_TIME_GIVEN
    seconds = (days - _BEFORE_1970) * _DAY + hour * 3600 + minute * 60 + second - offset
    return seconds * _BILLION + part


def offset_of(sheet: Sheet, place: int, end: int) -> int:
    """The seconds by which the rest of RFC 3339 text is ahead of UTC; less than a day behind it: this is none."""
    if end - place == 1 and (int(sheet.text[place]) | BLANK) == Z:
        return 0
    if end - place != _ZONE or sheet.text[place + 3] != COLON:
        return -2 * _DAY
    hours, minutes = digits_of(sheet, place + 1, 2), digits_of(sheet, place + 4, 2)
    if not (0 <= hours < 24 and 0 <= minutes < 60):
        return -2 * _DAY
    seconds = hours * 3600 + minutes * 60
    if sheet.text[place] == MINUS:
        return -seconds
    return seconds if sheet.text[place] == PLUS else -2 * _DAY


def days_of(year: int, month: int, day: int) -> int:
    """The days from the first of March of the year 0 to a day; negative if there is none, or in an unusual year."""
    if not (_FIRST_YEAR <= year < _LAST_YEAR and 1 <= month <= 12 and day >= 1):
        return -1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month == 2:
        longest = 28 + leap
    elif month == 4 or month == 6 or month == 9 or month == 11:
        longest = 30
    else:
        longest = 31
    if day > longest:
        return -1
    # Hinnant, chrono-compatible low-level date algorithms: a year that begins in March has its leap day at its end.
    shifted = year - (month <= 2)
    from_march = (month + 9) % 12
    of_year = (153 * from_march + 2) // 5 + day - 1
    return 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + of_year


def add_list(sheet: Sheet, start: int, end: int, column: int) -> int:
    """The number of a list of ids in JSON; -1 where it is none."""
    code, new = list_code(sheet, start, end, column)
    if code < 0 or not new:
        return code
    place = after_blanks(sheet, start + 1)
    if sheet.text[place] == CLOSE:
        return code if place + 1 == end else -1
    while place < end:
        first = place
        if sheet.text[place] == QUOTE:
            found = text_at(sheet, place + 1)
            first, last, place = place + 1, found.end, found.after
        else:
            last = whole_end(sheet, place)
            place = last
        if last <= first or not add_entry(sheet, first, last, column):
            return -1
        place = after_blanks(sheet, place)
        if sheet.text[place] == CLOSE:
            return code if place + 1 == end else -1
        if sheet.text[place] != COMMA:
            return -1
        place = after_blanks(sheet, place + 1)
    return -1


def add_ids(sheet: Sheet, start: int, end: int, column: int) -> int:
    """The number of a list of ids with semicolons between them; -1 where an id is empty."""
    code, new = list_code(sheet, start, end, column)
    if code < 0 or not new:
        return code
    first = start
    for place in range(start, end + 1):
        if place == end or sheet.text[place] == SEMICOLON:
            if place == first or not add_entry(sheet, first, place, column):
                return -1
            first = place + 1
    return code


def add_one(sheet: Sheet, start: int, end: int, column: int) -> int:
    """The number of a list with one id; -1 also for one that looks like a list of several."""
    if sheet.text[start] == OPEN:
        return -1
    code, new = list_code(sheet, start, end, column)
    return -1 if new and not add_entry(sheet, start, end, column) else code


def list_code(sheet: Sheet, start: int, end: int, column: int) -> tuple[int, bool]:
    """The number of a list as it is written, and whether it is new and has no entries yet."""
    before = int(sheet.sizes[column])
    code = code_of(sheet, column, start, end)
    new = code == before
    if new:
        place = column - DEST
        sheet.list_ends[place, code + 1] = sheet.list_ends[place, code]
    return code, new


def add_entry(sheet: Sheet, start: int, end: int, column: int) -> bool:
    """Whether there was room for one more id of the last list of a column."""
    place = column - DEST
    last = int(sheet.sizes[column])
    count = int(sheet.list_ends[place, last])
    entry = code_of(sheet, events_table(sheet) + 1, start, end)
    if entry < 0 or count >= sheet.entries.shape[1]:
        return False
    sheet.entries[place, count] = entry
    sheet.list_ends[place, last] = count + 1
    return True
