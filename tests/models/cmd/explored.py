"""Explorations that several tests look at, each done once."""

from __future__ import annotations

from functools import cache
from typing import Any

from precedes.protocol import Protocol
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration


@cache
def explored(protocol: Protocol[Any], bounds: Bounds) -> Exploration:
    """What the paper claims, and the invariants, with the reductions."""
    return explore(protocol, bounds)
