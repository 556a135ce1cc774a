"""From a source to canonical tables, by its format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from precedes.core.diagnostics import PrecedesError
from precedes.core.formula import Attribute
from precedes.traces import notices as notice
from precedes.traces.formats.parquet import canonical_arrow
from precedes.traces.formats.registry import PARQUET
from precedes.traces.formats.single_rows import name_unknown
from precedes.traces.formats.values import shown
from precedes.traces.notices import Notices
from precedes.traces.partition.names_to_come import (
    NamedRows,
    NamesToCome,
    Unnamed,
    last_places,
    lowest_names,
)
from precedes.traces.problems import unreadable
from precedes.traces.sources import TraceSource, source_of


def read_table(source: TraceSource | str, notices: Notices, order: int | None = None) -> Iterator[pa.Table]:
    """Canonical tables (`TABLE_SCHEMA`) of one file, or of standard input for `-`, in the order of its rows.

    `order` is the place of the file among the files of the trace, where the source does not know it. Raises
    PrecedesError for a file that cannot be read and for bad rows; what was yielded before must then not be
    used.
    """
    if isinstance(source, str):
        source = source_of(source)
    if order is not None:
        source = replace(source, order=order)
    _look_at_folders(source, notices)
    rows, ignored = 0, notices.total(notice.ROW_IGNORED)
    for table in source.format.module.read(source, notices):
        rows += len(table)
        yield table
    if rows:
        return
    if notices.total(notice.ROW_IGNORED) > ignored:
        notices.once(notice.NO_ROW, f"{source.shown} has no events: all of its rows were ignored")
    else:
        tell_no_row(source, notices)


def tell_no_row(source: TraceSource, notices: Notices) -> None:
    """Tell that a file has no rows."""
    notices.once(notice.NO_ROW, f"{source.shown} has no rows")


ROWS_PER_PIECE: Final = 1_000_000
"""Rows that one worker reads at a time, about, where a file can be cut."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one worker reads: a file, or some row groups of it; `rows` is about how many rows it has."""

    source: TraceSource
    groups: range | None
    rows: int


def pieces(source: TraceSource, rows: int) -> Iterator[Piece]:
    """A file in pieces of about `rows` rows, where its format can be cut. Raises PrecedesError."""
    if not source.format.divisible:
        yield Piece(source, None, source.size * (1 if source.compression is None else 10) // _BYTES_PER_ROW)
        return
    start = held = 0
    counts = source.format.module.row_groups(source)
    if not any(counts):
        yield Piece(source, None, 0)
        return
    for number, count in enumerate(counts):
        held += count
        if held >= rows or number == len(counts) - 1:
            yield Piece(source, range(start, number + 1), held)
            start, held = number + 1, 0


def read_piece(piece: Piece, notices: Notices) -> Iterator[pa.Table]:
    """`read_table` of a piece."""
    if piece.groups is None:
        yield from read_table(piece.source, notices)
    else:
        _look_at_folders(piece.source, notices)
        yield from piece.source.format.module.read_groups(piece.source, notices, piece.groups)


def names_to_come(
    sources: Sequence[TraceSource], least: int, budget: int, *, in_order: bool
) -> NamesToCome | None:
    """Which executions of a trace have rows to come; `in_order`: those that are whole have lower names than all others.

    None where that is not known before rows are read, where there are fewer than `least`, and where more than about
    `budget` of them would have to wait for later ones.
    """
    if not sources or not all(source.format.divisible for source in sources):
        return None
    modules = [source.format.module for source in sources]

    def named() -> Iterator[NamedRows]:
        for module, source in zip(modules, sources, strict=True):
            yield from module.named_rows(source)

    try:
        if (
            sum(sum(module.row_groups(source)) for module, source in zip(modules, sources, strict=True))
            < least
        ):
            return None
        found = lowest_names(named(), budget)
        return found if found is not None or in_order else last_places(named())
    except (PrecedesError, Unnamed):
        # Who reads the rows says what is wrong.
        return None


def _look_at_folders(source: TraceSource, notices: Notices) -> None:
    """Tell which columns that its folders state are not read. Raises PrecedesError for a value that is not UTF-8
    (T006), and for two values of one column (T018).
    """
    name_unknown(source.unknown(name for name, _ in source.stated), notices)
    found: dict[str, str] = {}
    for name, value in source.partition:
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise unreadable(
                "T006",
                f"the path says what `{name}` is, and that is not UTF-8",
                source.shown,
                "rename the folder",
            )
        if found.setdefault(name, value) != value:
            said = f"the path says that `{name}` is {shown(found[name])}, and that it is {shown(value)}"
            raise unreadable("T018", said, source.shown, "one of the two is wrong")


_BYTES_PER_ROW: Final = 100
"""Of text, about."""


def canonical(
    table: pa.Table,
    name: str,
    notices: Notices,
    first_row: int = 1,
    attributes: tuple[Attribute, ...] = (),
) -> pa.Table:
    """Rows that are in Arrow already, with the columns of a trace under their names, as a canonical table.

    `name` stands for the file in messages; `attributes` are those that are read. Raises PrecedesError for a missing
    column and for bad rows.
    """
    return canonical_arrow(TraceSource(name, PARQUET, attributes=attributes), table, first_row, notices)
