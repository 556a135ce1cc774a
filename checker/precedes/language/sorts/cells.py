"""Cells: the sorts that a name or term may still have. Each use of it narrows them.

This module does not know how a formula uses its terms; `inference` does.
"""

from __future__ import annotations

from typing import Final

from precedes.core.diagnostics import Span
from precedes.language import syntax
from precedes.language.errors import Mistakes, place
from precedes.language.printer import term_text
from precedes.language.syntax import Sort

ANY: Final = frozenset(Sort)
BOUND: Final = frozenset((Sort.ENTITY, Sort.MESSAGE, Sort.LOG, Sort.DELIVERY, Sort.GROUP, Sort.VIEW))
ORDERED: Final = frozenset((Sort.TIME, Sort.DURATION, Sort.NUMBER))
COMPARED: Final = ORDERED | {
    *(Sort.ENTITY, Sort.MESSAGE, Sort.TEXT, Sort.DELIVERY, Sort.GROUP, Sort.VIEW),
}
_FIRST: Final = {
    frozenset((Sort.MESSAGE, Sort.EVENT)): Sort.MESSAGE,
    frozenset((Sort.ENTITY, Sort.GROUP)): Sort.ENTITY,
}
_SUMS: Final = (
    (Sort.TIME, Sort.DURATION, Sort.TIME),
    (Sort.DURATION, Sort.TIME, Sort.TIME),
    (Sort.DURATION, Sort.DURATION, Sort.DURATION),
    (Sort.NUMBER, Sort.NUMBER, Sort.NUMBER),
)
_DIFFERENCES: Final = (
    (Sort.TIME, Sort.TIME, Sort.DURATION),
    (Sort.TIME, Sort.DURATION, Sort.TIME),
    (Sort.DURATION, Sort.DURATION, Sort.DURATION),
    (Sort.NUMBER, Sort.NUMBER, Sort.NUMBER),
)


class Cell:
    """The sorts that something may still have, and where that was last narrowed."""

    __slots__ = ("allowed", "parent", "where")

    def __init__(self, allowed: frozenset[Sort] = ANY, where: Span = syntax.NOWHERE) -> None:
        self.allowed = allowed
        self.where = where
        self.parent: Cell | None = None

    def root(self) -> Cell:
        cell = self
        while cell.parent is not None:
            cell = cell.parent
        return cell

    def sort(self) -> Sort | None:
        """The sort, once only one is left; a message rather than an event, an entity rather than a group, and a name of
        something rather than a text, where both are.
        """
        allowed = self.root().allowed
        if len(allowed) > 1:
            allowed = allowed - {Sort.TEXT}
        return next(iter(allowed)) if len(allowed) == 1 else _FIRST.get(allowed)


class Cells:
    """The cells of one formula. A clash is told with both places."""

    def __init__(self, mistakes: Mistakes) -> None:
        self.mistakes = mistakes
        self.names: list[tuple[syntax.Name, Cell]] = []
        self.sums: list[tuple[syntax.Arithmetic, tuple[Cell, Cell, Cell]]] = []
        self.before = len(mistakes.found)

    @property
    def failed(self) -> bool:
        """Whether a mistake was told since this inference began."""
        return len(self.mistakes.found) > self.before

    def named(self, name: syntax.Name, allowed: frozenset[Sort]) -> Cell:
        cell = Cell(allowed, name.span)
        self.names.append((name, cell))
        return cell

    def narrow(self, cell: Cell, allowed: frozenset[Sort], term: syntax.Term) -> None:
        root = cell.root()
        left = root.allowed & allowed
        if left:
            if left != root.allowed:
                root.allowed, root.where = left, term.span
            return
        self.clash(root, allowed, term)

    def clash(self, cell: Cell, allowed: frozenset[Sort], term: syntax.Term) -> None:
        where = f" ({place(cell.where)})" if cell.where.line and cell.where != term.span else ""
        hint = None
        if cell.allowed == {Sort.NUMBER} and Sort.DURATION in allowed:
            hint = f"a duration has a unit: {term_text(term)}s" if isinstance(term, syntax.Quantity) else None
        elif cell.allowed == {Sort.NUMBER} and allowed == {Sort.TEXT}:
            hint = f'a text is quoted: "{term_text(term)}"' if isinstance(term, syntax.Quantity) else None
        elif cell.allowed == {Sort.TEXT} and allowed == ORDERED:
            hint = "texts can be equal or not; they have no order"
        elif cell.allowed == {Sort.DURATION} and Sort.TIME in allowed:
            hint = "a time is a time plus a duration: send_time(p) + delta"
        elif cell.allowed == {Sort.LOG} and allowed == COMPARED:
            hint = "compare logs with order_equivalent, information_equivalent, equivalent"
        message = f"{term_text(term)} is {worded(cell.allowed)}{where}, but {worded(allowed)} is needed here"
        self.mistakes.tell("N005", message, term.span, hint)

    def unify(self, left: Cell, right: Cell, term: syntax.Term) -> None:
        """`right`, the cell of `term`, is made one with `left`."""
        one, other = left.root(), right.root()
        if one is other:
            return
        both = one.allowed & other.allowed
        if not both:
            self.clash(other, one.allowed, term)
            return
        where = other.where if both != one.allowed else one.where
        other.parent = one
        one.allowed, one.where = both, where

    def settle(self) -> None:
        """Carry sorts through sums as far as they go, then ask that every name has one."""
        changed = True
        while changed:
            changed = False
            for node, cells in self.sums:
                table = _SUMS if node.operator is syntax.Operator.PLUS else _DIFFERENCES
                fitting = [
                    row
                    for row in table
                    if all(s in c.root().allowed for s, c in zip(row, cells, strict=True))
                ]
                if not fitting:
                    continue
                for index, cell in enumerate(cells):
                    allowed = frozenset(row[index] for row in fitting)
                    if cell.root().allowed - allowed:
                        self.narrow(cell, allowed, (node.left, node.right, node)[index])
                        changed = True
        for node, cells in self.sums:
            table = _SUMS if node.operator is syntax.Operator.PLUS else _DIFFERENCES
            if not any(all(s in c.root().allowed for s, c in zip(row, cells, strict=True)) for row in table):
                left, right, result = (worded(cell.root().allowed) for cell in cells)
                means = "means nothing" if cells[2].root().allowed == ORDERED else f"is not {result}"
                what = f"{left} {node.operator.value} {right} {means}"
                hint = "time + duration is a time, time - time a duration; a duration has a unit: 10s"
                self.mistakes.tell("N005", what, node.span, hint)
        if self.failed:
            return
        for name, cell in self.names:
            if cell.sort() is None:
                options = ", ".join(
                    f"{name.text}: {sort.value}" for sort in Sort if sort in cell.root().allowed
                )
                what = f"it is not known what {name.text} stands for"
                hint = (
                    f"for a parameter, write one of {options}"
                    if len(cell.root().allowed) > 3
                    else f"it may be any of {options}"
                )
                self.mistakes.tell("N006", what, name.span, hint)


_WORDED: Final = {
    Sort.ENTITY: "an entity",
    Sort.EVENT: "an event",
    Sort.DELIVERIES: "a log of deliveries",
    Sort.VIEWS: "a log of views",
}


def worded(sorts: frozenset[Sort]) -> str:
    names = [_WORDED.get(sort, f"a {sort.value}") for sort in Sort if sort in sorts]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]
