"""The file of a mapping: what it may say, and what is wrong with it, in which line.

The types below define the format. Unknown keys and values of other types are errors. A text names a field of the log,
or is a template of fields. What is constant is written `{const = "..."}`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from precedes.core.diagnostics import Diagnostic, PrecedesError, Span
from precedes.core.suggestions import Synonyms, did_you_mean
from precedes.traces.formats.text_stream import reason
from precedes.traces.schema import INPUT_COLUMNS
from precedes.traces.sources import TraceSource

Scalar: TypeAlias = str | int | bool
Input: TypeAlias = Literal["json-lines", "json", "csv", "tsv", "text"]
EventName: TypeAlias = Literal[
    "send", "deliver", "arrive", "discard", "ack", "nack", "crash", "recover", "view", "local"
]
TIME_FORMATS: Final = ("epoch_s", "epoch_ms", "epoch_us", "epoch_ns", "rfc3339")

UNREAD: Final = "U005"
"""The mapping is not there, is not TOML, or has a key or a value that no mapping has."""
SENSELESS: Final = "U006"
"""The entries of the mapping do not fit together."""
UNFINISHED: Final = "U007"
"""The mapping was proposed, and somebody has to fill it in."""

TODO: Final = "TODO"
"""What a proposed mapping has where nothing could be guessed."""

UNKNOWN_WORD: Final = "unknown"
EVERYBODY_WORD: Final = "everybody"
"""What `dest` may be instead of a field."""


class ValueOf(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A field, a template, a constant, or the name of the file."""

    field: str | None = None
    const: Scalar | None = None
    file: Literal[True] | None = None


