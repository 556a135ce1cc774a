"""`precedes explore`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from precedes.cli.options import AS_WRITTEN, DESTINATIONS, FORM, HANG_LIMIT, HTML, SETTINGS, SPECS
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
@click.option(
    "--entities",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of entities.",
)
@click.option(
    "--messages",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of requests in all.",
)
@DESTINATIONS
@click.option(
    "--script", metavar="SENDS", help="Explore only these sends: 'a{2,3} b{1} a{3}'.  [default: every choice]"
)
@_faults
@click.option(
    "--ticks", type=click.IntRange(min=0), metavar="N", help="Last tick at which a request is made."
)
@click.option(
    "--require",
    "required",
    multiple=True,
    metavar="NAME|FORMULA",
    help="What must hold: a name, a formula, or an invariant of the model; repeatable.  [default: the claims and"
    " invariants of the model]",
)
@SPECS
@SETTINGS
@click.option("--depth", type=click.IntRange(min=0), metavar="N", help="Stop after this many moves.")
@click.option(
    "--time-limit", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop after this many seconds."
)
@click.option(
    "--states",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop soon after this many states were found.  [default: 4,000,000, unless there is another limit]",
)
@click.option(
    "--memory", type=click.IntRange(min=64), metavar="MEGABYTES", help="Stop when this much memory is in use."
)
@click.option(
    "--resume",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Keep a search that meets a limit in FILE, and go on from FILE if it is there.",
)
@click.option("--plain", is_flag=True, help="Explore every interleaving, without reductions.")
@click.option(
    "--quiescent", is_flag=True, help="Check properties of several entities only where nothing is in flight."
)
@click.option(
    "--order",
    type=click.Choice(["breadth", "depth"]),
    default="breadth",
    help="Search breadth first or depth first.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Ask also what comes true in the end, of behaviors that never end: eventual delivery, no livelock, eventual"
    " quiescence.",
)
@click.option("--first", is_flag=True, help="Stop soon after the first violation.")
@click.option(
    "--check-purity",
    is_flag=True,
    help="Call every handler twice and compare the results; of a symmetric model compare everything under all"
    " renamings.",
)
@HANG_LIMIT
@FORM
@HTML
def explore(form: str, hang_limit: float, html: str | None, **options: Any) -> Exit:
    """Explore every behavior of a protocol model, within bounds.

    MODEL is a name that `precedes list` prints, or a file with a class that derives from precedes.protocol.Protocol. It
    runs in a process of its own. A long search prints each violation on standard error when it finds it. Ctrl-C ends
    the search with a report of what is known.

    Exit code 0: everything holds. 1: something is violated, and shown. 3: the search met a limit, a property was
    never exercised, no order was asked for, or the search was interrupted before it found anything.
    """
    from precedes.cli.exploration_job import Asked, answered
    from precedes.core.isolation import terminated_as_interrupted
    from precedes.reports.progress import commentary

    with terminated_as_interrupted(), commentary() as comments:
        done = answered(Asked(form, options, html is not None), hang_limit, comments)
    put(done.text)
    if html is not None and done.page is not None:
        Path(html).write_text(done.page, encoding="utf-8")
    return done.exit
