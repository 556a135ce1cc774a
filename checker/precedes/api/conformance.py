"""`precedes.conform`: recorded executions judged by a protocol model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from precedes.api.events import Events, is_spark_frame, paths_in, refuse_log, tables_of
from precedes.api.report import Report
from precedes.api.traces import Reading, reading_of, refuse_engine
from precedes.core.verdict import Verdict
from precedes.jobs import conform as jobs
from precedes.protocol.catalog import Given, Model, Named, models
from precedes.protocol.conformance.verdicts import Limits
from precedes.traces import Notices

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from precedes.reports.page.contents import Page


@dataclass(frozen=True, slots=True, repr=False)
class Conformance(Report):
    """What `conform` found.

    `conforming`, `deviating` and `undecided` count executions. `shown` has the first of each by their names, those
    that do not conform before others: the name of the `execution`, and the `answer`, with a run of the model as its
    `behavior`.
    """

    found: jobs.Conformed

    @property
    def verdict(self) -> Verdict:
        """`Verdict.HOLDS` only if every execution conforms, and there is one."""
        return self.found.verdict

    @property
    def executions(self) -> int:
        """How many executions were judged."""
        return self.found.executions

    @property
    def conforming(self) -> int:
        """How many conform."""
        return self.found.conforming

    @property
    def deviating(self) -> int:
        """How many do not conform."""
        return self.found.deviating

    @property
    def undecided(self) -> int:
        """How many are undecided."""
        return self.found.undecided

    @property
    def shown(self) -> tuple[jobs.Judged, ...]:
        """The first executions of each answer."""
        return self.found.shown

    def text(self, *, verbose: bool = False) -> str:
        """The report as the command prints it.

        Args:
            verbose: Also show runs of executions that conform.
        """
        from precedes.reports import conform as printed

        return printed.as_text(self.found, (), verbose=verbose)

    def json(self) -> str:
        """The report as `--format json` prints it."""
        from precedes.reports import conform as printed

        return printed.as_json(self.found, ())

    def _page(self) -> Page:
        from precedes.reports.page.conform_page import conform_page

        return conform_page(self.found, ())

    def rows(self) -> list[dict[str, Any]]:
        """A row for each execution that is shown: execution, verdict."""
        return [
            {"execution": judged.execution, "verdict": judged.answer.verdict.value}
            for judged in self.found.shown
        ]

    def _verdicts(self) -> Iterator[tuple[str, Verdict]]:
        return ((judged.execution, judged.answer.verdict) for judged in self.found.shown)


def conform(
    model: Model,
    events: Events,
    *,
    as_written: bool = False,
    parameters: Mapping[str, object] | None = None,
    entities: int = 0,
    losses: int = 2,
    duplicates: int = 1,
    corruptions: int = 1,
    timeouts: int = 200,
    states: int = 5000,
    quiescent: bool = False,
    ignore: str | Iterable[str] = (),
    state: Mapping[str, str] | None = None,
    max_shown: int = 3,
    reading: Reading | None = None,
    **options: Any,
) -> Conformance:
    """Judge whether recorded executions are behaviors of a protocol model.

    What was recorded must be what the model does. What was not, such as packets and time-outs, is searched for. The
    model runs in this process, or, with `engine="spark"`, in the workers of Spark.

    Args:
        model: As for `explore`. Of several instances of a model one has to have the execution.
        events: As for `verify`. A Spark DataFrame is judged where it is.
        as_written: Take the protocol as its paper is written, not repaired.
        parameters: Fields of the model and their values.
        entities: There are at least so many, also where some have no row.
        losses: How many packets the network may lose, if the model's does.
        duplicates: How many it may copy.
        corruptions: How many it may change.
        timeouts: How many time-outs may expire.
        states: An execution is undecided after so many states of the search.
        quiescent: Each execution was recorded until nothing was in flight. Without it, it may end anywhere.
        ignore: What the trace means otherwise than the model: `"arrive"`, `"discard"`, `"view"`, `"clock"`, `"time"`.
        state: Fields of the model's states, each with the attribute of events that has its value after the event:
            `{"waiting": "queue_length"}`.
        max_shown: How many executions of each answer the report shows.
        reading: How the trace is read, as a value.
        options: The same one by one (see `Reading`).

    Returns:
        The report, with the first event that no run of the model explains.

    Raises:
        PrecedesError: There is no such model, it makes a mistake, or the trace cannot be read.
    """
    texts = tuple((name, str(value)) for name, value in (parameters or {}).items())
    # By its name a model can be loaded by another process.
    source = (
        Named(model, as_written, texts)
        if isinstance(model, str)
        else Given(models(model, as_written=as_written, parameters=parameters))
    )
    limits = Limits(losses, duplicates, corruptions, timeouts, states, quiescent)
    words = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    question = jobs.Question(limits, entities, words, tuple((state or {}).items()), max_shown)
    trace = reading_of(reading, options).question(paths_in(events) or (), ())
    if trace.traces:
        return Conformance(jobs.conform(source, trace, question, Notices()))
    refuse_log(trace.log)
    if is_spark_frame(events):
        return Conformance(jobs.conform_frame(source, cast("DataFrame", events), trace, question))
    refuse_engine(trace)
    tables = tables_of(events, Notices(), question.attributes)
    return Conformance(jobs.conform_tables(source, tables, trace, question))
