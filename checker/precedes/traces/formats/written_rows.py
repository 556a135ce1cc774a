"""Rows of executions for writing: the columns that are written, and what the text formats share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Final

from precedes.traces.arrow import arrow
from precedes.traces.schema import INPUT_COLUMNS

_NOT_KEPT: Final = frozenset({"redelivered"})
"""What an execution has no place for."""
COLUMNS: Final = tuple(column for column in INPUT_COLUMNS if column not in _NOT_KEPT)

Values = dict[str, Any]
"""A row: its values by column, `time` in nanoseconds; what is absent is left out."""

_ROWS_AT_ONCE: Final = 1 << 12


def write_text(
    rows: Iterable[Values],
    path: str,
    compression: str | None,
    line: Callable[[Values], str],
    header: str = "",
) -> int:
    """Write a line for each row; how many there were. `compression` is a name of Arrow's."""
    count = 0
    rest = iter(rows)
    with arrow.output_stream(path, compression=compression) as out:
        out.write(header.encode())
        while some := [line(row) for row in islice(rest, _ROWS_AT_ONCE)]:
            count += len(some)
            out.write("".join(some).encode())
    return count
