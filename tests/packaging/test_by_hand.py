"""What docs/performance.md compares with is right: causal order by hand says what the definition says."""

from __future__ import annotations

import random
from typing import Any

import precedes
from benchmarks.vector_clocks import judged

NAMES = ["causal_order", "no_creation", "no_duplication"]


def execution(name: str, chance: random.Random) -> list[dict[str, Any]]:
    """Entities that send to all and deliver in any order, not everything, now and then twice or what nobody sent."""
    rows: list[dict[str, Any]] = []
    places = dict.fromkeys("ABC", 0)
    owed = {entity: list[str]() for entity in places}
    for number in range(14):
        entity = chance.choice("ABC")
        event, message = "send", f"m{number}"
        if owed[entity] and chance.random() < 0.7:
            event, message = "deliver", owed[entity].pop(0 if chance.random() < 0.7 else -1)
            if chance.random() < 0.05:
                owed[entity].append(message)
        elif chance.random() < 0.05:
            event = "deliver"
        else:
            for other in owed.values():
                other.append(message)
        row = {
            "execution": name,
            "entity": entity,
            "seq": places[entity],
            "event": event,
            "message": message,
        }
        places[entity] += 1
        rows.append(row)
    return rows


def test_causal_order_by_hand_is_causal_order() -> None:
    chance = random.Random(7)
    executions = {f"x{x:03}": execution(f"x{x:03}", chance) for x in range(60)}
    report = precedes.verify(
        [row for rows in executions.values() for row in rows], NAMES, max_violations=10_000
    )
    ours = {(violation.execution, violation.predicate) for violation in report.violations}
    theirs = set()
    for name, rows in executions.items():
        kept = judged([(row["entity"], row["seq"], row["event"], row["message"]) for row in rows])
        theirs |= {(name, predicate) for predicate, holds in zip(NAMES, kept, strict=True) if not holds}
    assert report["causal_order"].unknown == 0
    assert theirs == ours
    assert {predicate for _, predicate in ours} == set(NAMES)
