"""Names of entities and messages as text: bare if the lexer reads that back, otherwise in quotation marks.

A backslash takes the next character literally. `\\u{2028}` is the character with that number, so that no name
can break a line or reach a terminal as a command.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from precedes.core.printable import escaped
from precedes.language.vocabulary import HISTORY_WORDS, KEYWORDS

# `m_` before braces would read as the paper's `m_{23}`.
_BARE: Final = re.compile(r"(?!\d)\w*[^\W_]")
# As ids are made of parts: topic-0-17, a:b, a/b, someone@host.
_PLAIN: Final = re.compile(r"\w(?:[\w.:/@+=~-]*\w)?")
_PROSE: Final = frozenset(
    (
        *("after", "and", "at", "before", "both", "by", "each", "everybody", "from", "in", "is", "it", "its"),
        *("neither", "no", "nobody", "none", "nor", "not", "nothing", "of", "or", "somebody", "than", "that"),
        *("the", "then", "there", "to", "twice", "was", "were", "with", "without", "which"),
        *(
            "delivers",
            "sends",
            "receives",
            "discards",
            "crashes",
            "recovers",
            "entity",
            "message",
            "execution",
        ),
    )
)
"""Words that sentences are made of. Bare, an id that is one of these would read as a part of the sentence."""
_ESCAPED: Final = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|(.))", re.DOTALL)
_HIGHEST: Final = 0x10FFFF


def written(name: str) -> str:
    """A name as the language writes it: bare where it can be, quoted otherwise."""
    if _BARE.fullmatch(name) and name not in KEYWORDS and name not in HISTORY_WORDS:
        return name
    return quoted(name)


def quoted(text: str) -> str:
    """Text between quotation marks, on one line and printable whatever it is."""
    first, rest = text[:1], text[1:]
    if first and unicodedata.category(first).startswith("M"):
        # It would be drawn on the quotation mark.
        return f'"{escaped(first)}{"".join(map(_character, rest))}"'
    return f'"{"".join(map(_character, text))}"'


def unquoted(text: str) -> str:
    """What stands between the quotation marks of a quoted text, without them."""
    return _ESCAPED.sub(_meant, text) if "\\" in text else text


def shown(name: str) -> str:
    """A name in a sentence: bare where one sees where it ends and that it is no word of the sentence, else quoted."""
    bare = _PLAIN.fullmatch(name) and name.lower() not in _PROSE
    return name if bare and name not in KEYWORDS else quoted(name)


def _character(character: str) -> str:
    if character in '\\"':
        return "\\" + character
    return character if character.isprintable() else escaped(character)


def _meant(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[2]
    number = int(found[1], 16)
    return chr(number) if number <= _HIGHEST else found[0][1:]
