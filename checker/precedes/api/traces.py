"""`precedes.verify` and `precedes.infer`: recorded executions judged, from wherever the events are."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from precedes.api.events import Events, is_spark_frame, paths_in, refuse_log, tables_of
from precedes.api.report import Report
from precedes.core.diagnostics import usage
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict
from precedes.engines.scan import partials
from precedes.engines.scan.partials import Count, Unknown, Violation
from precedes.engines.selection import AUTO, selected
from precedes.jobs import drift as comparison
from precedes.jobs import infer as inference
from precedes.jobs import verify as verification
from precedes.jobs.verify import Question
from precedes.language.library import standard_library
from precedes.language.profiles import profile as promised
from precedes.language.requirements import requirement
from precedes.logic.plan import Plan
from precedes.traces import Notice, Notices
from precedes.traces.foreign.recognition import LogReading
from precedes.traces.stated_groups import GivenGroups

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from precedes.jobs.drift import Drift
    from precedes.language.library import Library
    from precedes.reports.page.contents import Page


@dataclass(frozen=True, slots=True)
class Reading:
    """How a trace is read and judged; the options of `precedes verify` under the same names.

    Attributes:
        delta: The time that a message may take, with a unit: `"100ms"`, `"2s"`.
        epsilon: How far clocks may be apart, likewise.
        incomplete: Rows may be missing. What a missing row would change is unknown.
        delivery: Which event counts as the delivery, `"deliver"` or `"arrive"`.
        cluster: Entities of every execution that may have no row.
        groups: The members of groups, the same in every execution: a mapping such as `{"billing": ["c1", "c2"]}`, or
            the path of a file of TOML or JSON that has it. They are beside those that rows state.
        order: What gives the order of events where rows and recorded clocks disagree, or times run against the rows:
            `"rows"` or `"clocks"`. Without it, what depends on that order is unknown.
        strict: Stop at rows that contradict each other.
        engine: `"auto"`, `"local"` (in this process) or `"spark"`.
        master: The Spark master; implies the engine `"spark"`.
        max_violations: How many violations a report shows; with `all_violations` also how many of one name in one
            execution. Of `verify` only.
        all_violations: Count everything that violates a name in an execution. Of `verify` only.
        log: The format of a log of another system, such as `"kcat"`. Without it, such a log is recognized.
        parameters: How such a log is read: values by the names of its settings.
        mapping: A file of TOML that says how a log of your own is read.
    """

    delta: str | None = None
    epsilon: str | None = None
    incomplete: bool = False
    delivery: str = "deliver"
    cluster: tuple[str, ...] = ()
    groups: GivenGroups | None = None
    order: str | None = None
    strict: bool = False
    engine: str = AUTO
    master: str | None = None
    max_violations: int = 10
    all_violations: bool = False
    log: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    mapping: str | os.PathLike[str] | None = None

    def question(self, traces: tuple[str, ...], required: Sequence[str]) -> Question:
        """The question that the command would ask."""
        of_log = ("log", "parameters", "mapping")
        given = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in of_log}
        log = LogReading.stated(self.log, self.parameters, self.mapping)
        return Question(traces, tuple(required), **given, log=log)


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Report):
    """What `verify` found.

    `report["ST"]` has the counts of one name: `holds`, `violated`, `unknown` executions and their `verdict`.
    """

    found: partials.Report
    notices: tuple[Notice, ...]
    seconds: float = field(compare=False)

    @property
    def verdict(self) -> Verdict:
        """The verdict of all that was required together."""
        return self.found.verdict

    @property
    def executions(self) -> int:
        """How many executions were judged."""
        return self.found.executions

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The first violations. Each has the name of its `execution`, its `predicate`, and as `cut` an `Execution` of
        the messages that show it.
        """
        return self.found.violations

    @property
    def unknowns(self) -> tuple[Unknown, ...]:
        """The first verdicts that are unknown. Each has the name of its `execution`, its `predicate`, and as `why` the
        reasons.
        """
        return self.found.unknowns

    def __getitem__(self, name: str) -> Count:
        return self.found.counts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found.counts)

    def text(self) -> str:
        """The report as the command prints it."""
        from precedes.reports import verify as printed

        return printed.as_text(self.found, self.notices, self.seconds)

    def json(self) -> str:
        """The report as `--format json` prints it."""
        from precedes.reports import verify as printed

        return printed.as_json(self.found, self.notices, self.seconds)

    def _page(self) -> Page:
        from precedes.reports.page.verify_page import verify_page

        return verify_page(self.found, self.notices, self.seconds)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each name: predicate, verdict, and in how many executions it holds, is violated, is unknown."""
        return [
            {
                "predicate": name,
                "verdict": count.verdict.value,
                "holds": count.holds,
                "violated": count.violated,
                "unknown": count.unknown,
            }
            for name, count in self.found.counts.items()
        ]

    def _verdicts(self) -> Iterator[tuple[str, Verdict]]:
        return ((name, count.verdict) for name, count in self.found.counts.items())


@dataclass(frozen=True, slots=True, repr=False)
class Inference(Report):
    """What `infer` found: the strongest names that the trace keeps, the weakest that it breaks.

    Against a baseline, `drift` has as `broken` the weakest names that the baseline keeps and the trace violates, as
    `since` when that began, as `gained` the strongest that it keeps newly, and as `doubtful` and `unchecked` what
    the baseline keeps and could not be judged. Otherwise it is None.
    """

    found: inference.Inferred
    notices: tuple[Notice, ...]
    question: Question
    seconds: float = field(compare=False)
    drift: Drift | None = None

    @property
    def verdict(self) -> Verdict:
        """`Verdict.HOLDS` if the trace keeps anything. Against a baseline: if it keeps everything that the baseline
        keeps, and `Verdict.VIOLATED` if it violates something of that.
        """
        return self.found.verdict if self.drift is None else self.drift.verdict

    @property
    def kept(self) -> Mapping[str, tuple[str, ...]]:
        """The strongest names that hold in every execution, each with the names that follow from it."""
        return self.found.kept

    @property
    def broken(self) -> Mapping[str, tuple[str, ...]]:
        """The weakest names that some execution violates, each with those that are broken with it."""
        return self.found.broken

    def text(self) -> str:
        """The report as the command prints it."""
        from precedes.reports import drift as differing
        from precedes.reports import infer as printed

        if self.drift is not None:
            return differing.as_text(self.found, self.drift, self.notices, self.seconds, self.question)
        return printed.as_text(self.found, self.notices, self.seconds, self.question)

    def json(self) -> str:
        """The report as `--format json` prints it. Kept in a file, it can be the baseline of a later `infer`."""
        from precedes.reports import infer as printed

        return printed.as_json(self.found, self.notices, self.seconds, self.question, self.drift)

    def _page(self) -> Page:
        from precedes.reports.page.infer_page import infer_page

        return infer_page(self.found, self.notices, self.seconds, self.drift)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each name: whether the trace keeps it, and in how many executions it is violated."""
        counts = self.found.report.counts
        return [
            {
                "predicate": name,
                "verdict": counts[name].verdict.value,
                "strongest": name in self.found.kept,
                "violated": counts[name].violated,
            }
            for name in self.found.titles
        ]

    def _verdicts(self) -> Iterator[tuple[str, Verdict]]:
        counts = self.found.report.counts
        return ((name, counts[name].verdict) for name in self.found.titles)


