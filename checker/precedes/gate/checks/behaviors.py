"""Recorded executions as behaviors of a model: one check of the gate for each `[[conform]]`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from precedes.core.counts import counted
from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.faults import UNRECORDED
from precedes.core.isolation import Channel
from precedes.core.verdict import Verdict
from precedes.gate import cache
from precedes.gate.checks.check import Check, files_at, relative
from precedes.gate.checks.specs import library_files
from precedes.gate.checks.traces import log_reading, place_of, traces_of, with_notices
from precedes.gate.config import Conformance
from precedes.gate.entry import Entry
from precedes.gate.evidence import events_of, scenario_of
from precedes.gate.findings import RESULTS, Item, Mark, Place
from precedes.gate.scope import Scope
from precedes.gate.surveys import Survey, is_file
from precedes.jobs import verify
from precedes.jobs.conform import Conformed, Judged, Question, conform
from precedes.protocol.catalog import Named
from precedes.protocol.conformance.verdicts import Deviates, Limits
from precedes.traces import Notices
from precedes.traces.foreign.recognition import LogReading

_SUBJECT: Final = "every execution is a behavior of the model"


@dataclass(frozen=True, slots=True)
class BehaviorCheck(Check):
    """One `[[conform]]`: its files together. `sources`: what the model is made of, and what is named beside it."""

    paths: tuple[Path, ...]
    settings: Conformance
    entry: Entry = field(compare=False)
    sources: tuple[Path, ...]

    @property
    def title(self) -> str:
        """`conform`, the model, how it is set, and the files as they were named."""
        settings = self.settings
        written = " as written" if settings.as_written else ""
        given = "".join(f" {name}={value}" for name, value in sorted(settings.set.items()))
        return f"conform {settings.model}{written}{given} {' '.join(settings.files)}"

    @property
    def cost(self) -> int:
        """As a model that is run at random."""
        return 3

    @property
    def code(self) -> tuple[Path, ...]:
        """A model is code. It is run with the traces, and of the configuration the key has what is taken from it."""
        return (*self.sources, *self._read, self.entry.path)

    @property
    def place(self) -> Place:
        """Where its findings are."""
        return place_of(self.root, self.entry, self.paths, self.settings.files[0])

    @property
    def scope(self) -> Scope:
        """The files, how they are read, and what a run may have that nobody recorded."""
        settings = self.settings
        log = [] if settings.log is None else [settings.log]
        if settings.mapping is not None:
            text = (self.root / settings.mapping).read_bytes()
            log.append(f"mapping {hashlib.sha256(text).hexdigest()[:16]}")
        return {
            "files": tuple(relative(path, self.root) for path in self.paths),
            **{f"{name} allowed": getattr(settings, name) for name in UNRECORDED},
            "entities at least": str(settings.entities),
            "recorded to the end": int(settings.quiescent),
            "ignored": tuple(sorted(settings.ignore)),
            "states compared": tuple(sorted(settings.state)),
            "order": settings.order or "as recorded",
            "cluster": tuple(
                sorted({name for names in settings.cluster for name in names.split(",") if name})
            ),
            "log": " ".join(log),
            "strict": int(settings.strict),
        }

    @property
    def _read(self) -> tuple[Path, ...]:
        """What is read beside the model."""
        mapping = self.settings.mapping
        return self.paths if mapping is None else (*self.paths, self.root / mapping)

    def key(self) -> str:
        """The bytes of the traces, every file that the model is made of, the settings, and where it is told."""
        return cache.key(self.name, (self.settings, self.place), library_files((*self.sources, *self._read)))

    def run(self, channel: Channel) -> tuple[Item, ...]:
        """One item for all executions."""
        from precedes.protocol.validation.integrity import Integrity

        integrity = Integrity()
        settings, notices = self.settings, Notices()
        limits = Limits(
            **{name: getattr(settings, name) for name in UNRECORDED},
            states=settings.states,
            quiescent=settings.quiescent,
        )
        question = Question(limits, settings.entities, settings.ignore, tuple(settings.state.items()), 1)
        model = str(self.root / settings.model) if is_file(settings.model) else settings.model
        given = tuple((name, str(value)) for name, value in settings.set.items())
        trace = verify.Question(
            traces=tuple(map(str, self.paths)),
            required=(),
            engine="local",
            cluster=settings.cluster,
            order=settings.order,
            strict=settings.strict,
            log=_reading(self.root, settings),
        )
        try:
            found = conform(
                Named(model, settings.as_written, given),
                trace,
                question,
                notices,
                lambda _executions: channel.alive(),
            )
        except PrecedesError as error:
            raise PrecedesError(tuple(map(self._placed, error.diagnostics))) from error
        integrity.verify(self.name)
        return with_notices((self._item(found),), notices.all())

    def _placed(self, mistake: Diagnostic) -> Diagnostic:
        """At the setting that it is about: the model, or the traces."""
        about = "model" if mistake.code.startswith("M") else "files"
        return self.entry.placed((mistake,), about)[0]

    def _item(self, found: Conformed) -> Item:
        if not found.executions:
            said = "the trace has no execution, so nothing was checked"
            return Item("G301", self.name, "trace", "undecided", said, self.place)
        facts = {
            "executions": found.executions,
            "violated": found.deviating,
            "unknown": found.undecided,
        }
        wrong = [one for one in found.shown if one.answer.verdict is found.verdict is not Verdict.HOLDS]
        shown = wrong[0] if wrong else None
        return Item(
            "G106",
            self.name,
            _SUBJECT,
            RESULTS[found.verdict],
            _said(found),
            self.place,
            "" if shown is None else _detail(found, shown),
            () if shown is None else events_of(shown.recorded),
            "" if shown is None else scenario_of(shown.recorded, "found"),
            facts=facts,
            marks=() if shown is None else tuple(_marks(shown)),
        )


def checks(root: Path, entry: Entry, settings: Conformance, survey: Survey) -> Iterator[BehaviorCheck]:
    """The check of one `[[conform]]`; nothing where the model could not be read, which is told."""
    log = log_reading(root, entry, (settings.log, {}, settings.mapping))
    paths = traces_of(root, entry, settings.files, log)
    sources = (*map(Path, survey.sources), *files_at(entry, "depends", root, settings.depends))
    if survey.instances:
        yield BehaviorCheck(root, paths, settings, entry, sources)


def _reading(root: Path, settings: Conformance) -> LogReading:
    return LogReading.stated(settings.log, {}, None if settings.mapping is None else root / settings.mapping)


def _said(found: Conformed) -> str:
    executions = counted(found.executions, "execution")
    match found.verdict:
        case Verdict.HOLDS:
            return f"{executions} conform" if found.executions > 1 else f"{executions} conforms"
        case Verdict.VIOLATED:
            verb = "does" if found.executions == 1 else "do"
            return f"{found.deviating:,} of {executions} {verb} not conform"
        case Verdict.UNKNOWN:
            return f"undecided in {found.undecided:,} of {executions}"


def _detail(found: Conformed, judged: Judged) -> str:
    from precedes.reports.conform import explained

    return "\n".join(explained(found, judged))


def _marks(judged: Judged) -> Iterator[Mark]:
    """The first event that no run has."""
    answer = judged.answer
    if isinstance(answer, Deviates) and answer.event is not None and answer.event.message is not None:
        message = dict(judged.naming.messages).get(answer.event.message, answer.event.message.name)
        yield Mark(judged.naming.entities[answer.entity], answer.event.kind.value, message)
