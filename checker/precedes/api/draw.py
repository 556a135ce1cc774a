"""`precedes.draw`: scenarios and executions as pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from precedes.core.diagnostics import usage
from precedes.core.execution import Execution
from precedes.core.formula import Requirement
from precedes.jobs import check as checking
from precedes.language.requirements import requirement

if TYPE_CHECKING:
    from precedes.api.traces import Reading
    from precedes.language.library import Library
    from precedes.language.loader import Scenario
    from precedes.reports.space_time.picture import Picture


@dataclass(frozen=True, slots=True)
class Drawing:
    """A space-time diagram. A notebook shows it as a picture.

    Attributes:
        name: The name of the scenario or of the execution.
        text: The diagram as text.
        svg: The diagram as SVG.
    """

    name: str
    text: str = field(repr=False)
    svg: str = field(repr=False)

    def png(self) -> bytes:
        """The diagram as PNG. It needs `pip install 'precedes[pictures]'`."""
        from precedes.reports.space_time.picture_files import converted

        return converted(self.svg, "png")

    def pdf(self) -> bytes:
        """The diagram as PDF. It needs `pip install 'precedes[pictures]'`."""
        from precedes.reports.space_time.picture_files import converted

        return converted(self.svg, "pdf")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it in the form that the name says: .svg, .png, .pdf, or text."""
        from precedes.reports.space_time.picture_files import FORMS

        file = Path(path)
        match FORMS.get(file.suffix.lower(), "text"):
            case "svg":
                file.write_text(self.svg, encoding="utf-8")
            case "png":
                file.write_bytes(self.png())
            case "pdf":
                file.write_bytes(self.pdf())
            case "text":
                file.write_text(self.text, encoding="utf-8")
            case form:
                assert_never(form)

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, str]:
        from precedes.reports.page.notebook import drawing

        return {"text/plain": self.text, "image/svg+xml": self.svg, "text/html": drawing(self.svg)}


def draw(
    source: str | os.PathLike[str] | Execution,
    *,
    scenario: str | None = None,
    execution: str | None = None,
    violation: int | None = None,
    expect: str | Requirement | None = None,
    unmarked: bool = False,
    library: Library | None = None,
    reading: Reading | None = None,
    **options: Any,
) -> Drawing:
    """Draw a scenario, or an execution, as a space-time diagram.

    Of a large execution you see what is marked and the events around it, with what was left out.

    Args:
        source: A .prec file (`-` is standard input), or the text of one (text has a line break); a trace; or an
            execution, as `precedes.read` gives it.
        scenario: Which scenario, by name. It can be left out if there is only one.
        execution: Which execution of a trace, by name. Without it, that of the violation.
        violation: Mark the violation with this number, from 1: of the execution, or of those that `verify` shows.
        expect: Mark what violates this name or formula, instead of the first expectation that is violated. For a
            violation of an execution, the weakest name of the library that it violates unless given.
        unmarked: Mark nothing, as for an exercise.
        library: Where names are looked up; the standard library unless given.
        reading: How the trace is read, as a value.
        options: The same one by one (see `Reading`).

    Returns:
        The diagram, as text and as SVG.

    Raises:
        PrecedesError: The file cannot be read, has mistakes, or has no such scenario, execution or violation.
    """
    from precedes.language.library import standard_library
    from precedes.reports.space_time import picture

    known = standard_library() if library is None else library
    of_trace = execution or violation or reading or options
    if not isinstance(source, Execution) and not of_trace and not _is_trace(os.fspath(source)):
        name, shown = _of_file(os.fspath(source), scenario, expect, known, unmarked=unmarked)
        return Drawing(name, picture.as_text(shown), picture.as_svg(shown))
    # Scenarios are drawn without what reads traces, and without the packages that this needs.
    from precedes.api.traces import reading_of
    from precedes.jobs.draw import Wanted, drawn, of_execution

    wanted = Wanted(execution, violation, _asked(expect, known))
    how = reading_of(reading, options)
    found = (
        of_execution(source, wanted)
        if isinstance(source, Execution)
        else drawn(how.question((os.fspath(source),), ()), wanted, known)
    )
    shown = picture.violation_picture(found, unmarked=unmarked)
    return Drawing(found.execution.name, picture.as_text(shown), picture.as_svg(shown))


def _is_trace(source: str) -> bool:
    if "\n" in source or source.endswith(".prec"):
        return False
    from precedes.traces.sources import is_named_as_trace

    return is_named_as_trace(source)


def _of_file(
    text: str, scenario: str | None, expect: str | Requirement | None, known: Library, *, unmarked: bool
) -> tuple[str, Picture]:
    from precedes.language.loader import compile_text
    from precedes.reports.space_time.picture import scenario_picture

    file = compile_text(text, None, known) if "\n" in text else checking.compiled(text, known)
    one = _one(file.scenarios, scenario)
    return one.name, scenario_picture(one, _asked(expect, file.library), unmarked=unmarked)


def _asked(expect: str | Requirement | None, library: Library) -> Requirement | None:
    return requirement(expect, library, "expect") if isinstance(expect, str) else expect


def _one(scenarios: Sequence[Scenario], name: str | None) -> Scenario:
    found = [each for each in scenarios if name is None or each.name == name]
    if len(found) == 1:
        return found[0]
    names = ", ".join(each.name for each in scenarios) or "none"
    if found:
        raise usage(f"there are {len(found)} scenarios", f"name one of them: {names}")
    raise usage("there is no scenario" + ("" if name is None else f" {name}"), f"there are: {names}")
