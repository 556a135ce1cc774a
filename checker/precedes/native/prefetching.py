"""Memory that is asked for before it is read. As plain Python it does nothing.

A look-up in a table that is larger than the caches waits for memory as long as some hundred steps take. Where it is
known what will be looked up, that is asked for, and something else is done in between.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def prefetch(rows: npt.NDArray[np.int32], number: int) -> None:
    """Ask for a row, or a number of an array of one dimension. It need not be there."""
