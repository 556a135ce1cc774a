"""Orbits of inner states: every number that compiled functions are told of is the renaming that it stands for."""

from __future__ import annotations

import pytest

from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.interned_values import NOT_PLACED
from precedes.protocol.exploration.judgment import Judge
from precedes.protocol.exploration.reductions import Reduction
from precedes.protocol.exploration.result import Observer
from precedes.protocol.exploration.state_search import Search
from precedes.protocol.validation.symmetry_check import renamed_state
from precedes_models.cmd.auxiliary import Auxiliary


@pytest.mark.parametrize(("entities", "messages"), [(2, 2), (3, 3), (4, 2)])
def test_numbers_of_an_orbit_are_its_renamings(entities: int, messages: int) -> None:
    bounds = Bounds(entities, messages, Destinations.UNICAST)
    reductions = frozenset({Reduction.SYMMETRY})
    search = Search(Auxiliary(), bounds, Judge((), ()), reductions, check_purity=False, observer=Observer())
    assert search.run("breadth").complete
    table, renamings = search.table, search.space.renamings
    # Some have a number and were not made.
    assert NOT_PLACED in table.inners.values
    tables = table.matrices.tables()
    sizes = set()
    for number in range(len(table.inners)):
        inner = table.inner_state(number)
        here, state = table.here(inner.placement, inner.now), table.states.values[inner.state]
        first, row = tables.renamed_inners[number].tolist()
        numbers = [first + member for member in tables.members[row].tolist()]
        sizes.add(len(set(numbers)))
        for names, other in zip(renamings, numbers, strict=True):
            there = table.inner_state(other)
            assert table.here(there.placement, there.now).entity == names[here.entity]
            assert table.states.values[there.state] == renamed_state(table.protocol, state, names)
    # In the beginning only the entity itself tells its renamings apart, later everything does.
    assert {entities, len(renamings)} <= sizes
