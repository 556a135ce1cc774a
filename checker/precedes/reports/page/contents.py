"""What a page has, whichever command it is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from precedes.core.execution import Execution
from precedes.core.verdict import Verdict
from precedes.reports.space_time.marks import NOTHING, Marks

MOST_CASES: Final = 10_000
"""Violations that a page lists: as many as fit into it with a sentence each."""


@dataclass(frozen=True, slots=True)
class Case:
    """One violation: of which name, in which execution, and what happened in a sentence.

    `day` is a date, `part` the values of the attributes that its messages carry, `pairs` the senders with the entities
    that the marked deliveries are of, and `lag` the longest time that one of these took, in nanoseconds. `detail` is
    text of several lines. What is drawn is `execution` with `marks`, where there is an execution.
    """

    name: str
    where: str
    told: str
    day: str = ""
    part: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    lag: int | None = None
    detail: str = ""
    execution: Execution | None = None
    marks: Marks = NOTHING


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table: a name, its verdict in a word, how often it has which verdict, and a sentence."""

    name: str
    verdict: str
    counts: tuple[int, ...] = ()
    told: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A table under a heading. `columns` are what the counts of its lines are of."""

    heading: str
    lines: Sequence[Line]
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A report: what was asked, the answer in a word and in a line, what to know before, and all cases.

    `violated` is how many violations there are, of which `cases` may be the first.
    """

    title: str
    verdict: Verdict
    closing: str
    notices: Sequence[str]
    sections: Sequence[Section]
    cases: Sequence[Case]
    violated: int
