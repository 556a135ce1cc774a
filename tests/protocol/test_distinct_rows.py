"""Rows get numbers in the order in which they came, each once, as a dictionary would give them."""

from __future__ import annotations

import numpy as np
import pytest

from precedes.protocol.exploration.distinct_rows import FEW, Code, DistinctRows


@pytest.mark.parametrize("by_machine", [False, True])
@pytest.mark.parametrize("values", [3, 40])
def test_each_row_has_one_number(by_machine: bool, values: int) -> None:
    code = Code()
    code.by_machine = by_machine
    drawn = np.random.default_rng(values)
    rows, known = DistinctRows(3, code), dict[tuple[int, ...], int]()
    for count in (0, 1, 17, 3 * FEW, 5):
        more = drawn.integers(0, values, (count, 3)).astype(np.int32)
        expected = []
        for place, row in enumerate(map(tuple, more.tolist())):
            if row not in known:
                known[row] = len(known)
                expected.append(place)
        numbers, new = rows.numbered(more)
        assert numbers.tolist() == [known[tuple(row)] for row in more.tolist()]
        assert new.tolist() == expected
    assert rows.count == len(known)
    assert list(map(tuple, rows.rows[: rows.count].tolist())) == list(known)
