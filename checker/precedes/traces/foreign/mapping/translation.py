"""From rows of a log to rows of a trace, as a mapping says.

What the log does not know stays unknown. A send without destinations is for somebody, and a delivery whose sender no
row named so far has somebody as sender.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, assert_never
from urllib.parse import quote

import msgspec

from precedes.core.execution import EventKind
from precedes.traces.foreign.mapping.fields import (
    Constant,
    Field,
    Fields,
    Template,
    decodes_once,
    found,
    unfit,
    value,
    values_in,
)
from precedes.traces.foreign.mapping.inputs import NotTakenError, missing
from precedes.traces.foreign.mapping.plan import (
    COUNTED,
    MESSAGELESS,
    RECEIVED,
    SEND,
    WITH_MESSAGE,
    Everybody,
    ListReader,
    NthReader,
    Plan,
    Reader,
    Rule,
    TimeReader,
    fields_of,
)
from precedes.traces.foreign.mapping.times import time_of
from precedes.traces.foreign.rows import SOMEBODY, TO_SOMEBODY, Row
from precedes.traces.formats.values import RowError, cell_parser, id_text, shown
from precedes.traces.schema import REDELIVERED, STATE

_DELIVER: Final = frozenset({EventKind.DELIVER.value})
_VIEW: Final = frozenset({EventKind.VIEW.value})
_ONLY_OF: Final = {
    "dest": frozenset({SEND}),
    "sender": RECEIVED,
    "redelivered": _DELIVER,
    "view": _VIEW,
    "members": _VIEW,
    "message": WITH_MESSAGE,
}
"""The columns that only some events have."""


class Translation:
    """Rows of one file, in their order. It knows which messages were sent, counted and named so far."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._remembers = plan.sends()
        self._sent: set[tuple[str, str]] = set()
        self._named: dict[tuple[object, str], tuple[str | None, ...]] = {}
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._senders: dict[tuple[str, ...], str] = {}

    def outcome(self, fields: Fields | RowError) -> Row | RowError:
        """The row of a trace, or what is wrong with a row of the log."""
        if isinstance(fields, RowError):
            return fields
        try:
            return self.row(fields)
        except RowError as error:
            return error

    def row(self, fields: Fields) -> Row:
        """The row of a trace. Raises RowError; NotTakenError for a row that is no event."""
        for rule in self._plan.rules:
            here = rule.takes(fields)
            if here is not None:
                return self._translated(rule, here)
        named = {
            test.field.name: found(test.field, fields) for rule in self._plan.rules for test in rule.tests
        }
        said = ", ".join(f"{name} = {shown(what)}" for name, what in named.items())
        hint = 'add a table [[event]] for such rows, or write others = "ignore" at the top'
        raise NotTakenError("T028", f"no event takes this row ({said})", hint)

    def _translated(self, rule: Rule, fields: Fields) -> Row:
        kind = self._required(rule.kind, fields)
        if not isinstance(kind, str):
            raise RowError("T013", f"the event is {shown(kind)}", "it is one of send, deliver and so on")
        row: Row = {"event": kind}
        for name, reader in rule.columns.items():
            if kind in _ONLY_OF.get(name, (kind,)) and name != "message":
                row[name] = self._read(name, reader, fields)
        for name in ("execution", "entity"):
            if row[name] is None:
                self._required(rule.columns[name], fields)
        if kind not in MESSAGELESS:
            row["message"] = self._message(rule, fields, row)
            self._address(rule, row)
        for name, attribute in rule.attributes.items():
            here = value(attribute, fields)
            # A state may have lists, which no other column has.
            is_json = name.startswith(STATE) and isinstance(here, list | dict)
            row[name] = msgspec.json.encode(here).decode() if is_json else here
        if row.get("group") is None and (groups := self._plan.groups.get(str(row["entity"]))):
            row["group"] = groups
        return {name: each for name, each in row.items() if each is not None}

    def _required(self, reader: Reader, fields: Fields) -> object:
        here = self._read("", reader, fields)
        if here is None:
            absent = next(each for each in fields_of(reader) if found(each, fields) is None)
            raise missing(absent, fields)
        return here

    def _read(self, name: str, reader: Reader, fields: Fields) -> object:
        match reader:
            case TimeReader(source, form):
                here = value(source, fields)
                return here if form is None or here is None else time_of(here, form)
            case ListReader(source, separator):
                return _ids(value(source, fields), separator)
            case NthReader() | Everybody():
                return None
            case Field() | Template() | Constant():
                here = value(reader, fields)
                return _cell(name, here) if isinstance(here, str) else here
            case _:
                assert_never(reader)

    def _message(self, rule: Rule, fields: Fields, row: Row) -> object:
        reader = rule.columns["message"]
        if isinstance(reader, NthReader):
            return self._counted(reader, fields, row)
        name = self._required(reader, fields)
        if isinstance(reader, Template) and not decodes_once(reader, str(name)):
            values = values_in(reader, fields)
            if self._named.setdefault((reader.shape, str(name)), values) != values:
                said = f"two messages are called {shown(name)}: their fields have the separators in them"
                raise unfit(said, "separate the fields by something that they do not have in them, such as |")
        return name

    def _counted(self, reader: NthReader, fields: Fields, row: Row) -> str:
        kind, entity = str(row["event"]), str(row["entity"])
        if kind not in COUNTED:
            hint = "only sends, arrivals and deliveries are counted: use tables [[event]]"
            raise unfit(f"the k-th {kind} of a channel may be of any message", hint)
        values = [id_text(self._required(each, fields), f"the field {each.name}") for each in reader.channel]
        channel = (str(row["execution"]), *values)
        if kind == SEND and self._senders.setdefault(channel, entity) != entity:
            said = f"{self._senders[channel]} and {entity} send on the channel {', '.join(values)}"
            raise unfit(f"{said}: nobody knows whose message is the k-th", "name the sender in `nth`, too")
        counter = (kind, "" if kind == SEND else entity, *channel)
        self._counts[counter] += 1
        # Quoted, so that two channels never have one name.
        return f"{'/'.join(quote(each, safe='') for each in values)}#{self._counts[counter]}"

    def _address(self, rule: Rule, row: Row) -> None:
        """Whom a send is for, and who sent what is delivered, where the log does not say."""
        message = (str(row["execution"]), str(row["message"]))
        if row["event"] == SEND:
            if self._remembers:
                self._sent.add(message)
            if row.get("dest") is None and not isinstance(rule.columns.get("dest"), Everybody):
                row["dest"] = list(TO_SOMEBODY)
        elif row["event"] in RECEIVED and row.get("sender") is None and message not in self._sent:
            row["sender"] = SOMEBODY


def _ids(here: object, separator: str | None) -> object:
    match here:
        case None | "":
            return None
        case str() if separator is not None:
            return [part.strip() for part in here.split(separator)]
        case list():
            return here
        case bool() | dict():
            raise RowError(
                "T012", f"a list of ids is {shown(here)}", "it is a list, or a text with a separator"
            )
        case _:
            return [here]


def _cell(name: str, text: str) -> object:
    """A text as the column of a trace has it, where that is no text."""
    return cell_parser(name)(text) if name in ("seq", "clock", REDELIVERED) else text
