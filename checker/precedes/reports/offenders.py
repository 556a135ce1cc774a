"""Offenders in words: what violates a name in an execution, and the rows where it was read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from precedes.core.counts import counted
from precedes.engines.columnar.offenders import Offender, Offenders
from precedes.language.quoting import shown


def lines(offenders: Offenders) -> Iterator[str]:
    """How many there are, a line for each of the first, and how many more."""
    if not offenders.count:
        yield "no offender can be named here: the deciding events were not recorded, or the search takes too long"
        return
    most = "" if offenders.exact else "at least "
    yield f"{most}{counted(offenders.count, 'offender')} here{':' if offenders.first else ''}"
    for offender in offenders.first:
        yield f"  {_said(offender)}{_read(offender)}"
    more = offenders.count - len(offenders.first)
    if offenders.first and more:
        yield f"  and {most}{more:,} more here"
    elif offenders.first and not offenders.exact:
        yield "  and perhaps more here: it takes too long to count them"


def values(offenders: Offenders) -> dict[str, Any]:
    """The same for programs. `count` is null where there are too many to count; `at_least` is what was counted."""
    return {
        "count": offenders.count if offenders.exact else None,
        "at_least": offenders.count,
        "first": [_value(offender) for offender in offenders.first],
    }


def _value(offender: Offender) -> dict[str, Any]:
    """An offender; its part as an object where something is asked per value."""
    found = asdict(offender)
    part = dict(found.pop("part"))
    return found | ({"part": part} if part else {})


def _said(offender: Offender) -> str:
    names = (offender.entities, offender.messages)
    parts = [", ".join(map(shown, part)) for part in names if part]
    return ": ".join(parts) or "the execution as a whole"


def _read(offender: Offender) -> str:
    """` (file: rows 1, 3)`, where that was kept."""
    rows: dict[str, list[int]] = {}
    for event in offender.events:
        if event.file is not None and event.row is not None:
            rows.setdefault(event.file, []).append(event.row)
    said = [
        f"{file}: row{'' if len(found) == 1 else 's'} {', '.join(map(str, sorted(found)))}"
        for file, found in rows.items()
    ]
    return f" ({'; '.join(said)})" if said else ""
