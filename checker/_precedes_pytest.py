"""The pytest plugin: `.prec` files are collected, one item for each expectation and claim.

pytest loads this module at every start, so it imports nothing of precedes until a .prec file is collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from precedes.language.library import Library
    from precedes.language.loader import Claim, Expectation, Scenario


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the plugin."""
    group = parser.getgroup("precedes", "message order in .prec files")
    group.addoption(
        "--prec-timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="Seconds for one claim (default: 60).",
    )
    group.addoption(
        "--prec-accept-bounds",
        action="store_true",
        help="A claim without counterexample up to the bound is enough.",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SpecFile | None:
    """Collect .prec files."""
    return SpecFile.from_parent(parent, path=file_path) if file_path.suffix == ".prec" else None


class SpecFile(pytest.File):
    """One .prec file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its statements, in their order. Mistakes of the text are errors, told as `precedes check` tells them."""
        from precedes.core.diagnostics import PrecedesError
        from precedes.language.loader import compile_text

        try:
            compiled = compile_text(self.path.read_text(encoding="utf-8"), self._shown())
        except PrecedesError as error:
            raise self.CollectError(str(error)) from error
        except UnicodeDecodeError as error:
            said = f"{self._shown()}: P001 not UTF-8 text (byte {error.start})"
            raise self.CollectError(said) from error
        seen: dict[str, int] = {}
        for scenario in compiled.scenarios:
            for expectation in scenario.expectations:
                name = _numbered(f"{scenario.name}: {expectation.text}", seen)
                yield ExpectationItem.from_parent(self, name=name, scenario=scenario, expectation=expectation)
        for claim in compiled.claims:
            name = _numbered(claim.text, seen)
            yield ClaimItem.from_parent(self, name=name, claim=claim, library=compiled.library)

    def _shown(self) -> str:
        try:
            return self.path.relative_to(self.config.invocation_params.dir).as_posix()
        except ValueError:
            return str(self.path)


def _numbered(name: str, seen: dict[str, int]) -> str:
    """What is stated twice is told apart by a number."""
    seen[name] = seen.get(name, 0) + 1
    return name if seen[name] == 1 else f"{name} ({seen[name]})"


class Unlike(Exception):
    """A statement that did not come out as stated; its text is what is shown."""


class _Statement(pytest.Item):
    line: int

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The figure instead of a traceback."""
        return (
            str(excinfo.value) if isinstance(excinfo.value, Unlike) else super().repr_failure(excinfo, style)
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where editors jump to."""
        return self.path, self.line - 1, self.name


class ExpectationItem(_Statement):
    """One `expect` of a scenario."""

    def __init__(self, *, scenario: Scenario, expectation: Expectation, **more: Any) -> None:
        super().__init__(**more)
        self.scenario = scenario
        self.expectation = expectation
        self.line = expectation.span.line

    def runtest(self) -> None:
        """Judge it; Unlike where it comes out otherwise, or unknown; skipped where it holds vacuously."""
        from precedes.core.verdict import verdict
        from precedes.engines.reference import explain
        from precedes.reports.figure import figure, sentence

        explanation = explain(self.expectation.requirement, self.scenario.execution)
        found = verdict(explanation.value)
        if found is self.expectation.expected:
            if explanation.vacuous:
                pytest.skip("vacuous: the scenario has no message, so there was nothing to check")
            return
        witness = explanation.witnesses[0] if explanation.witnesses else None
        name = self.expectation.requirement.name
        lines = [f"{self.path.name}:{self.line}: {self.expectation.text}: {name} {found.value}"]
        lines += explanation.reasons
        explained = sentence(self.expectation.requirement, explanation.execution, witness) if witness else ""
        lines += [explained] if explained else []
        raise Unlike("\n".join([*lines, *figure(explanation.execution, witness).splitlines()]))


class ClaimItem(_Statement):
    """One `claim`, `refute` or `find`."""

    def __init__(self, *, claim: Claim, library: Library, **more: Any) -> None:
        super().__init__(**more)
        self.claim = claim
        self.library = library
        self.line = claim.span.line

    def runtest(self) -> None:
        """Ask the solver; Unlike where the answer is another one, or none."""
        from precedes.core.outcome import Limits, Outcome
        from precedes.jobs.claims import answered

        limits = Limits(
            self.config.getoption("--prec-timeout"),
            accept_bounds=self.config.getoption("--prec-accept-bounds"),
        )
        answer = answered(self.claim, f"line_{self.line}", limits, self.library)
        if answer.outcome is Outcome.AS_STATED:
            return
        lines = [f"{self.path.name}:{self.line}: {answer.text}: {answer.said}"]
        lines += [] if answer.shown is None else [answer.shown.scenario]
        raise Unlike("\n".join(lines))