class TimeOf(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A field or a template that holds a time, and how it is written."""

    field: str
    format: str | None = None
    zone: str | None = None


class ListOf(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A list of ids: a field that is one, a text that has some, or a constant."""

    field: str | None = None
    separator: str | None = None
    const: tuple[str | int, ...] | None = None


class MessageOf(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The name of a message: a field or a template, or its number among those of a channel."""

    field: str | None = None
    nth: tuple[str, ...] | None = None
    whole_files: bool = False


class Match(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a field must look like."""

    matches: str | None = None
    present: bool | None = None


Condition: TypeAlias = str | int | bool | tuple[Scalar, ...] | Match


class Columns(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The columns of a trace, and where their values come from."""

    execution: str | ValueOf | None = None
    entity: str | ValueOf | None = None
    seq: str | ValueOf | None = None
    message: str | MessageOf | None = None
    dest: str | ListOf | None = None
    sender: str | ValueOf | None = None
    time: str | TimeOf | None = None
    clock: str | ValueOf | None = None
    redelivered: str | ValueOf | None = None
    view: str | ValueOf | None = None
    members: str | ListOf | None = None
    group: str | ListOf | None = None
    attributes: dict[str, str | ValueOf] = {}
    state: dict[str, str | ValueOf] = {}


class EventRows(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rows that are events of one kind. Its columns count before those of the whole mapping."""

    kind: EventName = msgspec.field(name="is")
    when: dict[str, Condition] = {}


class Mapping(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the rows of a log become rows of a trace."""

    input: Input | None = None
    pattern: str | None = None
    dissect: str | None = None
    begins: str | None = None
    rows: str | None = None
    delimiter: str | None = None
    header: tuple[str, ...] | None = None
    event: str | ValueOf | tuple[EventRows, ...] | None = None
    others: Literal["error", "ignore"] = "error"
    groups: dict[str, tuple[str | int, ...]] = {}


Step: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class Stated:
    """A mapping as somebody wrote it: its values, and the text in which mistakes have their lines."""

    mapping: Mapping
    path: str | None = None
    text: str = ""

    def mistake(
        self, message: str, steps: Sequence[Step], hint: str | None = None, code: str = SENSELESS
    ) -> PrecedesError:
        """What is wrong with an entry, to be raised."""
        return mistake(self.path, self.text, Diagnostic(code, message, hint=hint), steps)


def mistake(path: str | None, text: str, said: Diagnostic, steps: Sequence[Step]) -> PrecedesError:
    """A mistake at the place of an entry, to be raised."""
    span = _place(text, steps)
    line = None if span is None else text.splitlines()[span.line - 1]
    where = path or "mapping"
    placed = Diagnostic(said.code, said.message, where, span, line, said.hint)
    return PrecedesError((placed,))


def stated(source: TraceSource) -> Stated:
    """The mapping that the settings of a source name or give. Raises PrecedesError (U005, U007)."""
    path = source.setting("file") or None
    entries = {name: value for name, value in source.settings if name != "file"}
    if path is None and not entries:
        hint = "--mapping FILE names one; `precedes map SAMPLE` proposes one"
        raise PrecedesError((Diagnostic(UNREAD, "no mapping says how this log is read", hint=hint),))
    carried = source.text("file")
    text = carried if carried is not None else "" if path is None else text_of(path)
    return of_table({**_table(path, text), **_settings(entries)}, path, text)


def state_fields(path: str) -> tuple[str, ...]:
    """The fields of states that the file of a mapping says where to read. Raises PrecedesError (U005, U007)."""
    text = text_of(path)
    mapping = of_table(_table(path, text), path, text).mapping
    events = mapping.event if isinstance(mapping.event, tuple) else ()
    return tuple(dict.fromkeys(name for each in (mapping, *events) for name in each.state))


def of_table(table: dict[str, Any], path: str | None, text: str) -> Stated:
    """A mapping of the values of a TOML file. Raises PrecedesError (U005, U007)."""
    todo = _unfinished(table, ())
    if todo is not None:
        said = f"{_named(todo)} is still {TODO}"
        hint = "put what is right in its place; the comments beside it say what to look for"
        raise mistake(path, text, Diagnostic(UNFINISHED, said, hint=hint), todo)
    try:
        return Stated(msgspec.convert(table, Mapping), path, text)
    except msgspec.ValidationError as error:
        raise _unfit(path, text, str(error)) from error


def text_of(path: str) -> str:
    """The text of the file of a mapping. Raises PrecedesError (U005)."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        said = Diagnostic(UNREAD, "the mapping is not UTF-8", path, hint="write it as UTF-8")
        raise PrecedesError((said,)) from error
    except OSError as error:
        said = Diagnostic(UNREAD, f"the mapping cannot be read: {reason(error)}", path)
        raise PrecedesError((said,)) from error


def _table(path: str | None, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"line (\d+), column (\d+)", str(error))
        span = None if found is None else Span(int(found[1]), int(found[2]), int(found[2]) + 1)
        lines = text.splitlines()
        line = lines[span.line - 1] if span is not None and span.line <= len(lines) else None
        said = re.sub(r" \(at .*\)$", "", str(error))
        hint = r"""write a regular expression in single quotes: '\d+'""" if "escape" in said else None
        raise PrecedesError((Diagnostic(UNREAD, f"not TOML: {said}", path, span, line, hint),)) from error


def _settings(entries: dict[str, str]) -> dict[str, Any]:
    """Entries as settings give them: TOML where it is a list, a table, true or false, else a text."""
    found: dict[str, Any] = {}
    for name, value in entries.items():
        if value.startswith(("{", "[", '"', "'")) or value in ("true", "false"):
            try:
                found[name] = tomllib.loads(f"value = {value}")["value"]
            except tomllib.TOMLDecodeError as error:
                if value.startswith("{"):
                    # A template begins like a table.
                    found[name] = value
                    continue
                said = f"the setting {name} is not TOML: {error}"
                raise PrecedesError((Diagnostic(UNREAD, said),)) from error
        else:
            found[name] = value
    return found


def _unfinished(value: object, steps: tuple[Step, ...]) -> tuple[Step, ...] | None:
    """Where a mapping has something that somebody must fill in, if it has."""
    match value:
        case str():
            return steps if value == TODO else None
        case dict():
            inner = [(key, each) for key, each in value.items()]
            here = (*steps, TODO) if TODO in value else None
        case list():
            inner, here = list(enumerate(value)), None
        case _:
            return None
    found = (_unfinished(each, (*steps, key)) for key, each in inner)
    return here or next((each for each in found if each is not None), None)


_UNKNOWN_KEY: Final = re.compile(r"unknown field `(?P<key>[^`]+)`")
_NO_WORD: Final = re.compile(r"invalid enum value '(?P<word>[^']*)'", re.IGNORECASE)
_STEP: Final = re.compile(r"\[(?P<number>\d+)\]|\[\.\.\.\]|(?P<key>[^.\[\]]+)")
_MEANT: Final[Synonyms] = {
    ("format", "type", "source", "kind"): ("input",),
    ("regex", "regexp", "grok", "re"): ("pattern",),
    ("process", "node", "host", "consumer", "client", "actor"): ("entity",),
    ("id", "message_id", "messages", "msg"): ("message",),
    ("timestamp", "ts", "at", "date"): ("time",),
    ("destination", "destinations", "to", "receivers", "recipients"): ("dest",),
    ("from", "producer", "origin"): ("sender",),
    ("run", "trace", "test"): ("execution",),
    ("attribute", "columns", "fields"): ("attributes",),
    ("events",): ("event",),
    ("states",): ("state",),
    ("where", "if", "match"): ("when",),
    ("event", "kind"): ("is",),
    ("regex", "regexp", "pattern", "like"): ("matches",),
    ("value", "constant"): ("const",),
    ("path", "column", "name"): ("field",),
    ("timezone", "tz"): ("zone",),
    ("split", "sep", "delimiter"): ("separator",),
}


def _unfit(path: str | None, text: str, said: str) -> PrecedesError:
    """What msgspec found, with the line of the file and what would be right."""
    message, _, place = said.partition(" - at `$")
    steps = _steps(place.rstrip("`"))
    unknown = _UNKNOWN_KEY.search(message)
    if unknown is not None:
        kind = _type_at(steps)
        known = [field.encode_name for field in msgspec.structs.fields(kind)]
        hint = did_you_mean(unknown["key"], known, _MEANT) or f"known here: {', '.join(known)}"
        where = f" in {_named(steps)}" if steps else ""
        said = f"unknown key {unknown['key']}{where}"
        return mistake(path, text, Diagnostic(UNREAD, said, hint=hint), (*steps, unknown["key"]))
    plain, word = _plain(message), _NO_WORD.search(message)
    no_field = _TABLE_HINT if "got a list" in plain or "got a number" in plain else None
    placed = Diagnostic(
        UNREAD, f"{_named(steps)}: {plain}", hint=no_field if word is None else _words(word["word"])
    )
    return mistake(path, text, placed, steps)


_TABLE_HINT: Final = "a text names a field; what is constant is written {const = ...}"
_TYPES: Final = {
    "str": "a text",
    "object": "a table",
    "array": "a list",
    "int": "a number",
    "bool": "true or false",
}


def _plain(message: str) -> str:
    """What msgspec says of types, in the words of TOML."""

    def either(found: re.Match[str]) -> str:
        names = [_TYPES.get(name, name) for name in found[1].split(" | ") if name != "null"]
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"

    return re.sub(r"`([\w |]+)`", either, f"{message[:1].lower()}{message[1:]}")


def _words(word: str) -> str:
    """What may stand where a word stands that may not."""
    for known in (get_args(EventName), get_args(Input), ("error", "ignore")):
        meant = did_you_mean(word, known)
        if meant is not None:
            return f"{meant} the words are {', '.join(known)}"
    return f"events are {', '.join(get_args(EventName))}; inputs are {', '.join(get_args(Input))}"


def _steps(place: str) -> tuple[Step, ...]:
    found: list[Step] = []
    for each in _STEP.finditer(place):
        if each["number"] is not None:
            found.append(int(each["number"]))
        elif each["key"] is not None:
            found.append(each["key"])
    return tuple(found)


def _type_at(steps: Sequence[Step]) -> type[Struct]:
    """The table that an unknown key stands in."""
    kind: type[Struct] = Mapping
    for step in steps:
        if step == "event" and len(steps) > 1:
            kind = EventRows
        elif isinstance(step, str) and step in (names := get_type_hints(kind)):
            kind = next(_structs(names[step]), kind)
    return kind


def _structs(kind: object) -> Any:
    """The tables that a type allows."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield kind
    elif get_origin(kind) is not Literal:
        for inner in get_args(kind):
            yield from _structs(inner)


def _named(steps: Sequence[Step]) -> str:
    """`event[2].time`: the place of an entry in words, counted from 1."""
    text = ""
    for step in steps:
        text += f"[{step + 1}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the mapping"


def _place(text: str, steps: Sequence[Step]) -> Span | None:
    """Where an entry stands: the last of its steps that is found in the lines of its table."""
    lines = list(_region(text.splitlines(), steps))
    for step in reversed(steps):
        if isinstance(step, int):
            continue
        word = re.compile(rf"(?<![\w.-]){re.escape(step)}(?![\w-])")
        for number, line in lines:
            found = word.search(line.partition("#")[0])
            if found is not None:
                return Span(number, found.start() + 1, found.end() + 1)
    return None if not lines or not steps else Span(lines[0][0], 1, len(lines[0][1]) + 1)


def _region(lines: Sequence[str], steps: Sequence[Step]) -> list[tuple[int, str]]:
    """The lines of the table that an entry stands in: an `[[event]]`, or all that stands in none."""
    wanted = next((step for step in steps[1:2] if isinstance(step, int) and steps[0] == "event"), None)
    seen, inside = -1, False
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        opened = re.match(r"\s*(\[\[?)\s*([\w.-]+)", line)
        if opened is not None:
            seen += opened[1] == "[[" and opened[2] == "event"
            inside = opened[2].partition(".")[0] == "event"
        if inside == (wanted is not None) and (wanted is None or seen == wanted):
            found.append((number, line))
    return found


def settings() -> dict[str, str]:
    """What a user may set: the file, or any entry of it."""
    entries = {name: f"the entry `{name}` of the mapping" for name in _entry_names()}
    return {"file": "the file of the mapping", **entries}


def _entry_names() -> list[str]:
    own = [field.encode_name for field in msgspec.structs.fields(Mapping)]
    return [*(name for name in own if name not in INPUT_COLUMNS), *(n for n in INPUT_COLUMNS if n in own)]
