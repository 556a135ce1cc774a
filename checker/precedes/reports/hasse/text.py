"""A Hasse diagram as text, one name on each line: a name implies the names that a line leads to below it.

Each name that is still to come, and that a name above implies, has a column, where the lines to it join. A
name that nothing implies is a ring, so that it does not look like the end of a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
_JOINTS: Final = {
    0: " ",
    UP | DOWN: "│",
    LEFT | RIGHT: "─",
    UP | DOWN | LEFT: "┤",
    UP | DOWN | RIGHT: "├",
    UP | DOWN | LEFT | RIGHT: "┼",
    UP | LEFT: "╯",
    UP | RIGHT: "╰",
    UP | LEFT | RIGHT: "┴",
    DOWN | LEFT: "╮",
    DOWN | RIGHT: "╭",
    DOWN | LEFT | RIGHT: "┬",
}


def diagram(labels: Mapping[str, str], edges: Sequence[tuple[str, str]]) -> str:
    """The diagram of an acyclic graph; the edges are pairs of keys of the labels. A line that only crosses another
    one passes below it: `─│─`.
    """
    below: dict[str, list[str]] = {name: [] for name in labels}
    waiting: dict[str, int] = dict.fromkeys(labels, 0)
    for left, right in edges:
        below[left].append(right)
        waiting[right] += 1
    columns: list[str | None] = []
    drawn: list[tuple[str, str]] = []
    while waiting:
        name = _next(waiting, below, columns)
        del waiting[name]
        for lower in below[name]:
            waiting[lower] -= 1
        dot = "●" if name in columns else "○"
        if name not in columns:
            _take(columns, name, 0)
        own = columns.index(name)
        drawn.append((" ".join(dot if c == name else "│" if c else " " for c in columns), labels[name]))
        columns[own] = None
        if below[name]:
            joints = _joined(columns, own, below[name])
            if joints.strip("│ "):
                drawn.append((joints, ""))
        while columns and columns[-1] is None:
            columns.pop()
    width = max((len(line) for line, _ in drawn), default=0) + 2
    return "".join(f"{line:<{width}}{text}".rstrip() + "\n" for line, text in drawn)


def _next(
    waiting: Mapping[str, int], below: Mapping[str, Sequence[str]], columns: Sequence[str | None]
) -> str:
    """Of the names that nothing to come implies: one that a line leads to, before one that starts anew, before one that
    is joined to nothing; of these the one that needs the fewest new columns; the first.
    """
    ready = [name for name, above in waiting.items() if above == 0]
    return min(
        ready,
        key=lambda name: (
            name not in columns,
            name not in columns and not below[name],
            sum(lower not in columns for lower in below[name]),
        ),
    )


def _take(columns: list[str | None], name: str, near: int) -> int:
    """Keep a free column for a name, at a place or to the right of it."""
    for number in range(near, len(columns)):
        if columns[number] is None:
            columns[number] = name
            return number
    columns.append(name)
    return len(columns) - 1


def _joined(columns: list[str | None], own: int, targets: Sequence[str]) -> str:
    """The line below a name, which joins it to the columns of what it implies; new columns are kept for those that
    have none.
    """
    before = list(columns)
    ends = [columns.index(t) if t in columns else _take(columns, t, own) for t in targets]
    first, last = min(own, *ends), max(own, *ends)
    joints = ""
    for column in range(len(columns)):
        if column:
            joints += "─" if first < column <= last else " "
        kept = column < len(before) and before[column] is not None
        joint = 0
        if column == own:
            joint |= UP
        if column in ends:
            joint |= DOWN
        if kept:
            joint |= UP | DOWN
        if column == own or column in ends:
            joint |= (LEFT if first < column <= last else 0) | (RIGHT if first <= column < last else 0)
        elif not kept and first <= column <= last:
            joint = LEFT | RIGHT
        joints += _JOINTS[joint]
    return joints
