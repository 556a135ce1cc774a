"""Views in executions of one size: who is in them, and who installs them.

As many views as `VIEWS` are looked at, and as many as a formula names. Each has a number that is that of no other, but
one that the formula calls by another id. A view is there if somebody installs it. Its
order among the events of an entity is that of its first installation; a further one stands at the end of a history,
where it is the view of no event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Final

from precedes.core.execution import LARGEST_VIEW_NUMBER, view_number
from precedes.core.formula import Relation
from precedes.engines.solver.features import Features
from precedes.engines.solver.logic import (
    Linear,
    Proposition,
    boolean,
    both,
    compared,
    equivalent,
    implied,
    integer,
    negated,
    number,
    some,
)

VIEWS: Final = 3


def view_count(wanted: Features) -> int:
    """How many views there are at most."""
    return max(VIEWS, len(wanted.view_names)) if wanted.views else 0


class ViewTables:
    """The views of all executions with so many entities. Views are numbers from 0."""

    def __init__(self, wanted: Features, entities: range) -> None:
        self.views = range(view_count(wanted))
        self.members = [[boolean(f"{e} in view {v}") for e in entities] for v in self.views]
        self.numbers = [integer(f"number of view {v}") for v in self.views] if wanted.view_numbers else []
        self.installed = [[boolean(f"view {v} installed at {e}") for e in entities] for v in self.views]
        self._again = [
            [boolean(f"view {v} installed again at {e}") for e in entities] if wanted.reinstallations else []
            for v in self.views
        ]

    def exists(self, view: int) -> Proposition:
        """Somebody installs it."""
        return some(self.installed[view])

    def again(self, view: int, entity: int) -> Proposition:
        """The entity installs it more than once."""
        return self._again[view][entity] if self._again[view] else False

    def constraints(self) -> Iterator[Proposition]:
        """Some view is there, since nothing is known of views otherwise. Those that are there have the first numbers.
        One that is not there has no members.
        """
        if self.views:
            yield self.exists(self.views[0])
        for view, following in pairwise(self.views):
            yield implied(self.exists(following), self.exists(view))
        for view in self.views:
            yield from (implied(member, self.exists(view)) for member in self.members[view])
            for again, installed in zip(
                self._again[view], self.installed[view], strict=bool(self._again[view])
            ):
                yield implied(again, installed)

    def numbering(self, names: Mapping[str, Sequence[Proposition]]) -> Iterator[Proposition]:
        """Different views have different numbers, and a view has the number that the formula calls it by; `names` are
        the ids of the formula, and which view each is.
        """
        largest = Linear(Fraction(LARGEST_VIEW_NUMBER))
        for symbol in self.numbers:
            yield compared(number(symbol), Relation.AT_MOST, largest)
            yield compared(largest.times(Fraction(-1)), Relation.AT_MOST, number(symbol))
        for one, other in combinations(self.numbers, 2):
            yield negated(compared(number(one), Relation.EQUAL, number(other)))
        for name, row in names.items():
            called = view_number(name)
            if called is not None:
                for symbol, is_it in zip(self.numbers, row, strict=bool(self.numbers)):
                    the_same = compared(number(symbol), Relation.EQUAL, Linear(Fraction(called)))
                    yield equivalent(is_it, the_same)

    def entries(self) -> list[Proposition]:
        """All installations, which are entries of histories."""
        return [symbol for table in (self.installed, self._again) for row in table for symbol in row]

    def oddities(self) -> list[Proposition]:
        """What an engineer would wonder at: who installs a view and is not in it, or the other way round."""
        pairs = [
            pair
            for members, installed in zip(self.members, self.installed, strict=True)
            for pair in zip(members, installed, strict=True)
        ]
        return [both(one, negated(other)) for a, b in pairs for one, other in ((a, b), (b, a))]

    def choices(self) -> Iterator[Proposition]:
        """What is to be decided, with the value that is preferred."""
        yield from (symbol for table in (self.installed, self.members) for row in table for symbol in row)
        yield from (negated(symbol) for row in self._again for symbol in row)
