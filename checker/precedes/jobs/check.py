"""`precedes check`: judges the scenarios and claims of .prec files, one file after another.

This module decides the outcome of a statement. `precedes.reports.check` prints it.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from precedes.core.diagnostics import Diagnostic, PrecedesError, usage
from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.core.outcome import ClaimAnswer, Limits, Outcome
from precedes.core.verdict import Verdict, verdict
from precedes.core.witness import Explanation
from precedes.engines.reference import explain
from precedes.language.library import Library, standard_library
from precedes.language.loader import Claim, CompiledFile, Expectation, compile_text


@dataclass(frozen=True, slots=True)
class Answer:
    """One `expect` and what came of it."""

    text: str
    line: int
    expected: Verdict
    verdict: Verdict
    requirement: Requirement
    execution: Execution
    explanation: Explanation

    @property
    def outcome(self) -> Outcome:
        """As stated, otherwise, or undecided."""
        if self.verdict is self.expected:
            return Outcome.AS_STATED
        return Outcome.UNDECIDED if self.verdict is Verdict.UNKNOWN else Outcome.OTHERWISE


@dataclass(frozen=True, slots=True)
class FileResult:
    """All statements of a file: per scenario its name, title and answers; then the claims."""

    path: str
    scenarios: tuple[tuple[str, str | None, tuple[Answer, ...]], ...]
    claims: tuple[ClaimAnswer, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Of every statement."""
        answers = (answer for _, _, answers in self.scenarios for answer in answers)
        return (*(answer.outcome for answer in answers), *(claim.outcome for claim in self.claims))


def met_nothing(results: Sequence[FileResult]) -> bool:
    """Whether nothing was claimed, and no expectation met a message: then nothing was checked."""
    answers = [answer for result in results for _, _, answers in result.scenarios for answer in answers]
    return not any(result.claims for result in results) and all(
        answer.explanation.vacuous and answer.outcome is Outcome.AS_STATED for answer in answers
    )


def verdict_of(results: Sequence[FileResult]) -> Verdict:
    """Of all statements: violated if one came out otherwise, unknown if one is undecided or nothing was checked."""
    outcomes = [outcome for result in results for outcome in result.outcomes]
    if Outcome.OTHERWISE in outcomes:
        return Verdict.VIOLATED
    return Verdict.UNKNOWN if Outcome.UNDECIDED in outcomes or met_nothing(results) else Verdict.HOLDS


def source_files(paths: Sequence[str]) -> tuple[Path, ...]:
    """The .prec files named: files as they are, directories searched below; an error for what is missing or
    holds none.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            below = sorted(path.rglob("*.prec"))
            if not below:
                raise usage(f"no .prec file below {path}")
            found += below
        elif path.is_file():
            found.append(path)
        else:
            raise usage(f"no such file: {path}")
    return tuple(dict.fromkeys(found))


def check(files: Sequence[Path], limits: Limits) -> tuple[FileResult, ...]:
    """Judge every file. PrecedesError with the mistakes of all files, when there are any; nothing is judged
    then.
    """
    library = standard_library()
    compiled = []
    mistakes: list[Diagnostic] = []
    for path in files:
        try:
            compiled.append((path, compile_text(_text(path), str(path), library)))
        except PrecedesError as error:
            mistakes += error.diagnostics
    if mistakes:
        raise PrecedesError(tuple(mistakes))
    results = []
    for path, file in compiled:
        scenarios = tuple(
            (
                scenario.name,
                scenario.title,
                tuple(answer_of(expectation, scenario.execution) for expectation in scenario.expectations),
            )
            for scenario in file.scenarios
        )
        claims = tuple(_claims(file.claims, limits, file.library))
        results.append(FileResult(str(path), scenarios, claims))
    return tuple(results)


def _claims(claims: Sequence[Claim], limits: Limits, library: Library) -> Iterator[ClaimAnswer]:
    if not claims:
        return
    # Only where there is something to ask is the solver loaded.
    try:
        from precedes.jobs.claims import answered
    except ModuleNotFoundError as error:
        told = f"a claim needs the solver, and the package {error.name} is not installed"
        raise usage(told, "install it, or ask scenarios only: they need no solver") from error

    for claim in claims:
        yield answered(claim, f"line_{claim.span.line}", limits, library)


def answer_of(expectation: Expectation, execution: Execution) -> Answer:
    """Judge one expectation of a scenario."""
    requirement = expectation.requirement
    explanation = explain(requirement, execution)
    return Answer(
        expectation.text,
        expectation.span.line,
        expectation.expected,
        verdict(explanation.value),
        requirement,
        execution,
        explanation,
    )


def library_with(paths: Sequence[str]) -> Library:
    """The standard library with the predicates and services of the given .prec files added."""
    library = standard_library()
    defined: dict[str, Path] = {}
    for path in source_files(paths) if paths else ():
        compiled = compile_text(_text(path), str(path), library)
        own = compiled.library.own() if compiled.library is not library else ()
        for name in own:
            if name in defined:
                raise usage(
                    f"{name} is defined in {defined[name]} and in {path}", "give one of them another name"
                )
            defined[name] = path
        library = compiled.library
    return library


def compiled(name: str, library: Library, shown: str | None = None) -> CompiledFile:
    """A .prec file, `-` for standard input, on top of a library. PrecedesError with its mistakes; `shown` is what they
    call the file.
    """
    if name == "-":
        return compile_text(decoded(sys.stdin.buffer.read(), "<stdin>"), "<stdin>", library)
    if Path(name).is_dir():
        raise usage(f"{name} is a folder, and one .prec file is needed")
    (file,) = source_files([name])
    return compile_text(_text(file, shown), shown or str(file), library)


def _text(path: Path, shown: str | None = None) -> str:
    return decoded(file_bytes(path), shown or str(path))


def file_bytes(path: Path) -> bytes:
    """What a file has. PrecedesError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise usage(f"cannot read {path}: {error.strerror}") from error


def decoded(data: bytes, path: str, newline: str | None = None) -> str:
    """The text of a file; with `newline=""` its lines end as they do there. PrecedesError (P001) if it is not UTF-8."""
    try:
        return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline=newline).read()
    except UnicodeDecodeError as error:
        told = f"not UTF-8 text (byte {error.start})"
        raise PrecedesError((Diagnostic("P001", told, path, hint="save the file as UTF-8"),)) from error
