"""`precedes conform`: judges whether recorded executions are behaviors of a model, on this machine or on Spark."""

from __future__ import annotations

import pickle
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, assert_never

from precedes.core.columns import Batch
from precedes.core.counts import counted
from precedes.core.diagnostics import usage
from precedes.core.execution import Execution
from precedes.core.faults import UNRECORDED
from precedes.core.formula import Attribute, AttributeSort, Carrier
from precedes.core.garbage_collection import paused
from precedes.core.suggestions import did_you_mean
from precedes.core.transposition import execution_of
from precedes.core.verdict import Verdict
from precedes.engines.selection import selected
from precedes.jobs import verify
from precedes.protocol import Protocol
from precedes.protocol.catalog import Given, Named
from precedes.protocol.conformance.judge import Judge
from precedes.protocol.conformance.observation import IGNORABLE, Reading
from precedes.protocol.conformance.verdicts import Answer, Conforms, Deviates, Limits, Naming, Undecided
from precedes.protocol.running.move_log import MoveLog
from precedes.traces import Notices, TraceOptions, TraceSource, batches_of, expand, read_batches
from precedes.traces.foreign.importers import MAPPING
from precedes.traces.foreign.mapping.definition import state_fields
from precedes.traces.foreign.recognition import LogReading
from precedes.traces.schema import STATE

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

LIMITS: Final = (*UNRECORDED, "states")
"""The numbers in `Limits`, by the names of their options."""

Advance = Callable[[int], None]
"""Told how many executions have been judged."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One execution: as it was recorded, the answer, what the trace calls what the answer names, and the instance of
    the model that has the run, or explains the most.
    """

    recorded: Execution
    answer: Answer
    naming: Naming
    protocol: Protocol[Any]

    @property
    def execution(self) -> str:
        """Its name."""
        return self.recorded.name


@dataclass(frozen=True, slots=True)
class Question:
    """How to judge, the options of `precedes conform` under the same names. `state`: fields of the model's states, each
    with the attribute of events that has its value. PrecedesError U001 for what cannot be ignored.
    """

    limits: Limits = field(default_factory=Limits)
    entities: int = 0
    ignore: tuple[str, ...] = ()
    state: tuple[tuple[str, str], ...] = ()
    max_shown: int = 3

    def __post_init__(self) -> None:
        for word in self.ignore:
            if word not in IGNORABLE:
                hint = did_you_mean(word, IGNORABLE) or f"it is one of {', '.join(IGNORABLE)}"
                raise usage(f"{word} cannot be ignored", hint)

    @property
    def reading(self) -> Reading:
        """What of an execution is compared."""
        return Reading(self.entities, frozenset(self.ignore), self.state)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """What has to be read beside the columns of a trace."""
        names = dict.fromkeys(name for _, name in self.state)
        return tuple(Attribute(name, AttributeSort.TEXT, Carrier.EVENT) for name in names)

    def with_mapping(self, log: LogReading) -> Question:
        """The question with the fields of states that the mapping of a log has, unless it names them itself."""
        path = log.settings.get("file") if log.word == MAPPING.word else None
        named = dict(self.state)
        found = () if path is None else state_fields(path)
        more = tuple((name, f"{STATE}{name}") for name in found if name not in named)
        return replace(self, state=(*self.state, *more))

    def options(self, options: TraceOptions) -> TraceOptions:
        """How a trace is read for this question."""
        return replace(options, attributes=self.attributes)


