"""Lines of JSON, one object each, in one pass over their bytes. In the subset of Python that numba compiles.

Most lines have the names of the line before, in its order: so each name is compared with the one that was there.
"""

from __future__ import annotations

from typing import Final

from precedes.native.codes import KINDS, NO_TIME_GIVEN
from precedes.native.compiled_functions import inlined
from precedes.traces.formats.text_kernels.sheet import (
    DEEPEST,
    EVENT,
    GROUP,
    LINES,
    LIST,
    MOST_NAMES,
    OBJECTS,
    SEQ,
    SKIPPED,
    TEXT,
    TIME,
    TRUTH,
    UNREAD,
    Sheet,
    code_of,
    end_row,
    events_table,
)
from precedes.traces.formats.text_kernels.values_of_bytes import (
    BACKSLASH,
    BLANK,
    CLOSE,
    COLON,
    COMMA,
    LINE,
    MINUS,
    OPEN,
    PLUS,
    POINT,
    QUOTE,
    SLASH,
    ZERO,
    A,
    B,
    E,
    F,
    L,
    N,
    R,
    S,
    T,
    U,
    add_list,
    add_one,
    after_blanks,
    hexadecimal,
    is_digit,
    text_at,
    time_of,
    whole_end,
    whole_of,
)

_OPEN_OBJECT: Final = 123
_CLOSE_OBJECT: Final = 125
_LONGEST_NUMBER: Final = 1000
"""Letters: Python reads no whole number of several thousand."""


def read_lines(sheet: Sheet, size: int) -> int:
    """How many rows the lines are; -1 where something is unusual."""
    place = 0
    row = 0
    line = 0
    while place < size:
        place = after_blanks(sheet, place)
        if sheet.text[place] == _OPEN_OBJECT:
            sheet.number[row] = line
            place = row_end(sheet, place + 1, row)
            if place < 0 or not end_row(sheet, row):
                return -1
            row += 1
            place = after_blanks(sheet, place)
        if sheet.text[place] != LINE:
            return -1
        place += 1
        line += 1
    sheet.tally[LINES] = line
    return row


@inlined
def row_end(sheet: Sheet, place: int, row: int) -> int:
    """Where the object of a row ends; -1: something is unusual."""
    known = len(sheet.kinds)
    position = 0
    while True:
        place = after_blanks(sheet, place)
        if sheet.text[place] != QUOTE:
            return -1
        name, place = name_at(sheet, place + 1, position)
        position += 1
        if name < 0 or sheet.seen[0, name] == row + 1:
            return -1
        sheet.seen[0, name] = row + 1
        place = after_blanks(sheet, place)
        if sheet.text[place] != COLON:
            return -1
        place = after_blanks(sheet, place + 1)
        # The last kind is that of all names that nobody knows.
        kind = int(sheet.kinds[min(name, known - 1)])
        if kind == SKIPPED:
            place = value_end(sheet, place)
        elif kind == UNREAD:
            return -1
        else:
            place = read_value(sheet, place, name, row)
        if place < 0:
            return -1
        place = after_blanks(sheet, place)
        if sheet.text[place] == _CLOSE_OBJECT:
            return place + 1
        if sheet.text[place] != COMMA:
            return -1
        place += 1


@inlined
def name_at(sheet: Sheet, place: int, position: int) -> tuple[int, int]:
    """The number of the name that begins here, and what comes after it; negative if it is unusual."""
    table = events_table(sheet) + 2
    if position < len(sheet.order):
        guess = int(sheet.order[position])
        if guess >= 0:
            size = same_name(sheet, table, guess, place)
            if size > 0 and sheet.text[place + size] == QUOTE:
                return guess, place + size + 1
    end = place
    while sheet.text[end] != QUOTE:
        if sheet.text[end] < BLANK or sheet.text[end] == BACKSLASH:
            return -1, -1
        end += 1
    name = code_of(sheet, table, place, end)
    if name >= MOST_NAMES:
        return -1, -1
    if position < len(sheet.order):
        sheet.order[position] = name
    return name, end + 1


