"""Recorded executions as checks of the gate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from pathlib import Path

import msgspec

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.formula import Requirement
from precedes.core.isolation import Channel
from precedes.core.suggestions import FIELD, did_you_mean
from precedes.core.verdict import Verdict
from precedes.engines.scan.partials import Count, Report, Unknown, Violation
from precedes.gate import cache
from precedes.gate.checks.check import Check, files, files_at, line_of, relative
from precedes.gate.checks.specs import definitions, library_files
from precedes.gate.config import Trace
from precedes.gate.entry import Entry
from precedes.gate.evidence import events_of, marks_of, scenario_of
from precedes.gate.findings import Item, Place, Result, Stated
from precedes.gate.scope import Scope
from precedes.jobs.check import library_with
from precedes.jobs.verify import Question, verify
from precedes.language.durations import duration
from precedes.language.library import Library
from precedes.language.profiles import profile
from precedes.language.quoting import shown
from precedes.language.requirements import REQUIRED, requirement
from precedes.traces import Notice, expand
from precedes.traces.foreign.recognition import LogReading
from precedes.traces.stated_groups import given_groups


@dataclass(frozen=True, slots=True)
class TraceCheck(Check):
    """One `[[verify]]`: its files together, as `precedes verify` reads them."""

    paths: tuple[Path, ...]
    settings: Trace
    entry: Entry = field(compare=False)

    @property
    def title(self) -> str:
        """`verify` and what was named."""
        return f"verify {' '.join(self.settings.files)}"

    @property
    def cost(self) -> int:
        """More than a claim, less than a model."""
        return 2

    @property
    def scope(self) -> Scope:
        """The files, and how they are read."""
        settings = self.settings
        delta = {} if settings.delta is None else {"delta in ns": duration(settings.delta)}
        return {
            "files": tuple(relative(path, self.root) for path in self.paths),
            **delta,
            "epsilon in ns": 0 if settings.epsilon is None else duration(settings.epsilon),
            "incomplete": int(settings.incomplete),
            "delivery": settings.delivery,
            "order": settings.order or "as recorded",
            "cluster": tuple(
                sorted({name for names in settings.cluster for name in names.split(",") if name})
            ),
            "groups": "; ".join(
                f"{group}: {' '.join(members)}" for group, members in given_groups(self.groups)
            ),
            "log": self._log,
            "strict": int(settings.strict),
        }

    @property
    def reading(self) -> LogReading:
        """How logs of other systems are read."""
        return LogReading.stated(self.settings.log, self.settings.set, self.mapping)

    @property
    def mapping(self) -> Path | None:
        """The file that says how logs of one's own are read."""
        return None if self.settings.mapping is None else self.root / self.settings.mapping

    @property
    def _log(self) -> str:
        """How logs are read, without what differs from machine to machine."""
        words = [] if self.settings.log is None else [self.settings.log]
        words += [f"{name}={value}" for name, value in sorted(self.settings.set.items())]
        if self.mapping is not None:
            words.append(f"mapping {hashlib.sha256(self.mapping.read_bytes()).hexdigest()[:16]}")
        return " ".join(words)

    @property
    def place(self) -> Place:
        """Where its findings are."""
        return place_of(self.root, self.entry, self.paths, self.settings.files[0])

    @property
    def groups(self) -> Path | None:
        """The file with the members of groups."""
        return None if self.settings.groups is None else self.root / self.settings.groups

    def key(self) -> str:
        """The bytes of the traces and of what is read beside them, the specs and the settings, and where it is told."""
        specs = files(self.root, self.settings.specs, ".prec") if self.settings.specs else ()
        groups = () if self.groups is None else (self.groups,)
        settings = (self.settings, self._beside(), self.place)
        return cache.key(self.name, settings, library_files((*self.paths, *specs, *groups)))

    def _beside(self) -> list[dict[str, str]]:
        """What other files say of logs; none where they cannot be read, which the run tells."""
        try:
            found = [source.beside() for source in expand(self.paths, log=self.reading)]
        except PrecedesError:
            return []
        return [texts for number, texts in enumerate(found) if texts not in found[:number]]

    def run(self, channel: Channel) -> tuple[Item, ...]:
        """One item for each predicate, G301 where the trace has nothing in it."""
        question = _question(self)
        required = names_of(self.settings.require, question.specs, self.entry)
        required |= profiles_of(self.settings.profile, self.entry)
        with self.entry.at("files"):
            report, notices = verify(question, lambda _executions, _events: channel.alive())
        return with_notices(tuple(_items(self, question, required, report)), notices)


