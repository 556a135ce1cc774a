"""The first rows of a log as they are understood, before anything is judged: what each becomes, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from precedes.core.execution import EventKind
from precedes.traces.foreign.importers import MAPPING
from precedes.traces.foreign.mapping.definition import stated
from precedes.traces.foreign.mapping.fields import Fields, found
from precedes.traces.foreign.mapping.inputs import NotTakenError, records
from precedes.traces.foreign.mapping.plan import Plan, fields_of, planned
from precedes.traces.foreign.mapping.translation import Translation
from precedes.traces.foreign.rows import SOMEBODY, TO_SOMEBODY, Row
from precedes.traces.formats.values import RowError, canonical_row, seconds
from precedes.traces.notices import Notices
from precedes.traces.reader import read_table
from precedes.traces.schema import EVENT_NAMES, INPUT_COLUMNS
from precedes.traces.sources import TraceSource


@dataclass(frozen=True, slots=True)
class TriedRow:
    """A row of a log: its number, its fields where a mapping reads them, and what it becomes, or why it does not.
    `ignored`: the mapping says that such rows are no events.
    """

    number: int
    given: Fields | None
    became: Row | None
    why: str | None = None
    hint: str | None = None
    ignored: bool = False


@dataclass(frozen=True, slots=True)
class Lack:
    """What no row has, and what follows from it."""

    what: str
    consequence: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What the first rows of a file come to. `absent` are fields that the mapping reads and that none of them has."""

    file: str
    rows: tuple[TriedRow, ...]
    lacks: tuple[Lack, ...]
    absent: tuple[str, ...] = ()


def tried(source: TraceSource, count: int) -> Trial:
    """The first `count` rows of a log as they are understood. Raises PrecedesError for what cannot be read at all."""
    if source.format is MAPPING:
        mapping = stated(source)
        plan = planned(mapping, source)
        read = list(islice(records(source, mapping), count))
        translation = Translation(plan)
        rows = tuple(
            _tried(number, fields, translation.outcome(fields), ignores=plan.ignores)
            for number, fields in read
        )
        absent = tuple(_absent(plan, [row.given for row in rows if row.given is not None]))
    else:
        rows, absent = tuple(islice(_canonical(source), count)), ()
    return Trial(
        source.shown, rows, tuple(_lacks([row.became for row in rows if row.became is not None])), absent
    )


def _tried(number: int, fields: Fields | RowError, outcome: Row | RowError, *, ignores: bool) -> TriedRow:
    given = None if isinstance(fields, RowError) else fields
    if ignores and isinstance(outcome, NotTakenError):
        return TriedRow(number, given, None, "it is no event of the mapping, and ignored", ignored=True)
    if isinstance(outcome, RowError):
        return TriedRow(number, given, None, f"{outcome.code} {outcome.message}", outcome.hint)
    try:
        canonical_row(outcome, Notices())
    except RowError as error:
        return TriedRow(number, given, None, f"{error.code} {error.message}", error.hint)
    return TriedRow(number, given, outcome)


def _canonical(source: TraceSource) -> Iterator[TriedRow]:
    for table in read_table(source, Notices()):
        for values in table.to_pylist():
            row: Row = {name: values[name] for name in INPUT_COLUMNS if values[name] is not None}
            row["event"] = EVENT_NAMES[values["event"]]
            if values["time"] is not None:
                row["time"] = seconds(values["time"])
            yield TriedRow(values["row"], None, row)


def _absent(plan: Plan, rows: Sequence[Fields]) -> Iterator[str]:
    """The fields that no row has, of those that the rules read; a field that a pattern finds is not one of a row."""
    if not rows:
        return
    read = {
        each.name: each
        for rule in plan.rules
        for reader in (*rule.columns.values(), *rule.attributes.values(), rule.kind)
        for each in fields_of(reader)
    }
    read |= {test.field.name: test.field for rule in plan.rules for test in rule.tests}
    patterns = [test.pattern for rule in plan.rules for test in rule.tests if test.pattern is not None]
    inner = {name for pattern in patterns for name in pattern.groupindex}
    for name, each in sorted(read.items()):
        if name not in inner and all(found(each, row) is None for row in rows):
            yield name


_SEND: Final = EventKind.SEND.value
_DELIVER: Final = EventKind.DELIVER.value
_ACKNOWLEDGED: Final = (EventKind.ACK.value, EventKind.NACK.value)


def _lacks(rows: Sequence[Row]) -> Iterator[Lack]:
    if not rows:
        return
    kinds = {row["event"] for row in rows}
    sends = [row for row in rows if row["event"] == _SEND]
    if not sends:
        yield Lack("sends", "the order of sends, and whether messages were lost, are unknown")
    elif any(row.get("dest") == list(TO_SOMEBODY) for row in sends):
        yield Lack("dest of some sends", "whether their messages were lost is unknown")
    if sends and all(row.get("dest") is None for row in sends):
        yield Lack(
            "dest",
            "each message is for every entity of its execution, the sender too: say `unknown` if it is not",
        )
    if _DELIVER not in kinds:
        yield Lack("deliveries", "there is no order to judge")
    if any(row.get("sender") == SOMEBODY for row in rows):
        yield Lack(
            "sender of some deliveries",
            "what needs their sender is unknown, unless another file has the send",
        )
    for column, (what, consequence) in _COLUMNS.items():
        if not any(row.get(column) is not None for row in rows):
            yield Lack(what, consequence)
    if not kinds.intersection(_ACKNOWLEDGED):
        yield Lack("ack and nack", "what is in flight is unknown")


_COLUMNS: Final[Mapping[str, tuple[str, str]]] = {
    "seq": ("seq", "the order of the rows is the order of events"),
    "time": ("time", "deadlines are unknown"),
    "clock": ("clock", "what happened before what is known by messages only"),
}
