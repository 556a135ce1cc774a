"""`precedes.check`: the scenarios and claims of .prec files, judged. It needs no other package, unless a claim does."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from precedes.api.report import Report
from precedes.core.outcome import VERDICTS, Limits
from precedes.core.verdict import Verdict
from precedes.jobs import check as checking

if TYPE_CHECKING:
    from precedes.reports.page.contents import Page


@dataclass(frozen=True, slots=True, repr=False)
class Check(Report):
    """What `check` found. The verdict is `Verdict.HOLDS` if every statement came out as stated."""

    files: tuple[checking.FileResult, ...]

    @property
    def verdict(self) -> Verdict:
        """Of all statements: violated if one came out otherwise, unknown if one is undecided or nothing was checked."""
        return checking.verdict_of(self.files)

    def text(self, *, verbose: bool = False) -> str:
        """The report as the command prints it; `verbose`: with figures for what came out as stated, too."""
        from precedes.reports import check as printed

        return printed.as_text(self.files, verbose=verbose)

    def json(self) -> str:
        """The report as `--format json` prints it."""
        from precedes.reports import check as printed

        return printed.as_json(self.files)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each statement: path, line, scenario (None for a claim), statement, outcome."""
        return [
            {"path": file.path, "line": line, "scenario": name, "statement": text, "outcome": outcome.value}
            for file in self.files
            for name, line, text, outcome in (
                *(
                    (name, answer.line, answer.text, answer.outcome)
                    for name, _, answers in file.scenarios
                    for answer in answers
                ),
                *((None, claim.line, claim.text, claim.outcome) for claim in file.claims),
            )
        ]

    def _verdicts(self) -> Iterator[tuple[str, Verdict]]:
        for file in self.files:
            for name, _, answers in file.scenarios:
                yield from ((f"{name}: {answer.text}", VERDICTS[answer.outcome]) for answer in answers)
            yield from ((claim.text, VERDICTS[claim.outcome]) for claim in file.claims)

    def _page(self) -> Page:
        from precedes.reports.page.statement_page import check_page

        return check_page(self.files)


def check(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    timeout: float = 60.0,
    memory: int = 2048,
    accept_bounds: bool = False,
) -> Check:
    """Judge the scenarios and claims of .prec files.

    Args:
        files: .prec files, or directories that have some.
        timeout: Seconds that the solver may take for each claim.
        memory: Megabytes that it may take.
        accept_bounds: Count a claim as proved if no counterexample is found up to the bound.

    Returns:
        The report, with the verdict of every statement.

    Raises:
        PrecedesError: A file cannot be read or has mistakes; all mistakes of all files are in it.
    """
    named = [files] if isinstance(files, str | os.PathLike) else files
    found = checking.source_files([os.fspath(file) for file in named])
    return Check(checking.check(found, Limits(timeout, memory, accept_bounds)))
