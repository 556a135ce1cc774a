"""What is known of every code that a user can meet: the text behind `precedes explain CODE`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


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
    table = tomllib.loads(Path(__file__).with_name("codes.toml").read_text(encoding="utf-8"))
    return {code: Code(code, **entry) for code, entry in table.items()}
