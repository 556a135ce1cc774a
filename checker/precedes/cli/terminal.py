"""Where commands print. Whatever a file, an id or an argument holds, a terminal gets lines of printable characters."""

from __future__ import annotations

import click

from precedes.core.printable import printable


def put(text: str, *, error: bool = False) -> None:
    """Print lines, to standard error where they tell of one."""
    click.echo(printable(text), nl=not text.endswith("\n"), err=error)


def put_coloured(text: str) -> None:
    """Print what holds colours for a terminal, and has been made printable before it got them."""
    click.echo(text, nl=False, color=True)
