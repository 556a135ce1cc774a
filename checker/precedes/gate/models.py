"""Protocol models as checks of the gate: explored up to bounds, and run at random."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from precedes.checking import library_with
from precedes.diagnostics import PrecedesError
from precedes.gate import cache
from precedes.gate.checks import Check, events_of, files, line_of, relative, scenario_of
from precedes.gate.configuration import Model, Simulation
from precedes.gate.items import Item, Place, Result, Stated
from precedes.gate.specs import definitions, library_files
from precedes.gate.traces import of_report
from precedes.language.requirements import requirement
from precedes.protocol.bounds import FAULTS, Bounds, Conditions, Destinations
from precedes.verdict import Verdict

if TYPE_CHECKING:
    from precedes.engines.judging import Report
    from precedes.language.library import Library
    from precedes.protocol import Protocol
    from precedes.protocol.exploration import Exploration, Finding

RESULTS: dict[Verdict, Result] = {
    Verdict.HOLDS: "passed",
    Verdict.VIOLATED: "failed",
    Verdict.UNKNOWN: "undecided",
}
BOUNDS = ("entities", "messages", *FAULTS, "ticks", "states", "seconds")
"""What a model's settings and the bounds of an exploration have in common."""
BATCH = 1000
"""Simulated executions that are judged at a time."""
SHOWN = 10
"""Violations that are kept, of which each predicate shows the first."""


@dataclass(frozen=True, slots=True)
class Exploring(Check):
    """One `[[explore]]`."""

    settings: Model
    configuration: Path

    @property
    def name(self) -> str:
        """`explore`, the model, and how it is set where that is said."""
        written = " as written" if self.settings.as_written else ""
        return f"explore {self.settings.model}{written}{_set(self.settings.set)}"

    @property
    def cost(self) -> int:
        """The dearest there is."""
        return 4

    def key(self) -> str:
        """The settings, and every file that the model is made of."""
        return cache.key(self.name, self.settings, library_files(_sources(self.root, self.settings)))

    def run(self) -> tuple[Item, ...]:
        """One item for each property that was checked."""
        from precedes.protocol.exploring import explore

        settings = self.settings
        protocol = _protocol(self.root, settings)
        library = library_with(tuple(map(str, _specs(self.root, settings))))
        asked = tuple(requirement(text, library) for text in settings.require) or None
        found = explore(protocol, _bounds(settings), asked)
        return tuple(self._items(protocol, found))

    def _items(self, protocol: Protocol[Any], found: Exploration) -> Iterator[Item]:
        findings = {finding.property: finding for finding in found.findings}
        place = _place(self.root, self.configuration, self.settings.model)
        bounds = {name: value for name in BOUNDS if isinstance(value := getattr(self.settings, name), int)}
        facts = {**bounds, "states": found.states}
        verdicts = found.verdicts
        own = definitions(_specs(self.root, self.settings))
        library = library_with(tuple(map(str, _specs(self.root, self.settings))))
        if self.settings.expect == "violated":
            yield self._expected(verdicts, findings, facts, place)
            return
        for name, verdict in verdicts.items():
            stated = None
            # An invariant of a protocol is not a formula, and cannot be compared with another one.
            with suppress(PrecedesError):
                requirement(name, library)
                stated = Stated(name, own)
            said = f"{name}: {self._said(name, verdict, found)}"
            finding = findings.get(name)
            if finding is None:
                yield Item(
                    "G103",
                    self.name,
                    name,
                    RESULTS[verdict],
                    said,
                    place,
                    stated=stated,
                    facts=facts,
                    proof="bounded",
                )
                continue
            detail, scenario = _shown(protocol, finding)
            yield Item(
                "G103",
                self.name,
                name,
                "failed",
                said,
                place,
                detail,
                events_of(finding.execution),
                scenario,
                stated,
                facts,
                "bounded",
            )

    def _expected(
        self, verdicts: Any, findings: dict[str, Finding], facts: dict[str, int], place: Place
    ) -> Item:
        """Where a violation has to be found: a model that is kept to show a mistake."""
        if findings:
            said = f"as expected, {', '.join(findings)} violated"
            return Item("G103", self.name, "expected violation", "passed", said, place, facts=facts)
        result: Result = "undecided" if Verdict.UNKNOWN in verdicts.values() else "failed"
        return Item(
            "G103", self.name, "expected violation", result, "no violation was found", place, facts=facts
        )

    def _said(self, name: str, verdict: Verdict, found: Exploration) -> str:
        explored = f"{found.states:,} states to depth {found.depth}"
        match verdict:
            case Verdict.HOLDS:
                return f"holds in {explored}"
            case Verdict.VIOLATED:
                return f"violated after {_steps(_finding(found, name))} steps"
            case Verdict.UNKNOWN if not found.complete:
                return f"{explored}, not all ({found.stopped_by}): undecided"
            case Verdict.UNKNOWN if not found.premises[name]:
                return f"its premise was never met in {explored}: undecided"
            case Verdict.UNKNOWN:
                return f"unknown somewhere in {explored}: {'; '.join(found.open.get(name, ()))}"


