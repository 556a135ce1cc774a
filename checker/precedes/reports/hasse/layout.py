"""Where the boxes and lines of a Hasse diagram go: levels, the order within a level, coordinates.

A layered layout after Sugiyama, Tagawa and Toda (1981). A line that passes a level has a place of its own
there and crosses it straight down, so that no line runs through a box. The same input has the same layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

BETWEEN: Final = 22
"""Between boxes side by side."""
BESIDE: Final = 12
"""Between a line and what is beside it."""
GAP: Final = 64
"""Between levels."""
MARGIN: Final = 24
SWEEPS: Final = 24


@dataclass(frozen=True, slots=True)
class Box:
    """A box by its upper left corner. All lengths are in pixels, y grows downwards."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line from the box of `left` down to that of `right`: points in pairs, the first two on the lower edge of a
    level and the upper edge of the next, and so on; between pairs it is straight and vertical. It starts and
    ends at `start` and `end`.
    """

    left: int
    right: int
    points: tuple[tuple[float, float], ...]
    start: tuple[float, float]
    end: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes in the order in which their sizes were given, lines in that of the edges."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: float
    height: float


@dataclass(slots=True)
class _Vertex:
    """A box, or the place where a line passes a level. `above` and `below` are vertices of the next levels."""

    width: float
    is_box: bool
    above: list[int]
    below: list[int]
    x: float = 0.0


def layout(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """Place boxes of the given widths and heights, so that every edge of an acyclic graph goes down. Parts that no line
    joins stand side by side.
    """
    boxes: dict[int, Box] = {}
    lines: dict[int, Line] = {}
    right = bottom = float(MARGIN)
    for part in _parts(len(sizes), edges):
        number = {vertex: place for place, vertex in enumerate(part)}
        own = [place for place, (upper, _) in enumerate(edges) if upper in number]
        placed = _joined(
            [sizes[vertex] for vertex in part],
            [(number[edges[place][0]], number[edges[place][1]]) for place in own],
        )
        shift = right - MARGIN
        for vertex, box in zip(part, placed.boxes, strict=True):
            boxes[vertex] = replace(box, x=box.x + shift)
        for place, line in zip(own, placed.lines, strict=True):
            lines[place] = _shifted(line, edges[place], shift)
        right, bottom = shift + placed.width, max(bottom, placed.height)
    return Layout(
        tuple(boxes[vertex] for vertex in range(len(sizes))),
        tuple(lines[place] for place in range(len(edges))),
        right,
        bottom,
    )


def _parts(count: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The vertices of each connected part, in their order."""
    part = list(range(count))
    for upper, lower in edges:
        first, other = sorted((part[upper], part[lower]))
        part = [first if own == other else own for own in part]
    return [[vertex for vertex in range(count) if part[vertex] == own] for own in sorted(set(part))]


def _shifted(line: Line, edge: tuple[int, int], shift: float) -> Line:
    points = tuple((x + shift, y) for x, y in line.points)
    (start, upper), (end, lower) = line.start, line.end
    return Line(*edge, points, (start + shift, upper), (end + shift, lower))


