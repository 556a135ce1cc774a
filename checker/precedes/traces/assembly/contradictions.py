"""Rows that contradict each other: the text about them, and the effect on their execution.

`precedes.traces.assembly.assembler` finds them. Here a contradiction becomes text that names both rows, or an
error if contradictions should stop the run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, assert_never

import pyarrow as pa

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.core.formula import Attribute, AttributeSort
from precedes.language.quoting import shown
from precedes.traces.formats.values import seconds
from precedes.traces.problems import TOLD_AT_ONCE
from precedes.traces.schema import column_of

_TOLD_PER_EXECUTION: Final = 3


class Contradiction(Enum):
    """Kinds of contradiction, by their codes."""

    TWO_SENDERS = "T031"
    RESENT_TO_OTHERS = "T032"
    ONE_SEQ = "T033"
    AFTER_CRASH = "T034"
    OTHER_SENDER = "T035"
    LONG_CLOCK = "T036"
    ATTRIBUTE = "T037"
    VIEW_MEMBERS = "T038"
    GROUPS = "T039"


_HINTS: Final = {
    Contradiction.TWO_SENDERS: "a message has one sender; use different ids for the messages of different senders",
    Contradiction.RESENT_TO_OTHERS: "a message has one set of destinations; give the second message another id",
    Contradiction.ONE_SEQ: "`seq` counts the events of one entity in one execution",
    Contradiction.AFTER_CRASH: "add a `recover` row if the entity recovered",
    Contradiction.OTHER_SENDER: "`sender` names the entity that sent the message",
    Contradiction.LONG_CLOCK: "a list has one number for each entity; name entities without rows with --cluster, "
    "or write a map",
    Contradiction.ATTRIBUTE: "a message has one value of each attribute, and every row that has it has the same",
    Contradiction.VIEW_MEMBERS: "a view has one set of members; give the other view another id",
    Contradiction.GROUPS: "an entity is in the same groups from the first event to the last",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One contradiction in execution `x` between two rows (places in the table); a long clock is one row.

    `attribute`: on which they disagree, where they disagree on one.
    """

    x: int
    second: int
    first: int
    kind: Contradiction
    attribute: Attribute | None = None


def told(findings: list[Finding], table: pa.Table, strict: bool) -> dict[int, str]:
    """What to say about each execution with findings; raises PrecedesError where that is asked for."""
    by_execution: dict[int, list[Finding]] = {}
    for finding in sorted(findings, key=lambda f: (f.x, f.second, f.first, f.kind.value, _name(f))):
        by_execution.setdefault(finding.x, []).append(finding)
    if strict and findings:
        first = [finding for found in by_execution.values() for finding in found][:TOLD_AT_ONCE]
        raise PrecedesError(tuple(_diagnostic(finding, table) for finding in first))
    texts: dict[int, str] = {}
    for x, found in by_execution.items():
        parts = [_text(finding, table) for finding in found[:_TOLD_PER_EXECUTION]]
        if len(found) > _TOLD_PER_EXECUTION:
            parts.append(f"and {len(found) - _TOLD_PER_EXECUTION} more")
        texts[x] = "; ".join(parts)
    return texts


def place(table: pa.Table, row: int) -> str:
    """Where a row of the table was read."""
    return f"{table['file'][row].as_py()}: row {table['row'][row].as_py()}"


def _diagnostic(finding: Finding, table: pa.Table) -> Diagnostic:
    execution = table["execution"][finding.second].as_py()
    return Diagnostic(
        finding.kind.value,
        f"execution {shown(execution)}: {_text(finding, table)}",
        table["file"][finding.second].as_py(),
        hint=_HINTS[finding.kind],
        row=table["row"][finding.second].as_py(),
    )


def _text(finding: Finding, table: pa.Table) -> str:
    one, other = (table.slice(row, 1).to_pylist()[0] for row in (finding.first, finding.second))
    here, there = place(table, finding.first), place(table, finding.second)
    message, entity = (None if name is None else shown(name) for name in (other["message"], other["entity"]))
    match finding.kind:
        case Contradiction.TWO_SENDERS:
            return f"{message} is sent by {shown(one['entity'])} ({here}) and by {entity} ({there})"
        case Contradiction.RESENT_TO_OTHERS:
            return f"{message} is sent to {_set(one['dest'])} ({here}) and to {_set(other['dest'])} ({there})"
        case Contradiction.ONE_SEQ:
            return f"{entity} has two events with seq {other['seq']} that differ ({here}; {there})"
        case Contradiction.AFTER_CRASH:
            return f"{entity} crashes ({here}), but its next event is not a recovery ({there})"
        case Contradiction.OTHER_SENDER:
            first = shown(one["entity"] if one["event"] == 0 else one["sender"])
            return f"{message} was sent by {first} ({here}), but its sender is {shown(other['sender'])} by {there}"
        case Contradiction.LONG_CLOCK:
            return f"a clock of {entity} has more numbers than the cluster has entities ({there})"
        case Contradiction.ATTRIBUTE:
            first, second = (_value(finding, row) for row in (one, other))
            return f"`{_name(finding)}` of {message} is {first} ({here}) and {second} ({there})"
        case Contradiction.VIEW_MEMBERS:
            first, second = (_set(row["members"]) for row in (one, other))
            return f"the view {shown(other['view'])} has the members {first} ({here}) and {second} ({there})"
        case Contradiction.GROUPS:
            first, second = (_set(row["group"]) for row in (one, other))
            return f"the groups of {entity} are {first} ({here}) and {second} ({there})"


def _name(finding: Finding) -> str:
    return "" if finding.attribute is None else finding.attribute.name


def _value(finding: Finding, row: dict[str, Any]) -> str:
    """The value of the attribute in a row, as a message shows it."""
    assert finding.attribute is not None
    value = row[column_of(finding.attribute)]
    match finding.attribute.sort:
        case AttributeSort.TEXT:
            return json.dumps(value, ensure_ascii=False)
        case AttributeSort.NUMBER:
            return str(value)
        case AttributeSort.TIME | AttributeSort.DURATION:
            return f"{seconds(value)} s"
        case sort:
            assert_never(sort)


def _set(dest: list[str] | None) -> str:
    return "every entity" if dest is None else "{" + ",".join(map(shown, sorted(set(dest)))) + "}"
