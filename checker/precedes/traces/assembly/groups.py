"""The groups of entities: who is in them, and which messages are addressed to them by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from precedes.core.columns import Bool, Groups, Int64, Names, offsets_of
from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.execution import EVENT_CODES, UNKNOWN_NAME, EventKind
from precedes.language.quoting import shown
from precedes.traces.arrow import arrow
from precedes.traces.assembly.contradictions import Contradiction, Finding
from precedes.traces.assembly.encoding import (
    ABSENT,
    Codes,
    Lists,
    Numbering,
    ascending,
    encode,
    first_places,
    lists_of,
    unlike,
)
from precedes.traces.assembly.histories import Events, TableNames
from precedes.traces.options import GroupMembers
from precedes.traces.problems import TOLD_AT_ONCE

_SEND: Final = EVENT_CODES[EventKind.SEND]


@dataclass(frozen=True, slots=True)
class Membership:
    """The groups of the executions of a table.

    names       the names of all of them, in order
    groups      which of them each execution has
    inside      the numbers of groups and, aligned, of entities in them, both over all executions; each pair once
    to_groups   for each entry of `TableNames.to_groups` the place of the group in `names`
    """

    names: Names
    groups: Numbering
    inside: tuple[Int64, Int64]
    to_groups: Codes


def membership_of(
    table: pa.Table, names: TableNames, events: Events, given: GroupMembers, findings: list[Finding]
) -> Membership | None:
    """Who is in which group, as rows say, and as is `given` for every execution; None where there are no groups.

    `events` are those of all rows. Rows of an entity that disagree are found; those of the first count then. Raises
    PrecedesError (T021) where a send names a group of which nobody is known.
    """
    if not given and names.to_groups is None and table["group"].null_count == len(table):
        return None
    stated = lists_of(table["group"])
    asked = None if names.to_groups is None else names.to_groups.values
    named = arrow.chunked_array([arrow.array([name for name, _ in given], arrow.string())])
    known, (stated_codes, to_groups, given_codes) = encode(
        stated.values, named.slice(0, 0) if asked is None else asked, named
    )
    entity = np.full(len(table), ABSENT, np.int64)
    entity[events.row] = events.entity
    sources = _sources(stated, stated_codes, entity, names, findings)
    entries, owner = stated.entries(sources)
    by_rows = entity[sources][owner], stated_codes[entries]
    by_option = _given(names, given, given_codes)
    anybody = _anybody(names, entity, known, to_groups)
    count = len(names.executions)
    everywhere = np.repeat(np.arange(count), len(given_codes))
    executions = names.entities.executions
    groups = Numbering(
        np.concatenate([executions[by_rows[0]], everywhere, executions[anybody[0]]]),
        np.concatenate([by_rows[1], np.tile(given_codes, count), anybody[1]]),
        count,
        len(known),
    )
    _refuse_unknown(table, names, entity, groups, known, to_groups)
    member = np.concatenate([by_rows[0], by_option[0], anybody[0]])
    group = groups.find(executions[member], np.concatenate([by_rows[1], by_option[1], anybody[1]]))
    size = max(len(executions), 1)
    keys = ascending(group * size + member)
    return Membership(known, groups, (keys // size, keys % size), to_groups)


def groups_of(membership: Membership, names: TableNames, events: Events) -> Groups:
    """The groups of a batch with these events."""
    groups, (group, member) = membership.groups, membership.inside
    offsets, addressed = _addressed(membership, names, events)
    return Groups(
        offsets=groups.offsets,
        names=membership.names[groups.codes],
        member_offsets=offsets_of(np.bincount(group, minlength=len(groups.codes))),
        members=(member - names.entities.offsets[groups.executions[group]]).astype(np.int32),
        addressed_offsets=offsets,
        addressed=addressed,
    )


def equal_groups(names: TableNames, one: Int64, other: Int64) -> Bool:
    """Whether two rows are addressed to the same groups."""
    equal = np.ones(len(one), np.bool_)
    if names.to_groups is None:
        return equal
    _, (codes,) = encode(names.to_groups.values)
    equal[unlike(names.to_groups, codes, one, other)] = False
    return equal


def _sources(stated: Lists, codes: Codes, entity: Int64, names: TableNames, findings: list[Finding]) -> Int64:
    """For each entity whose groups some row states the first such row."""
    rows = np.flatnonzero(stated.present)
    firsts, first_of = first_places(entity[rows], len(names.entities.codes))
    again = np.flatnonzero(first_of != np.arange(len(rows)))
    later, first = rows[again], rows[first_of[again]]
    for place in unlike(stated, codes, first, later).tolist():
        x = int(names.entities.executions[entity[later[place]]])
        findings.append(Finding(x, int(later[place]), int(first[place]), Contradiction.GROUPS))
    return rows[firsts]


def _given(names: TableNames, given: GroupMembers, codes: Codes) -> tuple[Int64, Codes]:
    """Who is in the given groups, in every execution: the numbers of entities and, aligned, the codes of groups."""
    places = {str(name): code for code, name in enumerate(names.entity_names)} if given else {}
    entities: list[Int64] = [np.zeros(0, np.int64)]
    groups: list[Codes] = [np.zeros(0, np.int32)]
    for (_, members), code in zip(given, codes.tolist(), strict=True):
        wanted = [places[name] for name in members if name in places]
        found = np.flatnonzero(np.isin(names.entities.codes, wanted))
        entities.append(found)
        groups.append(np.full(len(found), code, np.int32))
    return np.concatenate(entities), np.concatenate(groups)


def _anybody(names: TableNames, entity: Int64, known: Names, to_groups: Codes) -> tuple[Int64, Codes]:
    """Everybody in the executions in which it is not known whom some message is for: entities and, aligned, the code of
    the group that stands for them.
    """
    code = np.flatnonzero(known == UNKNOWN_NAME)
    if names.to_groups is None or not len(code):
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    row = np.repeat(np.arange(len(entity)), np.diff(names.to_groups.offsets))
    open_to_all = ascending(names.entities.executions[entity[row[to_groups == code[0]]]])
    found = np.flatnonzero(np.isin(names.entities.executions, open_to_all))
    return found, np.full(len(found), code[0], np.int32)


def _refuse_unknown(
    table: pa.Table, names: TableNames, entity: Int64, groups: Numbering, known: Names, to_groups: Codes
) -> None:
    if names.to_groups is None:
        return
    row = np.repeat(np.arange(len(table)), np.diff(names.to_groups.offsets))
    missing = np.flatnonzero(groups.find(names.entities.executions[entity[row]], to_groups) == ABSENT)
    told = tuple(
        Diagnostic(
            "T021",
            f"{shown(table['message'][int(row[place])].as_py())} is addressed to the group "
            f"{shown(known[to_groups[place]])}, of which nobody is known",
            table["file"][int(row[place])].as_py(),
            hint="name its members with --groups, or in a column `group`",
            row=table["row"][int(row[place])].as_py(),
        )
        for place in missing[:TOLD_AT_ONCE].tolist()
    )
    if told:
        raise PrecedesError(told)


def _addressed(
    membership: Membership, names: TableNames, events: Events
) -> tuple[Int64, npt.NDArray[np.int32]]:
    """The groups that messages are addressed to: offsets by message, local groups."""
    count = len(names.messages.codes)
    if names.to_groups is None:
        return np.zeros(count + 1, np.int64), np.zeros(0, np.int32)
    sends = np.flatnonzero(events.kind == _SEND)
    firsts, _ = first_places(events.message[sends], count)
    sends = sends[firsts]
    places, owner = names.to_groups.entries(events.row[sends])
    x = names.entities.executions[events.entity[sends]][owner]
    local = membership.groups.find(x, membership.to_groups[places]) - membership.groups.offsets[x]
    width = int(np.diff(membership.groups.offsets).max(initial=1))
    keys = ascending(events.message[sends][owner] * width + local)
    return offsets_of(np.bincount(keys // width, minlength=count)), (keys % width).astype(np.int32)
