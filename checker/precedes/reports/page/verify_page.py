"""`precedes verify` as a page."""

from __future__ import annotations

from collections.abc import Sequence

from precedes.engines.scan.partials import Count, Report, Unknown
from precedes.language.quoting import shown
from precedes.reports.page.cases import case_of
from precedes.reports.page.contents import MOST_CASES, Line, Page, Section
from precedes.reports.verify import because, closing, idle, remarks, vacuous, whys
from precedes.traces import Notice

COUNTED = ("holds", "violated", "unknown")


def verify_page(report: Report, notices: Sequence[Notice], seconds: float) -> Page:
    """What was found of each name, why something is unknown, and the violations."""
    told = [notice.render() for notice in notices]
    told += [*remarks(report), *(f"{why} ({', '.join(names)})" for why, names in idle(report).items())]
    leaves = [count for name, count in report.counts.items() if name in report.leaves]
    sections = [
        Section("Names", [_line(report, name, count) for name, count in report.counts.items()], COUNTED)
    ]
    reasons: dict[tuple[str, str], Unknown] = {}
    for unknown in report.unknowns:
        for why in whys(unknown):
            reasons.setdefault((unknown.predicate, why), unknown)
    if reasons:
        lines = [
            Line(name, "unknown", (), because(why, first, f" in execution {shown(first.execution)}"))
            for (name, why), first in reasons.items()
        ]
        sections.append(Section("Why something is unknown", lines))
    return Page(
        "precedes verify",
        report.verdict,
        closing(report, seconds),
        told,
        sections,
        [case_of(violation) for violation in report.violations[:MOST_CASES]],
        sum(count.violated for count in leaves),
    )


def _line(report: Report, name: str, count: Count) -> Line:
    counts = (count.holds, count.violated, count.unknown)
    if name in report.untested:
        return Line(name, "unknown", counts, vacuous(report, name))
    return Line(name, count.verdict.value, counts)
