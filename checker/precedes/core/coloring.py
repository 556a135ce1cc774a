"""By what pictures color messages: what is read of a trace for them, and which of it is preferred."""

from __future__ import annotations

from typing import Final

COLORED_BY: Final = ("key", "session", "partition", "channel", "topic")
"""Attributes of the library, the preferred first."""
