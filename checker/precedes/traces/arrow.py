"""Arrow without its type stubs, for code that works on columns.

The published stubs reject much that Arrow accepts (null scalars, dictionary arrays, masks for `take`). So
values that hold columns are not type-checked here: `Column` is a `pa.Array` or a `pa.ChunkedArray`. Tables,
schemas and types keep their stubs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

Column = Any
arrow: Any = pa
pc: Any = pa.compute
arrow_csv: Any = pa.csv
arrow_json: Any = pa.json
arrow_parquet: Any = pa.parquet


def flattened(lists: Column) -> tuple[Column, Any]:
    """The values of an array of lists, one after the other, and how many each list has; a null has none.

    Arrow's own `flatten` copies the values where a list is null, though nulls mostly have none.
    """
    if not len(lists):
        return lists.flatten(), np.zeros(0, np.int32)
    ends = lists.offsets.to_numpy()
    lengths = np.diff(ends)
    if lists.null_count and ((lengths > 0) & lists.is_null().to_numpy(zero_copy_only=False)).any():
        return lists.flatten(), pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    return lists.values.slice(ends[0], ends[-1] - ends[0]), lengths