def verify(
    events: Events,
    require: str | Requirement | Sequence[str | Requirement] = (),
    *,
    profile: str | Sequence[str] = (),
    library: Library | None = None,
    out: str | os.PathLike[str] | None = None,
    all_verdicts: bool = False,
    reading: Reading | None = None,
    **options: Any,
) -> Verification:
    """Judge recorded executions.

    Args:
        events: Paths (files, globs, directories); an Arrow table or reader, a pandas or polars frame, a DuckDB
            relation, or anything else with `__arrow_c_stream__`; a Spark DataFrame; or rows as dictionaries. The
            columns are those of a [trace](../traces.md): `execution`, `entity`, `event`, `message`, and what else is
            known.
        require: What must hold: names of predicates or services, formulas, or requirements.
        profile: What a broker promises, which must hold as well: `"kafka-partition"`, or several.
        library: Where names are looked up; the standard library unless given.
        out: A folder. `verdicts.parquet` is written there: what does not hold, with its witness. With
            `all_violations=True` also `violations.parquet`. A Spark DataFrame has no folder; `precedes.spark.verify`
            gives the same rows as another DataFrame.
        all_verdicts: Write the executions that hold, too.
        reading: How the trace is read and judged, as a value.
        options: The same one by one: `delta="100ms"`, `incomplete=True` (see `Reading`).

    Returns:
        The report. `report.verdict` is the verdict of all together, `report["ST"]` the counts of one name.

    Raises:
        PrecedesError: A name or formula is wrong, or the trace cannot be read.

    Example:
        >>> report = verify("traces/rabbitmq-fanout.jsonl.gz", "ST")
        >>> report["ST"].violated
        1
    """
    how = reading_of(reading, options)
    known = standard_library() if library is None else library
    asked = [require] if isinstance(require, str | Requirement) else list(require)
    brokers = [profile] if isinstance(profile, str) else list(profile)
    if not asked and not brokers:
        raise usage("nothing is required", 'say what must hold, as in require="ST"')
    named = [one if isinstance(one, Requirement) else requirement(one, known, "require") for one in asked]
    named += [promised(text) for text in brokers]
    if all_verdicts and out is None:
        raise usage("all_verdicts without out", 'say where with out="DIR"')
    folder = None if out is None else os.fspath(out)
    question = replace(how.question(paths_in(events) or (), ()), out=folder, all_verdicts=all_verdicts)
    started = time.perf_counter()
    found, notices = _judged(events, question, question.planned(named, everywhere=out is not None))
    return Verification(found, notices, time.perf_counter() - started)


