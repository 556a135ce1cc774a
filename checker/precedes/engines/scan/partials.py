"""From scanned executions to a report, for every engine that scans.

The executions of a source are judged into a `Partial`, wherever they are scanned. Partials merge in any order with the
same result. The merged one becomes a `Report`, and each violation in it has been confirmed by the reference evaluator.
So the in-process engine and Spark differ only in who scans; their users read the same report.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Final, TypeVar, assert_never, get_args

import numpy as np
import numpy.typing as npt

from precedes.core.columns import NOBODY
from precedes.core.execution import EVENT_CODES, EventKind, Execution
from precedes.core.formula import Requirement
from precedes.core.verdict import FALSE, TRUE, Reason, Verdict, reasons, verdict
from precedes.core.witness import Explanation
from precedes.engines.columnar.batch_scan import Scan, scan_source
from precedes.engines.columnar.execution_source import Excerpt, ExecutionSource, RowGroupSlice, Sort
from precedes.engines.columnar.fast_path.screen import Decided
from precedes.engines.columnar.offenders import Offenders
from precedes.engines.reference import explain
from precedes.engines.scan.timeline import Moment, Timeline, timeline_of, together
from precedes.logic.contents import counts_in, views_in
from precedes.logic.plan import Plan
from precedes.logic.premises import PREMISE, premise
from precedes.logic.prerequisites import EVERYTHING, NOTHING, Seen, lacking, possible

_NAMED: Final = 2
"""How many messages without a send are named."""

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Count:
    """How many executions came out how, for one predicate."""

    holds: int = 0
    violated: int = 0
    unknown: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.holds + other.holds, self.violated + other.violated, self.unknown + other.unknown)

    @property
    def verdict(self) -> Verdict:
        """Violated before unknown before holds; unknown where nothing was judged."""
        if self.violated:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if self.unknown or not self.holds else Verdict.HOLDS


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """Where a predicate does not hold. `rank` is the predicate's place in the plan, so that found cases have
    one order.
    """

    execution: str
    rank: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A violation found by the scan. `offenders` are everything that violates the predicate there, if that was asked
    for.
    """

    found: Found
    excerpt: Excerpt
    offenders: Offenders | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """A candidate that has not been read yet: where its execution is, and the messages of the witness by their
    local numbers. Few of those that are found are ever shown.
    """

    found: Found
    place: RowGroupSlice
    messages: tuple[int, ...]
    offenders: Offenders | None = None


@dataclass(frozen=True, slots=True)
class Unsent:
    """The messages of an execution whose send was not logged: how many, and the first of them by name."""

    count: int
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """A predicate that is unknown on an execution, and why. `as_recorded` is the verdict if no row is missing, where
    one may be; `violation` shows it if it is that of a violation. `unsent`: which sends were not logged, if that is a
    reason.
    """

    found: Found
    why: tuple[str, ...]
    as_recorded: Verdict | None = None
    violation: Candidate | Pending | None = None
    unsent: Unsent | None = None


@dataclass(frozen=True, slots=True)
class Onset:
    """The first execution that violates a name, where it stands in time, and what shows the violation."""

    moment: Moment
    candidate: Candidate | Pending


