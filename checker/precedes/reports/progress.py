"""The progress of a long run: one line on a terminal, nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from precedes.core.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """A function to call with what is being done."""
    if not sys.stderr.isatty():
        yield lambda _what: None
        return
    with _bar() as bar:
        task = bar.add_task("", total=None)
        yield lambda what: bar.update(task, description=what)


@dataclass(frozen=True, slots=True)
class Commentary:
    """What is said on standard error while something runs: `now` what is being done, on the line of a terminal; `say`
    what stays, on a line of its own."""

    now: Callable[[str], None]
    say: Callable[[str], None]


@contextmanager
def commentary() -> Iterator[Commentary]:
    """A line that tells the progress, and lines above it."""
    if not sys.stderr.isatty():
        yield Commentary(lambda _what: None, lambda text: print(printable(text), file=sys.stderr, flush=True))  # noqa: T201
        return
    with _bar() as bar:
        task = bar.add_task("", total=None)

        def say(text: str) -> None:
            bar.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

        yield Commentary(lambda what: bar.update(task, description=printable(what)), say)


@contextmanager
def progress() -> Iterator[Callable[[int, int], None]]:
    """A function to call with the executions and events judged so far."""
    if not sys.stderr.isatty():
        yield lambda _executions, _events: None
        return
    with _bar() as bar:
        task = bar.add_task("reading", total=None)

        def advance(executions: int, events: int) -> None:
            bar.update(task, description=f"{executions:,} executions, {events:,} events")

        yield advance


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    # One that wraps would leave lines behind.
    narrow = Column(no_wrap=True, overflow="ellipsis")
    described = TextColumn("{task.description}", markup=False, table_column=narrow)
    columns = (SpinnerColumn(), described, TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
