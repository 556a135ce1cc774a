"""`precedes verify`: from a question about traces to a report, on the engine that the question names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from precedes.core.diagnostics import usage
from precedes.core.execution import EventKind
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict
from precedes.engines.columnar.batch_scan import Scan
from precedes.engines.scan import local, partials
from precedes.engines.scan.foretelling import foretold
from precedes.engines.scan.verdict_rows import verdict_file, verdict_rows, violation_file, violation_rows
from precedes.engines.selection import AUTO, selected
from precedes.jobs.check import library_with
from precedes.language.durations import duration
from precedes.language.profiles import profile
from precedes.language.requirements import REQUIRED, requirement
from precedes.logic.plan import Listing, Plan, plan
from precedes.traces import Notice, Notices, Order, TraceOptions, batches_of, expand
from precedes.traces.foreign.recognition import RECOGNIZED, LogReading
from precedes.traces.stated_groups import GivenGroups, given_groups

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Advance = Callable[[int, int], None]
"""Told of progress: executions and events judged so far."""


@dataclass(frozen=True, slots=True)
class Question:
    """What `precedes verify` was asked; times and names still as text."""

    traces: tuple[str, ...]
    required: tuple[str, ...]
    specs: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    engine: str = AUTO
    master: str | None = None
    out: str | None = None
    all_verdicts: bool = False
    delta: str | None = None
    epsilon: str | None = None
    incomplete: bool = False
    delivery: str = "deliver"
    cluster: tuple[str, ...] = ()
    groups: GivenGroups | None = None
    order: str | None = None
    strict: bool = False
    max_violations: int = 10
    all_violations: bool = False
    log: LogReading = RECOGNIZED

    def plan(self, *, everywhere: bool = False) -> Plan:
        """The plan for what is required. `everywhere`: offenders are wanted of every execution, not of those shown."""
        library = library_with(self.specs)
        required = [requirement(text, library, REQUIRED) for text in self.required]
        required += [profile(text) for text in self.profile]
        return self.planned(required, everywhere=everywhere)

    def planned(self, required: Sequence[Requirement], *, everywhere: bool = False) -> Plan:
        """The same for requirements."""
        found = plan(required)
        listing = Listing(self.max_violations, everywhere) if self.all_violations else None
        return replace(found, listing=listing)

    def words(self, required: Sequence[str]) -> tuple[str, ...]:
        """The arguments of `precedes verify` that ask the same of the same traces, but require something else."""
        given = {
            "--spec": self.specs,
            "--engine": () if self.engine == AUTO else (self.engine,),
            "--master": self.master,
            "--delta": self.delta,
            "--epsilon": self.epsilon,
            "--delivery": () if self.delivery == EventKind.DELIVER.value else (self.delivery,),
            "--cluster": self.cluster,
            "--groups": self._groups_file,
            "--order": self.order,
            "--from": self.log.word,
            "--set": tuple(f"{name}={value}" for name, value in self.log.settings.items()),
            REQUIRED: required,
        }
        named = (
            (option, value)
            for option, values in given.items()
            for value in ((values,) if isinstance(values, str) else values or ())
        )
        flags = (("--incomplete", self.incomplete), ("--strict", self.strict))
        return (
            *self.traces,
            *(flag for flag, meant in flags if meant),
            *(word for pair in named for word in pair),
        )

    @property
    def _groups_file(self) -> str | None:
        """The file that states the groups, if one does."""
        return None if self.groups is None or isinstance(self.groups, Mapping) else os.fspath(self.groups)

    def options(self) -> TraceOptions:
        """How the trace is to be read."""
        return TraceOptions(
            delivery=EventKind(self.delivery),
            cluster=tuple(name for names in self.cluster for name in names.split(",") if name),
            strict=self.strict,
            groups=given_groups(self.groups),
            delta=None if self.delta is None else duration(self.delta),
            epsilon=0 if self.epsilon is None else duration(self.epsilon),
            complete=not self.incomplete,
            order=None if self.order is None else Order(self.order),
            origins=self.all_violations,
        )


def verify(
    question: Question,
    advance: Advance,
    prepared: Plan | None = None,
    aloud: Callable[[str], None] | None = None,
) -> tuple[partials.Report, tuple[Notice, ...]]:
    """Judge the traces, by a plan of one's own or by that of the question. PrecedesError for what cannot be read or
    carried out. `aloud` hears at once what is told beforehand.
    """
    if question.all_verdicts and question.out is None:
        raise usage("--all-verdicts without --out", "say where with --out DIR")
    prepared = prepared or question.plan(everywhere=question.out is not None)
    options = question.options()
    notices = Notices(aloud=aloud)
    match selected(question.engine, question.master):
        case "local":
            partial = _local(question, prepared, options, notices, advance)
        case "spark":
            partial = _on_spark(question, prepared, options, notices)
        case engine:
            assert_never(engine)
    report = partials.report(partial, prepared)
    return report, notices.all(violated=report.verdict is Verdict.VIOLATED)


def _on_spark(
    question: Question, prepared: Plan, options: TraceOptions, notices: Notices
) -> partials.Partial:
    from precedes.engines.spark.entrance import entered

    sources = [source.from_anywhere() for source in expand(question.traces, notices, question.log)]
    with entered(question.master) as spark:
        from precedes.engines.spark import files

        return files.verify(
            spark,
            sources,
            prepared,
            options,
            notices,
            limit=question.max_violations,
            out=question.out,
            all_verdicts=question.all_verdicts,
        )


def of_frame(events: DataFrame, question: Question, prepared: Plan, notices: Notices) -> partials.Partial:
    """Judge the rows of a Spark DataFrame in the session that it belongs to."""
    from precedes.engines.spark import frames

    return frames.judged(events, prepared, question.options(), notices, question.max_violations)


def of_tables(
    tables: Iterable[pa.Table], question: Question, prepared: Plan, notices: Notices
) -> partials.Partial:
    """Judge canonical tables, with the attributes of the plan, that are in memory, or come one after the other."""
    options = replace(question.options(), attributes=prepared.attributes, parted=prepared.parted)
    batches = batches_of(tables, options, notices)
    with _rows_of(question, prepared) as each:
        return local.judged(foretold(batches, prepared, notices), prepared, question.max_violations, each)


def _local(
    question: Question, prepared: Plan, options: TraceOptions, notices: Notices, advance: Advance
) -> partials.Partial:
    executions = events = 0

    def count(partial: partials.Partial) -> None:
        nonlocal executions, events
        executions += partial.executions
        events += partial.events
        advance(executions, events)

    sources = expand(question.traces, notices, question.log)
    limit = question.max_violations
    every = question.all_verdicts
    with _rows_of(question, prepared) as each:
        return local.verify(sources, prepared, options, notices, limit, each, every=every, advance=count)


@contextmanager
def _rows_of(question: Question, prepared: Plan) -> Iterator[tuple[local.Each, ...]]:
    """What writes the verdicts of a scan to the folder of the question, if it names one."""
    if question.out is None:
        yield ()
        return
    with ExitStack() as files:
        file = files.enter_context(verdict_file(question.out))
        offenders = files.enter_context(violation_file(question.out)) if question.all_violations else None

        def write(_: partials.Partial, result: Scan) -> None:
            file.write(verdict_rows(result, prepared, all_verdicts=question.all_verdicts))
            if offenders is not None:
                offenders.write(violation_rows(result, prepared))

        yield (write,)
