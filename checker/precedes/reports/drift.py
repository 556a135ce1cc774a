"""How a trace differs from a baseline, in words: what it does not keep any more and since when, what it keeps newly."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import Any, Final

from precedes.core.calendar_dates import date_of, is_date, moment_of
from precedes.core.counts import counted
from precedes.core.verdict import Verdict
from precedes.engines.scan.partials import Violation
from precedes.engines.selection import AUTO
from precedes.jobs.drift import Drift, Since
from precedes.jobs.infer import Inferred
from precedes.jobs.verify import Question
from precedes.language.quoting import shown
from precedes.reports.figure import figure, sentence
from precedes.reports.prose.times import duration_text
from precedes.reports.verify import helped, remarks, size_of
from precedes.traces import Notice

_WIDTH: Final = 100
_MOST_DAYS: Final = 10
"""Days that the text lists."""


def as_text(
    found: Inferred, drift: Drift, notices: Sequence[Notice], seconds: float, question: Question
) -> str:
    """What was lost with its first execution, what is undecided, what was gained, and one closing line."""
    lines = [f"notice {notice.render()}" for notice in notices]
    lines += [f"notice {text}" for text in remarks(found.report)]
    lines.append(f"compared with {drift.baseline.shown} ({counted(drift.baseline.executions, 'execution')})")
    if drift.broken:
        lines += ["", "no longer satisfied"]
        for since, names in _alike(drift):
            lines += _broken(found, drift, since, names)
    if drift.doubtful:
        lines += ["", "satisfied in the baseline, unknown now", *_doubtful(found, drift)]
    if drift.unchecked:
        lines += ["", *_wrapped("satisfied in the baseline, nothing to check now: ", drift.unchecked, "")]
    for heading, groups in (
        ("newly satisfied", drift.gained),
        ("satisfied, and not judged in the baseline", drift.learned),
    ):
        if groups:
            lines += ["", heading, *(_line(found, drift, name) for name in groups)]
            lines += _wrapped("and therefore: ", [name for follow in groups.values() for name in follow])
    lines.append("")
    if drift.since and len(question.traces) == 1:
        lines.append(f"to see it: {_command(drift, question)}")
    lines.append(closing(found, drift, seconds))
    return "\n".join(lines) + "\n"


def closing(found: Inferred, drift: Drift, seconds: float) -> str:
    """The answer in one line, with the size of the trace."""
    size = size_of(found.report, seconds)
    kept = counted(len(drift.baseline.kept), "name")
    match drift.verdict:
        case Verdict.VIOLATED:
            lost = len({name for first, others in drift.broken.items() for name in (first, *others)})
            return f"violated: of {kept} that the baseline satisfies, {lost} no longer satisfied ({size})"
        case Verdict.HOLDS:
            return f"holds: {kept} that the baseline satisfies, all still satisfied ({size})"
        case Verdict.UNKNOWN:
            return f"undecided: {drift.undecided_because} ({size})"


def since_said(since: Since) -> str:
    """When it began, and what was before: `since 2026-03-02T10:00:00Z, execution run-18, number 18; ...`."""
    when = "" if since.moment.time is None else f"{_time(since.moment.time)}, "
    match since.before:
        case 0:
            before = "it is the first of all"
        case 1:
            before = "the one before it does not do that"
        case number:
            before = f"none of the {number:,} before it does that"
    return f"since {when}execution {shown(since.moment.execution)}, number {since.before + 1:,}; {before}"


def days_said(since: Since) -> Iterator[str]:
    """How many executions violate it: on the day before it began, and on the days on which any do."""
    first = next((place for place, day in enumerate(since.days) if day.violated), 0)
    told = [*since.days[max(0, first - 1) : first], *(day for day in since.days if day.violated)]
    for day in told[:_MOST_DAYS]:
        yield f"{day.date}  {day.violated:,} of {day.executions:,}"
    if len(told) > _MOST_DAYS:
        later = told[_MOST_DAYS:]
        yield f"{sum(day.violated for day in later):,} more on {counted(len(later), 'later day')}"


def told_of(violation: Violation) -> str:
    """What happened, in a sentence."""
    explanation = violation.explanation
    witness = explanation.witnesses[0] if explanation.witnesses else None
    return sentence(violation.requirement, violation.cut, witness)


def as_values(drift: Drift) -> dict[str, Any]:
    """The comparison for programs."""
    return {
        "baseline": {"name": drift.baseline.shown, "executions": drift.baseline.executions},
        "verdict": drift.verdict.value,
        "broken": {
            name: {"with": list(others), "since": _since(drift.since.get(name))}
            for name, others in drift.broken.items()
        },
        "unknown": dict(drift.doubtful),
        "nothing_to_judge": list(drift.unchecked),
        "gained": {name: list(follow) for name, follow in drift.gained.items()},
        "learned": {name: list(follow) for name, follow in drift.learned.items()},
        "still_kept": drift.still_kept,
    }


def _since(since: Since | None) -> dict[str, Any] | None:
    if since is None:
        return None
    violation = since.violation
    return {
        "execution": since.moment.execution,
        "number": since.before + 1,
        "time": since.moment.time,
        "day": _date(since.moment.time),
        "violated": since.violated,
        "days": [
            {"day": day.date, "executions": day.executions, "violated": day.violated} for day in since.days
        ],
        "predicate": None if violation is None else violation.predicate,
        "explanation": None if violation is None else told_of(violation),
        "figure": None if violation is None else _figure(violation),
    }


def _alike(drift: Drift) -> Iterator[tuple[Since | None, list[str]]]:
    """Names that began to be violated with one execution, on the same days, are told together."""
    groups: dict[object, list[str]] = {}
    for name in drift.broken:
        since = drift.since.get(name)
        groups.setdefault(None if since is None else (since.moment, since.days), []).append(name)
    for names in groups.values():
        yield drift.since.get(names[0]), names


def _broken(found: Inferred, drift: Drift, since: Since | None, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        number = f"{found.violated(name):,} of {found.report.executions:,}"
        yield _line(found, drift, name, before=f"{number}  ")
        yield from _wrapped("and with it: ", drift.broken[name])
    if since is None:
        return
    yield f"  {since_said(since)}"
    yield from (f"    {line}" for line in days_said(since))
    drawn: set[str] = set()
    for name in names:
        violation = drift.since[name].violation
        if violation is None:
            continue
        yield f"  {violation.predicate}: {told_of(violation)}"
        picture = _figure(violation)
        if picture not in drawn:
            yield from (f"    {line}" for line in picture.splitlines())
        drawn.add(picture)


def _doubtful(found: Inferred, drift: Drift) -> Iterator[str]:
    """A line for each name, but one for all names that are unknown for the same reason."""
    by_reason: dict[str, list[str]] = {}
    for name, why in drift.doubtful.items():
        by_reason.setdefault(why, []).append(name)
    for why, names in by_reason.items():
        if len(names) == 1:
            yield _line(found, drift, names[0], f"({helped(why)})" if why else "")
        else:
            yield from _wrapped(f"{helped(why)}: " if why else "what consists of others: ", names, "  ")


def _line(found: Inferred, drift: Drift, name: str, after: str = "", *, before: str = "") -> str:
    groups = (drift.broken, drift.doubtful, drift.gained, drift.learned)
    width = max(len(each) for group in groups for each in group)
    return f"  {name:<{width}}  {before}{found.titles.get(name, '')} {after}".rstrip()


def _wrapped(words: str, names: Sequence[str] | Mapping[str, object], indent: str = "    ") -> list[str]:
    if not names:
        return []
    text = f"{words}{', '.join(dict.fromkeys(names))}"
    return wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)


def _figure(violation: Violation) -> str:
    witnesses = violation.explanation.witnesses
    return figure(violation.cut, witnesses[0] if witnesses else None)


def _time(nanoseconds: int) -> str:
    return moment_of(nanoseconds) if is_date(nanoseconds) else duration_text(nanoseconds)


def _date(nanoseconds: int | None) -> str | None:
    return None if nanoseconds is None or not is_date(nanoseconds) else date_of(nanoseconds)


def _command(drift: Drift, question: Question) -> str:
    """A command that draws the first execution that is lost, which a shell takes as it is."""
    name, since = next(iter(drift.since.items()))
    words = replace(question, engine=AUTO, master=None).words(())
    asked = name if since.violation is None else since.violation.predicate
    wanted = ("--execution", since.moment.execution, "--expect", asked, "-o", "first.svg")
    return shlex.join(("precedes", "draw", *words, *wanted))
