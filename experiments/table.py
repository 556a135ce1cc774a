"""The numbers of an experiment, and how much work goes into them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Cell: TypeAlias = str | int | float | None


class Scale(Enum):
    """How much is run: enough to see that it runs, or enough for the figures in the docs."""

    QUICK = "quick"
    FULL = "full"

    def of(self, quick: T, full: T) -> T:
        """One of two, by the scale."""
        return quick if self is Scale.QUICK else full


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under names. A quantity `x` that was measured has its interval in `x_low` and `x_high`;
    a name carries its unit where there is one (`wait_ticks`). `notes` say what was assumed.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells under {len(self.columns)} names: {row}")

    def records(self, **where: Cell) -> Iterator[Mapping[str, Cell]]:
        """The rows by name, those only that have the given cells."""
        for row in self.rows:
            record = dict(zip(self.columns, row, strict=True))
            if all(record[name] == cell for name, cell in where.items()):
                yield record

    def series(self, *names: str, **where: Cell) -> tuple[list[float], ...]:
        """Some columns as numbers, of the rows that have the given cells and a value in each of the columns."""
        found = [
            [record[name] for name in names]
            for record in self.records(**where)
            if all(record[name] is not None for name in names)
        ]
        return tuple([float(row[k]) for row in found] for k in range(len(names)))  # type: ignore[arg-type]

    def distinct(self, name: str) -> list[Cell]:
        """The different cells of a column, in their order."""
        place = self.columns.index(name)
        return list(dict.fromkeys(row[place] for row in self.rows))

    def write(self, path: Path) -> None:
        """As CSV, the notes before it in lines that begin with #."""
        with path.open("w", encoding="utf-8", newline="") as out:
            out.writelines(f"# {note}\n" for note in self.notes)
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows([_text(cell) for cell in row] for row in self.rows)


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
