"""What the tests of the dynamic cluster explore."""

from __future__ import annotations

from functools import cache
from typing import Any

from precedes.protocol import Protocol
from precedes.protocol.bounds import Bounds, Destinations
from precedes.protocol.exploration.explorer import explore
from precedes.protocol.exploration.result import Exploration, Finding
from precedes.protocol.model import Message


def bounds(
    entities: int,
    messages: int = 1,
    *,
    script: str | None = None,
    losses: int = 0,
    crashes: int = 0,
    recoveries: int = 0,
    depth: int | None = None,
) -> Bounds:
    """Bounds in which every message goes to all. `script` names the senders: "ac" is one message of E1, one of E3."""
    everybody = frozenset(range(entities))
    sent = None
    if script is not None:
        counts = [script.count(chr(ord("a") + k)) for k in range(entities)]
        sent = tuple(
            tuple(Message(k, number + 1, everybody) for number in range(count))
            for k, count in enumerate(counts)
        )
    return Bounds(
        entities=entities,
        messages=messages,
        destinations=Destinations.BROADCAST,
        script=sent,
        losses=losses,
        crashes=crashes,
        recoveries=recoveries,
        depth=depth,
    )


@cache
def explored(protocol: Protocol[Any], within: Bounds) -> Exploration:
    """Everything that is claimed."""
    return explore(protocol, within)


def violated(found: Exploration) -> dict[str, int]:
    """What does not hold, and after how many moves that shows. The first move is how it began."""
    return {finding.property: len(finding.behavior) - 1 for finding in found.findings}


def finding(protocol: Protocol[Any], within: Bounds, name: str) -> Finding:
    """The finding of one property."""
    return next(each for each in explored(protocol, within).findings if each.property == name)
