"""The codes that a user can meet: what each means, why it appears, and what to do. `precedes explain CODE`
prints them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Code:
    """A code: what happened in one line, why, and what to do. `name` and `severity` are for rules of the gate."""

    code: str
    title: str
    help: str
    why: str = ""
    name: str | None = None
    severity: str | None = None


@cache
def codes() -> Mapping[str, Code]:
    """All codes, in the order of the file."""
    table = tomllib.loads(files("precedes.core").joinpath("error_codes.toml").read_text(encoding="utf-8"))
    return {code: Code(code, **entry) for code, entry in table.items()}
