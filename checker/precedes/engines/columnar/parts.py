"""The parts of executions in columns: the messages that have the same values of some attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from precedes.core.columns import NOT_RECORDED, Batch
from precedes.core.formula import Attribute

Int64 = npt.NDArray[np.int64]

NO_TEXT: Final = -1
"""The code of a text that no message carries."""


def values_of(batch: Batch, attribute: Attribute) -> Int64:
    """The values (M) of an attribute; nowhere recorded where the batch does not have it."""
    found = batch.attributes.of(attribute)
    return np.full(len(batch.sender), NOT_RECORDED, np.int64) if found is None else found


def codes_of(batch: Batch, texts: Sequence[str]) -> Int64:
    """The codes of texts in a batch."""
    listed = batch.attributes.texts.tolist()
    places = {text: code for code, text in enumerate(listed)} if len(texts) > 1 else {}
    if len(texts) == 1:
        return np.array([listed.index(texts[0]) if texts[0] in listed else NO_TEXT], np.int64)
    return np.array([places.get(text, NO_TEXT) for text in texts], np.int64)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the E executions of a batch, P in all.

    part           M      number of the part within its execution, from 0; -1 for a message that is in none
    starts         E + 1  into the parts
    firsts         P      a message of each part, by its local number: the first one
    member_starts  P + 1  into the members
    members               local messages of each part, ascending
    """

    part: Int64
    starts: Int64
    firsts: Int64
    member_starts: Int64
    members: Int64


def parts_of(batch: Batch, attributes: tuple[Attribute, ...]) -> Parts:
    """The parts that the values of some attributes make, in each execution in the order of their first messages."""
    counts = np.diff(batch.message_offsets)
    execution = np.repeat(np.arange(batch.executions, dtype=np.int64), counts)
    columns = [values_of(batch, attribute) for attribute in attributes]
    inside = np.flatnonzero(np.logical_and.reduce([column != NOT_RECORDED for column in columns]))
    group = execution[inside]
    for column in columns:
        group = _paired(group, column[inside])
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    # Messages stand by execution, so that parts in the order of their first messages do, too.
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    number, firsts = place[group], inside[first[order]]
    starts = np.searchsorted(execution[firsts], np.arange(batch.executions + 1)).astype(np.int64)
    part = np.full(len(execution), -1, np.int64)
    part[inside] = number - starts[execution[inside]]
    base = batch.message_offsets[execution]
    members = inside[np.argsort(number, kind="stable")]
    return Parts(
        part,
        starts,
        firsts - base[firsts],
        np.append(np.zeros(1, np.int64), np.cumsum(np.bincount(number, minlength=len(order)))),
        members - base[members],
    )


def _paired(left: Int64, right: Int64) -> Int64:
    """A number for each pair, the same for equal ones."""
    _, left = np.unique(left, return_inverse=True)
    values, right = np.unique(right, return_inverse=True)
    return left.astype(np.int64) * len(values) + right
