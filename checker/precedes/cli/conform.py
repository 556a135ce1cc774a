"""`precedes conform`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from precedes.cli.options import (
    AS_WRITTEN,
    ENGINE,
    FORM,
    HANG_LIMIT,
    HTML,
    LOG,
    LOG_MAPPING,
    MASTER,
    SETTINGS,
)
from precedes.cli.terminal import put
from precedes.core.exit_codes import Exit

_NUMBERS: Final = {
    "losses": (2, "How many packets may be lost, if the network of the model can lose packets."),
    "duplicates": (1, "How many packets may be copied, if the network of the model can copy packets."),
    "corruptions": (1, "How many packets may be changed, if the network of the model can change packets."),
    "timeouts": (200, "How many time-outs may expire."),
    "states": (5000, "Leave an execution undecided after so many states."),
}
MOST_SHOWN = click.option(
    "--max-shown",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="How many executions of each answer to show.",
)


def _numbers(command: Any) -> Any:
    for name, (default, text) in reversed(_NUMBERS.items()):
        least = 1 if name == "states" else 0
        option = click.option(
            f"--{name}",
            type=click.IntRange(min=least),
            default=default,
            show_default=True,
            metavar="N",
            help=text,
        )
        command = option(command)
    return command


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@AS_WRITTEN
@click.option(
    "--entities",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="There are at least so many entities, even without a row.  [default: those of the trace]",
)
@_numbers
@click.option(
    "--quiescent",
    is_flag=True,
    help="Each execution was recorded until nothing was in flight. Without it, it may end anywhere.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="WORD",
    help="Leave out what the trace means otherwise than the model: arrive, discard, view, clock or time; repeatable.",
)
@click.option(
    "--state",
    multiple=True,
    metavar="FIELD=ATTRIBUTE",
    help="An attribute of events has the value of a field of the model's state after the event; repeatable.",
)
@SETTINGS
@LOG
@LOG_MAPPING
@click.option(
    "--cluster",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="Entities that belong to every execution, even without a row.",
)
@click.option(
    "--order", type=click.Choice(["rows", "clocks"]), help="Follow the rows, or the recorded clocks."
)
@click.option("--strict", is_flag=True, help="Stop if rows contradict each other.")
@MOST_SHOWN
@ENGINE
@MASTER
@click.option("-v", "--verbose", is_flag=True, help="Also show runs of executions that conform.")
@HANG_LIMIT
@FORM
@HTML
def conform(form: str, hang_limit: float, html: str | None, **options: Any) -> Exit:
    """Ask whether recorded executions are behaviors of a protocol model.

    MODEL is a name that `precedes list` prints, or a file with a class that derives from precedes.protocol.Protocol. It
    runs in a process of its own. TRACE is read as `verify` reads it. What was recorded must be what the model does;
    what was not, such as packets and time-outs, is searched for.

    Exit code 0: every execution conforms. 1: some do not. 3: some are undecided, or the trace has no execution.
    """
    from precedes.cli.conformance_job import Asked, answered
    from precedes.reports.progress import commentary

    with commentary() as comments:
        done = answered(Asked(form, options, html is not None), hang_limit, comments)
    put(done.text)
    if html is not None and done.page is not None:
        Path(html).write_text(done.page, encoding="utf-8")
    return done.exit
