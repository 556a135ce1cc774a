"""What the kernels of text write: the values of a slice by columns, and every distinct text once.

Everything here is in the subset of Python that numba compiles. Bytes end in zeros (`PADDING`), so that a look at the
next ones needs no test. What a kernel cannot take makes it return a negative number.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.native.codes import FIRST_WITHOUT_MESSAGE, LAST_WITHOUT_MESSAGE, SEND, VIEW
from precedes.native.compiled_functions import (
    Int8Out,
    Int32Out,
    Int64Out,
    MatrixOut,
    Written,
    by_address,
    inlined,
)

Bytes = Annotated[npt.NDArray[np.uint8], Written()]
LongRows = Annotated[npt.NDArray[np.int64], Written(2)]

PADDING: Final = 64

SKIPPED: Final = 0
ID: Final = 1
TEXT: Final = 2
LIST: Final = 3
GROUP: Final = 4
EVENT: Final = 5
SEQ: Final = 6
TIME: Final = 7
TRUTH: Final = 8
UNREAD: Final = 9
"""Kinds of columns: what is not read; an id; a text, which may be empty; a list of ids; a list, or one; an event; a
place; a time; true or false; and one that no kernel reads.
"""

EXECUTION, ENTITY, MESSAGE, SENDER, A_VIEW, DEST, MEMBERS, A_GROUP = range(8)
FIRST_ATTRIBUTE: Final = A_GROUP + 1
"""Columns of codes: of ids, of lists, and after these of attributes."""
LISTS: Final = 3

ROWS: Final = 0
LINES: Final = 1
MESSAGES_IGNORED: Final = 2
DESTS_IGNORED: Final = 3
VIEWS_IGNORED: Final = 4
COMMAS: Final = 5
OBJECTS: Final = 6
TALLIES: Final = 7
"""What is counted: rows and lines, values that are ignored, destinations with a comma in them, and
objects within rows.
"""

DEEPEST: Final = 16
MOST_NAMES: Final = 1000
_SHORT: Final = 6
"""Letters that fit a hash, with their number before them."""
_LONG: Final = 1 << 62
_BITS: Final = _LONG - 1
"""Hashes of texts that are longer. No hash is negative, and so Python and machine code compute the same."""
_SPREAD: Final = -7046029254386353131
_PRIME: Final = 1099511628211


@by_address
class Sheet(NamedTuple):
    """Columns of rows, and tables of distinct texts. The last three tables have events, ids in lists, and names.

    What is of a table stands after what is of the tables before it.

    text            the bytes that are read
    kinds, columns  of each name: its kind, and its column of codes
    codes           of each row and column: the text or the list, -1 for none
    number          of each row: its line
    room            one more than the texts that a table may have
    slots, space    the buckets and the letters that a table may have
    buckets, masks  hash tables of texts
    sizes, last     how many texts a table has, and which was asked for last
    ends            of each table and text: where it begins among the letters, and after the last one where that ends
    words           of each table and text: its hash
    letters         the letters of the texts, one text after the other
    list_ends       of each column of lists and list: where it begins among its entries, likewise
    entries         the ids of lists
    seen            of each depth and name: the object that has it
    order           the names of the line before
    tally           what is counted
    """

    text: Bytes
    kinds: npt.NDArray[np.int8]
    columns: npt.NDArray[np.int32]
    codes: MatrixOut
    event: Int8Out
    redelivered: Int8Out
    seq: Int64Out
    time: Int64Out
    number: Int64Out
    room: int
    slots: int
    space: int
    buckets: Int32Out
    masks: Int64Out
    sizes: Int64Out
    last: Int64Out
    ends: Int32Out
    words: Int64Out
    letters: Bytes
    list_ends: MatrixOut
    entries: MatrixOut
    seen: LongRows
    order: Int32Out
    tally: Int64Out


@inlined
def events_table(sheet: Sheet) -> int:
    """The table of events; after it come those of ids in lists and of names."""
    return len(sheet.sizes) - 3


@inlined
def code_of(sheet: Sheet, table: int, start: int, end: int) -> int:
    """The number of a text in a table, where it is added if it is not there; -1 if there is no room."""
    size = end - start
    if size <= _SHORT:
        word = int(size)
        for k in range(start, end):
            word = (word << 8) | int(sheet.text[k])
    else:
        word = 0
        for k in range(start, end):
            word = ((word ^ int(sheet.text[k])) * _PRIME) & _BITS
        word |= _LONG
    last = int(sheet.last[table])
    if last >= 0 and is_text(sheet, table * sheet.room + last, word, (start, end)):
        return last
    code = found_code(sheet, table, word, (start, end))
    sheet.last[table] = code
    return code


@inlined
def is_text(sheet: Sheet, place: int, word: int, given: tuple[int, int]) -> bool:
    """Whether the text at a place of the tables is the given one. Of a short one the hash has length and letters."""
    if sheet.words[place] != word:
        return False
    return word < _LONG or same_letters(sheet, place, given)


def same_letters(sheet: Sheet, place: int, given: tuple[int, int]) -> bool:
    """Whether the text at a place of the tables has the given letters."""
    start, end = given
    first = int(sheet.ends[place])
    if sheet.ends[place + 1] - first != end - start:
        return False
    first += place // sheet.room * sheet.space
    for k in range(end - start):
        if sheet.letters[first + k] != sheet.text[start + k]:
            return False
    return True


@inlined
def bucket_of(word: int, mask: int) -> int:
    """Where to look for a hash."""
    spread = int(word) * _SPREAD
    return (spread ^ (spread >> 32)) & mask


@inlined
def found_code(sheet: Sheet, table: int, word: int, given: tuple[int, int]) -> int:
    """`code_of` by the hash."""
    mask = int(sheet.masks[table])
    bucket = bucket_of(word, mask)
    base = table * sheet.room
    while sheet.buckets[table * sheet.slots + bucket] >= 0:
        code = int(sheet.buckets[table * sheet.slots + bucket])
        if is_text(sheet, base + code, word, given):
            return code
        bucket = (bucket + 1) & mask
    start, end = given
    code = int(sheet.sizes[table])
    first = int(sheet.ends[base + code])
    if code + 1 >= sheet.room or first + end - start > sheet.space:
        return -1
    for k in range(end - start):
        sheet.letters[table * sheet.space + first + k] = sheet.text[start + k]
    sheet.ends[base + code + 1] = first + end - start
    sheet.words[base + code] = word
    sheet.sizes[table] = code + 1
    sheet.buckets[table * sheet.slots + bucket] = code
    if 2 * (code + 1) > mask:
        grow(sheet, table)
    return code


def grow(sheet: Sheet, table: int) -> None:
    """Twice as many buckets for a table."""
    mask = 2 * int(sheet.masks[table]) + 1
    sheet.masks[table] = mask
    base = table * sheet.slots
    for bucket in range(mask + 1):
        sheet.buckets[base + bucket] = -1
    for code in range(int(sheet.sizes[table])):
        bucket = bucket_of(int(sheet.words[table * sheet.room + code]), mask)
        while sheet.buckets[base + bucket] >= 0:
            bucket = (bucket + 1) & mask
        sheet.buckets[base + bucket] = code


@inlined
def end_row(sheet: Sheet, row: int) -> bool:
    """Whether a row has what it needs; what it states beyond that, and nobody reads, is taken away and counted."""
    codes, tally = sheet.codes, sheet.tally
    event = int(sheet.event[row])
    if codes[row, EXECUTION] < 0 or codes[row, ENTITY] < 0 or event < 0:
        return False
    if FIRST_WITHOUT_MESSAGE <= event <= LAST_WITHOUT_MESSAGE:
        if codes[row, MESSAGE] >= 0:
            codes[row, MESSAGE] = -1
            tally[MESSAGES_IGNORED] += 1
    elif codes[row, MESSAGE] < 0:
        return False
    if event != SEND and codes[row, DEST] >= 0:
        codes[row, DEST] = -1
        tally[DESTS_IGNORED] += 1
    if event != VIEW and codes[row, A_VIEW] >= 0:
        codes[row, A_VIEW] = -1
        tally[VIEWS_IGNORED] += 1
    tally[ROWS] = row + 1
    return True


def add_texts(sheet: Sheet, ends: npt.NDArray[np.int64], table: int) -> None:
    """Add texts that differ, of which it is given where each ends."""
    start = 0
    for end in ends:
        code_of(sheet, table, start, int(end))
        start = int(end)


def entries_of(sheet: Sheet, column: int, rows: int) -> int:
    """How many ids the lists of a column have in all rows together."""
    count = 0
    for row in range(rows):
        code = sheet.codes[row, column]
        if code >= 0:
            count += sheet.list_ends[column - DEST, code + 1] - sheet.list_ends[column - DEST, code]
    return count


def write_lists(sheet: Sheet, column: int, ends: Int32Out, entries: Int32Out) -> None:
    """Write where the list of each row begins and ends, and the ids of all of them."""
    count = 0
    for row in range(len(ends) - 1):
        ends[row] = count
        code = sheet.codes[row, column]
        if code >= 0:
            first = int(sheet.list_ends[column - DEST, code])
            for place in range(first, int(sheet.list_ends[column - DEST, code + 1])):
                entries[count] = sheet.entries[column - DEST, place]
                count += 1
    ends[len(ends) - 1] = count
