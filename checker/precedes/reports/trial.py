"""How `precedes convert --try` is printed: each row of a log beside what it becomes, then what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from precedes.core.counts import counted
from precedes.core.printable import printable
from precedes.traces.schema import INPUT_COLUMNS
from precedes.traces.trial import Trial, TriedRow

NARROWEST: Final = 100


def as_text(trial: Trial, width: int = NARROWEST) -> str:
    """The rows, the fields that were not found, and what the missing columns mean for verdicts. Rows are cut at the
    width.
    """
    lines = [f"{trial.file}: the first {counted(len(trial.rows), 'row')}"]
    for row in trial.rows:
        lines += ["", *_row(row, max(width, NARROWEST))]
    refused = sum(row.became is None for row in trial.rows)
    if refused:
        lines += ["", f"{counted(refused, 'row')} of {len(trial.rows)} not taken"]
    if trial.absent:
        lines += ["", f"none of these rows has {', '.join(trial.absent)}: are these names right?"]
    if trial.lacks:
        widest = max(len(lack.what) for lack in trial.lacks)
        lines += ["", "Not in these rows:"]
        lines += [f"  {lack.what:<{widest}}  {lack.consequence}" for lack in trial.lacks]
    return "\n".join(lines) + "\n"


def _row(row: TriedRow, width: int) -> Iterator[str]:
    yield _values(f"row {row.number}", {} if row.given is None else row.given, width)
    if row.became is not None:
        columns = (*INPUT_COLUMNS, *row.became)
        yield _values("  is", {name: row.became[name] for name in columns if name in row.became}, width)
        return
    yield f"  not taken: {printable(row.why or '')}"
    if row.hint is not None:
        yield f"    {printable(row.hint)}"


def _values(before: str, given: Mapping[str, object], width: int) -> str:
    values = " ".join(f"{name}={_value(value)}" for name, value in given.items())
    text = printable(f"{before}  {values}" if values else before)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _value(value: object) -> str:
    if isinstance(value, str | Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))
