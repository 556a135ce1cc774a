"""`precedes.explore` and `precedes.simulate`: protocol models, explored up to bounds and run at random."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from precedes.api.report import Report
from precedes.core.diagnostics import usage
from precedes.core.faults import COUNTED_OR_RATED
from precedes.core.formula import Requirement
from precedes.core.suggestions import did_you_mean
from precedes.core.verdict import Verdict
from precedes.engines.selection import AUTO
from precedes.jobs import explore as jobs
from precedes.jobs.simulate import CONDITIONS
from precedes.jobs.simulate import simulate as simulated
from precedes.language.library import standard_library
from precedes.protocol import script
from precedes.protocol.bounds import Bounds, Conditions, Destinations
from precedes.protocol.catalog import Given, Model, Named, models
from precedes.protocol.model import Protocol
from precedes.protocol.simulation.simulator import usual
from precedes.protocol.simulation.trace import Simulation

if TYPE_CHECKING:
    from precedes.language.library import Library
    from precedes.protocol.exploration.state_search import Order
    from precedes.reports.page.contents import Page


@dataclass(frozen=True, slots=True, repr=False)
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

    def _page(self) -> Page:
        from precedes.reports.page.explore_page import explore_page

        return explore_page(self.explored)

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

    def _verdicts(self) -> Iterator[tuple[str, Verdict]]:
        return (pair for each in self.explored for pair in each.found.verdicts.items())


@dataclass(frozen=True, slots=True)
class Simulated:
    """What `simulate` wrote. `str` of it is the text that the command prints.

    Attributes:
        path: The trace, for `verify`.
        executions: How many executions it has.
        events: How many events they have altogether.
        summary: The text.
    """

    path: str
    executions: int
    events: int
    summary: str = field(repr=False)

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
    first: bool = False,
    live: bool = False,
    resume: str | os.PathLike[str] | None = None,
    **numbers: Any,
) -> Exploration:
    """Explore every behavior of a protocol model up to bounds, in this process. (The command runs a model in one of
    its own, so that a model that ends its process is an error there.)

    Args:
        model: A name of `precedes list`, a Python file with a model, a class that derives from `Protocol`, or an
            instance of one.
        bounds: How far to go, as a value: `Bounds(entities=3, messages=2, losses=1)`. Its destinations are unicast
            unless it says otherwise.
        require: What must hold: names, formulas, requirements, or names of the model's invariants. Without it, what the
            model claims and its invariants.
        as_written: Take the protocol as its paper is written, not repaired.
        parameters: Fields of the model and their values.
        library: Where names are looked up; the standard library unless given.
        plain: Explore every interleaving, without the reductions.
        quiescent: Ask what concerns several entities only where nothing is in flight.
        order: Which state is next, `"breadth"` or `"depth"`.
        check_purity: Call every handler twice and compare; in a symmetric model, everything under every renaming.
        first: Stop soon after the first violation.
        live: Ask also what comes true in the end; all three properties of behaviors that never end without `require`.
        resume: A file. A search that meets a limit is kept in it, and goes on from it where it is there.
        numbers: The bounds one by one, with the words of the command: `entities=3`, `messages=2`, `losses=1`,
            `destinations="broadcast"`, `script="a{2,3} b{1}"`; `depth`, `time_limit` in seconds, `states` and
            `memory` in megabytes are limits. What is not given is 3 entities, 3 messages, no faults, and the
            destinations that the model names. A search without a limit stops at 4,000,000 states.

    Returns:
        The report, with a shortest behavior for each violation.

    Raises:
        PrecedesError: There is no such model, it makes a mistake, or the bounds do not fit its network.

    Example:
        >>> report = precedes.explore("cmd", require="causal_order", entities=3, messages=2)
        >>> report.verdict
        <Verdict.HOLDS: 'holds'>
    """
    if order not in ("breadth", "depth"):
        raise usage(f"there is no order {order}", "the next state is found breadth or depth first")
    known = standard_library() if library is None else library
    required = [require] if isinstance(require, str | Requirement) else list(require)
    _refuse(bounds, numbers)
    by: Order = "depth" if order == "depth" else "breadth"
    file = None if resume is None else Path(resume)
    search = jobs.Search(plain, quiescent, by, check_purity, first, live, file, where="require")
    found = []
    protocols = models(model, as_written=as_written, parameters=parameters)
    jobs.refuse_several(search, protocols)
    for protocol in protocols:
        within = bounds or _bounds(protocol, numbers)
        found.append(jobs.explored(protocol, within.limited(), required, known, search))
    return Exploration(tuple(found))


def simulate(
    model: Model,
    output: str | os.PathLike[str],
    *,
    executions: int = 1000,
    seed: int = 1,
    as_written: bool = False,
    parameters: Mapping[str, object] | None = None,
    most_steps: int | None = None,
    engine: str = AUTO,
    master: str | None = None,
    **conditions: Any,
) -> Simulated:
    """Run a protocol model at random and write what it does as a trace.

    Args:
        model: As for `explore`.
        output: The .parquet file to write.
        executions: How many executions to run.
        seed: The same seed gives the same trace, whatever the engine.
        as_written: Take the protocol as its paper is written.
        parameters: Fields of the model and their values.
        most_steps: Give up an execution that takes more steps.
        engine: `"auto"`, `"local"` (in this process) or `"spark"`.
        master: The Spark master; implies the engine `"spark"`.
        conditions: What differs from the usual conditions of the model's network, with the words of the command:
            `entities=5`, `messages=20`, `destinations="broadcast"`; `loss`, `duplication`, `corruption`, `crash` and
            `recovery` are probabilities; `interval`, `delay`, `deviation` and `skew` are in ticks of a microsecond.

    Returns:
        What was written.

    Raises:
        PrecedesError: There is no such model, or the conditions do not fit its network.
    """
    from precedes.reports import simulate as printed

    protocols = models(model, as_written=as_written, parameters=parameters)
    settings = conditions_of(protocols, conditions)
    source = source_of(model, protocols, as_written=as_written, parameters=parameters)
    simulation = Simulation(source, settings, seed, executions, most_steps)
    target = os.fspath(output)
    done = simulated(simulation, target, engine=engine, master=master)
    summary = printed.as_text(target, protocols, simulation, done)
    return Simulated(target, done.written.executions, done.written.rows, summary)


def conditions_of(
    protocols: Sequence[Protocol[Any]], conditions: Mapping[str, Any]
) -> tuple[Conditions, ...]:
    """The conditions of each instance: as they are given, and the usual ones of its network for the rest."""
    _known(conditions, (*CONDITIONS, "destinations"), "condition")
    chosen = dict(conditions)
    if "destinations" in chosen:
        chosen["destinations"] = _destinations(chosen["destinations"])
    return tuple(replace(usual(protocol), **chosen) for protocol in protocols)


def source_of(
    model: Model,
    protocols: tuple[Protocol[Any], ...],
    *,
    as_written: bool,
    parameters: Mapping[str, object] | None,
) -> Named | Given:
    """What another process loads: by its name where it has one."""
    texts = tuple((name, str(value)) for name, value in (parameters or {}).items())
    return Named(model, as_written, texts) if isinstance(model, str) else Given(protocols)


_LIMITS: Final = {"time_limit": "seconds", "memory": "megabytes"}
"""Words of the command that `Bounds` has by their units."""
_BOUNDS: Final = (*(name for name in Bounds.__dataclass_fields__ if name not in _LIMITS.values()), *_LIMITS)


def _refuse(bounds: Bounds | None, numbers: Mapping[str, Any]) -> None:
    if bounds is not None and numbers:
        raise usage("bounds as a value and one by one", f"put {', '.join(numbers)} into the bounds")
    _known(numbers, _BOUNDS, "bound")


def _known(given: Mapping[str, Any], names: Sequence[str], what: str) -> None:
    for name in given:
        if name not in names:
            meant = did_you_mean(name, names, COUNTED_OR_RATED)
            raise usage(f"there is no {what} {name}", meant or f"there are {', '.join(names)}")


def _bounds(protocol: Protocol[Any], numbers: Mapping[str, Any]) -> Bounds:
    within = {_LIMITS.get(name, name): value for name, value in numbers.items()}
    within["destinations"] = _destinations(within.get("destinations", protocol.destinations))
    if isinstance(within.get("script"), str):
        within["script"] = script.script(within["script"], within.get("entities", Bounds().entities))
    return Bounds(**within)


def _destinations(given: str | Destinations) -> Destinations:
    names = [each.value for each in Destinations]
    if isinstance(given, str) and given not in names:
        raise usage(f"there are no destinations {given}", f"they are {', '.join(names)}")
    return Destinations(given)
