"""The pytest plugin: `.prec` files are collected, one item for each expectation and claim, and a test may ask whether a
trace is a behavior of a model.

pytest loads this module at every start, so it imports nothing of precedes until a test or a .prec file needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from precedes import Conformance, Statement


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the plugin."""
    group = parser.getgroup("precedes", "message order in .prec files")
    group.addoption(
        "--prec-timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="Time limit for each claim, in seconds (default: 60).",
    )
    group.addoption(
        "--prec-accept-bounds",
        action="store_true",
        help="Accept a claim that has no counterexample up to the bound.",
    )


@pytest.fixture
def assert_conforms() -> Callable[..., Conformance]:
    """A function with the arguments of `precedes.conform` that fails the test unless every execution conforms."""

    def asserted(model: Any, events: Any, **options: Any) -> Conformance:
        # The test fails at its own line, with the report.
        __tracebackhide__ = True
        from precedes import conform

        report = conform(model, events, **options)
        report.raise_for_violations()
        return report

    return asserted


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SpecFile | None:
    """Collect .prec files."""
    return SpecFile.from_parent(parent, path=file_path) if file_path.suffix == ".prec" else None


class SpecFile(pytest.File):
    """One .prec file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its statements, in their order. Mistakes of the text are errors, as `precedes check` reports them."""
        from precedes import PrecedesError, statements

        try:
            found = statements(self.path, shown=self._shown())
        except PrecedesError as error:
            raise self.CollectError(str(error)) from error
        seen: dict[str, int] = {}
        for statement in found:
            yield StatementItem.from_parent(self, name=_numbered(statement.name, seen), statement=statement)

    def _shown(self) -> str:
        try:
            return self.path.relative_to(self.config.invocation_params.dir).as_posix()
        except ValueError:
            return str(self.path)


def _numbered(name: str, seen: dict[str, int]) -> str:
    """A statement that stands there twice gets a number."""
    seen[name] = seen.get(name, 0) + 1
    return name if seen[name] == 1 else f"{name} ({seen[name]})"


class Unlike(Exception):
    """A statement that did not come out as stated; its text is what is shown."""


class StatementItem(pytest.Item):
    """One `expect` of a scenario, or one `claim`, `refute` or `find`."""

    def __init__(self, *, statement: Statement, **more: Any) -> None:
        super().__init__(**more)
        self.statement = statement

    def runtest(self) -> None:
        """Judge it. Unlike if it comes out otherwise or is undecided; skipped if there was nothing to check."""
        from precedes import Verdict

        statement = self.statement
        found = statement.judge(
            timeout=self.config.getoption("--prec-timeout"),
            accept_bounds=self.config.getoption("--prec-accept-bounds"),
        )
        if found.verdict is not Verdict.HOLDS:
            place = f"{self.path.name}:{statement.line}: {statement.text}: {found.said}"
            raise Unlike("\n".join([place, *([found.shown] if found.shown else [])]))
        if found.vacuous:
            pytest.skip("vacuous: the scenario has no message, so there was nothing to check")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The figure instead of a traceback."""
        return (
            str(excinfo.value) if isinstance(excinfo.value, Unlike) else super().repr_failure(excinfo, style)
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where editors jump to."""
        return self.path, self.statement.line - 1, self.name
