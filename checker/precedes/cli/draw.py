"""`precedes draw`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from precedes.cli.terminal import put
from precedes.cli.verify import read_as_traces, with_log
from precedes.core.exit_codes import Exit

if TYPE_CHECKING:
    from precedes.reports.space_time.picture import Picture
    from precedes.reports.space_time.picture_files import Form


@click.command()
@click.argument("file", metavar="FILE|TRACE", type=click.Path(allow_dash=True))
@click.option("--scenario", "wanted", metavar="NAME", help="Draw only this scenario.  [default: all]")
@click.option("--execution", metavar="NAME", help="Draw this execution of a trace.")
@click.option(
    "--violation",
    type=click.IntRange(min=1),
    metavar="N",
    help="Mark this violation: of the execution, or of those that `verify` shows.  [default: the first]",
)
@click.option(
    "--expect",
    "asked",
    metavar="NAME|FORMULA",
    help="Mark what violates this.  [default: the first violated expectation; with --violation, the weakest name of "
    "the library that the execution violates]",
)
@click.option("--unmarked", is_flag=True, help="Mark nothing, for example for an exercise.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "svg", "png", "pdf"]),
    help="Output format.  [default: by the name of the output; svg in a folder; text without an ending, or on standard "
    "output]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(writable=True),
    metavar="FILE|DIR/",
    help="Write to this file, or one file for each scenario to this folder.",
)
@read_as_traces
def draw(file: str, *, form: str | None, output: str | None, **options: Any) -> Exit:
    """Draw the scenarios of a .prec file, or an execution of a trace, as space-time diagrams.

    `-` is a .prec file on standard input; with --execution, --violation, --from or --mapping, a trace. A violation of
    an expectation is marked, whether the file expects it or not. Of a large execution you see what is marked and the
    events around it. PNG and PDF need `pip install 'precedes[pictures]'`.
    """
    from precedes.core.diagnostics import usage
    from precedes.reports.space_time.picture_files import FORMS
    from precedes.traces.sources import is_named_as_trace

    into_folder = output is not None and (output.endswith(("/", "\\")) or Path(output).is_dir())
    suffix = "" if output is None or into_folder else Path(output).suffix.lower()
    if form is None and suffix and suffix not in FORMS:
        said = f"{output}: no picture has the ending {suffix}"
        raise usage(said, f"endings are {', '.join(FORMS)}; under another name, say --format")
    of_trace = any(options[name] for name in ("execution", "violation", "log", "mapping"))
    named = _of_trace(file, options) if of_trace or is_named_as_trace(file) else _of_file(file, options)
    # click has checked the option against the forms.
    chosen: Any = form or FORMS.get(suffix) or ("svg" if into_folder else "text")
    _put(named, chosen, None if output is None else _Target(Path(output), into_folder))
    return Exit.HOLDS


@dataclass(frozen=True, slots=True)
class _Target:
    """Where pictures are written: a file, or a folder of files."""

    path: Path
    is_folder: bool


def _of_file(file: str, options: dict[str, Any]) -> list[tuple[str, Picture]]:
    """The pictures of scenarios by their names."""
    from precedes.core.diagnostics import usage
    from precedes.jobs.check import compiled, library_with
    from precedes.language.requirements import requirement
    from precedes.reports.space_time.picture import scenario_picture

    wanted, asked = options["wanted"], options["asked"]
    source = compiled(file, library_with(options["specs"]))
    scenarios = [each for each in source.scenarios if wanted is None or each.name == wanted]
    if not scenarios:
        names = ", ".join(each.name for each in source.scenarios)
        raise usage(f"{file} has no scenario{'' if wanted is None else f' {wanted}'}", names or None)
    asking = None if asked is None else requirement(asked, source.library, "--expect")
    return [(each.name, scenario_picture(each, asking, unmarked=options["unmarked"])) for each in scenarios]


def _of_trace(file: str, options: dict[str, Any]) -> list[tuple[str, Picture]]:
    """The picture of an execution by its name."""
    from precedes.core.diagnostics import usage
    from precedes.jobs.check import library_with
    from precedes.jobs.draw import Wanted, drawn
    from precedes.jobs.verify import Question
    from precedes.language.requirements import requirement
    from precedes.reports.space_time.picture import violation_picture

    if options["wanted"] is not None:
        raise usage("a trace has no scenarios", "name an execution with --execution")
    library = library_with(options["specs"])
    asked = None if options["asked"] is None else requirement(options["asked"], library, "--expect")
    wanted = Wanted(options["execution"], options["violation"], asked)
    of_picture = ("wanted", "execution", "violation", "asked", "unmarked")
    reading = {name: value for name, value in options.items() if name not in of_picture}
    found = drawn(Question(traces=(file,), required=(), **with_log(reading)), wanted, library)
    return [(found.execution.name, violation_picture(found, unmarked=options["unmarked"]))]


def _put(named: Sequence[tuple[str, Picture]], form: Form, target: _Target | None) -> None:
    from precedes.core.diagnostics import usage
    from precedes.reports.space_time.picture import as_text
    from precedes.reports.space_time.picture_files import SUFFIXES, picture_bytes

    if target is not None and target.is_folder:
        target.path.mkdir(parents=True, exist_ok=True)
        for name, (_, picture) in zip(
            _file_names([name for name, _ in named], SUFFIXES[form]), named, strict=True
        ):
            (target.path / name).write_bytes(picture_bytes(picture, form))
            put(f"wrote {target.path / name}")
        return
    if form != "text" and len(named) > 1:
        names = ", ".join(name for name, _ in named)
        hint = f"name one with --scenario ({names}), or write all to a folder: -o figures/"
        raise usage(f"an {form.upper()} file can show only one scenario", hint)
    if form in ("png", "pdf") and target is None:
        raise usage(f"{form.upper()} is no text for a terminal", f"name a file, as in -o picture.{form}")
    if target is None:
        put("\n".join(picture_bytes(picture, form).decode() for _, picture in named))
    elif form == "text":
        target.path.write_text("\n".join(as_text(picture) for _, picture in named), encoding="utf-8")
    else:
        target.path.write_bytes(picture_bytes(named[0][1], form))


def _file_names(names: Sequence[str], suffix: str) -> list[str]:
    """A file name for each, no two the same where only capitals differ."""
    files: list[str] = []
    met: dict[str, int] = {}
    for name in names:
        stem = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "scenario"
        times = met[stem.lower()] = met.get(stem.lower(), 0) + 1
        files.append(stem + (f"-{times}" if times > 1 else "") + suffix)
    return files
