"""Recorded executions as checks of the gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from precedes.engines.judging import Count, Report, Violation
from precedes.gate import cache
from precedes.gate.checks import Check, events_of, files, line_of, relative, scenario_of
from precedes.gate.configuration import Trace
from precedes.gate.items import Item, Place, Result, Stated
from precedes.gate.specs import definitions, library_files
from precedes.verdict import Verdict
from precedes.verification import Question, verify


@dataclass(frozen=True, slots=True)
class TraceCheck(Check):
    """One `[[verify]]`: its files together, as `precedes verify` reads them."""

    paths: tuple[Path, ...]
    settings: Trace
    configuration: Path

    @property
    def name(self) -> str:
        """`verify` and what was named."""
        return f"verify {' '.join(self.settings.files)}"

    @property
    def cost(self) -> int:
        """More than a claim, less than a model."""
        return 2

    def key(self) -> str:
        """The bytes of the traces, the specs and the settings."""
        specs = files(self.root, self.settings.specs, ".prec") if self.settings.specs else ()
        return cache.key(self.name, self.settings, library_files((*self.paths, *specs)))

    def run(self) -> tuple[Item, ...]:
        """One item for each predicate, G301 where the trace has nothing in it."""
        return tuple(_items(self, _verified(self)))


def checks(root: Path, configuration: Path, settings: Trace) -> Iterator[TraceCheck]:
    """The check of one `[[verify]]`."""
    yield TraceCheck(root, files(root, settings.files), settings, configuration)


def _verified(this: TraceCheck) -> Report:
    settings = this.settings
    question = Question(
        traces=tuple(map(str, this.paths)),
        required=settings.require,
        specs=tuple(map(str, files(this.root, settings.specs, ".prec") if settings.specs else ())),
        engine=settings.engine,
        delta=settings.delta,
        epsilon=settings.epsilon,
        incomplete=settings.incomplete,
        delivery=settings.delivery,
        cluster=settings.cluster,
        strict=settings.strict,
    )
    report, _ = verify(question, lambda _executions, _events: None)
    return report


def _items(this: TraceCheck, report: Report) -> Iterator[Item]:
    place = _place(this)
    if not report.messages or report.unmet:
        unmet = ", ".join(report.unmet)
        said = f"{unmet} occurs in no execution" if unmet else "no message was met: nothing was checked"
        yield Item("G301", this.name, "trace", "undecided", said, place)
    specs = files(this.root, this.settings.specs, ".prec") if this.settings.specs else ()
    own = definitions(specs)
    for told in of_report("G105", this.name, report, this.settings.budget, place):
        stated = Stated(told.subject, own) if told.subject in this.settings.require else None
        # A part that has parts itself says nothing that these and the whole do not say.
        if stated is not None or told.subject in report.leaves:
            yield msgspec.structs.replace(told, stated=stated)


def of_report(
    rule: str, check: str, report: Report, budgets: Mapping[str, str], place: Place
) -> Iterator[Item]:
    """What each predicate came to over some executions; of what has a budget, whether it is within."""
    violations = {violation.predicate: violation for violation in reversed(report.violations)}
    for name, count in report.counts.items():
        yield _of_count(
            rule, check, name, count, violations.get(name), report.executions, budgets.get(name), place
        )


def _of_count(
    rule: str,
    check: str,
    name: str,
    count: Count,
    violation: Violation | None,
    executions: int,
    budget: str | None,
    place: Place,
) -> Item:
    from precedes.reports.figure import figure, sentence

    allowed = 0.0 if budget is None else float(budget.rstrip("% \t")) / 100 * executions
    result = _result(count, within=0 < count.violated <= allowed)
    said = f"{count.verdict.value} in {executions:,} executions"
    if count.violated:
        said = f"{count.violated:,} of {executions:,} executions violate it"
        if budget is not None:
            said += f", {'within' if count.violated <= allowed else 'more than'} the budget of {budget}"
    elif count.verdict is Verdict.UNKNOWN:
        said = f"unknown in {count.unknown:,} of {executions:,} executions"
    facts = {"executions": executions, "violated": count.violated, "unknown": count.unknown}
    told = Item(rule, check, name, result, f"{name}: {said}", place, facts=facts)
    if violation is None or result != "failed":
        # A service is violated by its parts, which are told with their figures.
        return told
    witnesses = violation.explanation.witnesses
    witness = witnesses[0] if witnesses else None
    explained = sentence(violation.requirement, violation.cut, witness)
    lines = (f"execution {violation.execution}", explained, figure(violation.cut, witness))
    return msgspec.structs.replace(
        told,
        detail="\n".join(line for line in lines if line),
        events=events_of(violation.cut),
        scenario=scenario_of(violation.cut, "found"),
    )


def _result(count: Count, within: bool) -> Result:
    match count.verdict:
        case Verdict.HOLDS:
            return "passed"
        case Verdict.VIOLATED:
            return ("undecided" if count.unknown else "passed") if within else "failed"
        case Verdict.UNKNOWN:
            return "undecided"


def _place(this: TraceCheck) -> Place:
    """The trace, where there is one text file of it, else the line of the configuration that names it."""
    if len(this.paths) == 1 and this.paths[0].suffix in (".jsonl", ".csv", ".json"):
        return Place(relative(this.paths[0], this.root))
    return Place(relative(this.configuration, this.root), line_of(this.configuration, this.settings.files[0]))
