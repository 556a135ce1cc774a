"""Names of entities and messages as text: bare where that reads back, between quotation marks otherwise.

A backslash takes the next character as it is; `\\u{2028}` is the character of that number, so that no name can break
a line or reach a terminal as a command.
"""

from __future__ import annotations

import re
from typing import Final

from precedes.language.vocabulary import HISTORY_WORDS, KEYWORDS

# `m_` before braces would read as the paper's `m_{23}`.
_BARE: Final = re.compile(r"(?!\d)\w*[^\W_]")
_ESCAPED: Final = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|(.))", re.DOTALL)
_HIGHEST: Final = 0x10FFFF


def written(name: str) -> str:
    """A name as the language writes it: bare where it can be, quoted otherwise."""
    if _BARE.fullmatch(name) and name not in KEYWORDS and name not in HISTORY_WORDS:
        return name
    return quoted(name)


def quoted(text: str) -> str:
    """Text between quotation marks, on one line and printable whatever it is."""
    return '"' + "".join(_character(character) for character in text) + '"'


def unquoted(text: str) -> str:
    """What stands between the quotation marks of a quoted text, without them."""
    return _ESCAPED.sub(_meant, text) if "\\" in text else text


def shown(name: str) -> str:
    """A name in a sentence: as it is, unless one could not see where it ends or it would do something to a terminal."""
    return name if name and name.isprintable() and " " not in name else quoted(name)


def _character(character: str) -> str:
    if character in '\\"':
        return "\\" + character
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"


def _meant(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[2]
    number = int(found[1], 16)
    return chr(number) if number <= _HIGHEST else found[0][1:]
