"""No label lies under another one or under a line, whatever the graph."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from precedes.reports.hasse.layout import Box, Layout, layout

Graph = tuple[list[tuple[float, float]], list[tuple[int, int]]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Sizes of boxes and the edges of an acyclic graph on them, each to a later box."""
    count = draw(st.integers(0, 12))
    sizes = [(draw(st.integers(20, 250)), draw(st.integers(20, 60))) for _ in range(count)]
    pairs = list(combinations(range(count), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=24)) if pairs else []
    return [(float(w), float(h)) for w, h in sizes], edges


def overlaps(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def points(placed: Layout, number: int) -> list[tuple[float, float]]:
    """A line as a polygon: curves by enough of their points."""
    line = placed.lines[number]
    found = [line.start]
    for (x0, y0), (x1, y1) in zip(line.points[::2], line.points[1::2], strict=True):
        for step in range(17):
            t = step / 16
            # The curve has its two control points halfway down, below its start and above its end.
            near_end = 3 * (1 - t) * t * t + t**3
            down = 1.5 * (1 - t) ** 2 * t + 1.5 * (1 - t) * t * t + t**3
            found.append((x0 + (x1 - x0) * near_end, y0 + (y1 - y0) * down))
    return [*found, line.end]


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_nothing_overlaps(graph: Graph) -> None:
    sizes, edges = graph
    placed = layout(sizes, edges)
    assert [(box.width, box.height) for box in placed.boxes] == sizes
    for one, other in combinations(placed.boxes, 2):
        assert not overlaps(one, other)
    for box in placed.boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= placed.width
        assert box.y + box.height <= placed.height
    for number, (left, right) in enumerate(edges):
        upper, lower = placed.boxes[left], placed.boxes[right]
        assert upper.y + upper.height < lower.y
        way = points(placed, number)
        assert way[0][1] == upper.y + upper.height
        assert way[-1][1] == lower.y
        assert upper.x < way[0][0] < upper.x + upper.width
        assert lower.x < way[-1][0] < lower.x + lower.width
        assert all(after[1] >= before[1] - 1e-9 for before, after in pairwise(way))
        for other, box in enumerate(placed.boxes):
            if other not in (left, right):
                inside = [
                    (x, y)
                    for x, y in way
                    if box.x <= x <= box.x + box.width and box.y + 1e-6 < y < box.y + box.height - 1e-6
                ]
                ends = [
                    (x0, y0, y1)
                    for (x0, y0), (x1, y1) in pairwise(way)
                    if x0 == x1
                    and box.x <= x0 <= box.x + box.width
                    and y0 < box.y + box.height
                    and y1 > box.y
                ]
                assert not inside
                assert not ends


@given(graphs())
@settings(max_examples=20, deadline=None)
def test_same_layout_again(graph: Graph) -> None:
    assert layout(*graph) == layout(*graph)


def test_a_chain_is_straight() -> None:
    placed = layout([(100.0, 20.0)] * 4, [(0, 1), (1, 2), (2, 3)])
    assert len({box.x for box in placed.boxes}) == 1


def test_no_crossing_where_none_is_needed() -> None:
    # Two pairs, given so that the order of the numbers would cross the lines.
    placed = layout([(40.0, 20.0)] * 4, [(0, 3), (1, 2)])
    upper = placed.boxes[0].x < placed.boxes[1].x
    lower = placed.boxes[3].x < placed.boxes[2].x
    assert upper == lower
