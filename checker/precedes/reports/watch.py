"""How `precedes watch` prints what changes: a line for each violation, or a JSON object for each change."""

from __future__ import annotations

import json

from precedes.core.printable import printable_json
from precedes.engines.scan.standings import Standing
from precedes.jobs.watch import Change


def as_text(change: Change) -> str | None:
    """A line for what is violated for good; None for what may change yet, and for what its parts show."""
    if change.standing is not Standing.VIOLATED or change.witness is None:
        return None
    witness = json.loads(change.witness)
    shown = "; ".join(
        f"{kind} {', '.join(names)}" for kind, names in witness.items() if kind != "part" and names
    )
    return f"{change.execution}: {change.predicate} is violated" + (f" ({shown})" if shown else "")


def as_json(change: Change) -> str:
    """An object in a line."""
    document = {
        "execution": change.execution,
        "predicate": change.predicate,
        "standing": change.standing.value,
        "witness": json.loads(change.witness) if change.witness else None,
        "reasons": change.reasons,
    }
    return printable_json(json.dumps(document, ensure_ascii=False)) + "\n"
