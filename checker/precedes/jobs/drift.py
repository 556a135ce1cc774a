"""`precedes infer --against`: what a baseline kept and a trace does not keep any more, and since when.

Every name is compared by its verdict on each side. What holds vacuously is not kept, on neither side: there was nothing
to check.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from precedes.core.calendar_dates import date_of, is_date
from precedes.core.diagnostics import usage
from precedes.core.verdict import Verdict
from precedes.engines.scan.partials import Report, Violation
from precedes.engines.scan.timeline import Moment, Timeline
from precedes.jobs.check import library_with
from precedes.jobs.infer import (
    OF_CRASHES,
    SHOWN,
    Inferred,
    above,
    askable,
    asked_names,
    first_reasons,
    implications,
    infer,
    inferred,
    planned,
    told,
)
from precedes.jobs.verify import Advance, Question, verify
from precedes.language.library import Library
from precedes.logic.plan import Plan
from precedes.traces import Notice
from precedes.traces.sources import STANDARD_INPUT

_LARGEST_RESULT: Final = 10_000_000
"""Bytes of a file that is looked at as a result of `infer`. One has some thousands."""
_NANOSECONDS_OF_A_DAY: Final = 86_400 * 10**9
_NOTHING_WAS_KEPT: Final = "the baseline keeps nothing, so there is nothing to lose"

AS_ASKED: Final = ("delta", "epsilon", "delivery", "incomplete", "order")
"""Options that change what a name asks of the same rows. A baseline must have been asked with the same."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What an earlier inference says of each name, as it was asked. `shown` is how reports call it, `executions` how
    many it is about.
    """

    shown: str
    executions: int
    kept: frozenset[str]
    violated: frozenset[str]
    vacuous: frozenset[str]


@dataclass(frozen=True, slots=True)
class Day:
    """A day of a trace: how many executions began on it, and how many of them violate a name."""

    date: str
    executions: int
    violated: int


@dataclass(frozen=True, slots=True)
class Since:
    """Since when a name is violated: by the first execution in time that does it, or by its name if none has a time.

    `before` is how many executions stand before it. `days` are all days of the trace, if times are dates.
    """

    moment: Moment
    before: int
    violated: int
    violation: Violation | None = field(repr=False)
    days: tuple[Day, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """A trace against a baseline.

    `broken` are the weakest names that the baseline keeps and the trace violates, each with those that are broken with
    it, and `since` says of each when that began. `doubtful` are names that the baseline keeps and that are unknown now,
    with a reason, `unchecked` those for which there was nothing to check. `gained` are the strongest names that the
    baseline violates and the trace keeps, each with those that follow; `learned` the same of names on which the
    baseline has no verdict. `still_kept` counts the names that both keep.
    """

    baseline: Baseline
    broken: Mapping[str, tuple[str, ...]]
    since: Mapping[str, Since]
    doubtful: Mapping[str, str]
    unchecked: tuple[str, ...]
    gained: Mapping[str, tuple[str, ...]]
    learned: Mapping[str, tuple[str, ...]]
    still_kept: int

    @property
    def verdict(self) -> Verdict:
        """Violated if something that was kept is broken; it holds if everything that was kept is kept."""
        if self.broken:
            return Verdict.VIOLATED
        sure = self.still_kept and not self.doubtful and not self.unchecked
        return Verdict.HOLDS if sure else Verdict.UNKNOWN

    @property
    def undecided_because(self) -> str:
        """Why nothing can be said, where that is so."""
        if not self.baseline.kept:
            return _NOTHING_WAS_KEPT
        return "something that was kept could not be judged"


def compared(
    question: Question, against: str, advance: Advance, per: Sequence[str] = ()
) -> tuple[Inferred, Drift, tuple[Notice, ...]]:
    """Infer what traces keep, and compare it with a baseline: the path of a trace, or of a result of `infer`.

    PrecedesError for what cannot be read, and U001 for a baseline that was asked otherwise.
    """
    library = library_with(question.specs)
    names = askable(library)
    if against == STANDARD_INPUT and STANDARD_INPUT in question.traces:
        raise usage("the trace and --against are both standard input", "name a file for one of the two")
    baseline, before = _read(question, against, advance, per)
    prepared = watching(planned(names, library, per), baseline)
    report, notices = verify(question, advance, prepared)
    found = inferred(report, names, library, per)
    return found, drift(found, baseline, prepared, names, library), (*before, *told(notices, per))


def _read(
    question: Question, against: str, advance: Advance, per: Sequence[str]
) -> tuple[Baseline, tuple[Notice, ...]]:
    document = recorded_result(against)
    if document is not None:
        return baseline_of_result(document, against, question, per), ()
    found, notices = infer(replace(question, traces=(against,), max_violations=SHOWN), advance, per)
    return baseline_of(found, against), of_baseline(notices)


def recorded_result(path: str) -> Mapping[str, Any] | None:
    """The result of an earlier `infer --format json`, if a file has one; else it is a trace."""
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST_RESULT:
            return None
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    own = isinstance(document, dict) and {"kept", "broken", "nothing_to_judge"} <= document.keys()
    return document if own else None


def baseline_of_result(
    document: Mapping[str, Any], shown: str, question: Question, per: Sequence[str]
) -> Baseline:
    """The baseline that a recorded result is. PrecedesError (U001) if it was asked otherwise."""
    asked = document.get("asked")
    if not isinstance(asked, dict):
        raise usage(f"{shown} does not say how it was asked", "infer it again, with --format json")
    refuse_other_questions(shown, asked, question, per)
    try:
        return Baseline(
            shown,
            int(document["executions"]),
            frozenset(name for first, follow in document["kept"].items() for name in (first, *follow)),
            frozenset(name for first, one in document["broken"].items() for name in (first, *one["with"])),
            frozenset(document["nothing_to_judge"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise usage(f"{shown} is not a result of infer", "write one with --format json") from error


def refuse_other_questions(
    shown: str, asked: Mapping[str, Any], question: Question, per: Sequence[str]
) -> None:
    """Raise PrecedesError (U001) if a baseline was asked something else under the same names."""
    for name, value in as_asked(question, per).items():
        if asked.get(name) != value:
            raise usage(
                f"{shown} was asked with {_said(name, asked.get(name))}, and this with {_said(name, value)}",
                "ask both the same",
            )


def of_baseline(notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """Notices about a baseline, which say so."""
    return tuple(replace(each, text=f"of the baseline: {each.text}") for each in notices)


def baseline_of(found: Inferred, shown: str) -> Baseline:
    """The baseline that an inference is."""
    return _verdicts(found.report, found.titles, shown)


def _verdicts(report: Report, names: Iterable[str], shown: str) -> Baseline:
    by: dict[Verdict, set[str]] = {verdict: set() for verdict in Verdict}
    for name in names:
        by[report.counts[name].verdict].add(name)
    vacuous = frozenset(report.untested)
    kept = frozenset(by[Verdict.HOLDS] - vacuous if report.checked else ())
    return Baseline(shown, report.executions, kept, frozenset(by[Verdict.VIOLATED]), vacuous)


def as_asked(question: Question, per: Sequence[str]) -> dict[str, Any]:
    """What changes the meaning of a name, as a result records it."""
    return {"per": list(per)} | {name: getattr(question, name) for name in AS_ASKED}


def _said(name: str, value: object) -> str:
    match value:
        case None | False | []:
            return f"no {name}"
        case True:
            return name
        case list():
            return f"{name} {', '.join(map(str, value))}"
        case _:
            return f"{name} {value}"


def watching(prepared: Plan, baseline: Baseline) -> Plan:
    """The plan with what is needed to say since when something is broken that the baseline keeps."""
    kept = [name for name in prepared.names if name in baseline.kept]
    parts = [part for name in kept for part in prepared.below.get(name, ())]
    return replace(prepared, watched=tuple(dict.fromkeys((*kept, *parts))))


def drift(
    found: Inferred, baseline: Baseline, prepared: Plan, named: Sequence[str], library: Library
) -> Drift:
    """A trace against a baseline. `named` are the names of the library that were asked."""
    report = found.report
    plain = asked_names(named, found.per)
    implies = implications(plain, library, found.per)
    now = _verdicts(report, plain, "")
    lost = [name for name in plain if name in baseline.kept & now.violated]
    lost.sort(key=lambda name: report.counts[name].violated)
    broken = above(lost, lambda left, right: implies(right, left))
    why = first_reasons(report)
    # What follows from a name that is kept is kept, whatever there was to check.
    sure = now.violated | {name for name in plain if any(implies(other, name) for other in now.kept)}
    left = [name for name in sorted(baseline.kept) if name not in sure]
    # Where everybody is correct, an inference says nothing of the names that ask correct entities only.
    told = baseline.kept | baseline.violated | {name for name, known in plain.items() if known in OF_CRASHES}
    return Drift(
        baseline,
        broken,
        {name: since for name in broken if (since := _since(name, report, prepared)) is not None},
        {name: why.get(name) or _unheard(name, plain) for name in left if name not in now.vacuous},
        tuple(name for name in left if name in now.vacuous),
        above([name for name in plain if name in now.kept & baseline.violated], implies),
        above([name for name in plain if name in now.kept - told], implies),
        len(baseline.kept & sure - now.violated),
    )


def _unheard(name: str, plain: Mapping[str, str]) -> str:
    return "" if name in plain else "nobody asked: give the file that defines it with --spec"


def _since(name: str, report: Report, prepared: Plan) -> Since | None:
    line = report.timeline
    found = None if line is None else line.violations[name]
    first = None if line is None or found is None else line.first(found)
    if line is None or found is None or first is None:
        return None
    moment = line.moment(first)
    shown = [report.onsets.get(one) for one in (name, *prepared.below.get(name, ()))]
    return Since(
        moment,
        line.before(first),
        len(found),
        next((one for one in shown if one is not None and one.execution == moment.execution), None),
        _days(line, found.tolist()),
    )


def _days(line: Timeline, violating: Sequence[int]) -> tuple[Day, ...]:
    """All days on which executions began; none if some execution has no date."""
    if not len(line.starts) or not is_date(int(line.starts.min())):
        return ()
    numbers = line.starts // _NANOSECONDS_OF_A_DAY
    every, counts = np.unique(numbers, return_counts=True)
    violated = Counter(numbers[list(violating)].tolist())
    return tuple(
        Day(date_of(day * _NANOSECONDS_OF_A_DAY), count, violated[day])
        for day, count in zip(every.tolist(), counts.tolist(), strict=True)
    )
