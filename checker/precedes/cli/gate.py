"""`precedes gate`, and what goes with it: `explain` and `init`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from precedes.cli.options import SPECS
from precedes.cli.terminal import put, put_coloured
from precedes.core.exit_codes import Exit
from precedes.gate.outputs import FORMATS


@click.command()
@click.option(
    "--config",
    "config",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="precedes.toml or a pyproject.toml.  [default: the nearest one upwards]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(tuple(FORMATS)),
    help="What goes to standard output.  [default: text]",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="FORMAT:PATH",
    help="Write this form there, too; repeatable.",
)
@click.option("--baseline", metavar="FILE", help="Compare with it, whatever the configuration says.")
@click.option("--write-baseline", is_flag=True, help="Write what was found as the baseline.")
@click.option(
    "--accept", multiple=True, metavar="NAME", help="Accept that this was removed or weakened; repeatable."
)
@click.option("--no-cache", is_flag=True, help="Do everything again.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes at a time.")
@click.option("-q", "--quiet", is_flag=True, help="Only the closing line.")
@click.option("-v", "--verbose", is_flag=True, help="What passed, too.")
@click.option("--show-config", is_flag=True, help="Print the configuration as it is understood, and stop.")
@click.option("--schema", type=click.Choice(["config", "report"]), help="Print a JSON schema, and stop.")
def gate(**options: Any) -> Exit:
    """Carry out everything that precedes.toml or [tool.precedes] states, for CI: one summary, one exit code."""
    from precedes.gate.run import session

    told = session.run(session.Request(**options), Path.cwd(), os.environ)
    (put_coloured if told.colour else put)(told.text)
    return told.exit


@click.command()
@click.argument("what", metavar="[CODE|NAME]", required=False)
@SPECS
def explain(what: str | None, specs: tuple[str, ...]) -> Exit:
    """Say what a code in a message means, why it is told, and what to do; or what a predicate or service asks, where it
    is from and what it implies. Without either: all codes.
    """
    from precedes.reports.error_codes import explained, is_code, listed

    if what is None:
        text = listed()
    elif is_code(what):
        text = explained(what)
    else:
        from precedes.jobs.check import library_with
        from precedes.reports.definitions import defined

        text = defined(what, library_with(specs))
    put(text)
    return Exit.HOLDS


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False))
def init(folder: str) -> Exit:
    """Write a commented precedes.toml, a first scenario and a first definition; nothing is overwritten."""
    from precedes.gate.run.template import write

    for path in write(Path(folder)):
        put(f"wrote {path}")
    put("now: precedes gate")
    return Exit.HOLDS