@dataclass(frozen=True, slots=True)
class Conformed:
    """How many executions conform, do not conform and are undecided, and the first of each."""

    protocols: tuple[Protocol[Any], ...]
    question: Question
    conforming: int
    deviating: int
    undecided: int
    shown: tuple[Judged, ...]

    def first(self, limit: int) -> Conformed:
        """The same with so many executions of each answer at most."""
        met = dict.fromkeys(Verdict, 0)
        kept: list[Judged] = []
        for judged in self.shown:
            met[judged.answer.verdict] += 1
            if met[judged.answer.verdict] <= limit:
                kept.append(judged)
        return replace(self, shown=tuple(kept))

    @property
    def executions(self) -> int:
        """How many were judged."""
        return self.conforming + self.deviating + self.undecided

    @property
    def verdict(self) -> Verdict:
        """Of all executions together: violated before unknown, and unknown where there is none."""
        if self.deviating:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.conforming and not self.undecided else Verdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded execution. `doubt`: why its rows say nothing for certain, if they do not."""

    execution: Execution
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many executions of some have each verdict, and the first of each by their names."""

    counts: dict[Verdict, int]
    first: dict[Verdict, tuple[Case, ...]]

    def merged(self, other: Tally, most: int) -> Tally:
        """Both together, `most` first ones of each verdict."""
        first = {verdict: (*self.first[verdict], *other.first[verdict]) for verdict in Verdict}
        return Tally(
            {verdict: self.counts[verdict] + other.counts[verdict] for verdict in Verdict},
            {verdict: tuple(sorted(cases, key=_name)[:most]) for verdict, cases in first.items()},
        )


