"""The colors of a diagram on a dark page: a rule for each color that a drawing has as an attribute."""

from __future__ import annotations

from typing import Final

DARK: Final = {
    "#ffffff": "#16181d",
    "#222222": "#e6e8ec",
    "#666666": "#a2a9b5",
    "#b8b8b8": "#5a6270",
    "#b3261e": "#ff8a80",
    "#2458a6": "#8ab4ff",
    "#1b7f4d": "#6fd39b",
    "#8e4fa8": "#d3a2e8",
    "#b06a00": "#f0b65a",
    "#0b7f8f": "#6cd2e0",
    "#6b6b1f": "#cfcf77",
    "#9a4464": "#f09dbb",
    "#ffc83d": "#9a7400",
    "#d98e04": "#e0a83c",
    "#7048b6": "#b79af0",
}
"""For every color of the drawings the one that stands for it in the dark."""


def dark_rules(within: str) -> str:
    """Style rules that recolor the drawings within a selector."""
    return "\n".join(
        f'{within} [{part}="{light}"] {{ {part}: {dark} }}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
