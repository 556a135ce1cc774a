"""Output of commands. Whatever a file, an id or an argument contains, a terminal gets lines of printable characters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from precedes.core.printable import printable

if TYPE_CHECKING:
    from precedes.reports.page.contents import Page


def put(text: str, *, error: bool = False) -> None:
    """Print lines, on standard error if they report an error."""
    click.echo(printable(text), nl=not text.endswith("\n"), err=error)


def put_coloured(text: str) -> None:
    """Print text that has colors for a terminal. It must be printable apart from these."""
    click.echo(text, nl=False, color=True)


def write_page(path: str, page: Page) -> None:
    """Write a report as a page."""
    from precedes.reports.page.rendering import html

    Path(path).write_text(html(page), encoding="utf-8")
