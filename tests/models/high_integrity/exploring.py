"""One multicast of node 0 to all, explored: the setting of all explorations here."""

from __future__ import annotations

from collections.abc import Sequence

from precedes.protocol import Message
from precedes.protocol.bounds import Bounds
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration
from precedes.protocol.invariants import Invariant
from precedes_models.high_integrity.protocol import HighIntegrity


def bounds(entities: int, **faults: int) -> Bounds:
    """One request, and up to so many faults of some kinds."""
    message = Message(0, 1, frozenset(range(entities)))
    return Bounds(entities=entities, script=((message,), *[()] * (entities - 1)), **faults)


def explored(
    protocol: HighIntegrity, entities: int, invariants: Sequence[Invariant] | None = None, **faults: int
) -> Exploration:
    """Every order of everything, with up to so many faults of some kinds."""
    exploration = explore(protocol, bounds(entities, **faults), invariants=invariants)
    assert exploration.complete, exploration.stopped_by
    return exploration


def broken(exploration: Exploration) -> set[str]:
    """The names of what was found violated."""
    return {finding.property for finding in exploration.findings}
