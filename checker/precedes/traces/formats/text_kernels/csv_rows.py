"""Records of CSV in one pass over their bytes. In the subset of Python that numba compiles."""

from __future__ import annotations

from typing import Final

from precedes.native.compiled_functions import inlined
from precedes.traces.formats.text_kernels.json_rows import store
from precedes.traces.formats.text_kernels.sheet import (
    COMMAS,
    DEST,
    GROUP,
    LINES,
    LIST,
    SEQ,
    SKIPPED,
    TRUTH,
    Sheet,
    end_row,
)
from precedes.traces.formats.text_kernels.values_of_bytes import (
    COMMA,
    LINE,
    OPEN,
    QUOTE,
    RETURN,
    ZERO,
    A,
    E,
    F,
    L,
    R,
    S,
    T,
    Text,
    U,
    add_ids,
    add_list,
    whole_of,
)

_TRUE: Final = 4
_FALSE: Final = 5


def read_records(sheet: Sheet, size: int) -> int:
    """How many rows the records are; -1 where something is unusual. The kinds are those of the columns in turn."""
    columns = len(sheet.kinds)
    place = 0
    row = 0
    while place < size:
        sheet.number[row] = row
        for column in range(columns):
            start = place
            if sheet.text[place] == QUOTE:
                start = place + 1
                found = quoted_cell(sheet, start)
            else:
                found = plain_cell(sheet, start)
            place = after_cell(sheet, found.after, last=column == columns - 1)
            if place < 0:
                return -1
            if found.end > start and not read_cell(sheet, start, found.end, (column, row)):
                return -1
        if not end_row(sheet, row):
            return -1
        row += 1
    sheet.tally[LINES] = row
    return row


@inlined
def plain_cell(sheet: Sheet, place: int) -> Text:
    """Where a cell without quotation marks ends. What follows says whether it is one."""
    while True:
        letter = int(sheet.text[place])
        if letter <= COMMA and (letter == COMMA or letter <= RETURN or letter == QUOTE):
            return Text(place, place)
        place += 1


@inlined
def quoted_cell(sheet: Sheet, place: int) -> Text:
    """Where a cell with quotation marks ends, and what comes after it. Two of them become one, where they are."""
    while sheet.text[place] != QUOTE:
        if sheet.text[place] == 0:
            return Text(place, place)
        place += 1
    end = place
    while sheet.text[place] == QUOTE and sheet.text[place + 1] == QUOTE:
        sheet.text[end] = QUOTE
        end += 1
        place += 2
        while sheet.text[place] != QUOTE:
            if sheet.text[place] == 0:
                return Text(place, place)
            sheet.text[end] = sheet.text[place]
            end += 1
            place += 1
    return Text(end, place + 1)


@inlined
def after_cell(sheet: Sheet, place: int, last: bool) -> int:
    """Where the next cell begins; -1: a cell does not end here as it must, before a comma or, the `last`, a line."""
    if not last:
        return place + 1 if sheet.text[place] == COMMA else -1
    place += sheet.text[place] == RETURN
    return place + 1 if sheet.text[place] == LINE else -1


@inlined
def read_cell(sheet: Sheet, start: int, end: int, where: tuple[int, int]) -> bool:
    """Whether a cell that is not empty is a value of its column. It is written into its row."""
    name, row = where
    kind = int(sheet.kinds[name])
    if kind == SKIPPED:
        return True
    if kind == SEQ:
        sheet.seq[row] = whole_of(sheet, start, end)
        return bool(sheet.seq[row] >= 0)
    if kind == TRUTH:
        sheet.redelivered[row] = truth_of(sheet, start, end)
        return bool(sheet.redelivered[row] >= 0)
    if kind != LIST and kind != GROUP:
        return store(sheet, start, end, where)
    column = int(sheet.columns[name])
    if sheet.text[start] == OPEN:
        code = add_list(sheet, start, end, column)
    else:
        code = add_ids(sheet, start, end, column)
        sheet.tally[COMMAS] += column == DEST and has_comma(sheet, start, end)
    sheet.codes[row, column] = code
    return code >= 0


@inlined
def has_comma(sheet: Sheet, start: int, end: int) -> bool:
    """Whether a cell has a comma in it."""
    for place in range(start, end):
        if sheet.text[place] == COMMA:
            return True
    return False


@inlined
def truth_of(sheet: Sheet, start: int, end: int) -> int:
    """1 for true, 0 for false, -1 for any other cell."""
    if end - start == 1 and (sheet.text[start] == ZERO or sheet.text[start] == ZERO + 1):
        return int(sheet.text[start]) - ZERO
    if end - start == _TRUE and sheet.text[start] == T and sheet.text[start + 1] == R:
        return 1 if sheet.text[start + 2] == U and sheet.text[start + 3] == E else -1
    if end - start != _FALSE or sheet.text[start] != F or sheet.text[start + 1] != A:
        return -1
    return (
        0 if sheet.text[start + 2] == L and sheet.text[start + 3] == S and sheet.text[start + 4] == E else -1
    )
