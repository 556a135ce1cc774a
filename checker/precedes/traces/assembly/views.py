"""Which views entities install, and who is in them. Two views are one exactly if their ids are equal."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from precedes.core.columns import NOBODY, Batch, Int32, Int64, Members, Names, Views, offsets_of
from precedes.core.execution import EVENT_CODES, EventKind
from precedes.traces.arrow import arrow, pc
from precedes.traces.assembly.contradictions import Contradiction, Finding
from precedes.traces.assembly.encoding import (
    ABSENT,
    Lists,
    Numbering,
    ascending,
    encode,
    first_places,
    lists_of,
    unlike,
)
from precedes.traces.assembly.histories import Events, TableNames

_VIEW: Final = EVENT_CODES[EventKind.VIEW]


def with_views(
    batch: Batch, table: pa.Table, names: TableNames, events: Events, findings: list[Finding]
) -> Batch:
    """The batch of events with their views.

    The members of a view are those that the first installation with members names; others that name other ones are
    found. An installation that names none has those of its view.
    """
    installing = np.flatnonzero(events.kind == _VIEW)
    if not len(installing):
        return batch
    rows = events.row[installing]
    x = names.entities.executions[events.entity[installing]]
    ids, (codes,) = encode(table["view"].take(arrow.array(rows)))
    named = codes != ABSENT
    views = Numbering(x[named], codes[named], len(names.executions), len(ids))
    view = views.find(x, codes)
    members = lists_of(table["members"])
    telling = np.flatnonzero(named & members.present[rows])
    places, first_of = first_places(view[telling], len(views.codes))
    source = np.full(len(views.codes), ABSENT, np.int64)
    source[view[telling[places]]] = rows[telling[places]]
    later = np.flatnonzero(first_of != np.arange(len(telling)))
    second, first = rows[telling[later]], rows[telling[first_of[later]]]
    other = unlike(members, encode(members.values)[1][0], first, second)
    findings.extend(
        Finding(where, one, two, Contradiction.VIEW_MEMBERS)
        for where, one, two in zip(
            x[telling[later[other]]].tolist(), second[other].tolist(), first[other].tolist(), strict=True
        )
    )
    local = np.full(len(events.row), NOBODY, np.int32)
    local[installing] = np.where(view == ABSENT, NOBODY, view - views.offsets[x])
    silent = np.flatnonzero(named & ~members.present[rows])
    said = events.row.copy()
    said[installing[silent]] = source[view[silent]]
    offsets, inside = _inside(members, source, views, names)
    return replace(
        batch,
        members=_members(members, said),
        views=Views(local, views.offsets, ids[views.codes], offsets, inside),
    )


def _inside(members: Lists, source: Int64, views: Numbering, names: TableNames) -> tuple[Int64, Int32]:
    """The members of each view that are in its cluster, by offsets; `source` has the rows that name them."""
    known = np.flatnonzero(source != ABSENT)
    places, owner = members.entries(source[known])
    view = known[owner]
    codes = pc.index_in(members.values, value_set=arrow.array(names.entity_names, arrow.string()))
    code = codes.fill_null(ABSENT).to_numpy()[places]
    x = views.executions[view]
    entity = names.entities.find(x, code)
    there = entity != ABSENT
    local = entity[there] - names.entities.offsets[x[there]]
    width = int(np.diff(names.entities.offsets).max(initial=1))
    keys = ascending(view[there] * width + local)
    return offsets_of(np.bincount(keys // width, minlength=len(source))), (keys % width).astype(np.int32)


def _members(members: Lists, rows: Int64) -> Members | None:
    """The members that rows name, aligned with these; ABSENT: none."""
    present = np.flatnonzero(rows != ABSENT)
    places, owner = members.entries(rows[present])
    if not len(places):
        return None
    found: Names = members.values.to_numpy()[places]
    return Members(offsets_of(np.bincount(present[owner], minlength=len(rows))), found)
