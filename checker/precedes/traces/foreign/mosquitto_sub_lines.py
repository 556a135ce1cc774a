r"""Lines that mosquitto_sub prints with a format, such as `-F '%U %q %r %x %t'`, taken apart by that format.

What `formatted_print` of sub_client_output.c does, the other way round. A field of text ends where what follows it in
the format first stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from precedes.core.diagnostics import usage
from precedes.traces.foreign.rows import lines, refused
from precedes.traces.foreign.typed_fields import Fields, number
from precedes.traces.formats.values import RowError, shown
from precedes.traces.sources import TraceSource

_CONVERSION: Final = re.compile(
    r"%(?P<letter>.?)|@(?P<time>.?)|\\(?P<escape>.?)|(?P<text>[^%@\\]+)", re.DOTALL
)
_FIELDS: Final = {
    "t": "(?P<topic>.+?)",
    "q": "(?P<qos>[0-2])",
    "r": "(?P<retain>[01])",
    "l": "(?P<payloadlen>[0-9]+)",
    "p": "(?P<payload>.*?)",
    "x": "(?P<hex>(?:[0-9a-f]{2})*)",
    "X": "(?P<hex>(?:[0-9A-F]{2})*)",
    "U": r"(?P<seconds>[0-9]+\.[0-9]{9})",
    "I": "(?P<tst>[0-9T:-]+[+-][0-9]{4})",
}
"""What is read, by its letter."""
_OTHERS: Final = {"m": "[0-9]+", "%": "%", **dict.fromkeys("ACDEFPRS", ".*?")}
"""What may stand in a line, and is not read."""
_ESCAPES: Final = {"\\": "\\", "t": "\t", "a": "\a", "e": "\x1b", "v": "\v"}
_NUMBERS: Final = ("qos", "retain", "payloadlen")


def pattern_of(written: str) -> re.Pattern[str]:
    """The regular expression of a format. Raises PrecedesError (U001) for one that cannot be read."""
    parts: list[str] = []
    letters: list[str] = []
    for match in _CONVERSION.finditer(written):
        if (letter := match["letter"]) is not None:
            if letter not in _FIELDS and letter not in _OTHERS:
                raise usage(
                    f"`format` has %{letter}",
                    f"it may have %{' %'.join((*_FIELDS, *_OTHERS))}, without widths",
                )
            letters.append("x" if letter == "X" else letter)
            parts.append(_FIELDS.get(letter) or _OTHERS[letter])
        elif (time := match["time"]) is not None:
            parts.append("@" if time == "@" else ".*?")
        elif (escape := match["escape"]) is not None:
            if escape not in _ESCAPES:
                raise usage(rf"`format` has \{escape}", "a message is one line, and its text may have tabs")
            parts.append(re.escape(_ESCAPES[escape]))
        else:
            parts.append(re.escape(match["text"]))
    twice = [letter for letter in _FIELDS if letters.count(letter) > 1]
    if twice or {"p", "x"} <= set(letters) or {"U", "I"} <= set(letters):
        raise usage(f"`format` is {shown(written)}", "it has each of topic, payload and time once")
    return re.compile("".join(parts))


def records(source: TraceSource, pattern: re.Pattern[str]) -> Iterator[tuple[int, Fields]]:
    """The fields of each line, with its number, as the JSON of mosquitto_sub names them. Raises PrecedesError."""
    for place, line in lines(source, ended=True):
        match = pattern.fullmatch(line)
        try:
            if match is None:
                hint = (
                    "is this what `-F` said? A payload with line ends is printed by %x, in hexadecimal digits"
                )
                raise RowError("T007", f"this line is not as `format` says: {shown(line)}", hint)
            yield place, _record(match)
        except RowError as error:
            raise refused(source, place, error) from error


def _record(match: re.Match[str]) -> dict[str, Any]:
    """The fields that a line has. Raises RowError."""
    found: dict[str, Any] = match.groupdict()
    found |= {name: number(found[name], name) for name in _NUMBERS if name in found}
    if "hex" in found:
        try:
            found["payload"] = bytes.fromhex(found.pop("hex")).decode()
        except UnicodeDecodeError as error:
            raise RowError(
                "T006", "the payload is not UTF-8", "name messages by a topic, or not in bytes"
            ) from error
    size = found.get("payloadlen")
    if size is not None and "payload" in found and len(found["payload"].encode()) != size:
        said = f"the payload has {len(found['payload'].encode())} bytes, and %l says {size}"
        raise RowError("T007", said, "print it by %x, in hexadecimal digits")
    return found
