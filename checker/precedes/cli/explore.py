"""`precedes explore`."""

from __future__ import annotations

from typing import Any

import click

from precedes.cli.options import AS_WRITTEN, DESTINATIONS, HANG_LIMIT, SETTINGS, SPECS
from precedes.cli.terminal import put
from precedes.core.exit_codes import Exit
from precedes.core.faults import FAULTS


def _faults(command: Any) -> Any:
    for fault in reversed(FAULTS):
        name = fault.count.replace("_", "-")
        option = click.option(
            f"--{name}", type=click.IntRange(min=0), default=0, metavar="N", help=fault.counted
        )
        command = option(command)
    return command


@click.command()
@click.argument("model", metavar="MODEL")
@AS_WRITTEN
@click.option("--entities", type=click.IntRange(min=1), default=3, show_default=True, metavar="N")
@click.option(
    "--messages",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Requests altogether.",
)
@DESTINATIONS
@click.option(
    "--script", metavar="SENDS", help="Who sends what, in place of every choice: 'a{2,3} b{1} a{3}'."
)
@_faults
@click.option("--ticks", type=click.IntRange(min=0), metavar="N", help="The last tick of a request.")
@click.option(
    "--require",
    "required",
    multiple=True,
    metavar="NAME|FORMULA",
    help="What must hold, or the name of an invariant of the model; repeatable.  [default: what the paper claims, and"
    " its lemmas]",
)
@SPECS
@SETTINGS
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="Stop after so many moves.")
@click.option(
    "--time-limit", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop after so many seconds."
)
@click.option(
    "--states",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop at so many states.  [default: 4,000,000, unless there is another limit]",
)
@click.option(
    "--memory", type=click.IntRange(min=64), metavar="MEGABYTES", help="Stop at so much memory in use."
)
@click.option("--plain", is_flag=True, help="Every interleaving: without the reductions.")
@click.option(
    "--quiescent", is_flag=True, help="Ask what concerns several entities only where nothing is in flight."
)
@click.option(
    "--order", type=click.Choice(["breadth", "depth"]), default="breadth", help="Which state is next."
)
@click.option("--check-purity", is_flag=True, help="Call every handler twice and compare.")
@HANG_LIMIT
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explore(form: str, hang_limit: float, **options: Any) -> Exit:
    """Explore every behaviour of a protocol model up to bounds.

    MODEL is a name of `precedes list`, or a file with a class that derives from precedes.protocol.Protocol. It runs in
    a process of its own. In a long search, each violation is told on standard error when it is found; Ctrl-C ends the
    search with a report of what is known.

    Exit code 0: everything holds. 1: something is violated, and shown. 3: a limit was met, a premise never, no order
    was asked for, or the search was interrupted before anything was found.
    """
    from precedes.cli.exploration_job import Asked, answered
    from precedes.core.isolation import terminated_as_interrupted
    from precedes.reports.progress import commentary

    with terminated_as_interrupted(), commentary() as comments:
        done = answered(Asked(form, options), hang_limit, comments)
    put(done.text)
    return Exit(done.exit)
