"""What every report of the public face can do: be asked, printed, made a table, and raised."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from precedes.core.verdict import Verdict

if TYPE_CHECKING:
    import pyarrow as pa


class Report(ABC):
    """The result of a job.

    `str(report)` is the text that the command prints. Reports differ in what else they have; each says so in its own
    docstring.
    """

    @property
    @abstractmethod
    def verdict(self) -> Verdict:
        """`Verdict.HOLDS` only if everything that was asked holds; `Verdict.UNKNOWN` also if nothing was checked."""

    @abstractmethod
    def text(self) -> str:
        """The report as the command prints it, with a line break at its end."""

    @abstractmethod
    def json(self) -> str:
        """The report as one JSON object, as `--format json` prints it."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """The findings, one dictionary for each row of `table()`."""

    def table(self) -> pa.Table:
        """The findings as an Arrow table: one row for each thing that has a verdict."""
        from precedes.traces.arrow import arrow

        found: pa.Table = arrow.Table.from_pylist(self.rows())
        return found

    def raise_for_violations(self, *, allow_unknown: bool = False) -> None:
        """Do nothing if everything holds.

        Args:
            allow_unknown: Accept a verdict of unknown, too.

        Raises:
            AssertionError: Something is violated or, unless `allow_unknown`, undecided. Its text is the report.
        """
        if self.verdict is Verdict.HOLDS or (allow_unknown and self.verdict is Verdict.UNKNOWN):
            return
        raise AssertionError("\n" + self.text())

    def __str__(self) -> str:
        return self.text()