@dataclass(frozen=True, slots=True)
class Partial:
    """What some executions came to. At most `limit` candidates and uncertainties are kept, the first in their order,
    and the first uncertainty of each name: why a name is unknown is asked even where others fill the limit.
    `vacuous` counts executions without a message; `met` are the names in the requirements that occur, `seen` the
    kinds of things. `as_recorded` are the counts of incomplete executions if no row is missing. Of names that the plan
    watches, `onsets` has the first violation in time, and `timelines` all executions.
    """

    executions: int
    events: int
    messages: int
    counts: Mapping[str, Count]
    candidates: tuple[Candidate | Pending, ...]
    uncertainties: tuple[Uncertainty, ...]
    vacuous: int = 0
    met: frozenset[str] = frozenset()
    seen: Seen = NOTHING
    as_recorded: Mapping[str, Count] = field(default_factory=dict)
    onsets: Mapping[str, Onset] = field(default_factory=dict)
    timelines: tuple[Timeline, ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation as the reference evaluator sees it, on the part of the execution that shows it; with the first of all
    `offenders` in the execution, if these were asked for.
    """

    execution: str
    predicate: str
    requirement: Requirement = field(repr=False)
    cut: Execution = field(repr=False)
    explanation: Explanation = field(repr=False)
    offenders: Offenders | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Unknown:
    """An unknown verdict with its reasons; `as_recorded`, `violation` and `unsent` as of an `Uncertainty`."""

    execution: str
    predicate: str
    why: tuple[str, ...]
    as_recorded: Verdict | None = None
    violation: Violation | None = None
    unsent: Unsent | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run. `counts` are in the plan's order; `leaves` names those that have no parts; `violations`
    and `unknowns` are the first few of all, with the first unknown verdict of each name, `vacuous` counts the
    executions without a message, and `unmet` are names in the requirements that occur in no execution. `untested` are
    names that hold in every execution because nothing could have violated them, or a part of them, each with the
    kinds of things that would have to be there. `as_recorded` are the counts of incomplete executions if no row is
    missing. `viewed` are the names without parts that speak of views and had some to check. `onsets` are the first
    violations in time of names that were watched, and `timeline` all executions then.
    """

    executions: int
    events: int
    messages: int
    counts: Mapping[str, Count]
    leaves: frozenset[str]
    violations: tuple[Violation, ...]
    unknowns: tuple[Unknown, ...]
    vacuous: int
    unmet: tuple[str, ...]
    untested: Mapping[str, Seen] = field(default_factory=dict)
    as_recorded: Mapping[str, Count] = field(default_factory=dict)
    viewed: frozenset[str] = frozenset()
    onsets: Mapping[str, Violation] = field(default_factory=dict)
    timeline: Timeline | None = None

    def first(self, limit: int) -> Report:
        """The same with so many violations and unknown verdicts at most."""
        return replace(self, violations=self.violations[:limit], unknowns=self.unknowns[:limit])

    @property
    def checked(self) -> bool:
        """Whether there was something to check: a message, or a view where one was asked about."""
        return bool(self.messages or self.viewed)

    @property
    def verdict(self) -> Verdict:
        """Of all that was required together.

        A run that met nothing to check is unknown, and so is one that never met an entity or message which a
        requirement names, or anything that it speaks of: it checked nothing, or not what was meant.
        """
        verdicts = {count.verdict for count in self.counts.values()}
        if Verdict.VIOLATED in verdicts:
            return Verdict.VIOLATED
        checked = self.checked and not self.unmet and not self.untested and Verdict.UNKNOWN not in verdicts
        return Verdict.HOLDS if checked else Verdict.UNKNOWN


class ReplayError(RuntimeError):
    """The scan found a violation that the reference evaluator does not see: a defect of this program, never
    of the trace.
    """


def judge(
    source: ExecutionSource, plan: Plan, limit: int, uncertainties: int | None = None
) -> tuple[Partial, Scan]:
    """Scan executions and keep what a report needs of them: the first `limit` candidates and as many uncertainties, or
    `uncertainties`.
    """
    result = scan_source(source, plan)
    if plan.listing is not None and plan.listing.everywhere:
        result = result.with_offenders(plan.listing.limit)
    recorded = result if source.complete else scan_source(source.as_recorded(), plan)
    violated: list[tuple[Found, int]] = []
    unknown: list[tuple[Found, int]] = []
    kept = limit if uncertainties is None else uncertainties
    for rank, name in enumerate(plan.names):
        doubtful = np.flatnonzero(result.values[:, rank] > TRUE)
        violated += _found(source, np.flatnonzero(result.shown(name)), rank, limit)
        if name in plan.leaves:
            unknown += _found(source, doubtful, rank, kept)
    first = heapq.nsmallest(limit, violated)
    if plan.listing is not None and not plan.listing.everywhere:
        result = result.with_offenders(
            plan.listing.limit, {(x, plan.names[found.rank]) for found, x in first}
        )
    candidates = [_candidate(x, found, result) for found, x in first]
    why = [
        _uncertainty(x, found, result, recorded) for found, x in _kept(unknown, kept, lambda pair: pair[0])
    ]
    columns = source.columns(())
    timelines = (timeline_of(result, plan.watched),) if plan.watched else ()
    partial = Partial(
        source.executions,
        columns.events,
        int(columns.message_offsets[-1]),
        _counts(result),
        tuple(candidates),
        tuple(why),
        int(result.vacuous.sum()),
        _met(source, plan),
        _seen(source, plan),
        {} if source.complete else _counts(recorded),
        {name: onset for line in timelines for name, onset in _onsets(line, result, plan)},
        timelines,
    )
    return partial, result


def _onsets(timeline: Timeline, result: Scan, plan: Plan) -> Iterator[tuple[str, Onset]]:
    for name in plan.watched:
        # What has parts is shown by these.
        x = timeline.first(np.flatnonzero(result.shown(name)))
        if x is not None:
            moment = timeline.moment(x)
            found = Found(moment.execution, plan.names.index(name))
            yield name, Onset(moment, _candidate(x, found, result))


def _counts(result: Scan) -> dict[str, Count]:
    columns = zip(result.names, result.values.T, strict=True)
    return {
        name: Count(int((of == TRUE).sum()), int((of == FALSE).sum()), int((of > TRUE).sum()))
        for name, of in columns
    }


def with_decided(partial: Partial, decided: Decided) -> Partial:
    """A partial with executions that were decided beforehand."""
    counts = zip(partial.counts.items(), decided.counts, strict=True)
    return replace(
        partial,
        executions=partial.executions + decided.executions,
        events=partial.events + decided.events,
        messages=partial.messages + decided.messages,
        counts={name: count + Count(*others) for (name, count), others in counts},
        vacuous=partial.vacuous + decided.vacuous,
        seen=partial.seen | decided.seen,
    )


def _seen(source: ExecutionSource, plan: Plan) -> Seen:
    """What occurs; whether there are views and groups is looked at if the plan speaks of them."""
    if not source.complete:
        # What was not recorded may have happened.
        return EVERYTHING
    columns = source.columns(("sender", "delivered", "delivered_offsets"))
    seen = NOTHING
    if (columns.sender != NOBODY).any():
        seen |= Seen.SENT
    if len(columns.delivered):
        seen |= Seen.DELIVERED
    if (np.diff(columns.message_offsets) > 1).any():
        seen |= Seen.TWO_MESSAGES
    if (np.diff(columns.delivered_offsets) > 1).any():
        seen |= Seen.TWO_DELIVERIES
    if plan.of_views and (source.columns(("event_kind",)).event_kind == EVENT_CODES[EventKind.VIEW]).any():
        seen |= Seen.VIEW
    if plan.of_groups and source.columns(("group_offsets",)).group_offsets[-1]:
        seen |= Seen.GROUP
    return seen


def _met(source: ExecutionSource, plan: Plan) -> frozenset[str]:
    """The names in the requirements that are an entity, a message, a group or a view of some execution."""
    return frozenset(
        name
        for name in plan.mentioned
        if any((source.numbers(sort, name) != NOBODY).any() for sort in get_args(Sort))
    )


def _found(
    source: ExecutionSource, executions: npt.NDArray[np.intp], rank: int, limit: int
) -> list[tuple[Found, int]]:
    """The first `limit` of some executions, by name."""
    return [(Found(name, rank), x) for name, x in source.first(executions, limit)]


def _uncertainty(x: int, found: Found, result: Scan, recorded: Scan) -> Uncertainty:
    if x in result.source.contradictions:
        return Uncertainty(found, (result.source.contradictions[x],))
    value = int(result.values[x, found.rank])
    why = reasons(value)
    unsent = _unsent(result.source, x) if value & Reason.SEND_NOT_LOGGED else None
    if result.source.complete:
        return Uncertainty(found, why, unsent=unsent)
    value = int(recorded.values[x, found.rank])
    shown = _candidate(x, found, recorded) if value == FALSE else None
    return Uncertainty(found, why, verdict(value), shown, unsent)


def _unsent(source: ExecutionSource, x: int) -> Unsent | None:
    """The messages of an execution whose send was not logged; None where that is only so of rows that are missing."""
    columns = source.columns(("sender", "send_logged", "message_offsets", "order_doubt"))
    here = slice(columns.message_offsets[x], columns.message_offsets[x + 1])
    unsent = ~columns.send_logged[here] & (columns.sender[here] != NOBODY)
    if columns.order_doubt[x] & Reason.SEND_NOT_LOGGED:
        # Somebody sent these, nobody knows who.
        unsent |= columns.sender[here] == NOBODY
    _, messages = source.ids(x)
    names = sorted(messages[number] for number in np.flatnonzero(unsent).tolist())
    return Unsent(len(names), tuple(names[:_NAMED])) if names else None


def _candidate(x: int, found: Found, result: Scan) -> Candidate | Pending:
    name = result.names[found.rank]
    messages = result.witness(x, name).messages
    # What follows from several parts together has none of its own.
    offenders = None if result.offenders is None else result.offenders.get((x, name))
    evidence = result.source.evidence(x, messages)
    match evidence:
        case Excerpt() as excerpt:
            return Candidate(found, excerpt, offenders)
        case RowGroupSlice() as place:
            return Pending(found, place, messages, offenders)
        case _:
            assert_never(evidence)


class Merging:
    """Partials as they come, in any order, merged into one."""

    def __init__(self, plan: Plan, limit: int) -> None:
        self._plan = plan
        self._limit = limit
        self._merged = Partial(0, 0, 0, dict.fromkeys(plan.names, Count()), (), ())

    def add(self, partial: Partial) -> None:
        """Take one more in."""
        merged, limit = self._merged, self._limit
        self._merged = Partial(
            merged.executions + partial.executions,
            merged.events + partial.events,
            merged.messages + partial.messages,
            {name: merged.counts[name] + partial.counts[name] for name in self._plan.names},
            tuple(heapq.nsmallest(limit, (*merged.candidates, *partial.candidates), key=lambda c: c.found)),
            tuple(_kept((*merged.uncertainties, *partial.uncertainties), limit, lambda d: d.found)),
            merged.vacuous + partial.vacuous,
            merged.met | partial.met,
            merged.seen | partial.seen,
            _together(merged.as_recorded, partial.as_recorded),
            _earliest(merged.onsets, partial.onsets),
            (*merged.timelines, *partial.timelines),
        )

    def wanted(self, first: str) -> tuple[int, int]:
        """How many candidates and uncertainties may still be needed of executions from the name `first` on."""
        merged, limit = self._merged, self._limit
        return (
            0 if _full(merged.candidates, limit, first) else limit,
            0 if _full(merged.uncertainties, limit, first) else limit,
        )

    def merged(self) -> Partial:
        """All that came, as one."""
        return self._merged


def _together(some: Mapping[str, Count], others: Mapping[str, Count]) -> dict[str, Count]:
    """The counts of both, either of which may have none: a batch without executions has recorded nothing."""
    return {name: some.get(name, Count()) + others.get(name, Count()) for name in {**some, **others}}


def _earliest(some: Mapping[str, Onset], others: Mapping[str, Onset]) -> dict[str, Onset]:
    found = dict(some)
    for name, onset in others.items():
        found[name] = min(found.get(name, onset), onset, key=lambda one: one.moment)
    return found


def _full(kept: Sequence[Candidate | Pending] | Sequence[Uncertainty], limit: int, first: str) -> bool:
    return len(kept) >= limit and (not limit or kept[limit - 1].found.execution < first)


def _kept(some: Iterable[Kept], limit: int, found: Callable[[Kept], Found]) -> Iterator[Kept]:
    """The first `limit`, and the first of each name."""
    met: set[int] = set()
    for place, each in enumerate(sorted(some, key=found)):
        rank = found(each).rank
        if place < limit or rank not in met:
            yield each
        met.add(rank)


def merge(partials: Iterable[Partial], plan: Plan, limit: int) -> Partial:
    """All partials as one; the same whatever their order."""
    merging = Merging(plan, limit)
    for partial in partials:
        merging.add(partial)
    return merging.merged()


def report(partial: Partial, plan: Plan) -> Report:
    """The report of a merged partial with nothing pending.

    ReplayError where a violation does not stand up to the reference evaluator.
    """
    untested = _untested(partial, plan)
    viewed = {
        name for name, one in plan.leaves.items() if Seen.VIEW in partial.seen and views_in(one.formula)
    }
    return Report(
        partial.executions,
        partial.events,
        partial.messages,
        _asked(partial.counts),
        frozenset(plan.leaves),
        tuple(_replayed(candidate, plan) for candidate in partial.candidates),
        tuple(_told(uncertainty, plan) for uncertainty in partial.uncertainties),
        partial.vacuous,
        tuple(sorted(plan.mentioned - partial.met)),
        untested,
        _asked(partial.as_recorded),
        frozenset(viewed - untested.keys()),
        {name: _replayed(onset.candidate, plan) for name, onset in partial.onsets.items()},
        together(partial.timelines),
    )


def _asked(counts: Mapping[str, Count]) -> dict[str, Count]:
    return {name: count for name, count in counts.items() if not name.startswith(PREMISE)}


def _told(uncertainty: Uncertainty, plan: Plan) -> Unknown:
    shown = None if uncertainty.violation is None else _replayed(uncertainty.violation, plan)
    return Unknown(
        uncertainty.found.execution,
        plan.names[uncertainty.found.rank],
        uncertainty.why,
        uncertainty.as_recorded,
        shown,
        uncertainty.unsent,
    )


def _untested(partial: Partial, plan: Plan) -> dict[str, Seen]:
    """What holds vacuously: by the verdicts on the premises where the plan has these, else by what was seen. Of
    incomplete executions, what would hold so if no row is missing.
    """
    counts = partial.as_recorded or partial.counts
    holding = [name for name, count in counts.items() if count.verdict is Verdict.HOLDS]
    idle: dict[str, Seen] = {}
    for name in holding:
        if name not in plan.leaves:
            continue
        met, asked = counts.get(PREMISE + name), premise(plan.leaves[name].formula)
        if not possible(asked, partial.seen) or (met is not None and not met.holds and not met.unknown):
            idle[name] = lacking(asked, partial.seen)
    return {
        name: reduce(or_, (idle[leaf] for leaf in plan.below[name] if leaf in idle))
        for name in holding
        if not idle.keys().isdisjoint(plan.below[name])
    }


def _replayed(candidate: Candidate | Pending, plan: Plan) -> Violation:
    assert isinstance(candidate, Candidate), "who scans settles what is pending"
    name = plan.names[candidate.found.rank]
    requirement = plan.leaves.get(name) or plan.composites[name]
    counting = counts_in(requirement.formula)
    cut, whole = candidate.excerpt.cut, candidate.excerpt.whole
    attempts = (cut, whole)
    for execution in reversed(attempts) if counting else attempts:
        if execution is None:
            continue
        explanation = explain(requirement, execution)
        if explanation.value == FALSE:
            if counting and execution is cut:
                # What it counts on the cut is not what it counts on the whole, which is too large to be replayed.
                explanation = replace(explanation, witnesses=())
            return Violation(
                candidate.found.execution, name, requirement, execution, explanation, candidate.offenders
            )
    raise ReplayError(
        f"execution {candidate.found.execution}: the scan finds {name} violated, the definition does not"
    )
