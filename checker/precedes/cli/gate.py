"""`precedes gate`, and what goes with it: `explain` and `init`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from precedes.cli.options import HTML, SPECS
from precedes.cli.terminal import put, put_coloured
from precedes.core.exit_codes import Exit
from precedes.gate.outputs import FORMATS


@click.command()
@click.option(
    "--config",
    "config",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="A precedes.toml or pyproject.toml.  [default: the nearest one, from this folder upward]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(tuple(FORMATS)),
    help="Format of standard output.  [default: text]",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="FORMAT:PATH",
    help="Also write this format to a file; repeatable.",
)
@HTML
@click.option(
    "--baseline", metavar="FILE", help="Compare with this baseline, whatever the configuration says."
)
@click.option("--write-baseline", is_flag=True, help="Write the results as the new baseline.")
@click.option(
    "--accept", multiple=True, metavar="NAME", help="Accept that this was removed or weakened; repeatable."
)
@click.option("--no-cache", is_flag=True, help="Run every check, even if nothing changed.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many processes run at a time.  [default: one for each core]",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only the last line.")
@click.option("-v", "--verbose", is_flag=True, help="Also print what passed.")
@click.option("--show-config", is_flag=True, help="Print the configuration as the gate reads it, and exit.")
@click.option("--schema", type=click.Choice(["config", "report"]), help="Print a JSON schema, and exit.")
def gate(html: str | None, outputs: tuple[str, ...], **options: Any) -> Exit:
    """Run all checks of precedes.toml, or of [tool.precedes] in pyproject.toml, for CI.

    The gate prints one summary. Exit code 0: passed. 1: failed. 2: could not run. 3: undecided.
    """
    from precedes.gate.run import session

    written = outputs if html is None else (*outputs, f"html:{html}")
    told = session.run(session.Request(outputs=written, **options), Path.cwd(), os.environ)
    if told.text:
        (put_coloured if told.colour else put)(told.text)
    for mistake in told.mistakes:
        put(mistake.render(), error=True)
    return told.exit


@click.command()
@click.argument("what", metavar="[CODE|NAME]", required=False)
@SPECS
def explain(what: str | None, specs: tuple[str, ...]) -> Exit:
    """Explain a code, a predicate, a service or the profile of a broker.

    For a code of a message: what it means, why you see it, and what to do. For a name: what it asks, its source, what a
    trace needs for it, and what it implies. Without an argument: all codes.
    """
    from precedes.api import library

    put(library.explain(what, library=library.load_library(*specs) if specs else None))
    return Exit.HOLDS


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False))
def init(folder: str) -> Exit:
    """Write a precedes.toml with comments, a first scenario and a first definition. Nothing is overwritten."""
    from precedes.gate.run.template import write

    for path in write(Path(folder)):
        put(f"wrote {path}")
    put("now: precedes gate")
    return Exit.HOLDS
