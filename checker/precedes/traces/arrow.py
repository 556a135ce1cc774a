"""Arrow without its type stubs, for code that works on columns.

The published stubs reject much that Arrow accepts (null scalars, dictionary arrays, masks for `take`). So
values that hold columns are not type-checked here: `Column` is a `pa.Array` or a `pa.ChunkedArray`. Tables,
schemas and types keep their stubs.
"""

from __future__ import annotations

from typing import Any

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