def checks(root: Path, entry: Entry, settings: Trace) -> Iterator[TraceCheck]:
    """The check of one `[[verify]]`."""
    if not settings.require and not settings.profile:
        hint = 'say what must hold, as in require = ["ST"] or profile = ["kafka-partition"]'
        raise entry.mistake("C002", "nothing is required", "files", None, hint)
    files_at(entry, "specs", root, settings.specs, ".prec")
    for key, text in (("delta", settings.delta), ("epsilon", settings.epsilon)):
        with entry.at(key, text):
            duration(text or "0")
    if settings.groups is not None:
        with entry.at("groups", settings.groups):
            given_groups(root / settings.groups)
    log = log_reading(root, entry, (settings.log, settings.set, settings.mapping))
    paths = traces_of(root, entry, settings.files, log)
    yield TraceCheck(root, paths, settings, entry)


def log_reading(
    root: Path, entry: Entry, stated: tuple[str | None, Mapping[str, str], str | None]
) -> LogReading:
    """How logs are read, as a word, settings and the file of a mapping state it. PrecedesError for what is wrong about
    it, where it stands in the configuration.
    """
    word, settings, file = stated
    mapping = None if file is None else root / file
    if mapping is not None and not mapping.is_file():
        raise entry.mistake("C002", f"there is no file {file}", "mapping", file)
    with entry.at("mapping", file):
        log = LogReading.stated(word, settings, mapping)
    with entry.at("from", word):
        _ = LogReading(word).format
    with entry.at("set"):
        _ = log.format
    return log


def traces_of(root: Path, entry: Entry, patterns: Sequence[str], log: LogReading) -> tuple[Path, ...]:
    """The files that patterns name. PrecedesError for a pattern without any, where it stands in the configuration."""
    return tuple(dict.fromkeys(_traces(root, entry, patterns, log)))


def _traces(root: Path, entry: Entry, patterns: Sequence[str], log: LogReading) -> Iterator[Path]:
    for pattern in patterns:
        with entry.at("files", pattern):
            if (root / pattern).is_dir():
                # As `verify` reads a directory: what lies there besides, and is no trace, is left alone.
                yield from (Path(source.path) for source in expand([root / pattern], log=log))
            else:
                yield from files(root, [pattern])


def _question(this: TraceCheck) -> Question:
    settings = this.settings
    return Question(
        traces=tuple(map(str, this.paths)),
        required=settings.require,
        profile=settings.profile,
        specs=tuple(map(str, files(this.root, settings.specs, ".prec") if settings.specs else ())),
        engine=settings.engine,
        delta=settings.delta,
        epsilon=settings.epsilon,
        incomplete=settings.incomplete,
        delivery=settings.delivery,
        cluster=settings.cluster,
        groups=this.groups,
        log=this.reading,
        order=settings.order,
        strict=settings.strict,
    )


def _items(
    this: TraceCheck, question: Question, required: Mapping[str, str], report: Report
) -> Iterator[Item]:
    place = this.place
    budgets = _budgets(this, question.plan().below, required)
    if not report.checked or report.unmet:
        unmet = ", ".join(report.unmet)
        said = f"{unmet} occurs in no execution" if unmet else "there was no message, so nothing was checked"
        yield Item("G301", this.name, "trace", "undecided", said, place)
    specs = files(this.root, this.settings.specs, ".prec") if this.settings.specs else ()
    own = definitions(specs)
    for told in of_report("G105", this.name, report, budgets, place):
        stated = Stated(told.subject, own) if told.subject in required.values() else None
        # A part that has parts itself says nothing that these and the whole do not say.
        if stated is not None or told.subject in report.leaves:
            budget = ceil(_share(budgets.get(told.subject)) * 1_000_000)
            facts = {**told.facts, "messages": report.messages, "budget per million": budget}
            yield msgspec.structs.replace(told, stated=stated, facts=facts)


def with_notices(items: tuple[Item, ...], notices: Sequence[Notice]) -> tuple[Item, ...]:
    """What was told of the trace goes before the first finding, if there is one: it may be why."""
    first = next((place for place, item in enumerate(items) if item.result != "passed"), None)
    if first is None or not notices:
        return items
    lines = [f"notice {one.render()}" for one in notices]
    told = items[first]
    told = msgspec.structs.replace(told, detail="\n".join([*lines, told.detail] if told.detail else lines))
    return (*items[:first], told, *items[first + 1 :])


def required_by(entry: Entry, require: Iterable[str], library: Library) -> tuple[Requirement, ...]:
    """What one table requires. PrecedesError with all mistakes, where they stand in the configuration."""
    found: list[Requirement] = []
    mistakes: list[Diagnostic] = []
    for text in require:
        try:
            found.append(requirement(text, library, REQUIRED))
        except PrecedesError as error:
            mistakes += entry.placed(error.diagnostics, "require", text)
    if mistakes:
        raise PrecedesError(tuple(mistakes))
    return tuple(found)


def names_of(require: Sequence[str], specs: Sequence[str], entry: Entry) -> dict[str, str]:
    """The names under which a report tells what is required, by its text in the configuration."""
    required = required_by(entry, require, library_with(specs))
    return dict(zip(require, (requirement.name for requirement in required), strict=True))


