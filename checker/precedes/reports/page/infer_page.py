"""`precedes infer` as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from precedes.jobs.drift import Drift
from precedes.jobs.infer import Inferred
from precedes.reports.drift import closing, days_said, since_said
from precedes.reports.page.cases import case_of
from precedes.reports.page.contents import Line, Page, Section
from precedes.reports.page.verify_page import COUNTED
from precedes.reports.verify import helped, remarks, size_of
from precedes.traces import Notice


def infer_page(
    found: Inferred, notices: Sequence[Notice], seconds: float, drift: Drift | None = None
) -> Page:
    """What the trace keeps, what it breaks with the first violations, and what is unknown. With `drift`, first how it
    differs from a baseline, and the violations with which that began.
    """
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
    began = [] if drift is None else [one.violation for one in drift.since.values() if one.violation]
    violations = [one for one in report.violations if one.predicate in found.titles]
    violations = [*began, *(one for one in violations if one not in began)]
    return Page(
        "precedes infer" if drift is None else f"precedes infer, against {drift.baseline.shown}",
        found.verdict if drift is None else drift.verdict,
        f"inferred from {size_of(report, seconds)}" if drift is None else closing(found, drift, seconds),
        [*(notice.render() for notice in notices), *remarks(report)],
        [*(() if drift is None else _differing(found, drift)), *sections],
        [case_of(violation) for violation in violations],
        sum(
            count.violated
            for name, count in report.counts.items()
            if name in report.leaves & found.titles.keys()
        ),
    )


def _differing(found: Inferred, drift: Drift) -> Iterator[Section]:
    lost = [
        Line(name, "violated", _counts(found, name), _since(found, drift, name, others))
        for name, others in drift.broken.items()
    ]
    open_ = [Line(name, "unknown", (), helped(why)) for name, why in drift.doubtful.items()]
    open_ += [Line(name, "unknown", (), "there was nothing to check") for name in drift.unchecked]
    for heading, lines, columns in (
        ("No longer satisfied", lost, COUNTED),
        ("Satisfied in the baseline, not judged now", open_, ()),
        ("Newly satisfied", [_line(found, n, "holds", drift.gained[n]) for n in drift.gained], COUNTED),
        (
            "Satisfied, and not judged in the baseline",
            [_line(found, n, "holds", drift.learned[n]) for n in drift.learned],
            COUNTED,
        ),
    ):
        if lines:
            yield Section(heading, lines, columns)


def _since(found: Inferred, drift: Drift, name: str, others: Sequence[str]) -> str:
    since = drift.since.get(name)
    also = f" (and with it: {', '.join(others)})" if others else ""
    began = "" if since is None else f"; {'; '.join((since_said(since), *days_said(since)))}"
    return f"{found.titles.get(name, '')}{also}{began}"


def _line(found: Inferred, name: str, verdict: str, follow: Sequence[str]) -> Line:
    also = f" (and therefore: {', '.join(follow)})" if follow else ""
    return Line(name, verdict, _counts(found, name), found.titles.get(name, "") + also)


def _counts(found: Inferred, name: str) -> tuple[int, ...]:
    count = found.report.counts[name]
    return count.holds, count.violated, count.unknown