class _First:
    """The first `most` of some cases, by their names."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.cases: list[Case] = []

    def wants(self, name: str) -> bool:
        """Whether one of this name is among the first."""
        return len(self.cases) < self.most or (self.most > 0 and name < self.cases[-1].execution.name)

    def add(self, case: Case) -> None:
        """Take one that is."""
        insort(self.cases, case, key=_name)
        del self.cases[self.most :]


NOTHING: Final = Tally(dict.fromkeys(Verdict, 0), dict.fromkeys(Verdict, ()))


class Judges:
    """What judges executions by the instances of a model: one of them has to have the run. PrecedesError for mistakes
    of the model.

    `logged`: the moves of an execution by its name, and the instance that made them, where somebody has noted them.
    """

    def __init__(
        self,
        protocols: Sequence[Protocol[Any]],
        question: Question,
        logged: Callable[[str], tuple[int, MoveLog] | None] = lambda _name: None,
    ) -> None:
        self.protocols = tuple(protocols)
        self._logged = logged
        self.question = question
        reading, limits = question.reading, question.limits
        self._judges = [Judge(protocol, limits, reading) for protocol in protocols]

    def tally(self, batches: Iterable[Batch], advance: Advance = lambda _executions: None) -> Tally:
        """Judge every execution, by a direct run where there is one, else by a search."""
        counts = dict.fromkeys(Verdict, 0)
        first = {verdict: _First(self.question.max_shown) for verdict in Verdict}
        number = 0
        for batch in batches:
            # Values that stay are made by millions, and none of them is garbage.
            with paused():
                for x, conforms in enumerate(self._surely(batch)):
                    case = None if conforms else _case(batch, x)
                    verdict = Verdict.HOLDS if case is None else self.judged(case).answer.verdict
                    if first[verdict].wants(batch.names[x]):
                        first[verdict].add(case or _case(batch, x))
                    counts[verdict] += 1
                    number += 1
                    advance(number)
        return Tally(counts, {verdict: tuple(cases.cases) for verdict, cases in first.items()})

    def judged(self, case: Case) -> Judged:
        """By the first instance that has a run; else undecided before not, and by the one that explains the most."""
        execution = case.execution
        if case.doubt:
            naming = Naming(execution.entities)
            return Judged(execution, Undecided(case.doubt), naming, self.protocols[0])
        found: list[Judged] = []
        logged = self._logged(execution.name)
        judges = list(self._judges)
        if logged is not None and self._judges[logged[0]].follow(execution, logged[1]):
            judges = [self._judges[logged[0]]]
        for judge in judges:
            answer, naming = judge.judge(execution)
            judged = Judged(execution, answer, naming, judge.protocol)
            if isinstance(answer, Conforms):
                return judged
            found.append(judged)
        return max(found, key=lambda one: _explained(one.answer))

    def conformed(self, tally: Tally) -> Conformed:
        """The result of a tally, with the answers on its cases."""
        order = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS)
        shown = (case for verdict in order for case in tally.first[verdict])
        return Conformed(
            self.protocols,
            self.question,
            tally.counts[Verdict.HOLDS],
            tally.counts[Verdict.VIOLATED],
            tally.counts[Verdict.UNKNOWN],
            tuple(map(self.judged, shown)),
        )

    def _surely(self, batch: Batch) -> Iterator[bool]:
        """Of each execution, whether some instance has a direct run."""
        return map(any, zip(*(judge.direct_runs.has_run(batch) for judge in self._judges), strict=True))


def conform(
    model: Named | Given,
    trace: verify.Question,
    question: Question,
    notices: Notices,
    advance: Advance = lambda _executions: None,
) -> Conformed:
    """Judge the executions of files, on the engine that the question about the trace names. PrecedesError for mistakes
    of the model and of the trace.
    """
    question = question.with_mapping(trace.log)
    judges = Judges(model.load(), question)
    options = question.options(trace.options())
    sources = expand(trace.traces, notices, trace.log)
    match selected(trace.engine, trace.master):
        case "local":
            tally = judges.tally(read_batches(sources, options, notices), advance)
        case "spark":
            tally = _on_spark(_Judging(model, question), sources, options, notices, trace.master)
        case engine:
            assert_never(engine)
    return judges.conformed(tally)


def conform_tables(
    model: Named | Given, tables: Iterable[pa.Table], trace: verify.Question, question: Question
) -> Conformed:
    """Judge canonical tables, with the attributes of the question, in this process."""
    judges = Judges(model.load(), question)
    return judges.conformed(judges.tally(batches_of(tables, question.options(trace.options()), Notices())))


def conform_frame(
    model: Named | Given, events: DataFrame, trace: verify.Question, question: Question
) -> Conformed:
    """Judge the rows of a Spark DataFrame in the session that it belongs to."""
    from precedes.engines.spark import frames
    from precedes.engines.spark.carried_work import Work

    judges = Judges(model.load(), question)
    work = Work(_Judging(model, question), _file_of(model)).sent(events.sparkSession)
    answers = frames.answers(events, work, question.options(trace.options()), Notices())
    return judges.conformed(_united(answers, question))


def _on_spark(
    judging: _Judging,
    sources: Sequence[TraceSource],
    options: TraceOptions,
    notices: Notices,
    master: str | None,
) -> Tally:
    from precedes.engines.spark.entrance import entered

    readable = [source.from_anywhere() for source in sources]
    with entered(master) as spark:
        from precedes.engines.spark import batch_work
        from precedes.engines.spark.carried_work import Work

        work = Work(judging, _file_of(judging.model))
        return _united(batch_work.answers(spark, readable, options, notices, work), judging.question)


@dataclass(frozen=True, slots=True)
class _Judging:
    """What a worker does with some executions. A model that is a file has come along."""

    model: Named | Given
    question: Question

    def __call__(self, batches: Iterable[Batch], file: str | None) -> bytes:
        model = self.model
        if file is not None and isinstance(model, Named):
            model = replace(model, model=file)
        return pickle.dumps(Judges(model.load(), self.question).tally(batches))


def _united(answers: Iterable[bytes], question: Question) -> Tally:
    """The tallies of workers together."""
    found = NOTHING
    for answer in answers:
        # Our own workers wrote it.
        found = found.merged(pickle.loads(answer), question.max_shown)  # noqa: S301
    return found


def _file_of(model: Named | Given) -> Path | None:
    """The file of a model that is one, which workers need."""
    path = Path(model.model) if isinstance(model, Named) else None
    return path if path is not None and path.is_file() else None


def _name(case: Case) -> str:
    return case.execution.name


def _case(batch: Batch, x: int) -> Case:
    execution = execution_of(batch, x)
    if not batch.unknown[x]:
        return Case(execution)
    return Case(execution, batch.contradictions.get(x, "its rows contradict each other"))


def _explained(answer: Answer) -> float:
    return sum(answer.explained) if isinstance(answer, Deviates) else float("inf")


def limits_said(question: Question, names: Sequence[str]) -> str:
    """Limits in words: `2 losses and 200 time-outs`."""
    return " and ".join(counted(getattr(question.limits, name), *UNRECORDED[name]) for name in names)
