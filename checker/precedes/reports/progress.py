"""The progress of a long run: one line on a terminal, nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress() -> Iterator[Callable[[int, int], None]]:
    """A function to call with the executions and events judged so far."""
    if not sys.stderr.isatty():
        yield lambda _executions, _events: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("reading", total=None)

        def advance(executions: int, events: int) -> None:
            bar.update(task, description=f"{executions:,} executions, {events:,} events")

        yield advance
