"""Protocol models as checks of the gate: explored up to bounds, and run at random."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.faults import COUNTS, RATES
from precedes.core.isolation import Channel
from precedes.core.mode import Mode
from precedes.core.suggestions import did_you_mean
from precedes.core.verdict import Verdict
from precedes.engines.columnar.execution_source import BatchSource
from precedes.gate import cache
from precedes.gate.checks.check import Check, Doing, files, files_at, line_of, relative
from precedes.gate.checks.specs import definitions, library_files
from precedes.gate.checks.traces import names_of, of_report, required_by
from precedes.gate.config import Model, Simulation
from precedes.gate.entry import Entry
from precedes.gate.evidence import events_of, marks_of, scenario_of
from precedes.gate.findings import RESULTS, Item, Mark, Place, Result, Stated
from precedes.gate.scope import PER_MILLION, SENT_TO, Scope
from precedes.gate.surveys import Instance, Survey, protocols
from precedes.jobs.check import library_with
from precedes.language.requirements import requirement
from precedes.protocol.bounds import Bounds, Conditions, Destinations
from precedes.protocol.exploration.properties import Asked, asked
from precedes.protocol.exploration.result import Observer, SoFar
from precedes.protocol.liveness.endless_behaviors import PROPERTIES
from precedes.protocol.script import script

if TYPE_CHECKING:
    from precedes.core.formula import Requirement
    from precedes.engines.scan.partials import Report
    from precedes.language.library import Library
    from precedes.protocol import Invariant, Protocol
    from precedes.protocol.exploration.result import Exploration, Finding

BOUNDS = ("entities", "messages", *COUNTS, "ticks", "states")
"""What a model's settings and the bounds of an exploration have in common."""
BATCH = 1000
"""Simulated executions that are judged at a time."""
SHOWN = 10
"""Violations that are kept, of which each predicate shows the first."""


@dataclass(frozen=True, slots=True)
class _OfModel(Check):
    """A check of one instance of a model."""

    settings: Model | Simulation
    entry: Entry = field(compare=False)
    number_of_instance: int
    instance: Instance
    sources: tuple[Path, ...]

    @property
    def code(self) -> tuple[Path, ...]:
        """A model is code. Of the configuration the key has what the check takes from it."""
        return (*self.sources, self.entry.path)

    @property
    def place(self) -> Place:
        """The model's file, or the line of the configuration that names it."""
        model = self.settings.model
        if model.endswith(".py"):
            return Place(relative(self.root / model, self.root))
        return Place(relative(self.entry.path, self.root), line_of(self.entry.path, f'"{model}"'))

    @property
    def destinations(self) -> tuple[str, ...]:
        """To whom messages go, as a scope has it."""
        return SENT_TO[self.settings.destinations or self.instance.destinations]

    def key(self) -> str:
        """The settings, every file that the model is made of, and where it is told."""
        settings = (self.settings, self.number_of_instance, self.place)
        return cache.key(self.name, settings, library_files(self.sources))


