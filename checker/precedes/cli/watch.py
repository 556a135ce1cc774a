"""`precedes watch`: executions are judged while they go on."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from precedes.cli.options import FORM
from precedes.cli.terminal import put
from precedes.cli.verify import REQUIRED, ROWS, most_violations, refuse_nothing, with_options
from precedes.core.exit_codes import Exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from precedes.jobs.watch import Change


@click.command()
@click.argument("stream", metavar="-")
@with_options(*REQUIRED, *ROWS, FORM, most_violations())
@click.option(
    "--every",
    type=click.FloatRange(min=0),
    default=1,
    show_default=True,
    metavar="SECONDS",
    help="Judge at most once in so many seconds.",
)
def watch(stream: str, required: tuple[str, ...], form: str, every: float, **options: Any) -> Exit:
    """Judge executions while they go on.

    Reads JSON Lines on standard input, as in `app | precedes watch - --require ST`. Each violation is printed as
    soon as no further row can mend it. With `--format json` every change is a line: "violated", "owed" if it would be
    violated if nothing more came, "satisfied so far", or "unknown so far". At the end, it prints what `precedes verify`
    prints.
    """
    from precedes.core.diagnostics import usage
    from precedes.jobs.verify import Question
    from precedes.jobs.watch import watch as watched
    from precedes.reports import verify as printed
    from precedes.reports import watch as changed

    refuse_nothing(required, options["profile"])
    if stream != "-":
        raise usage(f"{stream} is not watched", "pipe its rows, as in `tail -f FILE | precedes watch -`")
    if not math.isfinite(every):
        raise usage(f"--every is {every}", "write a number of seconds, such as --every 10")
    started = time.perf_counter()

    def tell(changes: Sequence[Change]) -> None:
        for change in changes:
            line = changed.as_json(change) if form == "json" else changed.as_text(change)
            if line is not None:
                put(line)

    question = Question(traces=(stream,), required=required, **options)
    report, notices = watched(sys.stdin.buffer, question, tell, every)
    seconds = time.perf_counter() - started
    put((printed.as_json if form == "json" else printed.as_text)(report, notices, seconds))
    return Exit.of(report.verdict)