@inlined
def same_name(sheet: Sheet, table: int, name: int, place: int) -> int:
    """The length of a name, if its letters are here; else 0."""
    at = table * sheet.room + name
    first = int(sheet.ends[at])
    size = int(sheet.ends[at + 1]) - first
    first += table * sheet.space
    for k in range(size):
        if sheet.text[place + k] != sheet.letters[first + k]:
            return 0
    return size


@inlined
def read_value(sheet: Sheet, place: int, name: int, row: int) -> int:
    """Read the value of a column, and say where it ends; -1: it is unusual."""
    kind = int(sheet.kinds[name])
    first = int(sheet.text[place])
    if first == N:
        return word_end(sheet, place)
    if kind == TRUTH:
        end = word_end(sheet, place)
        sheet.redelivered[row] = first == T
        return end
    if kind == SEQ:
        end = whole_end(sheet, place)
        sheet.seq[row] = whole_of(sheet, place, end) if end > 0 else -1
        return end if sheet.seq[row] >= 0 else -1
    if kind == LIST or (kind == GROUP and first == OPEN):
        end = list_end(sheet, place)
        if end < 0:
            return -1
        code = add_list(sheet, place, end, int(sheet.columns[name]))
        sheet.codes[row, sheet.columns[name]] = code
        return end if code >= 0 else -1
    if first == QUOTE:
        found = text_at(sheet, place + 1)
        start, end, after = place + 1, found.end, found.after
    elif kind == TIME:
        start = place
        end = after = number_end(sheet, place)
    elif kind == TEXT and (first == T or first == F):
        start = place
        end = after = word_end(sheet, place)
    else:
        start = place
        end = after = whole_end(sheet, place)
    return after if end >= start and store(sheet, start, end, (name, row)) else -1


@inlined
def store(sheet: Sheet, start: int, end: int, where: tuple[int, int]) -> bool:
    """Whether the letters are a value of the column of a name. It is written into a row."""
    name, row = where
    kind = int(sheet.kinds[name])
    if kind == TIME:
        sheet.time[row] = time_of(sheet, start, end)
        return bool(sheet.time[row] != NO_TIME_GIVEN)
    if start == end and kind != TEXT:
        return False
    if kind == EVENT:
        event = code_of(sheet, events_table(sheet), start, end)
        sheet.event[row] = event
        return 0 <= event < KINDS
    column = int(sheet.columns[name])
    lone = kind == GROUP
    code = add_one(sheet, start, end, column) if lone else code_of(sheet, column, start, end)
    sheet.codes[row, column] = code
    return code >= 0


@inlined
def list_end(sheet: Sheet, start: int) -> int:
    """Where a list without lists or objects in it ends; -1: it does not."""
    if sheet.text[start] != OPEN:
        return -1
    place = start + 1
    while sheet.text[place] != CLOSE:
        letter = int(sheet.text[place])
        if letter == QUOTE:
            place = quoted_end(sheet, place)
            if place < 0:
                return -1
        elif letter == LINE or letter == 0 or letter == OPEN:
            return -1
        else:
            place += 1
    return place + 1


@inlined
def word_end(sheet: Sheet, place: int) -> int:
    """Where one of the three words of JSON ends; -1 for any other."""
    first = int(sheet.text[place])
    if first == T:
        same = sheet.text[place + 1] == R and sheet.text[place + 2] == U
        return place + 4 if same and sheet.text[place + 3] == E else -1
    if first == N:
        same = sheet.text[place + 1] == U and sheet.text[place + 2] == L
        return place + 4 if same and sheet.text[place + 3] == L else -1
    if first != F or sheet.text[place + 1] != A or sheet.text[place + 2] != L:
        return -1
    return place + 5 if sheet.text[place + 3] == S and sheet.text[place + 4] == E else -1


def quoted_end(sheet: Sheet, place: int) -> int:
    """What comes after the text that begins with this quotation mark; -1: it is no text of JSON."""
    place += 1
    while True:
        letter = int(sheet.text[place])
        if letter == QUOTE:
            return place + 1
        if letter < BLANK:
            return -1
        if letter == BACKSLASH:
            following = int(sheet.text[place + 1])
            if following == U:
                for k in range(place + 2, place + 6):
                    if hexadecimal(int(sheet.text[k])) < 0:
                        return -1
                place += 6
            elif is_escape(following):
                place += 2
            else:
                return -1
        else:
            place += 1


