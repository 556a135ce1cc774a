"""The values of lists, one after the other."""

from __future__ import annotations

import pyarrow as pa
import pytest

from precedes.traces.arrow import flattened

LISTS = [["a", "b"], None, [], ["c"], None, ["d", "e", "f"]]


@pytest.mark.parametrize(("start", "stop"), [(0, 6), (1, 6), (3, 5), (1, 3), (2, 2)])
@pytest.mark.parametrize("held", [False, True])
def test_values_and_lengths(start: int, stop: int, held: bool) -> None:
    """With `held`, a null has values that nobody reads."""
    filled = pa.array([["x", "y"] if one is None else one for one in LISTS])
    masked = pa.ListArray.from_arrays(
        filled.offsets, filled.values, mask=pa.array([one is None for one in LISTS])
    )
    lists = (masked if held else pa.array(LISTS, pa.list_(pa.string()))).slice(start, stop - start)
    values, lengths = flattened(lists)
    assert values.to_pylist() == [name for one in LISTS[start:stop] for name in one or ()]
    assert lengths.tolist() == [len(one or ()) for one in LISTS[start:stop]]