@dataclass(frozen=True, slots=True)
class Exploring(_OfModel):
    """One `[[explore]]`."""

    settings: Model

    @property
    def title(self) -> str:
        """`explore`, the model, and how it is set where that is said."""
        script = self.settings.script
        return f"explore {self.instance.label}{'' if script is None else f' {script}'}"

    @property
    def cost(self) -> int:
        """The dearest there is."""
        return 4

    @property
    def scope(self) -> Scope:
        """The bounds, and what they are known not to meet."""
        settings = self.settings
        messages = {} if settings.script is not None else {"messages": settings.messages}
        return {
            "entities": settings.entities,
            **messages,
            **{kind: getattr(settings, kind) for kind in COUNTS},
            "ticks": self.instance.last_request if settings.ticks is None else settings.ticks,
            "destinations": self.destinations,
            "unmet": tuple(sorted(settings.unmet)),
            "quiescent": int(settings.quiescent),
        }

    def run(self, channel: Channel) -> tuple[Item, ...]:
        """One item for each property that was checked."""
        from precedes.protocol.exploration.explorer import explore
        from precedes.protocol.validation.integrity import Integrity

        integrity = Integrity()
        settings = self.settings
        protocol = protocols(self.root, settings)[self.number_of_instance]
        library = library_with(tuple(map(str, _specs(self.root, settings))))
        asked, invariants = self._asked(protocol, library)
        with self.entry.at("model"):
            found = explore(
                protocol,
                _bounds(settings, protocol),
                asked,
                invariants=invariants,
                quiescent=settings.quiescent,
                live=self._live,
                observer=_Watch(self.name, channel),
            )
        items = tuple(self._items(protocol, found, (*(asked or ()), *(invariants or ()))))
        integrity.verify(self.name)
        return items

    @property
    def _live(self) -> tuple[str, ...] | None:
        """What is required of behaviors that never end; None where nothing is."""
        return tuple(name for name in PROPERTIES if name in self.settings.require) or None

    def _asked(self, protocol: Protocol[Any], library: Library) -> Asked:
        """What `require` names, as `precedes explore --require` reads it."""
        if not self.settings.require:
            return None, None
        requirements: list[Requirement] = []
        invariants: list[Invariant] = []
        mistakes: list[Diagnostic] = []
        for text in self.settings.require:
            if text in PROPERTIES:
                continue
            try:
                formulas, named = asked(protocol, (text,), library)
            except PrecedesError as error:
                mistakes += self.entry.placed(error.diagnostics, "require", text)
                continue
            requirements += formulas or ()
            invariants += named or ()
        if mistakes:
            raise PrecedesError(tuple(mistakes))
        return tuple(requirements), tuple(invariants)

    def _items(
        self, protocol: Protocol[Any], found: Exploration, required: Sequence[Requirement | Invariant]
    ) -> Iterator[Item]:
        from precedes.reports.explore import where

        findings = {finding.property: finding for finding in found.findings}
        place = self.place
        facts = {"quiescent only": int(self.settings.quiescent), "states": found.states}
        verdicts = found.verdicts
        for name in self.settings.unmet:
            if name not in verdicts:
                hint = did_you_mean(name, verdicts) or f"it checks {', '.join(verdicts)}"
                raise self.entry.mistake("C002", f"{self.name} has no property {name!r}", "unmet", name, hint)
        own = definitions(_specs(self.root, self.settings))
        library = library_with(tuple(map(str, _specs(self.root, self.settings))))
        if self.settings.expect == "violated":
            if required or self._live:
                # Another property that breaks is not the mistake that is to be shown.
                names = {*(one.name for one in required), *(self._live or ())}
                findings = {name: finding for name, finding in findings.items() if name in names}
                verdicts = {name: verdict for name, verdict in verdicts.items() if name in names}
            yield self._expected(verdicts, findings, facts, place)
            return
        if not found.asked:
            said = "no order was asked for: `require` is empty, and the model has no claims"
            yield Item("G301", self.name, "claims", "undecided", said, place)
        for name, verdict in verdicts.items():
            stated = None
            # An invariant of a protocol is not a formula, and cannot be compared with another one.
            with suppress(PrecedesError):
                requirement(name, library)
                stated = Stated(name, own)
            said = f"{name} ({where(found, name)}): {self._said(name, verdict, found)}"
            asked_of = {**facts, "quiescent only": int(found.modes[name] is Mode.QUIESCENT)}
            finding = findings.get(name)
            if finding is None:
                yield Item(
                    "G103",
                    self.name,
                    name,
                    "passed" if self._is_unmet(name, verdict, found) else RESULTS[verdict],
                    said,
                    place,
                    stated=stated,
                    facts=asked_of,
                    proof="bounded",
                )
                continue
            detail, scenario, marks = _shown(protocol, finding)
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
                asked_of,
                "bounded",
                marks,
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

    def _is_unmet(self, name: str, verdict: Verdict, found: Exploration) -> bool:
        """Whether it was never exercised, as the settings say."""
        met = found.exercised.get(name)
        return name in self.settings.unmet and verdict is Verdict.UNKNOWN and found.complete and met == 0

    def _said(self, name: str, verdict: Verdict, found: Exploration) -> str:
        explored = f"{found.states:,} states to depth {found.depth}"
        match verdict:
            case Verdict.HOLDS:
                return f"holds in {explored}"
            case Verdict.VIOLATED:
                return f"violated after {_steps(_finding(found, name))} steps"
            case Verdict.UNKNOWN if not found.complete:
                return f"{explored}, not all ({found.stopped_by}): undecided"
            case Verdict.UNKNOWN if self._is_unmet(name, verdict, found):
                return f"never exercised in {explored}, as stated"
            case Verdict.UNKNOWN if not found.exercised[name]:
                return f"never exercised in {explored}: undecided"
            case Verdict.UNKNOWN:
                return f"unknown somewhere in {explored}: {'; '.join(found.open.get(name, ()))}"


