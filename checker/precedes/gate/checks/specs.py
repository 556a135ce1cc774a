"""Scenarios and claims as checks of the gate: one for each .prec file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from precedes.core.diagnostics import PrecedesError
from precedes.core.isolation import Channel
from precedes.core.outcome import ClaimAnswer, Limits, Outcome
from precedes.gate import cache
from precedes.gate.checks.check import Check, files_at, relative
from precedes.gate.config import Specs
from precedes.gate.entry import Entry
from precedes.gate.evidence import events_of, marks_of, scenario_of
from precedes.gate.findings import Item, Place, Stated, result_of
from precedes.gate.scope import Scope
from precedes.jobs.check import Answer, FileResult, check, met_nothing
from precedes.language.library import standard_library
from precedes.language.loader import compile_source
from precedes.language.parsing.parser import parse
from precedes.language.printer import statement_text
from precedes.language.requirements import requirement
from precedes.language.syntax import AttributeDeclaration, Definition, QuestionKind

_QUESTION: Final = re.compile(rf"\b({'|'.join(kind.value for kind in QuestionKind)})\b")
"""A word that begins a question to the solver. The file is not parsed for it: it may be mistaken."""


@dataclass(frozen=True, slots=True)
class SpecCheck(Check):
    """The statements of one .prec file."""

    path: Path
    limits: Limits
    claims: bool

    @property
    def title(self) -> str:
        """`check` and the file."""
        return f"check {relative(self.path, self.root)}"

    @property
    def cost(self) -> int:
        """Figures are cheap, claims go to the solver."""
        return int(self.claims)

    @property
    def scope(self) -> Scope:
        """Whether bounds are answer enough."""
        return {"accept-bounds": int(self.limits.accept_bounds)}

    def key(self) -> str:
        """The file and how it is checked; the library is part of the program."""
        settings = (self.limits.accept_bounds, self.limits.timeout, self.limits.memory)
        return cache.key(self.name, settings, library_files((self.path,)))

    def run(self, channel: Channel) -> tuple[Item, ...]:
        """One item for each expectation and claim; G301 where there is none."""
        limits = replace(self.limits, progress=lambda _what: channel.alive())
        (result,) = check((self.path,), limits)
        items = tuple(_items(self, result))
        if items and not (result.outcomes and met_nothing([result])):
            return items
        place = Place(relative(self.path, self.root))
        said = "there is no expectation and no claim, so nothing was checked"
        if items:
            said = "no scenario has a message, so every expectation is vacuous, and nothing was checked"
        return (Item("G301", self.name, "statements", "undecided", said, place), *items)


def checks(root: Path, entry: Entry, settings: Specs) -> Iterator[SpecCheck]:
    """The checks of one `[[check]]`."""
    limits = Limits(settings.timeout, settings.memory, settings.accept_bounds)
    for path in files_at(entry, "files", root, settings.files, ".prec"):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield SpecCheck(root, path, limits, _QUESTION.search(text) is not None)


def library_files(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """These files and the standard library, with the profiles of brokers."""
    import precedes_specs

    return (*paths, *sorted(Path(precedes_specs.__file__).parent.rglob("*.prec")))


def definitions(paths: tuple[Path, ...]) -> str:
    """The definitions of some .prec files, printed."""
    return "\n".join(
        statement_text(statement)
        for path in paths
        for statement in parse(path.read_text(encoding="utf-8"), str(path)).statements
        if isinstance(statement, AttributeDeclaration | Definition)
    )


def _items(this: SpecCheck, result: FileResult) -> Iterator[Item]:
    path = relative(this.path, this.root)
    own = definitions((this.path,))
    seen: dict[str, int] = {}
    for scenario, _, answers in result.scenarios:
        for answer in answers:
            yield _of_answer(
                this.name, _numbered(f"{scenario}: {answer.text}", seen), Place(path, answer.line), answer
            )
    for claim in result.claims:
        yield _of_claim(this.name, _numbered(claim.text, seen), Place(path, claim.line), claim)
    yield from _of_definitions(this, path, own)


def _of_definitions(this: SpecCheck, path: str, own: str) -> Iterator[Item]:
    """What the file declares, and what it defines and can be required by name.

    It is kept so that a later run can tell whether it was weakened.
    """
    source = parse(this.path.read_text(encoding="utf-8"), path)
    for statement in source.statements:
        if isinstance(statement, AttributeDeclaration):
            name, place = statement.name.text, Place(path, statement.span.line)
            subject, said = f"attribute {name}", f"{name} is declared as a {statement.sort.value}"
            yield Item("G202", this.name, subject, "passed", said, place)
    library = compile_source(source).library
    for name in library.own() if library is not standard_library() else ():
        with suppress(PrecedesError):
            requirement(name, library)
            place = Place(path, library.definition(name).span.line)
            yield Item(
                "G202",
                this.name,
                f"definition {name}",
                "passed",
                f"{name} is defined",
                place,
                stated=Stated(name, own),
            )


def _numbered(subject: str, seen: dict[str, int]) -> str:
    """What is stated twice is told apart by a number."""
    seen[subject] = seen.get(subject, 0) + 1
    return subject if seen[subject] == 1 else f"{subject} ({seen[subject]})"


def _of_answer(check_name: str, subject: str, place: Place, answer: Answer) -> Item:
    from precedes.reports.figure import figure, sentence

    found = answer.verdict.value
    message = f"{answer.text}: {answer.requirement.name} {'is unknown' if found == 'unknown' else found}"
    explanation = answer.explanation
    detail, shown = "; ".join(explanation.reasons), explanation.execution
    if answer.outcome is not Outcome.AS_STATED:
        witness = explanation.witnesses[0] if explanation.witnesses else None
        said = sentence(answer.requirement, shown, witness) if witness else ""
        detail = "\n".join(part for part in (detail, said, figure(shown, witness)) if part)
        return Item(
            "G101",
            check_name,
            subject,
            result_of(answer.outcome),
            message,
            place,
            detail,
            events_of(shown),
            scenario_of(shown, "found"),
            marks=marks_of(shown, witness),
        )
    return Item("G101", check_name, subject, "passed", message, place)


def _of_claim(check_name: str, subject: str, place: Place, claim: ClaimAnswer) -> Item:
    result = result_of(claim.outcome)
    shown = claim.shown
    bad = result != "passed"
    return Item(
        "G102",
        check_name,
        subject,
        result,
        f"{claim.text}: {claim.said}",
        place,
        shown.scenario if bad and shown is not None else "",
        events_of(shown.execution) if bad and shown is not None else (),
        shown.definitions + shown.scenario if bad and shown is not None else "",
        proof="proved" if "proved" in claim.said else "bounded",
        marks=marks_of(shown.execution, shown.witness) if bad and shown is not None else (),
    )
