"""`precedes draw`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from precedes.cli.options import SPECS
from precedes.cli.terminal import put
from precedes.core.exit_codes import Exit

if TYPE_CHECKING:
    from precedes.language.loader import Scenario

_FORMS = {".svg": "svg", ".txt": "text"}


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True))
@SPECS
@click.option("--scenario", "wanted", metavar="NAME", help="Draw only this scenario.  [default: all]")
@click.option(
    "--expect",
    "asked",
    metavar="NAME|FORMULA",
    help="Mark what violates this.  [default: the first violated expectation]",
)
@click.option("--unmarked", is_flag=True, help="Mark nothing, for example for an exercise.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "svg"]),
    help="Output format.  [default: by the name of the output; svg in a folder; else text]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(writable=True),
    metavar="FILE|DIR/",
    help="Write to this file, or one file for each scenario to this folder.",
)
def draw(
    file: str,
    *,
    specs: tuple[str, ...],
    wanted: str | None,
    asked: str | None,
    unmarked: bool,
    form: str | None,
    output: str | None,
) -> Exit:
    """Draw the scenarios of a .prec file as space-time diagrams.

    `-` reads standard input. A violation of an expectation is marked, whether the file expects it or not.
    """
    from precedes.core.diagnostics import usage
    from precedes.jobs.check import compiled, library_with
    from precedes.language.requirements import requirement
    from precedes.reports.space_time import picture

    source = compiled(file, library_with(specs))
    scenarios = [each for each in source.scenarios if wanted is None or each.name == wanted]
    if not scenarios:
        names = ", ".join(each.name for each in source.scenarios)
        raise usage(f"{file} has no scenario{'' if wanted is None else f' {wanted}'}", names or None)
    into_folder = output is not None and (output.endswith(("/", "\\")) or Path(output).is_dir())
    suffix = "" if output is None or into_folder else Path(output).suffix.lower()
    form = form or _FORMS.get(suffix) or ("svg" if into_folder else "text")
    if form == "svg" and len(scenarios) > 1 and not into_folder:
        names = ", ".join(scenario.name for scenario in scenarios)
        hint = f"name one with --scenario ({names}), or write all to a folder: -o figures/"
        raise usage("an SVG file can show only one scenario", hint)
    asking = None if asked is None else requirement(asked, source.library, "--expect")
    printed = picture.as_svg if form == "svg" else picture.as_text
    texts = [
        printed(each, picture.Marked(each.execution) if unmarked else picture.marked(each, asking))
        for each in scenarios
    ]
    if output is None:
        put("\n".join(texts))
    elif into_folder:
        folder = Path(output)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in zip(_file_names(scenarios, form), texts, strict=True):
            (folder / name).write_text(text, encoding="utf-8")
            put(f"wrote {folder / name}")
    else:
        Path(output).write_text("\n".join(texts), encoding="utf-8")
    return Exit.HOLDS


def _file_names(scenarios: list[Scenario], form: str) -> list[str]:
    """A file name for each, no two the same where only capitals differ."""
    names: list[str] = []
    met: dict[str, int] = {}
    for scenario in scenarios:
        stem = re.sub(r"[^\w.-]+", "-", scenario.name).strip(".-") or "scenario"
        times = met[stem.lower()] = met.get(stem.lower(), 0) + 1
        names.append(stem + (f"-{times}" if times > 1 else "") + (".svg" if form == "svg" else ".txt"))
    return names
