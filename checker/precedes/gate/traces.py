"""Recorded executions as checks of the gate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from precedes.engines.judging import Count, Report, Violation
from precedes.gate import cache
from precedes.gate.checks import Check, events_of, files, line_of, relative
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
    violations = {violation.predicate: violation for violation in reversed(report.violations)}
    for name, count in report.counts.items():
        # A part that has parts itself says nothing that these and the whole do not say.
        if name not in report.leaves and name not in this.settings.require:
            continue
        yield item_of("G105", this, name, count, violations.get(name), report.executions, place)


def item_of(
    rule: str,
    this: TraceCheck,
    name: str,
    count: Count,
    violation: Violation | None,
    executions: int,
    place: Place,
) -> Item:
    """What a predicate came to over some executions."""
    from precedes.reports.figure import figure, sentence

    budget = this.settings.budget.get(name)
    allowed = 0.0 if budget is None else float(budget.rstrip("% \t")) / 100 * executions
    within = 0 < count.violated <= allowed
    result = _result(count, within)
    of = f"{count.violated:,} of {executions:,} executions violate it"
    if budget is not None:
        of += f", {'within' if count.violated <= allowed else 'more than'} the budget of {budget}"
    said = of if count.violated else f"{count.verdict.value} in {executions:,} executions"
    if count.verdict is Verdict.UNKNOWN:
        said = f"unknown in {count.unknown:,} of {executions:,} executions"
    stated = None
    if name in this.settings.require:
        specs = files(this.root, this.settings.specs, ".prec") if this.settings.specs else ()
        stated = Stated(name, definitions(specs))
    facts = {"executions": executions, "violated": count.violated, "unknown": count.unknown}
    if violation is None or result != "failed":
        # A service is violated by its parts, which are told with their figures.
        return Item(rule, this.name, name, result, f"{name}: {said}", place, stated=stated, facts=facts)
    witnesses = violation.explanation.witnesses
    witness = witnesses[0] if witnesses else None
    detail = [f"execution {violation.execution}"]
    explained = sentence(violation.requirement, violation.cut, witness)
    detail += [explained] if explained else []
    detail.append(figure(violation.cut, witness))
    return Item(
        rule,
        this.name,
        name,
        result,
        f"{name}: {said}",
        place,
        "\n".join(detail),
        events_of(violation.cut),
        stated=stated,
        facts=facts,
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
