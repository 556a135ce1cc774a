"""Other recorded parts of events: vector clocks, and the members of views.

A clock that is a bare list has one number for each entity of the cluster. If all entity names are whole
numbers, the entities are in numeric order (so that 2 comes before 10), otherwise in the order of their names.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.core.clock_order import Clocks
from precedes.core.columns import Int64, Members, Names, offsets_of
from precedes.traces import notices as notice
from precedes.traces.arrow import arrow, pc
from precedes.traces.assembly.contradictions import Contradiction, Finding
from precedes.traces.assembly.encoding import ABSENT, Numbering, lists_of
from precedes.traces.notices import Notices

OUTSIDE: Final = "clock entries for entities outside the cluster are ignored"


def clocks_of(
    table: pa.Table,
    entities: Numbering,
    entity_names: Names,
    rows: Int64,
    at: Int64,
    *,
    findings: list[Finding],
    notices: Notices,
) -> Clocks | None:
    """The clocks of events, which are rows of the table at entities (numbers over all executions).

    None where there are none.
    """
    executions = entities.executions[at]
    parts = [
        _of_maps(table, entities, entity_names, rows, executions, notices),
        _of_vectors(table, entities, entity_names, rows, executions, findings),
    ]
    found = [part for part in parts if part is not None]
    if not found:
        return None
    event = np.concatenate([part[0] for part in found])
    entity = np.concatenate([part[1] for part in found])
    count = np.concatenate([part[2] for part in found])
    order = np.lexsort((entity, event))
    recorded = table["clock"].is_valid().to_numpy() | table["vector"].is_valid().to_numpy()
    return Clocks(
        recorded=recorded[rows],
        # Which of them count their own events is found once the order of events is known (`precedes.traces.order`).
        counted=np.zeros(len(rows), np.bool_),
        offsets=offsets_of(np.bincount(event, minlength=len(rows))),
        entities=entity[order].astype(np.int32),
        counts=count[order],
    )


def members_of(table: pa.Table, rows: Int64) -> Members | None:
    """The members that events name. None where none does."""
    column = table["members"]
    if column.null_count == len(column):
        return None
    lists = lists_of(column)
    places, owner = lists.entries(rows)
    return Members(
        offsets=offsets_of(np.bincount(owner, minlength=len(rows))),
        names=lists.values.to_numpy()[places],
    )


_Components = tuple[Int64, Int64, Int64]
"""event, local entity, count"""


def _of_maps(
    table: pa.Table,
    entities: Numbering,
    entity_names: Names,
    rows: Int64,
    executions: Int64,
    notices: Notices,
) -> _Components | None:
    column = table["clock"]
    if column.null_count == len(column):
        return None
    lists = lists_of(column)
    keys, counts = lists.values.flatten()
    codes = (
        pc.index_in(keys, value_set=arrow.array(entity_names, arrow.string())).fill_null(ABSENT).to_numpy()
    )
    places, owner = lists.entries(rows)
    number = entities.find(executions[owner], codes[places])
    inside = number != ABSENT
    notices.count(notice.CLOCK_OUTSIDE, OUTSIDE, int((~inside).sum()))
    event = owner[inside]
    return event, number[inside] - entities.offsets[executions[event]], counts.to_numpy()[places[inside]]


def _of_vectors(
    table: pa.Table,
    entities: Numbering,
    entity_names: Names,
    rows: Int64,
    executions: Int64,
    findings: list[Finding],
) -> _Components | None:
    column = table["vector"]
    if column.null_count == len(column):
        return None
    lists = lists_of(column)
    places, owner = lists.entries(rows)
    component = places - lists.offsets[rows][owner]
    size = np.diff(entities.offsets)[executions[owner]]
    fits = component < size
    for event in np.unique(owner[~fits]).tolist():
        row = int(rows[event])
        findings.append(Finding(int(executions[event]), row, row, Contradiction.LONG_CLOCK))
    event, component, places = owner[fits], component[fits], places[fits]
    start = entities.offsets[executions[event]]
    return (
        event,
        _in_clock_order(entities, entity_names)[start + component] - start,
        lists.values.to_numpy()[places],
    )


def _in_clock_order(entities: Numbering, entity_names: Names) -> Int64:
    """The numbers of all entities, execution by execution, in the order of the components of a bare list."""
    whole = np.array([name.isascii() and name.isdigit() for name in entity_names], np.bool_)
    # Numbers of any length, compared as text: the shorter one first.
    digits = [str(name).lstrip("0") for name in entity_names]
    ranks = np.empty(len(digits), np.int64)
    ranks[sorted(range(len(digits)), key=lambda c: (len(digits[c]), digits[c]))] = np.arange(len(digits))
    all_whole: npt.NDArray[np.bool_] = np.ones(len(entities.offsets) - 1, np.bool_)
    all_whole[entities.executions[~whole[entities.codes]]] = False
    rank = np.where(all_whole[entities.executions], ranks[entities.codes], entities.codes)
    return np.lexsort((rank, entities.executions))
