"""The rows of a log by the names of their fields: JSON Lines, a JSON document, CSV, lines of text.

An empty cell of CSV, and an empty group of a pattern, is an absent field.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, assert_never

from precedes.core.diagnostics import PrecedesError
from precedes.core.suggestions import did_you_mean
from precedes.traces.foreign.mapping.definition import Input, Stated
from precedes.traces.foreign.mapping.fields import BadEntryError, Field, Fields, field, found, paths, unfit
from precedes.traces.foreign.rows import blocks, lines, lines_of, parsed, refused
from precedes.traces.formats import limits
from precedes.traces.formats.documents import document
from precedes.traces.formats.text_stream import as_text, opened, too_long
from precedes.traces.formats.values import RowError, json_row, shown
from precedes.traces.problems import some_columns
from precedes.traces.sources import STANDARD_INPUT, TraceSource

LINE: Final = "line"
"""The field that a line of text is, whatever its pattern."""

_BY_SUFFIX: Final[dict[str, Input]] = {
    ".jsonl": "json-lines",
    ".ndjson": "json-lines",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".log": "text",
    ".txt": "text",
}
_PACKED: Final = (".gz", ".zst")
_DELIMITERS: Final = {"csv": ",", "tsv": "\t"}
_LONGEST_DOCUMENT: Final = 4 * limits.LONGEST_RECORD
_BLOCK_BYTES: Final = 8 << 20
_JAVASCRIPT: Final = re.compile(r"(?P<escaped>\\[^k])|\(\?<(?=[A-Za-z_])|\\k<(?P<back>\w+)>")
_DISSECTED: Final = re.compile(r"%\{(?P<name>[^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression that a whole line must fit; its groups are the fields."""

    compiled: re.Pattern[str]
    text: str

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that it finds."""
        return tuple(self.compiled.groupindex)


@dataclass(frozen=True, slots=True)
class Part:
    """A field of a dissected line, with the text before it; `padded`: that text may be repeated after it."""

    before: str
    name: str
    padded: bool = False


@dataclass(frozen=True, slots=True)
class Dissection:
    """Fields between texts: each ends where the next text first stands."""

    parts: tuple[Part, ...]
    end: str
    text: str

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that it finds."""
        return tuple(part.name for part in self.parts if part.name)


Cut: TypeAlias = Pattern | Dissection | None
"""How a line of text is cut into fields; None: it is one."""


class NotTakenError(RowError):
    """A row that is no event: an error, unless the mapping ignores such rows."""


def kind_of(stated: Stated, source: TraceSource) -> Input:
    """What the file is, as stated or by its name. Raises PrecedesError (U006)."""
    if stated.mapping.input is not None:
        return stated.mapping.input
    if any(
        how is not None for how in (stated.mapping.pattern, stated.mapping.dissect, stated.mapping.begins)
    ):
        return "text"
    suffixes = [each.lower() for each in Path(source.path).suffixes if each.lower() not in _PACKED]
    kind = _BY_SUFFIX.get(suffixes[-1]) if suffixes else None
    if kind is None:
        hint = 'write input = "json-lines", "json", "csv", "tsv" or "text"'
        raise stated.mistake(f"the name {source.shown} does not say what it is", (), hint)
    return kind


def cut(stated: Stated) -> Cut:
    """How lines are cut. Raises PrecedesError (U006) for a pattern that is none."""
    mapping = stated.mapping
    if mapping.pattern is not None and mapping.dissect is not None:
        raise stated.mistake("there are a pattern and a dissect", ("dissect",), "leave one out")
    if mapping.pattern is not None:
        # Of a record of several lines, `.` is any character.
        flags = re.NOFLAG if mapping.begins is None else re.DOTALL
        return Pattern(compiled(stated, mapping.pattern, ("pattern",), flags), mapping.pattern)
    if mapping.dissect is None:
        return None
    parts: list[Part] = []
    before, at = "", 0
    for each in _DISSECTED.finditer(mapping.dissect):
        before, at = mapping.dissect[at : each.start()], each.end()
        if parts and not before:
            hint = "put a text between them, or use a pattern"
            raise stated.mistake("two fields have nothing between them", ("dissect",), hint)
        name = each["name"].removesuffix("->")
        if name.startswith(("+", "*", "&", "/")):
            hint = "use a pattern, or join fields in a template: {a} {b}"
            raise stated.mistake(f"%{{{name}}} is not understood", ("dissect",), hint)
        parts.append(Part(before, "" if name.startswith("?") else name, each["name"].endswith("->")))
    if not parts:
        raise stated.mistake("dissect names no field", ("dissect",), "write %{name} where a field stands")
    return Dissection(tuple(parts), mapping.dissect[at:], mapping.dissect)