def _joined(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """One connected part, from the left margin on."""
    levels = _levels(len(sizes), edges)
    vertices = [_Vertex(width, True, [], []) for width, _ in sizes]
    rows: list[list[int]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for number, level in enumerate(levels):
        rows[level].append(number)
    chains = [_chain(vertices, rows, levels, edge) for edge in edges]
    for chain in chains:
        for upper, lower in pairwise(chain):
            vertices[upper].below.append(lower)
            vertices[lower].above.append(upper)
    rows = _untangled(vertices, rows)
    _spread(vertices, rows)
    heights = [max(sizes[v][1] for v in row if vertices[v].is_box) for row in rows]
    tops = [MARGIN + sum(heights[:level]) + GAP * level for level in range(len(rows))]
    boxes = tuple(
        Box(v.x - v.width / 2, tops[level] + (heights[level] - height) / 2, v.width, height)
        for v, level, (_, height) in zip(vertices, levels, sizes, strict=False)
    )
    lines = tuple(
        _line(
            chain,
            vertices,
            boxes,
            [(tops[n], tops[n] + heights[n]) for n in range(levels[chain[0]], len(rows))],
        )
        for chain in chains
    )
    width = max((box.x + box.width for box in boxes), default=0.0)
    passing = max((v.x for v in vertices), default=0.0)
    height = tops[-1] + heights[-1] if rows else 0.0
    return Layout(boxes, lines, max(width, passing) + MARGIN, height + MARGIN)


def _levels(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """A level for every vertex, from 0 at the top, with the lines as short as moving one box at a time makes
    them.
    """
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for upper, lower in edges:
        above[lower].append(upper)
        below[upper].append(lower)
    levels = [0] * count
    for _ in range(count):
        for upper, lower in edges:
            levels[lower] = max(levels[lower], levels[upper] + 1)
    last = max(levels, default=0)
    moved = True
    while moved:
        moved = False
        for vertex in range(count):
            highest = max((levels[v] + 1 for v in above[vertex]), default=0)
            lowest = min((levels[v] - 1 for v in below[vertex]), default=last)
            pull = len(below[vertex]) - len(above[vertex])
            wanted = lowest if pull > 0 else highest if pull < 0 else levels[vertex]
            moved = moved or wanted != levels[vertex]
            levels[vertex] = wanted
    used = {level: place for place, level in enumerate(sorted(set(levels)))}
    return [used[level] for level in levels]


def _chain(
    vertices: list[_Vertex], rows: list[list[int]], levels: Sequence[int], edge: tuple[int, int]
) -> list[int]:
    """The vertices along an edge, one a level; those between its ends are new."""
    upper, lower = edge
    chain = [upper]
    for level in range(levels[upper] + 1, levels[lower]):
        rows[level].append(len(vertices))
        chain.append(len(vertices))
        vertices.append(_Vertex(0.0, False, [], []))
    return [*chain, lower]


def _untangled(vertices: Sequence[_Vertex], rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The rows in an order with few crossings: medians of neighbors, then exchanges side by side."""
    current = [list(row) for row in rows]
    best, fewest = [list(row) for row in current], _crossings(vertices, current)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for level in range(1, len(current)) if down else range(len(current) - 2, -1, -1):
            fixed = current[level - 1] if down else current[level + 1]
            place = {vertex: number for number, vertex in enumerate(fixed)}
            means = {}
            for number, vertex in enumerate(current[level]):
                near = vertices[vertex].above if down else vertices[vertex].below
                means[vertex] = sum(place[v] for v in near) / len(near) if near else float(number)
            current[level].sort(key=means.__getitem__)
        _exchange(vertices, current)
        crossings = _crossings(vertices, current)
        if crossings < fewest:
            best, fewest = [list(row) for row in current], crossings
    return best


def _exchange(vertices: Sequence[_Vertex], rows: list[list[int]]) -> None:
    """Exchange neighbors in a row as long as that saves crossings."""
    saved = True
    while saved:
        saved = False
        for level, row in enumerate(rows):
            places = [
                {v: n for n, v in enumerate(rows[other])} if 0 <= other < len(rows) else {}
                for other in (level - 1, level + 1)
            ]
            for number in range(len(row) - 1):
                first, second = row[number], row[number + 1]
                now = then = 0
                for place, side in zip(places, ("above", "below"), strict=True):
                    left = [place[v] for v in getattr(vertices[first], side)]
                    right = [place[v] for v in getattr(vertices[second], side)]
                    now += sum(a > b for a in left for b in right)
                    then += sum(b > a for a in left for b in right)
                if then < now:
                    row[number], row[number + 1] = second, first
                    saved = True


def _crossings(vertices: Sequence[_Vertex], rows: Sequence[Sequence[int]]) -> int:
    crossings = 0
    for upper, lower in pairwise(rows):
        place = {vertex: number for number, vertex in enumerate(lower)}
        ends = [sorted(place[v] for v in vertices[vertex].below) for vertex in upper]
        met: list[int] = []
        for of_one in ends:
            crossings += sum(before > end for end in of_one for before in met)
            met += of_one
    return crossings


def _spread(vertices: Sequence[_Vertex], rows: Sequence[Sequence[int]]) -> None:
    """Give every vertex an x: near those it is joined to, in the order of its row and clear of its neighbors."""
    for row in rows:
        for vertex, x in zip(row, _offsets(vertices, row), strict=True):
            vertices[vertex].x = x
    for sweep in range(8 * SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted, weights = [], []
            for number in row:
                one = vertices[number]
                near = [vertices[v].x for v in (*one.above, *one.below)]
                wanted.append(sum(near) / len(near) if near else one.x)
                weights.append(1.0 if one.is_box else 4.0)
            for number, x in zip(row, _apart(_offsets(vertices, row), wanted, weights), strict=True):
                vertices[number].x = x
    leftmost = min((v.x - v.width / 2 for v in vertices), default=0.0)
    for one in vertices:
        one.x = round(one.x - leftmost + MARGIN, 1)


def _offsets(vertices: Sequence[_Vertex], row: Sequence[int]) -> list[float]:
    """The places of a row's vertices packed as closely as they may be."""
    offsets = [0.0] if row else []
    for before, after in pairwise(vertices[number] for number in row):
        gap = BETWEEN if before.is_box and after.is_box else BESIDE
        offsets.append(offsets[-1] + (before.width + after.width) / 2 + gap)
    return offsets


def _apart(offsets: Sequence[float], wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The places nearest to those wanted, by least squares, that are at least as far apart as the offsets: pooling of
    adjacent violators.
    """
    pools: list[tuple[float, float, int]] = []
    for offset, want, weight in zip(offsets, wanted, weights, strict=True):
        mean, total, count = want - offset, weight, 1
        while pools and pools[-1][0] > mean:
            before, heavy, many = pools.pop()
            mean = (before * heavy + mean * total) / (heavy + total)
            total, count = heavy + total, many + count
        pools.append((mean, total, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _line(
    chain: Sequence[int],
    vertices: Sequence[_Vertex],
    boxes: Sequence[Box],
    bands: Sequence[tuple[float, float]],
) -> Line:
    """The line along a chain. At a box it has a place of its own among the lines of that side."""
    first, last = chain[0], chain[-1]
    xs = [
        _port(vertices, first, chain[1], vertices[first].below),
        *(vertices[v].x for v in chain[1:-1]),
        _port(vertices, last, chain[-2], vertices[last].above),
    ]
    points = tuple(_joints(xs, bands))
    start = (xs[0], boxes[first].y + boxes[first].height)
    return Line(first, last, points, start, (xs[-1], boxes[last].y))


def _joints(xs: Sequence[float], bands: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    for level in range(len(xs) - 1):
        yield xs[level], bands[level][1]
        yield xs[level + 1], bands[level + 1][0]


def _port(vertices: Sequence[_Vertex], box: int, other: int, side: Sequence[int]) -> float:
    """Where on its edge a box has the line to a neighbor: in the order of the neighbors, around the middle."""
    ordered = sorted(side, key=lambda v: (vertices[v].x, v))
    place = ordered.index(other) - (len(ordered) - 1) / 2
    step = min(14.0, (vertices[box].width - 16) / max(len(ordered), 1))
    return round(vertices[box].x + place * step, 1)
