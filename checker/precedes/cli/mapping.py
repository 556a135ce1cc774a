"""`precedes map`, and what `precedes convert --try` prints."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from precedes.cli.terminal import put
from precedes.core.exit_codes import Exit

if TYPE_CHECKING:
    from precedes.traces.sources import TraceSource


@click.command("map")
@click.argument("sample", metavar="SAMPLE", type=click.Path(allow_dash=True))
def map_sample(sample: str) -> Exit:
    """Propose how a log of your own is read, as a mapping in TOML.

    `-` is standard input. The mapping is refused until you have filled in each TODO. `precedes convert --try` then
    shows what the rows become.
    """
    from precedes.traces.foreign.mapping.proposal import proposed

    put(proposed(sample))
    return Exit.HOLDS


def show_trial(source: TraceSource, count: int) -> Exit:
    """Print the first rows of a file as they are understood. Exit code 2 if one of them is refused."""
    from precedes.reports.trial import NARROWEST, as_text
    from precedes.traces.trial import tried

    trial = tried(source, count)
    put(as_text(trial, shutil.get_terminal_size((NARROWEST, 0)).columns))
    return (
        Exit.HOLDS if all(row.became is not None or row.ignored for row in trial.rows) else Exit.COULD_NOT_RUN
    )
