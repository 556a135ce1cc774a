"""The rows of a row group of a columnar file as machine code reads them, and what is checked of every row.

What the rows claim is checked on the way, so that a damaged file cannot make machine code read or write out of bounds.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from precedes.native.codes import FIRST_WITHOUT_MESSAGE, KINDS, LAST_WITHOUT_MESSAGE
from precedes.native.compiled_functions import read_only
from precedes.traces.layout.columnar_file import Coded

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

_NO_NUMBERS: Final = np.zeros(0, np.int32)
_NO_TIMES: Final = np.zeros(0, np.int64)


class CodedRows(NamedTuple):
    """The columns of `Coded`, aligned; those that may be missing are empty where they are not there."""

    execution: Int32
    entity: Int32
    event: Int32
    message: Int32
    dest: Int64
    named_sender: Int32
    list_offsets: Int64
    list_entities: Int32
    time: Int64
    installed: Int32
    members: Int64


def rows_of(coded: Coded) -> CodedRows:
    """The rows for machine code."""
    listed = coded.listed
    return CodedRows(
        *map(
            read_only,
            (
                coded.execution,
                coded.entity,
                coded.event,
                coded.message,
                coded.dest,
                _NO_NUMBERS if coded.sender is None else coded.sender,
                _NO_TIMES if listed is None else listed.offsets,
                _NO_NUMBERS if listed is None else listed.values.to_numpy(),
                _NO_TIMES if coded.time is None else coded.time,
                _NO_NUMBERS if coded.view is None else coded.view,
                _NO_TIMES if coded.members is None else coded.members,
            ),
        )
    )


def is_kind(kind: int, message: int) -> bool:
    """Whether there is such a kind of event, with a message or without."""
    return (
        0 <= kind < KINDS
        and message >= -1
        and (message < 0) == (FIRST_WITHOUT_MESSAGE <= kind <= LAST_WITHOUT_MESSAGE)
    )