def profiles_of(texts: Sequence[str], entry: Entry) -> dict[str, str]:
    """The names under which a report tells what profiles require, by their text in the configuration."""
    names: dict[str, str] = {}
    for text in texts:
        with entry.at("profile", text):
            names[text] = profile(text).name
    return names


def _budgets(
    this: TraceCheck, below: Mapping[str, Sequence[str]], required: Mapping[str, str]
) -> Mapping[str, str]:
    """The budgets by name. What is violated in a part is violated in the whole, so a part without a budget has the
    least of the budgets of what is required and made of it."""
    told = {required.get(text, text): budget for text, budget in this.settings.budget.items()}
    for name in told:
        if name not in below:
            hint = did_you_mean(name, below, FIELD) or f"required here: {', '.join(below)}"
            said = f"a budget of {name}, which is not required here"
            raise this.entry.mistake("C002", said, "budget", name, hint)
    parts: dict[str, str] = {}
    for leaf in {leaf for leaves in below.values() for leaf in leaves} - set(required.values()):
        wholes = [told.get(name) for name in required.values() if leaf in below[name]]
        least = min(wholes, key=_share)
        if least is not None:
            parts[leaf] = least
    return {**parts, **told}


def _share(budget: str | None) -> Fraction:
    """Of all executions; exact, so that a budget that is just kept is kept."""
    return Fraction(0) if budget is None else Fraction(budget.rstrip("% \t").strip()) / 100


def of_report(
    rule: str, check: str, report: Report, budgets: Mapping[str, str], place: Place
) -> Iterator[Item]:
    """What each predicate came to over some executions; of what has a budget, whether it is within."""
    from precedes.reports.verify import vacuous

    violations = {violation.predicate: violation for violation in reversed(report.violations)}
    unknowns = {unknown.predicate: unknown for unknown in reversed(report.unknowns)}
    for name, count in report.counts.items():
        told = _of_count(
            rule,
            check,
            name,
            count=count,
            violation=violations.get(name),
            unknown=unknowns.get(name),
            executions=report.executions,
            budget=budgets.get(name),
            place=place,
        )
        if name in report.untested:
            told = msgspec.structs.replace(
                told, result="undecided", message=f"{name}: {vacuous(report, name)}"
            )
        yield told


def _of_count(
    rule: str,
    check: str,
    name: str,
    *,
    count: Count,
    violation: Violation | None,
    unknown: Unknown | None,
    executions: int,
    budget: str | None,
    place: Place,
) -> Item:
    from precedes.core.counts import counted
    from precedes.reports.figure import figure, sentence
    from precedes.reports.verify import because, whys

    allowed = _share(budget) * executions
    result = _result(count, within=0 < count.violated <= allowed)
    said = f"{count.verdict.value} in {counted(executions, 'execution')}"
    if count.violated:
        verb = "violates" if executions == 1 else "violate"
        said = f"{count.violated:,} of {counted(executions, 'execution')} {verb} it"
        if budget is not None:
            said += f", {'within' if count.violated <= allowed else 'more than'} the budget of {budget}"
    elif count.verdict is Verdict.UNKNOWN:
        said = f"unknown in {count.unknown:,} of {counted(executions, 'execution')}"
    facts = {"executions": executions, "violated": count.violated, "unknown": count.unknown}
    told = Item(rule, check, name, result, f"{name}: {said}", place, facts=facts)
    if result == "undecided" and unknown is not None:
        reasons = (f"  {because(why, unknown)}" for why in whys(unknown))
        detail = "\n".join((f"execution {shown(unknown.execution)}", *reasons))
        return msgspec.structs.replace(told, detail=detail)
    if violation is None or result != "failed":
        # A service is violated by its parts, which are told with their figures.
        return told
    witnesses = violation.explanation.witnesses
    witness = witnesses[0] if witnesses else None
    explained = sentence(violation.requirement, violation.cut, witness)
    lines = (f"execution {shown(violation.execution)}", explained, figure(violation.cut, witness))
    return msgspec.structs.replace(
        told,
        detail="\n".join(line for line in lines if line),
        events=events_of(violation.cut),
        scenario=scenario_of(violation.cut, "found"),
        marks=marks_of(violation.cut, witness),
    )


def _result(count: Count, within: bool) -> Result:
    match count.verdict:
        case Verdict.HOLDS:
            return "passed"
        case Verdict.VIOLATED:
            return ("undecided" if count.unknown else "passed") if within else "failed"
        case Verdict.UNKNOWN:
            return "undecided"


def place_of(root: Path, entry: Entry, paths: Sequence[Path], named: str) -> Place:
    """The trace, where there is one text file of it, else the line of the configuration that names it."""
    if len(paths) == 1 and paths[0].suffix in (".jsonl", ".csv", ".json"):
        return Place(relative(paths[0], root))
    return Place(relative(entry.path, root), line_of(entry.path, named))
