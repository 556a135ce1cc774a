"""What a mapping comes to: rules that take rows of a log, in order, and what each column of a trace reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, assert_never

from precedes.core.execution import WITHOUT_MESSAGE, EventKind
from precedes.core.suggestions import did_you_mean
from precedes.traces.foreign.mapping import definition as given
from precedes.traces.foreign.mapping.definition import (
    EventRows,
    ListOf,
    Match,
    MessageOf,
    Stated,
    Step,
    TimeOf,
    ValueOf,
)
from precedes.traces.foreign.mapping.fields import (
    BadEntryError,
    Constant,
    Expression,
    Field,
    Fields,
    Template,
    expression,
    fields_in,
    found,
    plain,
)
from precedes.traces.foreign.mapping.inputs import LINE, compiled, cut, kind_of
from precedes.traces.foreign.mapping.times import TimeFormat, time_format
from precedes.traces.foreign.rows import TO_SOMEBODY, entity_of, execution_of
from precedes.traces.schema import INPUT_COLUMNS, STATE
from precedes.traces.sources import TraceSource

SEND: Final = EventKind.SEND.value
RECEIVED: Final = frozenset({EventKind.DELIVER.value, EventKind.ARRIVE.value})
MESSAGELESS: Final = frozenset(kind.value for kind in WITHOUT_MESSAGE)
WITH_MESSAGE: Final = frozenset(kind.value for kind in EventKind) - MESSAGELESS
COUNTED: Final = RECEIVED | {SEND}
"""The events that can be the k-th of a channel."""


@dataclass(frozen=True, slots=True)
class TimeReader:
    """A time and how it is written; without a format, as a trace has it."""

    source: Expression
    form: TimeFormat | None


@dataclass(frozen=True, slots=True)
class ListReader:
    """A list of ids; a text is cut where the separator stands."""

    source: Expression
    separator: str | None


@dataclass(frozen=True, slots=True)
class NthReader:
    """The number of a message among those of the channel that some fields name."""

    channel: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Everybody:
    """Every entity of the execution."""


Reader: TypeAlias = Expression | TimeReader | ListReader | NthReader | Everybody


@dataclass(frozen=True, slots=True)
class Test:
    """What a field must be: present or not, one of some texts, or a text in which a pattern is found."""

    field: Field
    present: bool | None = None
    among: frozenset[str] | None = None
    pattern: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """The rows of one kind of event, and what their columns read."""

    kind: Expression
    tests: tuple[Test, ...]
    columns: Mapping[str, Reader]
    attributes: Mapping[str, Expression]

    @property
    def finds(self) -> frozenset[str]:
        """The fields that its patterns find."""
        return frozenset(
            name for test in self.tests if test.pattern is not None for name in test.pattern.groupindex
        )

    def needs(self, name: str) -> bool:
        """Whether its rows must have what a column reads."""
        without = isinstance(self.kind, Constant) and self.kind.value in MESSAGELESS
        return name in ("entity", "execution", "event") or (name == "message" and not without)

    def takes(self, row: Fields) -> Fields | None:
        """The row, with what patterns found in it; None if it is no row of this rule."""
        more: dict[str, object] = {}
        for test in self.tests:
            text = plain(here := found(test.field, row))
            if test.present is not None and test.present != (here is not None):
                return None
            if test.among is not None and text not in test.among:
                return None
            if test.pattern is not None:
                fits = None if text is None else test.pattern.search(text)
                if fits is None:
                    return None
                more |= {name: part for name, part in fits.groupdict().items() if part}
        return {**row, **more} if more else row


@dataclass(frozen=True, slots=True)
class Plan:
    """A mapping that makes sense: the rules in the order in which they are asked, and the groups of entities."""

    rules: tuple[Rule, ...]
    ignores: bool
    groups: Mapping[str, list[str]]

    def sends(self) -> bool:
        """Whether some row may be a send."""
        return any(rule.kind == Constant(SEND) or not isinstance(rule.kind, Constant) for rule in self.rules)


def planned(stated: Stated, source: TraceSource) -> Plan:
    """The plan of a mapping for a file. Raises PrecedesError (U006)."""
    mapping = stated.mapping
    known = (
        frozenset({LINE, *getattr(cut(stated), "names", ())}) if kind_of(stated, source) == "text" else None
    )
    match mapping.event:
        case None:
            hint = (
                'write event = "FIELD", event = {const = "deliver"}, or tables [[event]] with `is` and `when`'
            )
            raise stated.mistake("nothing says which rows are which events", (), hint)
        case tuple(events):
            if not events:
                raise stated.mistake("there is no event", ("event",), "write a table [[event]] with `is`")
            rules = tuple(_rule(stated, source, each, ("event", k)) for k, each in enumerate(events))
        case event:
            kind = _expression(stated, event, ("event",))
            rules = (Rule(kind, (), _columns(stated, source, None), _attributes(stated, source, None)),)
    for k, rule in enumerate(rules):
        at: tuple[Step, ...] = ("event", k) if isinstance(mapping.event, tuple) else ()
        _check(stated, rule, at)
    if known is not None:
        _check_fields(stated, rules, known)
    groups: dict[str, list[str]] = {}
    for group, members in mapping.groups.items():
        for member in members:
            groups.setdefault(str(member), []).append(group)
    return Plan(rules, mapping.others == "ignore", groups)


def _rule(stated: Stated, source: TraceSource, event: EventRows, at: tuple[Step, ...]) -> Rule:
    tests = tuple(_test(stated, name, what, (*at, "when", name)) for name, what in event.when.items())
    own = (event, at)
    return Rule(Constant(event.kind), tests, _columns(stated, source, own), _attributes(stated, source, own))


def _test(stated: Stated, name: str, what: given.Condition, at: tuple[Step, ...]) -> Test:
    here = _field(stated, name, at)
    match what:
        case Match(matches=None, present=None):
            raise stated.mistake("this condition asks for nothing", at, "write `matches` or `present`")
        case Match(matches=matches, present=present):
            return Test(here, present, None, None if matches is None else compiled(stated, matches, at))
        case tuple():
            return Test(here, among=frozenset(plain(each) or "" for each in what))
        case str() | int():
            return Test(here, among=frozenset({plain(what) or ""}))
        case _:
            assert_never(what)


Own: TypeAlias = tuple[EventRows, tuple[Step, ...]] | None
"""A table of events and its place, if the columns are those of one."""


def _columns(stated: Stated, source: TraceSource, own: Own) -> dict[str, Reader]:
    readers: dict[str, Reader] = {}
    for name in INPUT_COLUMNS:
        if name == "event":
            continue
        entry: object = getattr(stated.mapping, name)
        at: tuple[Step, ...] = (name,)
        if own is not None and (mine := getattr(own[0], name)) is not None:
            entry, at = mine, (*own[1], name)
        if entry is not None:
            readers[name] = _reader(stated, source, name, entry, at)
    if "execution" not in readers:
        readers["execution"] = Constant(execution_of(replace(source, settings=())))
    return readers


def _attributes(stated: Stated, source: TraceSource, own: Own) -> dict[str, Expression]:
    """What messages carry, and the fields of states that are asked for."""
    found: dict[str, tuple[str | ValueOf, tuple[Step, ...]]] = {
        name: (entry, ("attributes", name)) for name, entry in stated.mapping.attributes.items()
    }
    if own is not None:
        event, at = own
        found |= {name: (entry, (*at, "attributes", name)) for name, entry in event.attributes.items()}
    for name, (_, at) in found.items():
        if name in INPUT_COLUMNS:
            raise stated.mistake(
                f"{name} is a column of the trace, not an attribute", at, f"write {name} = ... above"
            )
    found |= {
        f"{STATE}{name}": (entry, ("state", name))
        for name, entry in stated.mapping.state.items()
        if source.reads(f"{STATE}{name}")
    }
    if own is not None:
        found |= {
            f"{STATE}{name}": (entry, (*own[1], "state", name))
            for name, entry in own[0].state.items()
            if source.reads(f"{STATE}{name}")
        }
    return {name: _expression(stated, entry, at) for name, (entry, at) in found.items()}


def _reader(stated: Stated, source: TraceSource, name: str, entry: object, at: tuple[Step, ...]) -> Reader:
    match entry:
        case given.UNKNOWN_WORD if name == "dest":
            return Constant(list(TO_SOMEBODY))
        case given.EVERYBODY_WORD if name == "dest":
            return Everybody()
        case str() if name in ("dest", "members", "group"):
            return ListReader(_text(stated, entry, at), None)
        case str() if name == "time":
            return TimeReader(_text(stated, entry, at), None)
        case str():
            return _text(stated, entry, at)
        case ValueOf(file=True, field=None, const=None) if name in ("entity", "execution"):
            # Here a setting is an entry, not a name.
            plain_source = replace(source, settings=())
            return Constant(entity_of(plain_source) if name == "entity" else execution_of(plain_source))
        case ValueOf():
            return _expression(stated, entry, at)
        case TimeOf():
            try:
                return TimeReader(_text(stated, entry.field, at), time_format(entry.format, entry.zone))
            except BadEntryError as error:
                raise stated.mistake(error.message, (*at, "format"), error.hint) from error
        case ListOf():
            return _list(stated, entry, at)
        case MessageOf():
            return _message(stated, source, entry, at)
        case _:
            raise AssertionError(entry)


def _list(stated: Stated, entry: ListOf, at: tuple[Step, ...]) -> Reader:
    if (entry.field is None) == (entry.const is None):
        raise stated.mistake(
            "a list is a field or a constant", at, 'write {field = "..."} or {const = ["..."]}'
        )
    if entry.const is not None:
        return Constant(list(entry.const))
    if entry.separator == "":
        raise stated.mistake("the separator is empty", at, 'such as separator = ","')
    return ListReader(_text(stated, entry.field or "", at), entry.separator)


def _message(stated: Stated, source: TraceSource, entry: MessageOf, at: tuple[Step, ...]) -> Reader:
    if (entry.field is None) == (entry.nth is None):
        raise stated.mistake(
            "a message has a name or a number", at, 'write {field = "..."} or {nth = ["..."]}'
        )
    if entry.nth is None:
        return _text(stated, entry.field or "", at)
    if not entry.nth:
        raise stated.mistake(
            "nth names no field", at, 'name what makes a channel, such as nth = ["producer", "topic"]'
        )
    if not (source.only or entry.whole_files):
        said = "messages are counted in each file, and there are several"
        hint = (
            "if every file has all events of its entities from the first one on, write whole_files = true;"
            " else join the files of an entity"
        )
        raise stated.mistake(said, at, hint)
    return NthReader(tuple(_field(stated, name, at) for name in entry.nth))


def _expression(stated: Stated, entry: str | ValueOf, at: tuple[Step, ...]) -> Expression:
    if isinstance(entry, str):
        return _text(stated, entry, at)
    if entry.file is not None:
        raise stated.mistake("only an entity or an execution can be the name of the file", at)
    if (entry.field is None) == (entry.const is None):
        raise stated.mistake(
            "this is neither a field nor a constant", at, 'write {field = "..."} or {const = "..."}'
        )
    return Constant(entry.const) if entry.field is None else _text(stated, entry.field, at)


def _text(stated: Stated, text: str, at: tuple[Step, ...]) -> Expression:
    try:
        return expression(text)
    except BadEntryError as error:
        raise stated.mistake(error.message, at, error.hint) from error


def _field(stated: Stated, name: str, at: tuple[Step, ...]) -> Field:
    here = _text(stated, name, at)
    if not isinstance(here, Field):
        raise stated.mistake(f"{name} is not a field", at, "a template cannot stand here")
    return here


def _check(stated: Stated, rule: Rule, at: tuple[Step, ...]) -> None:
    """That a rule has what its events need."""
    kind = rule.kind.value if isinstance(rule.kind, Constant) else None
    if "entity" not in rule.columns:
        hint = "name the field that says where it happened; {file = true} is the name of the file"
        raise stated.mistake("nothing says at which entity an event happened", (*at, "entity"), hint)
    if "message" not in rule.columns and kind not in MESSAGELESS:
        hint = "name the field, or a template such as {topic}-{partition}@{offset}"
        raise stated.mistake(f"nothing names the messages of {kind or 'events'}", (*at, "message"), hint)
    if (
        isinstance(rule.columns.get("message"), NthReader)
        and kind is not None
        and kind in WITH_MESSAGE - COUNTED
    ):
        hint = "only sends, arrivals and deliveries are counted: give these events a message of their own"
        raise stated.mistake(f"the k-th {kind} of a channel may be of any message", (*at, "message"), hint)


def _check_fields(stated: Stated, rules: Sequence[Rule], known: frozenset[str]) -> None:
    """That what rules read is found in the text: by patterns of the same event what the event states or needs, by those
    of any event what may be absent and stands at the top.
    """
    events = stated.mapping.event if isinstance(stated.mapping.event, tuple) else ()
    finds = [known | rule.finds for rule in rules]
    anywhere = known.union(*finds)
    for k, rule in enumerate(rules):
        for name, reader in (*rule.columns.items(), *rule.attributes.items(), ("event", rule.kind)):
            steps = _entry_of(name, rule)
            own = events and _states(events[k], steps)
            found_here = finds[k] if own or rule.needs(name) else anywhere
            for each in fields_of(reader):
                if each.name in found_here:
                    continue
                elsewhere = each.name in anywhere
                which = "only patterns of other events find" if elsewhere else "no pattern finds"
                hint = did_you_mean(each.name, found_here) or f"fields are {', '.join(sorted(found_here))}"
                if own:
                    steps = ("event", k, *steps)
                elif elsewhere:
                    hint = f"write {name} = ... in each [[event]]"
                    steps = ("event", k)
                raise stated.mistake(f"{name} reads {each.name}, which {which}", steps, hint)


def _entry_of(name: str, rule: Rule) -> tuple[Step, ...]:
    """The entry that says what a rule reads."""
    if name not in rule.attributes:
        return (name,)
    return ("state", name.removeprefix(STATE)) if name.startswith(STATE) else ("attributes", name)


def _states(event: EventRows, steps: tuple[Step, ...]) -> bool:
    """Whether a table of events has an entry of its own."""
    match steps:
        case ("attributes", name):
            return name in event.attributes
        case ("state", name):
            return name in event.state
        case (str(name),):
            return name != "event" and getattr(event, name) is not None
        case _:
            raise AssertionError(steps)


def fields_of(reader: Reader) -> Iterator[Field]:
    match reader:
        case TimeReader(source, _) | ListReader(source, _):
            yield from fields_in(source)
        case NthReader(channel):
            yield from channel
        case Everybody():
            pass
        case Field() | Template() | Constant():
            yield from fields_in(reader)
        case _:
            assert_never(reader)
