r"""Lines that mosquitto_sub prints with a format, such as `-F '%U %q %r %x %t'`, taken apart by that format.

What `formatted_print` of sub_client_output.c does, the other way round. A field of text ends where what follows it in
the format first stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from precedes.core.diagnostics import usage
from precedes.traces.foreign.rows import lines, refused
from precedes.traces.foreign.typed_fields import Fields, number
from precedes.traces.formats.values import RowError, shown
from precedes.traces.sources import TraceSource

_CONVERSION: Final = re.compile(
    r"%(?P<letter>.?)|@(?P<time>.?)|\\(?P<escape>.?)|(?P<text>[^%@\\]+)", re.DOTALL
)
_TEXTS: Final = {"t": "(?P<topic>.+?)", "p": "(?P<payload>.*?)", **dict.fromkeys("ACDEFPRS", ".*?")}
"""What may be any text, by its letter; what has no name is not read."""
_FIELDS: Final = {
    "q": "(?P<qos>[0-2])",
    "r": "(?P<retain>[01])",
    "l": "(?P<payloadlen>[0-9]+)",
    "x": "(?P<hex>(?:[0-9a-f]{2})*)",
    "X": "(?P<hex>(?:[0-9A-F]{2})*)",
    "U": r"(?P<seconds>[0-9]+\.[0-9]{9})",
    "I": "(?P<tst>[0-9T:-]+[+-][0-9]{4})",
    "m": "[0-9]+",
}
"""What has a form of its own."""
_ESCAPES: Final = {"\\": "\\", "t": "\t", "a": "\a", "e": "\x1b", "v": "\v"}
_ALIKE: Final = {"X": "p", "x": "p", "I": "U"}
"""Letters that say what another one says."""
_NUMBERS: Final = ("qos", "retain", "payloadlen")


@dataclass(frozen=True, slots=True)
class _Part:
    """A regular expression for a part of a format: what stands there as it is (`fixed`), any text (`free`), or a field
    with a form of its own.
    """

    regex: str
    fixed: bool = False
    free: bool = False


def pattern_of(written: str) -> re.Pattern[str]:
    """The regular expression of a format. Raises PrecedesError (U001) for one that cannot be read."""
    conversions = list(_CONVERSION.finditer(written))
    said = Counter(_ALIKE.get(each["letter"], each["letter"]) for each in conversions if each["letter"])
    if any(said[letter] > 1 for letter in "tpUqrl"):
        raise usage(f"`format` is {shown(written)}", "it has each of topic, payload and time once")
    found, free = "", ""
    parts = list(_merged(map(_part, conversions)))
    for part in parts:
        if free and not part.fixed:
            hint = (
                "a topic, a payload and what is not read end where a text of the format stands, such as a tab"
            )
            raise usage(f"`format` is {shown(written)}, where two texts have nothing between them", hint)
        if free:
            # Where a text ends is decided once, at the first place that fits; the last one ends with the line.
            found += f"{free}{part.regex}" if part is parts[-1] else f"(?>{free}{part.regex})"
        elif not part.free:
            found += part.regex
        free = part.regex if part.free else ""
    return re.compile(found + free)


def _merged(parts: Iterable[_Part]) -> Iterator[_Part]:
    """The parts, of which those that stand there as they are and follow each other are one."""
    held = ""
    for part in parts:
        if part.fixed:
            held += part.regex
            continue
        if held:
            yield _Part(held, fixed=True)
        held = ""
        yield part
    if held:
        yield _Part(held, fixed=True)


def _part(match: re.Match[str]) -> _Part:
    """A part of a format. Raises PrecedesError (U001)."""
    if (letter := match["letter"]) is not None:
        if letter == "%":
            return _Part("%", fixed=True)
        if letter not in _TEXTS and letter not in _FIELDS:
            known = " ".join(f"%{each}" for each in sorted((*_TEXTS, *_FIELDS)))
            raise usage(f"`format` has %{letter}", f"it may have {known}, without widths")
        return _Part(_TEXTS.get(letter) or _FIELDS[letter], free=letter in _TEXTS)
    if (time := match["time"]) is not None:
        return _Part("@", fixed=True) if time == "@" else _Part(".*?", free=True)
    if (escape := match["escape"]) is not None:
        if escape not in _ESCAPES:
            raise usage(rf"`format` has \{escape}", "a message is one line, and its text may have tabs")
        return _Part(re.escape(_ESCAPES[escape]), fixed=True)
    return _Part(re.escape(match["text"]), fixed=True)


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
