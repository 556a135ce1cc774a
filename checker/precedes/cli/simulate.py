"""`precedes simulate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from precedes.cli.options import AS_WRITTEN, DESTINATIONS, ENGINE, HANG_LIMIT, MASTER, SETTINGS
from precedes.cli.terminal import put
from precedes.core.exit_codes import Exit
from precedes.core.faults import FAULTS

TIMES = {
    "interval": (click.FloatRange(min=0, min_open=True), "Mean time between two requests of an entity."),
    "delay": (click.FloatRange(min=0), "Mean delay of a packet."),
    "deviation": (click.FloatRange(min=0), "Standard deviation of the delay."),
    "skew": (click.IntRange(min=0), "How far apart the clocks of two entities may be."),
}
SEED = click.option(
    "--seed", type=int, default=1, show_default=True, metavar="N", help="Seed of the random numbers."
)
ENTITIES = click.option(
    "--entities",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of entities.",
)
MESSAGES = click.option(
    "--messages",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    metavar="N",
    help="Number of requests in each execution.",
)
MOST_STEPS = click.option(
    "--most-steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="Give up an execution that takes more steps.",
)


def executions(usual: int) -> Callable[[Any], Any]:
    """`--executions`, with how many there are unless it is given."""
    return click.option(
        "--executions",
        type=click.IntRange(min=1),
        default=usual,
        show_default=True,
        metavar="N",
        help="Number of executions.",
    )


def rates_and_times(command: Any) -> Any:
    """Options for the faults of the network and of entities, and for times."""
    for name, (kind, text) in reversed(TIMES.items()):
        command = click.option(
            f"--{name}", type=kind, metavar="TICKS", help=f"{text}  [default: what the network says]"
        )(command)
    for fault in reversed(FAULTS):
        if fault.rate is not None:
            rate = click.FloatRange(min=0, max=1)
            command = click.option(
                f"--{fault.rate}", type=rate, default=0.0, metavar="RATE", help=fault.rated
            )(command)
    return command


@click.command()
@click.argument("model", metavar="MODEL")
@click.option("-o", "--output", required=True, metavar="TRACE", help="The .parquet file to write.")
@AS_WRITTEN
@executions(1000)
@SEED
@ENTITIES
@MESSAGES
@DESTINATIONS
@rates_and_times
@SETTINGS
@MOST_STEPS
@HANG_LIMIT
@ENGINE
@MASTER
def simulate(output: str, hang_limit: float, **options: Any) -> Exit:
    """Run a protocol model at random and write what it does as a trace.

    MODEL is a name that `precedes list` prints, or a file with a class that derives from precedes.protocol.Protocol. It
    runs in a process of its own. The trace is a columnar file, which `verify` reads fast. The same seed gives the same
    trace with every engine.
    """
    from precedes.cli.simulation_job import Asked, simulated
    from precedes.reports.progress import progress

    with progress() as advance:
        text = simulated(Asked(output, options), hang_limit, advance)
    put(text)
    return Exit.HOLDS
