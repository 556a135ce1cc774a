"""What recordings keep: names and verdicts for each mode and fault, as numbers of runs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import precedes
from tools.recordings.run import Fault, Mode

SAMPLES: Final = Path(__file__).parents[2] / "traces" / "brokers"
TABLE: Final = SAMPLES / "table.json"

ORDER: Final = ("order_preserving", "order_equivalent", "every_delivery_in_order")
REST: Final = ("selectively_information_preserving", "no_duplication")
OF_GROUPS: Final = ("order_preserving", "every_delivery_in_order", "kept_by_groups", "once_per_group")
"""Members of a group share messages: nobody owes each of them."""
UNASKED: Final = frozenset({"time", "clock"})

Verdicts = Mapping[str, Sequence[int]]
"""Names, each with the runs in which it holds, is violated and is unknown."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One mode under one fault. `sample` is what the executions in traces/brokers say."""

    broker: str
    version: str
    client: str
    mode: str
    profile: str
    fault: str
    runs: int
    messages: int
    verdicts: Verdicts
    kept: Sequence[str]
    file: str
    sample: Verdicts


def asked(mode: Mode) -> tuple[str, ...]:
    """What every run of the mode is asked."""
    return tuple(dict.fromkeys((mode.profile, *(OF_GROUPS if mode.shared else (*ORDER, *REST)))))


def verdicts(rows: list[dict[str, Any]], names: Sequence[str]) -> Verdicts:
    """Numbers of executions by verdict."""
    found = precedes.verify(rows, list(names))
    return {name: [found[name].holds, found[name].violated, found[name].unknown] for name in names}


def kept(rows: list[dict[str, Any]]) -> list[str]:
    """The strongest names that all executions keep."""
    return list(precedes.infer(rows).kept)


def chosen(rows: list[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """The first execution, and for each name the first that violates it and the first in which it is unknown.

    Columns that nobody asks for are left out.
    """
    executions = list(dict.fromkeys(row["execution"] for row in rows))
    samples = {executions[0]: None}
    for execution in executions:
        found = verdicts([row for row in rows if row["execution"] == execution], names)
        shown = verdicts([row for row in rows if row["execution"] in samples], names)
        if any(found[name][k] and not shown[name][k] for name in names for k in (1, 2)):
            samples[execution] = None
    return [
        {column: value for column, value in row.items() if column not in UNASKED}
        for row in rows
        if row["execution"] in samples
    ]


def slug(text: str) -> str:
    """A name for a file or an execution."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())


def execution_name(fault: Fault, number: int) -> str:
    """What a run is called."""
    return f"{fault.name.lower()}-{number:02}"


def of_fault(rows: list[dict[str, Any]], fault: str) -> list[dict[str, Any]]:
    """The rows of the runs with a fault."""
    prefix = f"{Fault(fault).name.lower()}-"
    return [row for row in rows if str(row["execution"]).startswith(prefix)]


def write_sample(file: str, rows: list[dict[str, Any]]) -> None:
    """Write a sample; the same rows give the same bytes."""
    SAMPLES.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    (SAMPLES / file).write_bytes(gzip.compress(text.encode(), mtime=0))


def read_sample(file: str) -> list[dict[str, Any]]:
    """The rows of a sample."""
    text = gzip.decompress((SAMPLES / file).read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


def write(cells: Sequence[Cell]) -> None:
    """Write the table."""
    SAMPLES.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(asdict(cell), ensure_ascii=False) for cell in cells)
    TABLE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def read() -> list[Cell]:
    """Read the table."""
    return [Cell(**row) for row in json.loads(TABLE.read_text(encoding="utf-8"))]