def compiled(
    stated: Stated, text: str, steps: tuple[str | int, ...], flags: re.RegexFlag = re.NOFLAG
) -> re.Pattern[str]:
    """A regular expression with groups as Python or JavaScript names them. Raises PrecedesError (U006)."""

    def python(each: re.Match[str]) -> str:
        if each["escaped"] is not None:
            return each["escaped"]
        return "(?P<" if each["back"] is None else f"(?P={each['back']})"

    try:
        return re.compile(_JAVASCRIPT.sub(python, text), flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise stated.mistake(f"this is no regular expression: {error}", steps) from error


def records(source: TraceSource, stated: Stated) -> Iterator[tuple[int, Fields | RowError]]:
    """The rows of a log, each with its number in the file, or with what is wrong with it. Raises PrecedesError."""
    kind = kind_of(stated, source)
    if stated.mapping.begins is not None and kind != "text":
        raise stated.mistake(f"`begins` is for text, and this is {kind}", ("begins",), "leave it out")
    match kind:
        case "json-lines":
            yield from _json_lines(source)
        case "json":
            yield from _elements(source, stated)
        case "csv" | "tsv":
            yield from _cells(source, stated, stated.mapping.delimiter or _DELIMITERS[kind])
        case "text":
            how = cut(stated)
            for number, record in _texts(source, stated):
                yield number, _cut(record, how) if isinstance(record, str) else record
        case _:
            assert_never(kind)


def _json_lines(source: TraceSource) -> Iterator[tuple[int, Fields | RowError]]:
    """The lines that are not blank. Raises PrecedesError (T009) where all of them are one document."""
    first = True
    for block in blocks(source):
        for number, line in lines_of(block):
            if not line.strip():
                continue
            row = _json_row(line)
            if first and isinstance(row, RowError):
                found = document(block.lines.decode(), block.first_line, first=True)
                if found is not None:
                    hint = 'write input = "json" in the mapping'
                    raise refused(source, found.line, RowError("T009", found.error.message, hint))
            yield number, row
            first = False


def _json_row(line: str) -> Fields | RowError:
    try:
        return json_row(line)
    except RowError as error:
        return error


def _texts(source: TraceSource, stated: Stated) -> Iterator[tuple[int, str | RowError]]:
    """The lines of a text that are not blank; or its records, each from a line that begins one to the next such line,
    without blank lines at its end. Raises PrecedesError.
    """
    if stated.mapping.begins is None:
        yield from ((number, line) for number, line in lines(source) if line.strip())
        return
    begins = compiled(stated, stated.mapping.begins, ("begins",))
    first, size, record = 0, 0, list[str]()
    for number, line in lines(source):
        if begins.match(line):
            if record:
                yield first, "\n".join(record).rstrip()
            first, size, record = number, 0, []
        elif not record:
            if line.strip():
                said = f"no record has begun before {shown(line)}"
                yield number, NotTakenError("T028", said, "`begins` finds the first line of each record")
            continue
        record.append(line)
        size += len(line)
        if size > limits.LONGEST_RECORD:
            raise refused(source, first, too_long("`begins` finds the first line of each record"))
    if record:
        yield first, "\n".join(record).rstrip()


def _elements(source: TraceSource, stated: Stated) -> Iterator[tuple[int, Fields | RowError]]:
    document = _document(source)
    where = stated.mapping.rows
    try:
        path = None if where is None else field(where)
    except BadEntryError as error:
        raise stated.mistake(error.message, ("rows",), error.hint) from error
    rows = document if path is None else found(path, document) if isinstance(document, dict) else None
    if not isinstance(rows, list):
        inside = [name for name, value in paths(document) if isinstance(value, list)]
        hint = f'write rows = "{inside[0]}"' if inside else "`rows` names the list; JSON Lines are json-lines"
        said = (
            "this document is no list of rows"
            if where is None
            else f"there is no list {where} in this document"
        )
        raise refused(source, 1, RowError("T009", said, hint))
    for number, row in enumerate(rows, 1):
        bad = RowError("T007", f"this row is {shown(row)}, not a JSON object")
        yield number, row if isinstance(row, dict) else bad


def _document(source: TraceSource) -> Any:
    blocks, held = [], 0
    with opened(source) as stream:
        while block := stream.read(_BLOCK_BYTES):
            blocks.append(block)
            held += len(block)
            if held > _LONGEST_DOCUMENT:
                said = f"this document has more than {_LONGEST_DOCUMENT >> 20} MiB"
                raise refused(source, 1, RowError("T007", said, "write one JSON object on each line"))
    text = b"".join(blocks)
    as_text(text, source.shown, 1)
    try:
        return parsed(source, 1, text.decode())
    except PrecedesError as error:
        second = text.lstrip().partition(b"\n")[2].lstrip()
        if second.startswith(b"{") and not text.lstrip().startswith(b"["):
            hint = 'if each line is an object, write input = "json-lines" in the mapping'
            raise refused(source, 1, RowError("T009", "this is not one JSON document", hint)) from error
        raise


def _cells(source: TraceSource, stated: Stated, delimiter: str) -> Iterator[tuple[int, Fields | RowError]]:
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise stated.mistake(f"the delimiter {shown(delimiter)} is not one letter", ("delimiter",))
    header = list(stated.mapping.header or ())
    reader = csv.reader((f"{line}\n" for _, line in lines(source)), delimiter=delimiter, strict=True)
    number = 0
    while True:
        number += 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            said = RowError("T007", f"this is not CSV: {error}", "a file that was cut off looks like this")
            raise refused(source, number, said) from error
        if not record:
            continue
        if not header:
            header = _header(source, record, number)
        elif len(record) != len(header):
            yield number, RowError("T017", f"this row has {len(record)} cells, the header {len(header)}")
        else:
            yield number, {name: cell for name, cell in zip(header, record, strict=True) if cell}


def _header(source: TraceSource, record: list[str], number: int) -> list[str]:
    twice = sorted({name for name in record if record.count(name) > 1})
    if twice:
        said = RowError("T008", f"the column {shown(twice[0])} occurs twice in the header")
        raise refused(source, number, said)
    return record


def _cut(line: str, how: Cut) -> Fields | RowError:
    match how:
        case None:
            return {LINE: line}
        case Pattern(regex, _):
            fits = regex.fullmatch(line)
            if fits is None:
                return NotTakenError(
                    "T028", f"the pattern does not fit {shown(line)}", "it must fit the whole line"
                )
            return {LINE: line, **{name: text for name, text in fits.groupdict().items() if text}}
        case Dissection():
            return _dissected(line, how)
        case _:
            assert_never(how)


def _dissected(line: str, how: Dissection) -> Fields | RowError:
    values: dict[str, object] = {LINE: line}
    at, fits = len(how.parts[0].before), line.startswith(how.parts[0].before)
    for part, following in zip(how.parts, (*how.parts[1:], None), strict=True):
        after = how.end if following is None else following.before
        end = line.find(after, at) if after else len(line)
        if following is None and after and end >= 0 and end + len(after) != len(line):
            end = -1
        if not fits or end < 0:
            return NotTakenError(
                "T028", f"{how.text} does not fit {shown(line)}", "it must fit the whole line"
            )
        if part.name and line[at:end]:
            values[part.name] = line[at:end]
        at = end + len(after)
        while part.padded and after and line.startswith(after, at):
            at += len(after)
    return values


def missing(name: Field, row: Fields) -> RowError:
    """What is wrong with a row that lacks a field that must be there."""
    names = [each for each, _ in paths(row)]
    hint = did_you_mean(name.name, names) or f"it has {some_columns(names)}"
    return unfit(f"this row has no field {name.name}", hint)


def ends_within_a_line(source: TraceSource) -> bool:
    """Whether the last line of a text has no end. Of standard input, which is read once, nobody knows it."""
    if source.path == STANDARD_INPUT:
        return False
    last = b"\n"
    with opened(source) as stream:
        while block := stream.read(_BLOCK_BYTES):
            last = block[-1:]
    return last != b"\n"
