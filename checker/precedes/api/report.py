"""What every report of the public face can do: be asked, printed, made a table, and raised."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from precedes.core.verdict import Verdict

if TYPE_CHECKING:
    import pyarrow as pa

    from precedes.reports.page.contents import Page


_LONG: Final = 60
"""The longest name that `repr` shows whole."""


class Report(ABC):
    """The result of a job.

    `str(report)` is the text that the command prints, `repr(report)` one line with the verdict, how many names have
    which, and the first that is violated. A notebook shows tables and diagrams. Reports differ in what else they have;
    each says so in its own docstring.
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

    @abstractmethod
    def _verdicts(self) -> Iterable[tuple[str, Verdict]]:
        """Each name that has a verdict, with it; the name of a whole before those of its parts."""

    def html(self) -> str:
        """The violations of the report as one page with diagrams, charts and filters, as `--html` writes it."""
        from precedes.reports.page.rendering import html

        return html(self._page())

    def _page(self) -> Page:
        """What a page has; a report that knows more than verdicts says more."""
        from precedes.reports.page.statement_page import names_page

        return names_page(type(self).__name__, self.verdict, self._verdicts())

    def _repr_html_(self) -> str:
        from precedes.reports.page.notebook import fragment

        return fragment(self._page())

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
        # pytest shows the line that called, and not this one.
        __tracebackhide__ = True
        if self.verdict is Verdict.HOLDS or (allow_unknown and self.verdict is Verdict.UNKNOWN):
            return
        raise AssertionError("\n" + self.text())

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        named = tuple(self._verdicts())
        counts = Counter(verdict for _, verdict in named)
        said = [f"{verdict.value} {counts[verdict]:,}" for verdict in Verdict if counts[verdict]]
        worst = next((name for name, verdict in named if verdict is Verdict.VIOLATED), None)
        said += [] if worst is None else [f"first violated: {_shortened(worst)}"]
        return f"<{type(self).__name__} {self.verdict.value}{': ' * bool(said)}{', '.join(said)}>"


def _shortened(name: str) -> str:
    """A name or a formula that fits into a line."""
    line = " ".join(name.split())
    return line if len(line) <= _LONG else f"{line[: _LONG - 3]}..."
