"""Explorations of ST, by the same text that `precedes explore --script` takes."""

from __future__ import annotations

from typing import Any

from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.invariants import Invariant
from precedes.protocol.script import script
from precedes_models.st.protocol import SelectiveTotalOrder


def bounds(entities: int, sends: str, losses: int, **limits: Any) -> Bounds:
    """Up to these requests and so many losses."""
    return Bounds(entities=entities, script=script(sends, entities), losses=losses, **limits)


def explored(
    protocol: SelectiveTotalOrder,
    entities: int,
    sends: str,
    losses: int,
    invariants: tuple[Invariant, ...] | None = None,
    *,
    quiescent: bool = False,
    **limits: Any,
) -> Exploration:
    """Every behavior with these requests and up to so many losses."""
    within = bounds(entities, sends, losses, **limits)
    return explore(protocol, within, invariants=invariants, quiescent=quiescent)
