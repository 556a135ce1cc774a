"""`precedes.explore` and `precedes.simulate`: protocol models, explored up to bounds and run at random."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from precedes.api.report import Report
from precedes.core.diagnostics import usage
from precedes.core.formula import Requirement
from precedes.core.suggestions import did_you_mean
from precedes.core.verdict import Verdict
from precedes.jobs import explore as jobs
from precedes.jobs.simulate import simulate as simulated
from precedes.language.library import standard_library
from precedes.protocol.bounds import Bounds, Conditions, Destinations
from precedes.protocol.catalog import Model, models
from precedes.protocol.simulation.simulator import usual
from precedes.protocol.simulation.trace import Given, Named, Simulation

if TYPE_CHECKING:
    from precedes.language.library import Library


@dataclass(frozen=True, slots=True)
class Exploration(Report):
    """What `explore` found: one exploration for each instance of the model."""

    explored: tuple[jobs.Explored, ...]

    @property
    def verdict(self) -> Verdict:
        """Of all instances together; unknown if a limit was met before everything was explored."""
        return jobs.verdict_of(self.explored)

    @property
    def states(self) -> int:
        """How many states were reached, over all instances."""
        return sum(each.found.states for each in self.explored)

    def text(self) -> str:
        """The report as the command prints it."""
        from precedes.reports import explore as printed

        return printed.as_text(self.explored)

    def json(self) -> str:
        """The report as `--format json` prints it."""
        from precedes.reports import explore as printed

        return printed.as_json(self.explored)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each property of each instance: model, property, verdict, states."""
        return [
            {
                "model": each.protocol.name,
                "property": name,
                "verdict": verdict.value,
                "states": each.found.states,
            }
            for each in self.explored
            for name, verdict in each.found.verdicts.items()
        ]


@dataclass(frozen=True, slots=True)
class Simulated:
    """What `simulate` wrote: `path` is a trace for `verify`, `executions` of them have `events` in all."""

    path: str
    executions: int
    events: int
    summary: str

    def __str__(self) -> str:
        return self.summary


def explore(
    model: Model,
    bounds: Bounds | None = None,
    require: str | Requirement | Sequence[str | Requirement] = (),
    *,
    as_written: bool = False,
    parameters: Mapping[str, object] | None = None,
    library: Library | None = None,
    plain: bool = False,
    quiescent: bool = False,
    order: str = "breadth",
    check_purity: bool = False,
) -> Exploration:
    """Explore every behavior of a protocol model up to bounds.

    The model runs in this process. The command runs it in one of its own, so that a model that ends its process is an
    error there.

    Args:
        model: A name of `precedes list`, a Python file with a model, a class that derives from `Protocol`, or an
            instance of one.
        bounds: How far to go: `Bounds(entities=3, messages=2, losses=1)`. Without bounds: 3 entities, 3 messages, and
            the destinations that the model names. A search without a limit stops at 4,000,000 states.
        require: What must hold: names, formulas, requirements, or names of the model's invariants. Without it, what the
            model claims and its invariants.
        as_written: Take the protocol to the letter of its paper, not repaired.
        parameters: Fields of the model and their values.
        library: Where names are looked up; the standard library unless given.
        plain: Explore every interleaving, without the reductions.
        quiescent: Ask what concerns several entities only where nothing is in flight.
        order: Which state is next, `"breadth"` or `"depth"`.
        check_purity: Call every handler twice and compare.

    Returns:
        The report, with a shortest behavior for each violation.

    Raises:
        PrecedesError: There is no such model, it makes a mistake, or the bounds do not fit its network.

    Example:
        >>> report = precedes.explore("cmd", precedes.Bounds(entities=3, messages=2), "causal_order")
        >>> report.verdict
        <Verdict.HOLDS: 'holds'>
    """
    if order not in ("breadth", "depth"):
        raise usage(f"there is no order {order}", "the next state is found breadth or depth first")
    known = standard_library() if library is None else library
    required = [require] if isinstance(require, str | Requirement) else list(require)
    search = jobs.Search(plain, quiescent, "depth" if order == "depth" else "breadth", check_purity)
    found = []
    for protocol in models(model, as_written=as_written, parameters=parameters):
        within = bounds or Bounds(destinations=Destinations(protocol.destinations))
        found.append(jobs.explored(protocol, within.limited(), required, known, search))
    return Exploration(tuple(found))


def simulate(
    model: Model,
    path: str | os.PathLike[str],
    *,
    executions: int = 1000,
    seed: int = 1,
    as_written: bool = False,
    parameters: Mapping[str, object] | None = None,
    conditions: Mapping[str, Any] | None = None,
    most_steps: int | None = None,
    engine: str = "auto",
    master: str | None = None,
) -> Simulated:
    """Run a protocol model at random and write what it does as a trace.

    Args:
        model: As for `explore`.
        path: The .parquet file to write.
        executions: How many executions to run.
        seed: The same seed gives the same trace, whatever the engine.
        as_written: Take the protocol to the letter of its paper.
        parameters: Fields of the model and their values.
        conditions: What differs from the usual conditions of the model's network, by name, as in
            `{"entities": 5, "loss": 0.1}`. The names are `entities`, `messages`, `destinations`, `interval`, `delay`,
            `deviation`, `loss`, `duplication`, `corruption`, `crash`, `recovery` and `skew`. Rates are probabilities,
            times are in ticks of a microsecond.
        most_steps: Give up an execution that takes more steps.
        engine: `"auto"`, `"local"` or `"spark"`.
        master: The Spark master; implies the engine `"spark"`.

    Returns:
        What was written.

    Raises:
        PrecedesError: There is no such model, or the conditions do not fit its network.
    """
    from precedes.reports import simulate as printed

    protocols = models(model, as_written=as_written, parameters=parameters)
    chosen = dict(conditions or {})
    unknown = [name for name in chosen if name not in Conditions.__dataclass_fields__]
    if unknown:
        hint = did_you_mean(unknown[0], Conditions.__dataclass_fields__)
        raise usage(f"there is no condition {unknown[0]}", hint)
    if isinstance(chosen.get("destinations"), str):
        chosen["destinations"] = Destinations(chosen["destinations"])
    settings = tuple(replace(usual(protocol), **chosen) for protocol in protocols)
    # By its name a model can be loaded in another process.
    texts = tuple((name, str(value)) for name, value in (parameters or {}).items())
    source = Named(model, as_written, texts) if isinstance(model, str) else Given(protocols)
    simulation = Simulation(source, settings, seed, executions, most_steps)
    target = os.fspath(path)
    done = simulated(simulation, target, engine=engine, master=master)
    summary = printed.as_text(target, protocols, simulation, done)
    return Simulated(target, done.written.executions, done.written.rows, summary)
