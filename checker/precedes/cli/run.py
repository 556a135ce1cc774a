"""`precedes run`."""

from __future__ import annotations

from typing import Any

import click

from precedes.cli.conform import MOST_SHOWN
from precedes.cli.options import AS_WRITTEN, DESTINATIONS, FORM, HANG_LIMIT, SETTINGS, SPECS
from precedes.cli.simulate import ENTITIES, MESSAGES, MOST_STEPS, SEED, executions, rates_and_times
from precedes.cli.terminal import put
from precedes.cli.verify import most_violations
from precedes.core.exit_codes import Exit


@click.command()
@click.argument("model", metavar="MODEL")
@click.option(
    "-o", "--output", metavar="TRACE", help="Write what was recorded to this .jsonl or .parquet file."
)
@AS_WRITTEN
@executions(10)
@click.option(
    "--at-once",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many executions are under way at the same time.",
)
@SEED
@ENTITIES
@MESSAGES
@DESTINATIONS
@click.option(
    "--tick",
    metavar="TIME",
    help="How long a tick is, such as 5ms.  [default: 1us; 10ms if the network of the model has time]",
)
@rates_and_times
@SETTINGS
@click.option(
    "--require",
    multiple=True,
    metavar="NAME|FORMULA",
    help="What must hold; repeatable.  [default: what the model claims]",
)
@SPECS
@click.option(
    "--states",
    type=click.IntRange(min=1),
    default=5000,
    show_default=True,
    metavar="N",
    help="Leave open whether an execution conforms after so many states of the search.",
)
@most_violations()
@MOST_SHOWN
@MOST_STEPS
@HANG_LIMIT
@FORM
def run(form: str, output: str | None, hang_limit: float, **options: Any) -> Exit:
    """Run a protocol model in processes over UDP, and judge what they record.

    MODEL is a name that `precedes list` prints, or a file with a class that derives from precedes.protocol.Protocol.
    Each entity is a process of the operating system, with timers in real time. What it records is judged twice: by what
    the model claims, or by --require; and by the model, as `conform` does.

    Exit code 0: everything holds and every execution conforms. 1: something is violated, or some do not. 3: something
    is undecided.
    """
    from precedes.cli.run_job import Asked, answered
    from precedes.reports.progress import commentary

    with commentary() as comments:
        done = answered(Asked(form, output, hang_limit, options), comments)
    put(done.text)
    return done.exit
