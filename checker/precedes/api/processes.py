"""`precedes.run`: protocol models in processes of the operating system."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from precedes.api.conformance import Conformance
from precedes.api.protocols import conditions_of, source_of
from precedes.api.report import Report
from precedes.api.traces import Verification
from precedes.core.formula import Requirement
from precedes.core.verdict import Verdict
from precedes.jobs import run as jobs
from precedes.language.library import standard_library
from precedes.protocol.catalog import Given, Model, Named, models
from precedes.protocol.processes.workload import Workload

if TYPE_CHECKING:
    from precedes.language.library import Library


@dataclass(frozen=True, slots=True, repr=False)
class Trial(Report):
    """What came of a `run`: what its processes recorded was judged twice.

    `verification` is the report on what was required, or on what the model claims; None if that is nothing.
    `conformance` is the report on whether every execution is a behavior of the model.
    """

    ran: jobs.Ran

    @property
    def verdict(self) -> Verdict:
        """`Verdict.HOLDS` only if all that was required holds and every execution conforms."""
        return self.ran.verdict

    @property
    def path(self) -> str | None:
        """The trace, if one was asked for."""
        return self.ran.path

    @property
    def executions(self) -> int:
        """How many executions were recorded. One in which nothing happened is not among them."""
        return self.ran.executions

    @property
    def events(self) -> int:
        """How many events they have altogether."""
        return self.ran.events

    @property
    def seconds(self) -> float:
        """How long the executions took, from the first beginning to the last end."""
        return self.ran.totals.seconds

    @property
    def counters(self) -> Mapping[str, float]:
        """What was counted over all executions: requests, packets, lost, duplicated, and so on, as in a simulation."""
        return self.ran.totals.counters

    @property
    def late(self) -> int:
        """How often an execution was put aside and run again, because a packet or a timer was later than the model
        allows.
        """
        return self.ran.totals.late

    @property
    def verification(self) -> Verification | None:
        """What was found on what is required."""
        found = self.ran.verified
        return None if found is None else Verification(found, (), self.seconds)

    @property
    def conformance(self) -> Conformance:
        """What was found on whether executions conform."""
        return Conformance(self.ran.conformed)

    def text(self) -> str:
        """The report as the command prints it."""
        from precedes.reports import run as printed

        return printed.as_text(self.ran)

    def json(self) -> str:
        """The report as `--format json` prints it."""
        from precedes.reports import run as printed

        return printed.as_json(self.ran)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each name that was required, and one for `conforms`: name, verdict."""
        return [{"name": name, "verdict": verdict.value} for name, verdict in self._verdicts()]

    def _verdicts(self) -> Iterator[tuple[str, Verdict]]:
        if self.ran.verified is not None:
            yield from ((name, count.verdict) for name, count in self.ran.verified.counts.items())
        yield "conforms", self.ran.conformed.verdict


def run(
    model: Model,
    output: str | os.PathLike[str] | None = None,
    require: str | Requirement | Sequence[str | Requirement] = (),
    *,
    executions: int = 10,
    at_once: int = 1,
    seed: int = 1,
    as_written: bool = False,
    parameters: Mapping[str, object] | None = None,
    tick: str | None = None,
    library: Library | None = None,
    states: int = 5000,
    max_violations: int = 10,
    max_shown: int = 3,
    most_steps: int | None = None,
    hang_limit: float = 300.0,
    **conditions: Any,
) -> Trial:
    """Run a protocol model in processes that talk over UDP, and judge what they record.

    Each entity is a process, and so is the channel that all share, where the network has one. Timers run in real time.

    Args:
        model: As for `explore`. A class or an instance must stand in a module that other processes can import.
        output: The .jsonl or .parquet file to write.
        require: What must hold: names, formulas or requirements. Without it, what the model claims.
        executions: How many executions to run, one after the other.
        at_once: How many are under way at the same time.
        seed: The same seed gives the same requests. The order of what happens is that of the machine.
        as_written: Take the protocol as its paper is written.
        parameters: Fields of the model and their values.
        tick: How long a tick is, such as `"5ms"`. Without it, `"1us"`; `"10ms"` if the network of the model has time.
        library: Where names are looked up; the standard library unless given.
        states: Whether an execution conforms is left open after so many states.
        max_violations: How many violations the report has.
        max_shown: How many executions of each answer on conformance the report has.
        most_steps: Give up an execution in which an entity takes more steps.
        hang_limit: Give up on a process that makes no progress for so long, in seconds.
        conditions: As for `simulate`.

    Returns:
        The report.

    Raises:
        PrecedesError: As for `simulate`; or a process ended, or the machine is too slow for the model's times.
    """
    protocols = models(model, as_written=as_written, parameters=parameters)
    workload = Workload(
        _reachable(source_of(model, protocols, as_written=as_written, parameters=parameters)),
        conditions_of(protocols, conditions),
        seed,
        executions,
        jobs.tick_of(tick, protocols[0]),
        at_once,
        most_steps=most_steps,
    )
    question = jobs.Question(
        workload,
        (require,) if isinstance(require, str | Requirement) else tuple(require),
        standard_library() if library is None else library,
        states=states,
        max_violations=max_violations,
        max_shown=max_shown,
        silence=hang_limit,
        where="require",
    )
    return Trial(jobs.run(question, output, lambda _what: None))


def _reachable(source: Named | Given) -> Named | Given:
    """The model, if other processes can load it. PrecedesError U001."""
    if isinstance(source, Given):
        source.refuse_unreachable()
    return source