@dataclass(frozen=True, slots=True)
class Simulating(_OfModel):
    """One `[[simulate]]`."""

    settings: Simulation

    @property
    def title(self) -> str:
        """`simulate`, the model, and how it is set where that is said."""
        return f"simulate {self.instance.label}"

    @property
    def cost(self) -> int:
        """Between a trace and an exploration."""
        return 3

    @property
    def scope(self) -> Scope:
        """How much is drawn, and of what."""
        settings = self.settings
        return {
            "entities": settings.entities,
            "messages": settings.messages,
            **{f"{rate}{PER_MILLION}": round(getattr(settings, rate) * 1_000_000) for rate in RATES},
            "destinations": self.destinations,
            "seed": str(settings.seed),
        }

    def run(self, channel: Channel) -> tuple[Item, ...]:
        """One item for each requirement and each of its parts."""
        from precedes.protocol.validation.integrity import Integrity

        integrity = Integrity()
        items = tuple(self._items(channel))
        integrity.verify(self.name)
        return items

    def _items(self, channel: Channel) -> Iterator[Item]:
        settings = self.settings
        specs = _specs(self.root, settings)
        report = self._judged(library_with(tuple(map(str, specs))), channel)
        place = self.place
        if not report.checked:
            yield Item(
                "G301",
                self.name,
                "executions",
                "undecided",
                "there was no message, so nothing was checked",
                place,
            )
        own = definitions(specs)
        required = names_of(settings.require, tuple(map(str, specs)), self.entry).values()
        for told in of_report("G104", self.name, report, {}, place):
            stated = Stated(told.subject, own) if told.subject in required else None
            yield msgspec.structs.replace(told, stated=stated)

    def _judged(self, library: Library, channel: Channel) -> Report:
        """The executions in batches, so that a number of them does not need as much memory."""
        from precedes.core.transposition import batch_of
        from precedes.engines.scan.partials import Merging, judge, report
        from precedes.logic.plan import plan
        from precedes.protocol.simulation.simulator import run, usual

        settings = self.settings
        protocol = protocols(self.root, settings)[self.number_of_instance]
        conditions: Conditions = replace(
            usual(protocol),
            entities=settings.entities,
            messages=settings.messages,
            destinations=Destinations(settings.destinations or protocol.destinations),
            **{rate: getattr(settings, rate) for rate in RATES},
        )
        prepared = plan(required_by(self.entry, settings.require, library))
        merging = Merging(prepared, SHOWN)
        for start in range(1, settings.executions + 1, BATCH):
            executions = []
            for number in range(start, min(start + BATCH, settings.executions + 1)):
                channel.alive()
                with self.entry.at("model"):
                    executions.append(run(protocol, conditions, settings.seed, number).execution)
            batch = batch_of(executions)
            merging.add(judge(BatchSource(batch), prepared, SHOWN)[0])
        return report(merging.merged(), prepared)


def checks(root: Path, entry: Entry, settings: Model | Simulation, survey: Survey) -> Iterator[Check]:
    """The checks of one `[[explore]]` or `[[simulate]]`: one for each instance of the model."""
    # The files that a result depends on: what the model is made of, the specs, and what the configuration names.
    sources = (
        *map(Path, survey.sources),
        *files_at(entry, "specs", root, settings.specs, ".prec"),
        *files_at(entry, "depends", root, settings.depends),
    )
    for number, instance in enumerate(survey.instances):
        if isinstance(settings, Simulation):
            yield Simulating(root, settings, entry, number, instance, sources)
            continue
        with entry.at("script", settings.script):
            script(settings.script, settings.entities)
        yield Exploring(root, settings, entry, number, instance, sources)


class _Watch(Observer):
    """Says how far a search is."""

    def __init__(self, check: str, channel: Channel) -> None:
        self._check = check
        self._channel = channel
        self._told = time.monotonic()

    def progress(self, so_far: SoFar) -> None:
        """A sign of life, and every second a line of progress."""
        self._channel.alive()
        if time.monotonic() - self._told > 1:
            self._told = time.monotonic()
            size = f"{so_far.states:,} states, depth {so_far.depth}, {so_far.frontier:,} to expand"
            said = f"{self._check}: {size}"
            self._channel.tell(msgspec.json.encode(Doing(said)))


def _bounds(settings: Model, protocol: Protocol[Any]) -> Bounds:
    values = {name: getattr(settings, name) for name in BOUNDS}
    return Bounds(
        destinations=Destinations(settings.destinations or protocol.destinations),
        script=script(settings.script, settings.entities),
        seconds=settings.time_limit,
        **values,
    ).limited()


def _specs(root: Path, settings: Model | Simulation) -> tuple[Path, ...]:
    return files(root, settings.specs, ".prec") if settings.specs else ()


def _finding(found: Exploration, name: str) -> Finding:
    return next(finding for finding in found.findings if finding.property == name)


def _steps(finding: Finding) -> int:
    from precedes.protocol.moves import Began

    return sum(not isinstance(move, Began) for move in finding.behavior)


def _shown(protocol: Protocol[Any], finding: Finding) -> tuple[str, str, tuple[Mark, ...]]:
    from precedes.reports.behavior import steps
    from precedes.reports.figure import figure, sentence
    from precedes.reports.lasso import told

    witness = None
    lines = [*steps(protocol, finding.behavior, finding.loop or 0), told(finding)]
    if finding.explanation is not None and finding.requirement is not None and finding.explanation.witnesses:
        witness = finding.explanation.witnesses[0]
        lines.append(sentence(finding.requirement, finding.explanation.execution, witness))
    lines.append(figure(finding.execution, witness))
    said = "\n".join(line for line in lines if line)
    return said, scenario_of(finding.execution, "found"), marks_of(finding.execution, witness)
