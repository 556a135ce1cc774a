"""Which times are of a calendar, and their dates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_EPOCH: Final = 10**17
"""Nanoseconds; times beyond are taken as of a calendar: from March 1973 on."""


def is_date(nanoseconds: int) -> bool:
    """Whether a time is taken as one of a calendar."""
    return nanoseconds > _EPOCH


def date_of(nanoseconds: int) -> str:
    """The date of a time of a calendar, in UTC: `2026-03-02`."""
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).date().isoformat()


def moment_of(nanoseconds: int) -> str:
    """Date and time of day, in UTC, to the second: `2026-03-02T10:00:00Z`."""
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
