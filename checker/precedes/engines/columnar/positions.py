"""The positions that the system itself claims for messages: the attribute `position` in columns."""

from __future__ import annotations

import numpy as np

from precedes.core.columns import NOT_RECORDED, Attributes, Int32, Int64
from precedes.logic.recognition import POSITION


def claimed_of(attributes: Attributes, messages: int) -> Int64:
    """The claimed positions of so many messages (M); NOT_RECORDED where there is none."""
    found = attributes.of(POSITION)
    return np.full(messages, NOT_RECORDED, np.int64) if found is None else found


def ascending(positions: Int64, message_offsets: Int64) -> Int32:
    """The local messages (M) of each execution in the order of their positions, those without one first."""
    counts = np.diff(message_offsets)
    begins = np.repeat(message_offsets[:-1], counts)
    order = np.arange(len(positions))
    if ((positions[1:] < positions[:-1]) & (begins[1:] == begins[:-1])).any():
        order = np.lexsort((positions, begins))
    return (order - begins).astype(np.int32)
