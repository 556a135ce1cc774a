"""Files that are not what their name says: one JSON document, another format, another encoding.

Such a file gets one message that names the format, instead of one message for each broken row.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from precedes.core.counts import counted
from precedes.traces.formats.values import RowError

_SIGNATURES: Final = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "a ZIP archive",
    b"PAR1": "Parquet",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"ORC": "ORC",
    b"Obj\x01": "Avro",
    b"ARROW1": "Arrow",
}
_MARKS: Final = {
    b"\xff\xfe\x00\x00": "UTF-32LE",
    b"\x00\x00\xfe\xff": "UTF-32BE",
    b"\xff\xfe": "UTF-16LE",
    b"\xfe\xff": "UTF-16BE",
}
"""Byte order marks, the longer ones first."""
_ZEROS: Final = {"x0x0": "UTF-16LE", "0x0x": "UTF-16BE", "x000": "UTF-32LE", "000x": "UTF-32BE"}
"""Which of the first four bytes are zero where the first letters are ASCII, as they are in JSON and in CSV."""
_LOOKED_AT: Final = 256
_NAMED_LIKE: Final = {"gzip": ".gz", "zstd": ".zst", "Parquet": ".parquet"}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ONE_LINE_EACH: Final = "write one object per line; jq does that: jq -c"


def disguise(start: bytes, path: str) -> RowError | None:
    """What a file is by its first bytes, if these are not those of UTF-8 text."""
    binary = any(byte < ord("\t") for byte in start[:_LOOKED_AT])
    for signature, kind in _SIGNATURES.items():
        # Some are letters, which a header may begin with.
        if start.startswith(signature) and (binary or not signature.isascii()):
            named = _NAMED_LIKE.get(kind)
            if named is None:
                hint = "unpack or convert it"
            elif path.lower().endswith(named):
                hint = f"{kind} is read as it is, without a mapping and without --from"
            else:
                hint = f"give it a name that ends in {named}"
            return RowError("T009", f"the first bytes say that this file is {kind}, not text", hint)
    encoding = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if encoding is None:
        encoding = _ZEROS.get("".join("0" if byte == 0 else "x" for byte in start[:4]))
    if encoding is None:
        return None
    return RowError(
        "T006", f"this file is {encoding} text", f"write it as UTF-8: iconv -f {encoding} -t UTF-8"
    )


@dataclass(frozen=True, slots=True)
class Document:
    """JSON that is more than a line: what is said of it, and the line of the file where it begins."""

    line: int
    error: RowError


def document(text: str, line: int, *, first: bool) -> Document | None:
    """The document that begins where text does, at a line of a file that is not a row.

    `first`: nothing comes before it, so that an array on one line is all of the file and not a mistake in a row.
    """
    start = text.lstrip(" \t\r\n\ufeff")
    line += text[: len(text) - len(start)].count("\n")
    if not start.startswith(("[", "{")):
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(start)
    except (ValueError, RecursionError):
        return _open(start, line)
    lines = start.count("\n", 0, end)
    if not lines and not (first and isinstance(value, list)):
        return None
    over = f" over lines {line} to {line + lines}" if lines else ""
    if isinstance(value, list):
        values = counted(len(value), "value")
        said, words = f"this is one JSON array of {values}{over}, not JSON Lines", "'.[]'"
    else:
        said, words = f"this is one JSON object{over}, not JSON Lines", _rows(value, start[end:])
    return Document(line, RowError("T009", said, f"{_ONE_LINE_EACH} {words}"))


def _open(start: str, line: int) -> Document | None:
    """What is said of a document that has no end, here or at all."""
    opening = start.partition("\n")[0].rstrip()
    if not opening.endswith(("[", "{", ",")) or opening == start.rstrip():
        return None
    kind = "array" if opening.startswith("[") else "object"
    said = f"a JSON {kind} begins here that has its end on another line, or nowhere"
    words = "'.[]'" if kind == "array" else "."
    return Document(line, RowError("T009", said, f"{_ONE_LINE_EACH} {words}, if the file is whole"))


def _rows(value: dict[str, object], rest: str) -> str:
    """What jq is told to make lines of an object: of itself, or of the one list of objects in it."""
    lists = [name for name, inner in value.items() if isinstance(inner, list) and _objects(inner)]
    if rest.strip() or len(lists) != 1 or not _NAME.fullmatch(lists[0]):
        return "."
    return f"'.{lists[0]}[]'"


def _objects(values: list[object]) -> bool:
    return bool(values) and all(isinstance(value, dict) for value in values)
