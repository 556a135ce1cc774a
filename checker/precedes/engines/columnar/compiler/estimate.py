"""About how many steps the loops of a generated function take in an execution, before they run.

A step is one value of a variable of a loop, or one place of a table that is filled. It is an upper bound but for logs
and parts, which are taken to be of one length: what a guard leaves out is counted, and so is what comes after a
violation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from precedes.core.formula import Attribute
from precedes.engines.columnar.compiler.functions import Generated
from precedes.engines.columnar.compiler.source_text import Extent
from precedes.engines.columnar.execution_source import ExecutionSource

Steps = npt.NDArray[np.float64]

SECONDS: Final = 3e-9
"""What a step takes as machine code."""

_TABLES: Final[Mapping[str, tuple[Extent, ...]]] = {
    "seeking": ("one",),
    "entities": ("entities",),
    "messages": ("messages",),
    "entity_messages": ("entities", "messages"),
    "events": ("events",),
    "event_entities": ("events", "entities"),
    "event_entity_pairs": ("events", "entities"),
    "message_pairs": ("messages", "messages"),
}
"""What the places of scratch columns are, by the names of their sizes."""


def steps(generated: Generated, source: ExecutionSource, *, loops: bool = True) -> Steps:
    """About how many steps there are in each execution (E) of a source; without the `loops`, those of its tables."""
    lengths = _lengths(generated, source)
    found = lengths["events"].copy()
    gone_through = generated.extents if loops else ()
    for extents in (*gone_through, *(_TABLES[size] for size in generated.scratch)):
        found += np.prod([lengths[extent] for extent in extents], axis=0)
    return found


def _lengths(generated: Generated, source: ExecutionSource) -> Mapping[Extent, Steps]:
    """How many there are of everything that a loop may go through."""
    columns = source.columns(
        tuple(name for name in ("view_offsets", "named_group_offsets") if name in generated.reads)
    )
    entities, messages = (
        np.diff(offsets).astype(np.float64) for offsets in (columns.entity_offsets, columns.message_offsets)
    )
    events = np.diff(columns.event_offsets[columns.entity_offsets]).astype(np.float64)
    some = np.maximum(entities, 1)
    attributes = {attribute for column in generated.carried for attribute in column.attributes}
    parts = np.clip(_values(attributes, source), 1, np.maximum(messages, 1))
    return {
        "one": np.ones(source.executions),
        "entities": entities,
        "messages": messages,
        "events": events,
        "receipts": events / some,
        "sends": messages / some,
        "views": _counts(columns.view_offsets, source.executions),
        "groups": _counts(columns.named_group_offsets, source.executions),
        "members": entities,
        "parts": parts,
        "part": messages / parts,
    }


def _counts(offsets: npt.NDArray[np.int64], executions: int) -> Steps:
    """How many entries each execution has; none where the column is not read."""
    return np.diff(offsets).astype(np.float64) if len(offsets) else np.zeros(executions)


def _values(attributes: set[Attribute], source: ExecutionSource) -> float:
    """How many values some attributes have in an execution, on the average, at least 1."""
    found = [column for attribute in attributes if (column := source.attributes.of(attribute)) is not None]
    return max((len(np.unique(column)) for column in found), default=1) / max(source.executions, 1)