@dataclass(frozen=True, slots=True)
class Simulating(Check):
    """One `[[simulate]]`."""

    settings: Simulation
    configuration: Path

    @property
    def name(self) -> str:
        """`simulate`, the model, and how it is set where that is said."""
        written = " as written" if self.settings.as_written else ""
        return f"simulate {self.settings.model}{written}{_set(self.settings.set)}"

    @property
    def cost(self) -> int:
        """Between a trace and an exploration."""
        return 3

    def key(self) -> str:
        """The settings, and every file that the model is made of."""
        return cache.key(self.name, self.settings, library_files(_sources(self.root, self.settings)))

    def run(self) -> tuple[Item, ...]:
        """One item for each requirement and each of its parts."""
        return tuple(self._items())

    def _items(self) -> Iterator[Item]:
        settings = self.settings
        specs = _specs(self.root, settings)
        report = self._judged(library_with(tuple(map(str, specs))))
        place = _place(self.root, self.configuration, settings.model)
        if not report.messages:
            yield Item(
                "G301", self.name, "executions", "undecided", "no message was met: nothing was checked", place
            )
        own = definitions(specs)
        for told in of_report("G104", self.name, report, {}, place):
            stated = Stated(told.subject, own) if told.subject in settings.require else None
            yield msgspec.structs.replace(told, stated=stated)

    def _judged(self, library: Library) -> Report:
        """The executions in batches, so that a number of them does not need as much memory."""
        from precedes.columns import batch_of
        from precedes.engines.columnar.plan import plan
        from precedes.engines.judging import Merging, judge, report
        from precedes.protocol.simulating import run, usual

        settings = self.settings
        protocol = _protocol(self.root, settings)
        conditions: Conditions = replace(
            usual(protocol),
            entities=settings.entities,
            messages=settings.messages,
            destinations=Destinations(settings.destinations),
            loss=settings.loss,
            duplication=settings.duplication,
        )
        prepared = plan([requirement(text, library) for text in settings.require])
        merging = Merging(prepared, SHOWN)
        for start in range(1, settings.executions + 1, BATCH):
            numbers = range(start, min(start + BATCH, settings.executions + 1))
            batch = batch_of(
                [run(protocol, conditions, settings.seed, number).execution for number in numbers]
            )
            merging.add(judge(batch, prepared, SHOWN)[0])
        return report(merging.merged(), prepared)


def explorations(root: Path, configuration: Path, settings: Model) -> Iterator[Exploring]:
    """The check of one `[[explore]]`."""
    _protocol(root, settings)
    yield Exploring(root, settings, configuration)


def simulations(root: Path, configuration: Path, settings: Simulation) -> Iterator[Simulating]:
    """The check of one `[[simulate]]`."""
    _protocol(root, settings)
    yield Simulating(root, settings, configuration)


def _protocol(root: Path, settings: Model | Simulation) -> Protocol[Any]:
    from precedes.protocol.models import model

    named = str(root / settings.model) if settings.model.endswith(".py") else settings.model
    return model(
        named, as_written=settings.as_written, parameters={k: str(v) for k, v in settings.set.items()}
    )


def _bounds(settings: Model) -> Bounds:
    values = {name: getattr(settings, name) for name in BOUNDS}
    return Bounds(destinations=Destinations(settings.destinations), **values)


def _sources(root: Path, settings: Model | Simulation) -> tuple[Path, ...]:
    """The modules that a model is made of, as far as they are not of Python or of an installed package, and what it
    depends on besides."""
    protocol = _protocol(root, settings)
    installed = Path(sysconfig.get_paths()["purelib"])
    standard = Path(sysconfig.get_paths()["stdlib"])
    found: set[Path] = set()
    for module in [sys.modules[type(protocol).__module__], *list(sys.modules.values())]:
        name = getattr(module, "__file__", None)
        if name is None or not name.endswith(".py"):
            continue
        path = Path(name).resolve()
        own = module.__name__.partition(".")[0] == type(protocol).__module__.partition(".")[0]
        if own or root.resolve() in path.parents:
            if not own and (installed in path.parents or standard in path.parents):
                continue
            found.add(path)
    return (
        *sorted(found),
        *_specs(root, settings),
        *(files(root, settings.depends) if settings.depends else ()),
    )


def _specs(root: Path, settings: Model | Simulation) -> tuple[Path, ...]:
    return files(root, settings.specs, ".prec") if settings.specs else ()


def _place(root: Path, configuration: Path, model: str) -> Place:
    """The model's file, or the line of the configuration that names it."""
    if model.endswith(".py"):
        return Place(relative(root / model, root))
    return Place(relative(configuration, root), line_of(configuration, f'"{model}"'))


def _set(parameters: dict[str, str | int | bool]) -> str:
    return "".join(f" {name}={value}" for name, value in sorted(parameters.items()))


def _finding(found: Exploration, name: str) -> Finding:
    return next(finding for finding in found.findings if finding.property == name)


def _steps(finding: Finding) -> int:
    from precedes.protocol.moves import Began

    return sum(not isinstance(move, Began) for move in finding.behaviour)


def _shown(protocol: Protocol[Any], finding: Finding) -> tuple[str, str]:
    from precedes.reports.behaviour import steps
    from precedes.reports.figure import figure, sentence

    witness = None
    lines = list(steps(protocol, finding.behaviour))
    if finding.explanation is not None and finding.requirement is not None and finding.explanation.witnesses:
        witness = finding.explanation.witnesses[0]
        lines.append(sentence(finding.requirement, finding.explanation.execution, witness))
    lines.append(figure(finding.execution, witness))
    return "\n".join(line for line in lines if line), scenario_of(finding.execution, "found")
