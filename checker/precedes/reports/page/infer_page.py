"""`precedes infer` as a page."""

from __future__ import annotations

from collections.abc import Sequence

from precedes.jobs.infer import Inferred
from precedes.reports.page.cases import case_of
from precedes.reports.page.contents import Line, Page, Section
from precedes.reports.page.verify_page import COUNTED
from precedes.reports.verify import helped, remarks, size_of
from precedes.traces import Notice


def infer_page(found: Inferred, notices: Sequence[Notice], seconds: float) -> Page:
    """What the trace keeps, what it breaks with the first violations, and what is unknown."""
    report = found.report
    groups = (
        ("Satisfied in every execution", found.kept, "holds"),
        ("Not violated by the recorded rows; a missing row may violate it", found.fitting, "unknown"),
        ("Violated", found.broken, "violated"),
        ("Violated as recorded, but a row may be missing", found.lacking, "unknown"),
    )
    sections = [
        Section(heading, [_line(found, name, verdict, names[name]) for name in names], COUNTED)
        for heading, names, verdict in groups
        if names
    ]
    if found.open:
        lines = [
            Line(name, "unknown", _counts(found, name), f"{found.titles[name]} ({helped(why)})")
            for name, why in found.open.items()
        ]
        sections.append(Section("Unknown", lines, COUNTED))
    if found.untested:
        lines = [Line(name, "unknown", (), found.titles[name]) for name in found.untested]
        sections.append(Section("Vacuous: there was nothing to check", lines))
    violations = [one for one in report.violations if one.predicate in found.titles]
    return Page(
        "precedes infer",
        found.verdict,
        f"inferred from {size_of(report, seconds)}",
        [*(notice.render() for notice in notices), *remarks(report)],
        sections,
        [case_of(violation) for violation in violations],
        sum(
            count.violated
            for name, count in report.counts.items()
            if name in report.leaves & found.titles.keys()
        ),
    )


def _line(found: Inferred, name: str, verdict: str, follow: Sequence[str]) -> Line:
    also = f" (and therefore: {', '.join(follow)})" if follow else ""
    return Line(name, verdict, _counts(found, name), found.titles[name] + also)


def _counts(found: Inferred, name: str) -> tuple[int, ...]:
    count = found.report.counts[name]
    return count.holds, count.violated, count.unknown
