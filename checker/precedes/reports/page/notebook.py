"""Reports and drawings where a notebook shows them: without a script, and in the notebook's own light or dark."""

from __future__ import annotations

from functools import cache
from typing import Final

from jinja2 import Template

from precedes.core.printable import printable
from precedes.reports.page.contents import Case, Page
from precedes.reports.page.rendering import OUTCOMES, asset, environment
from precedes.reports.space_time.dark_colors import dark_rules
from precedes.reports.space_time.picture import as_svg, small_picture

MOST_CASES: Final = 3
"""Violations that a cell shows."""
MOST_LINES: Final = 40
"""Lines of a table in a cell."""
_DARK: Final = ('body[data-jp-theme-light="false"]', "body.vscode-dark", "body.vscode-high-contrast")
"""What tells that a notebook is dark: JupyterLab, and Visual Studio Code."""
_UNTOLD: Final = 'body:not([data-jp-theme-light="true"]):not(.vscode-light)'
"""Elsewhere the browser tells it."""


def fragment(page: Page) -> str:
    """A report for a cell: tables, what to know, and the first violations drawn."""
    shown = page.cases[:MOST_CASES]
    return printable(
        _template().render(
            page=page,
            outcome=OUTCOMES[page.verdict],
            cases=[(case, _drawn(case)) for case in shown],
            most=MOST_LINES,
            style=_style(),
        )
    )


def drawing(svg: str) -> str:
    """A drawing for a cell."""
    return f'<div class="precedes"><style>{_style()}</style>{svg}</div>'


@cache
def _template() -> Template:
    return environment().get_template("cell.html")


@cache
def _style() -> str:
    """The rules of a cell, which reach nothing else of the notebook."""
    dark = "\n".join(dark_rules(f"{told} .precedes svg") for told in _DARK)
    untold = dark_rules(f"{_UNTOLD} .precedes svg")
    return f"{asset('cell.css')}{dark}\n@media (prefers-color-scheme: dark) {{\n{untold}\n}}\n"


def _drawn(case: Case) -> str:
    return "" if case.execution is None else as_svg(small_picture(case.execution, case.marks))
