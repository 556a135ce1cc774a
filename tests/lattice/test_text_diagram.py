"""The diagram as text is read back: its lines lead to what was drawn, and nowhere else."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from precedes.reports.hasse.text import diagram

DOWN = "│┤├┼╮╭┬"
LEFT = "┤┼╯┴╮┬─"
RIGHT = "├┼╰┴╭┬─"


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    """Names and the edges of an acyclic graph on them, in any order."""
    count = draw(st.integers(0, 10))
    names = [f"n{number}" for number in draw(st.permutations(range(count)))]
    pairs = list(combinations(names, 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=20)) if pairs else []
    return sorted(names), edges


def read(drawing: str) -> tuple[set[str], set[tuple[str, str]]]:
    """The names and edges that a drawing shows."""
    rows = drawing.splitlines()
    nodes = {
        number: (min(row.find(dot) for dot in "●○" if dot in row), row.split()[-1])
        for number, row in enumerate(rows)
        if "●" in row or "○" in row
    }
    edges = set()
    for number, (own, name) in nodes.items():
        below = number + 1
        ends = joined(rows[below], own) if below < len(rows) and below not in nodes else [own]
        edges |= {(name, end) for column in ends if (end := followed(rows, nodes, column, below))}
    return {name for _, name in nodes.values()}, edges


def joined(row: str, own: int) -> list[int]:
    """The columns that a row joins one of them to, where their lines go on downwards."""
    ends = [own] if row[own] in DOWN else []
    for step, out, back in ((-1, LEFT, RIGHT), (1, RIGHT, LEFT)):
        if row[own] not in out:
            continue
        place = own + step
        while True:
            if row[place] in back and row[place] in DOWN:
                ends.append(place)
            if row[place] not in out and row[place] != "│":
                break
            # A line that turns here and does not go on ends the row, but another one may only cross it.
            if row[place] in back and row[place] not in out:
                break
            place += step
            if not 0 <= place < len(row):
                break
    return ends


def followed(rows: list[str], nodes: dict[int, tuple[int, str]], column: int, row: int) -> str | None:
    """The name that a column leads to, from a row on; None where nothing goes down from there."""
    while row < len(rows) and column < len(rows[row]):
        if row in nodes and nodes[row][0] == column:
            return nodes[row][1] if rows[row][column] == "●" else None
        if rows[row][column] not in DOWN:
            return None
        row += 1
    return None


@given(graphs())
def test_reads_back(graph: tuple[list[str], list[tuple[str, str]]]) -> None:
    names, edges = graph
    drawing = diagram({name: name for name in names}, edges)
    assert read(drawing) == (set(names), set(edges))


def test_drawing() -> None:
    edges = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "e"), ("c", "e"), ("d", "e"), ("f", "c")]
    assert diagram({name: name for name in "abcdefg"}, edges) == (
        "○      f\n│ ○    a\n├─┼─╮\n│ ● │  b\n● │ │  c\n╰─┤ │\n  │ ●  d\n  ├─╯\n  ●    e\n○      g\n"
    )
