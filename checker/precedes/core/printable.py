"""Text that a terminal can only display. Names, titles and rows come from other people, and printing them
must neither move the cursor nor reverse the reading order.

A character that is not printable is printed as `\\u{1b}`, as the language writes it, or in JSON as `\\u001b`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any, Final

_SUSPECT: Final = re.compile(r"[^\n\x20-\x7e]")
"""What may have to be written otherwise: asking each of these is enough, and most text has few."""


def escaped(character: str) -> str:
    """A character as its number, as the language reads it between quotation marks."""
    return f"\\u{{{ord(character):x}}}"


def printable(text: str) -> str:
    """The same text with numbers in the place of characters that are not printable; lines stay lines."""
    return _SUSPECT.sub(lambda found: found[0] if found[0].isprintable() else escaped(found[0]), text)


def json_text(document: Any) -> str:
    """A document as JSON of several lines, with a line break at its end, readable and all of it printable."""
    return printable_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def printable_json(text: str) -> str:
    """The same JSON with escapes in the place of characters that are not printable: these stand in strings only."""
    return _SUSPECT.sub(
        lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text
    )


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters of East Asia two, marks on others none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
