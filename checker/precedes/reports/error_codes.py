"""What `precedes explain` prints."""

from __future__ import annotations

import re
import textwrap

from precedes.core.diagnostics import usage
from precedes.core.error_codes import codes
from precedes.core.suggestions import did_you_mean

WIDTH = 100


def explained(code: str) -> str:
    """One code. PrecedesError for one that there is not."""
    known = codes()
    wanted = code.upper()
    found = known.get(wanted) or next((entry for entry in known.values() if entry.name == code.lower()), None)
    if found is None:
        raise usage(
            f"there is no code {code}",
            did_you_mean(wanted, known) or "`precedes explain` lists all",
        )
    parts = [f"{found.code}  {found.title}"]
    parts += [textwrap.fill(text, WIDTH) for text in (found.why, found.help) if text]
    if found.severity is not None:
        parts.append(
            f"A rule of the gate, {found.name}; it counts as {found.severity} unless the configuration says otherwise."
        )
    return "\n\n".join(parts) + "\n"


def is_code(word: str) -> bool:
    """Whether a word is a code, is written like one, or is the name of a rule of the gate."""
    named = any(entry.name == word.lower() for entry in codes().values())
    return named or re.fullmatch(r"[A-Za-z]\d{3}", word) is not None


def listed() -> str:
    """All codes with their titles."""
    return "".join(f"{code.code}  {code.title}\n" for code in codes().values())
