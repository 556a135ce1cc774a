"""The output formats of the gate: one module for each, and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

from precedes.core.printable import printable

if TYPE_CHECKING:
    # The command line reads the table below, and is to start without what a run of the gate needs.
    from precedes.gate.findings import Summary

Render: TypeAlias = "Callable[[Summary], str]"

FORMATS: Final[Mapping[str, str]] = {
    "text": "text",
    "json": "json_object",
    "junit": "junit",
    "sarif": "sarif",
    "github": "github",
    "github-summary": "github_summary",
    "gitlab": "gitlab",
    "tap": "tap",
    "html": "html",
}
"""Formats by the name users type, and the module that renders each: `render(summary) -> str`."""


def renderer(name: str) -> Render:
    """The function that renders a format in printable characters; its libraries are loaded now and not before."""
    render: Render = import_module(f"precedes.gate.outputs.{FORMATS[name]}").render
    return lambda summary: printable(render(summary))