def is_escape(letter: int) -> bool:
    """Whether a backslash may stand before it, but for that of a number."""
    if letter == QUOTE or letter == BACKSLASH or letter == SLASH or letter == B:
        return True
    return letter == F or letter == N or letter == R or letter == T


def number_end(sheet: Sheet, start: int) -> int:
    """Where a number of JSON ends; -1: it is none."""
    place = start + (sheet.text[start] == MINUS)
    if not is_digit(int(sheet.text[place])):
        return -1
    if sheet.text[place] == ZERO:
        place += 1
    else:
        place = digits_end(sheet, place)
    if sheet.text[place] == POINT:
        after = digits_end(sheet, place + 1)
        if after == place + 1:
            return -1
        place = after
    if int(sheet.text[place]) | BLANK == E:
        place += 1
        if sheet.text[place] == PLUS or sheet.text[place] == MINUS:
            place += 1
        after = digits_end(sheet, place)
        if after == place:
            return -1
        place = after
    return place if place - start <= _LONGEST_NUMBER else -1


def digits_end(sheet: Sheet, place: int) -> int:
    """The first place that has no digit."""
    while is_digit(int(sheet.text[place])):
        place += 1
    return place


def scalar_end(sheet: Sheet, place: int) -> int:
    """Where a value that is neither a list nor an object ends; -1: it is none."""
    first = int(sheet.text[place])
    if first == QUOTE:
        return quoted_end(sheet, place)
    if first == MINUS or is_digit(first):
        return number_end(sheet, place)
    return word_end(sheet, place)


def value_end(sheet: Sheet, place: int) -> int:
    """Where any value of JSON ends, of which no object has a name twice; -1: it is none, or unusual.

    What is open is in bits, the innermost last: 1 for an object.
    """
    depth = 0
    objects = 0
    while True:
        first = int(sheet.text[place])
        if first == _OPEN_OBJECT or first == OPEN:
            depth += 1
            if depth >= DEEPEST:
                return -1
            objects = 2 * objects + (first == _OPEN_OBJECT)
            if first == _OPEN_OBJECT:
                sheet.tally[OBJECTS] += 1
                sheet.seen[depth, MOST_NAMES] = sheet.tally[OBJECTS]
            place = after_blanks(sheet, place + 1)
            if sheet.text[place] != (_CLOSE_OBJECT if first == _OPEN_OBJECT else CLOSE):
                if first == _OPEN_OBJECT:
                    place = inner_name_end(sheet, place, depth)
                    if place < 0:
                        return -1
                continue
        else:
            place = scalar_end(sheet, place)
            if place < 0:
                return -1
        # A value has ended: also those that it is the last of, up to a comma.
        while depth > 0:
            place = after_blanks(sheet, place)
            if sheet.text[place] == COMMA:
                break
            if sheet.text[place] != (_CLOSE_OBJECT if objects & 1 else CLOSE):
                return -1
            place += 1
            objects >>= 1
            depth -= 1
        if depth == 0:
            return place
        place = after_blanks(sheet, place + 1)
        if objects & 1:
            place = inner_name_end(sheet, place, depth)
            if place < 0:
                return -1


def inner_name_end(sheet: Sheet, place: int, depth: int) -> int:
    """Where the value after a name in an object within a row begins; -1: the object has that name twice, or it is
    unusual.
    """
    if sheet.text[place] != QUOTE:
        return -1
    name, place = name_at(sheet, place + 1, len(sheet.order))
    if name < 0 or sheet.seen[depth, name] == sheet.seen[depth, MOST_NAMES]:
        return -1
    sheet.seen[depth, name] = sheet.seen[depth, MOST_NAMES]
    place = after_blanks(sheet, place)
    return after_blanks(sheet, place + 1) if sheet.text[place] == COLON else -1