def infer(
    events: Events,
    *,
    library: Library | None = None,
    per: str | Sequence[str] = (),
    against: Events | Inference | None = None,
    reading: Reading | None = None,
    **options: Any,
) -> Inference:
    """Find the strongest guarantees that recorded executions keep, and the weakest that they break.

    Args:
        events: As for `verify`.
        library: Whose names are tried; the standard library unless given.
        per: An attribute, or several: every name is tried on the messages of each value by themselves.
        against: A baseline: an earlier inference, the path of its JSON, or events as of `events`. `report.drift` then
            says what is broken that the baseline keeps, and since when.
        reading: How the trace is read and judged, as a value.
        options: The same one by one (see `Reading`).

    Returns:
        The report. `report.kept` has the strongest names that hold, `report.broken` the weakest that do not.

    Raises:
        PrecedesError: The trace cannot be read, or an attribute is not declared.
    """
    how = reading_of(reading, options)
    known = standard_library() if library is None else library
    names = inference.askable(known)
    attributes = (per,) if isinstance(per, str) else tuple(per)
    if how.all_violations:
        raise usage("infer lists no violations", "leave out all_violations; verify has it")
    question = replace(how.question(paths_in(events) or (), ()), max_violations=inference.SHOWN)
    started = time.perf_counter()
    prepared = inference.planned(names, known, attributes)
    baseline, before = _baseline(against, question, prepared, known, attributes)
    if baseline is not None:
        prepared = comparison.watching(prepared, baseline)
    report, notices = _judged(events, question, prepared)
    found = inference.inferred(report, names, known, attributes)
    return Inference(
        found,
        (*before, *inference.told(notices, attributes)),
        question,
        time.perf_counter() - started,
        None if baseline is None else comparison.drift(found, baseline, prepared, names, known),
    )


def _baseline(
    against: Events | Inference | None,
    question: Question,
    prepared: Plan,
    known: Library,
    per: tuple[str, ...],
) -> tuple[comparison.Baseline | None, tuple[Notice, ...]]:
    """The baseline, if there is one, and what is to be known of its trace."""
    if against is None:
        return None, ()
    if isinstance(against, Inference):
        comparison.refuse_other_questions(
            "the baseline", comparison.as_asked(against.question, against.found.per), question, per
        )
        return comparison.baseline_of(against.found, "the baseline"), ()
    paths = paths_in(against)
    document = comparison.recorded_result(paths[0]) if paths is not None and len(paths) == 1 else None
    if document is not None and paths is not None:
        return comparison.baseline_of_result(document, paths[0], question, per), ()
    report, notices = _judged(against, replace(question, traces=paths or ()), prepared)
    found = inference.inferred(report, inference.askable(known), known, per)
    shown = "the baseline" if paths is None else ", ".join(paths)
    return comparison.baseline_of(found, shown), comparison.of_baseline(inference.told(notices, per))


def reading_of(reading: Reading | None, options: Mapping[str, Any]) -> Reading:
    """The reading, given as a value or one by one. PrecedesError for an option that there is not."""
    if reading is not None and options:
        raise usage("a reading and options together", f"put {', '.join(options)} into the reading")
    if reading is not None:
        return reading
    unknown = [name for name in options if name not in Reading.__dataclass_fields__]
    if unknown:
        raise usage(
            f"there is no option {unknown[0]}", f"options are {', '.join(Reading.__dataclass_fields__)}"
        )
    if isinstance(options.get("cluster"), list):
        options = {**options, "cluster": tuple(options["cluster"])}
    return Reading(**options)


def _judged(events: Events, question: Question, prepared: Plan) -> tuple[partials.Report, tuple[Notice, ...]]:
    if question.traces:
        return verification.verify(question, lambda _executions, _events: None, prepared)
    refuse_log(question.log)
    notices = Notices()
    if is_spark_frame(events):
        if question.out is not None:
            hint = "precedes.spark.verify gives the rows as a DataFrame, which writes itself"
            raise usage("the verdicts on a DataFrame have no folder", hint)
        partial = verification.of_frame(cast("DataFrame", events), question, prepared, notices)
    else:
        refuse_engine(question)
        with _closing(tables_of(events, notices, prepared.attributes)) as tables:
            partial = verification.of_tables(tables, question, prepared, notices)
    report = partials.report(partial, prepared)
    return report, notices.all(violated=report.verdict is Verdict.VIOLATED)


def refuse_engine(question: Question) -> None:
    """Raise PrecedesError (U001) if rows that are in memory are to be judged elsewhere."""
    if selected(question.engine, question.master) != "local":
        raise usage("rows that are in memory are judged in this process", "leave out engine and master")


@contextmanager
def _closing(tables: Iterator[Any]) -> Iterator[Iterator[Any]]:
    try:
        yield tables
    finally:
        close = getattr(tables, "close", None)
        if close is not None:
            close()
