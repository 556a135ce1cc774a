"""The rules of the gate: the kinds of findings, and how much each counts by default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from precedes.core.error_codes import codes
from precedes.gate.config import Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `code` is stable; `name` is for machines that want one; `help` says what to do."""

    code: str
    name: str
    title: str
    help: str
    severity: Severity


@cache
def rules() -> Mapping[str, Rule]:
    """All rules by code, in the order of their codes."""
    return {
        code.code: Rule(code.code, code.name, code.title, code.help, cast(Severity, code.severity))
        for code in codes().values()
        if code.severity is not None and code.name is not None
    }
