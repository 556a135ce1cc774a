"""A Hasse diagram as SVG: a name implies the names that a line leads to below it.
`precedes.reports.hasse.layout` places the boxes and lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

from precedes.jobs.lattice import Lattice, Node
from precedes.reports.hasse.layout import MARGIN, Box, Layout, Line, layout

CHARACTER: Final = 7.3
"""The width of a character of the labels, with some room: fonts differ."""
LINE: Final = 16
PADDING: Final = 9
LONGEST: Final = 22
"""Names longer than this are broken after an underscore."""

_STYLE: Final = (
    "rect{fill:#fff;stroke:#57606a} .service rect{fill:#ddf4ff;stroke:#0969da} .paper{fill:#fff;stroke:none} "
    "path{fill:none;stroke:#57606a;stroke-width:1.2} "
    "text{font:12px 'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1f2328;text-anchor:middle}"
)


def svg(lattice: Lattice) -> str:
    """The diagram. Services are blue; a box has all names that are equivalent."""
    labels = [label(node) for node in lattice.nodes]
    place = {node.name: number for number, node in enumerate(lattice.nodes)}
    placed = with_single(labels, [(place[left], place[right]) for left, right in lattice.edges])
    width, height = round(placed.width), round(placed.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<title>Which name implies which: a name implies the names that a line leads to below it</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        *(_path(line) for line in placed.lines),
        *(
            _box(node, lines, box)
            for node, lines, box in zip(lattice.nodes, labels, placed.boxes, strict=True)
        ),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def label(node: Node) -> list[str]:
    """The lines in the box of a node: a name a line, long ones broken in the middle."""
    lines: list[str] = []
    for name in node.names:
        first = name if not lines else f"= {name}"
        lines += _broken(first)
    return lines


def _broken(name: str) -> list[str]:
    breaks = [number + 1 for number, character in enumerate(name[:-1]) if character == "_"]
    if len(name) <= LONGEST or not breaks:
        return [name]
    middle = min(breaks, key=lambda number: abs(2 * number - len(name)))
    return [name[:middle], *_broken(name[middle:])]


def with_single(labels: Sequence[Sequence[str]], edges: Sequence[tuple[int, int]]) -> Layout:
    """The layout of the boxes that are joined to others, and below it those that are not, in rows."""
    sizes = [
        (max(map(len, lines)) * CHARACTER + 2 * PADDING, len(lines) * LINE + PADDING) for lines in labels
    ]
    joined = sorted({end for edge in edges for end in edge})
    number = {vertex: place for place, vertex in enumerate(joined)}
    upper = layout(
        [sizes[vertex] for vertex in joined], [(number[left], number[right]) for left, right in edges]
    )
    boxes = dict(zip(joined, upper.boxes, strict=True))
    x, y, bottom, right = float(MARGIN), upper.height + MARGIN, upper.height, upper.width
    for vertex, (width, height) in enumerate(sizes):
        if vertex in boxes:
            continue
        if x > MARGIN and x + width + MARGIN > right:
            x, y = float(MARGIN), bottom
        boxes[vertex] = Box(round(x, 1), y, width, height)
        x += width + MARGIN
        bottom, right = max(bottom, y + height + MARGIN), max(right, x)
    lines = tuple(
        Line(joined[line.left], joined[line.right], line.points, line.start, line.end) for line in upper.lines
    )
    return Layout(tuple(boxes[vertex] for vertex in range(len(sizes))), lines, right, bottom)


def _path(line: Line) -> str:
    drawn = f"M{_point(line.start)}"
    for upper, lower in zip(line.points[::2], line.points[1::2], strict=True):
        middle = (upper[1] + lower[1]) / 2
        drawn += (
            f" L{_point(upper)} C{_point((upper[0], middle))} {_point((lower[0], middle))} {_point(lower)}"
        )
    return f'<path d="{drawn} L{_point(line.end)}"/>'


def _box(node: Node, lines: Sequence[str], box: Box) -> str:
    middle = box.x + box.width / 2
    first = box.y + box.height / 2 - (len(lines) - 1) * LINE / 2 + 4
    texts = "".join(
        f'<text x="{middle:.1f}" y="{first + number * LINE:.1f}">{escape(text)}</text>'
        for number, text in enumerate(lines)
    )
    kind = ' class="service"' if node.is_service else ""
    title = f"<title>{escape(node.title)}</title>" if node.title else ""
    return (
        f'<g{kind}>{title}<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="4"/>{texts}</g>'
    )


def _point(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"
