"""JSON Lines and CSV beside Arrow's own readers: `python -m benchmarks.raw_text [--rows 1000000] [--commands]`.

The workload of `python -m benchmarks` as text: as it is written, with ids that are numbers in some rows and texts in
others (beside Arrow's reading of the first, for it cannot read this), with columns that are no part of a trace, and
without `seq` and `time`. Ours makes canonical rows and keeps nothing, Arrow finds its own types and gives a table; in
this process, in turns, seconds of the processor, all threads together: both have as many as there are cores. With
`--commands`, whole processes of `precedes verify` and `precedes convert` stand beside one in which Arrow reads the
file. Prints a line for each, and writes build/raw_text.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from benchmarks import traces
from benchmarks.measuring import PRECEDES, Run, calling, once, side_by_side
from benchmarks.workload import Workload, rows, table
from precedes.native.compiled_functions import load_llvm
from precedes.traces import Notices
from precedes.traces.reader import read_table
from precedes.traces.sources import source_of

Row = dict[str, Any]


def ordinary(row: Row, place: int) -> Row:  # noqa: ARG001 - the others need the place
    """The row as it is."""
    return row


def mixed(row: Row, place: int) -> Row:  # noqa: ARG001 - the others need the place
    """Every third message is a number, and so is each execution of which the number is odd."""
    message, execution = int(row["message"][1:]), int(row["execution"][1:])
    changed = {"message": message} if message % 3 == 0 else {}
    return row | changed | ({"execution": execution} if execution % 2 else {})


def with_others(row: Row, place: int) -> Row:
    """Columns of somebody else: a text, a number, and in JSON an object."""
    return row | {"host": f"node-{place % 17}", "took": place % 1000 / 8, "labels": {"zone": f"z{place % 3}"}}


def without(row: Row, place: int) -> Row:  # noqa: ARG001 - the others need the place
    """No `seq` and no `time`."""
    return {name: value for name, value in row.items() if name not in ("seq", "time")}


MIXED = "numbers and texts as ids"
KINDS: dict[str, Callable[[Row, int], Row]] = {
    "as it is written": ordinary,
    MIXED: mixed,
    "other columns": with_others,
    "no seq, no time": without,
}


SUFFIXES = ("jsonl", "csv")


def written(kind: str, count: int, suffix: str) -> Path:
    """The file."""

    def make(path: Path) -> None:
        workload = Workload(count // 25)
        plain = table(workload, rows(workload))
        seconds = pc.divide(plain["time"].cast(pa.int64()).cast(pa.float64()), 1e6)
        plain = plain.set_column(6, "time", seconds)
        changed = [KINDS[kind](row, place) for place, row in enumerate(plain.to_pylist())]
        with path.open("w", encoding="utf-8") as file:
            if suffix == "jsonl":
                file.writelines(
                    json.dumps({k: v for k, v in row.items() if v is not None}, separators=(",", ":")) + "\n"
                    for row in changed
                )
            else:
                file.write(",".join(changed[0]) + "\n")
                file.writelines(",".join(map(_cell, row.values())) + "\n" for row in changed)

    return traces.kept(f"text-{kind.replace(' ', '-').replace(',', '')}-{count}.{suffix}", make)


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case list() | dict():
            return '"' + json.dumps(value).replace('"', '""') + '"'
        case _:
            return str(value)


def ours(path: Path) -> None:
    """Canonical rows as `verify` asks for them, ids as they are numbered; nothing is kept."""
    for _ in read_table(replace(source_of(str(path)), coded=True), Notices()):
        pass


def arrows(path: Path) -> None:
    """Arrow's reader of the format."""
    if path.suffix == ".jsonl":
        pyarrow.json.read_json(path)
    else:
        pyarrow.csv.read_csv(path)


def reading(read: Callable[[Path], None], path: Path) -> Run:
    """A call, by the clock of the processor."""
    return calling(partial(read, path), time.process_time)


def in_turns(rows: int, times: int) -> dict[str, Any]:
    """Each file, read in turns in this process."""
    # As it is in a process that has judged before.
    load_llvm()
    found = {}
    for suffix in SUFFIXES:
        for kind in KINDS:
            path = written(kind, rows, suffix)
            # Arrow cannot read a column of numbers and texts in JSON.
            beside = (
                written("as it is written", rows, suffix) if kind == MIXED and suffix == "jsonl" else path
            )
            one, other = side_by_side(reading(ours, path), reading(arrows, beside), times)
            megabytes = path.stat().st_size / 1e6
            found[f"{suffix} {kind}"] = _noted(f"{suffix:<6}{kind}", one.seconds, other.seconds) | {
                "mb": megabytes
            }
    return found


def commands(rows: int, times: int) -> dict[str, Any]:
    """Whole processes in turns, seconds of the processor, medians."""
    found = {}
    for suffix in SUFFIXES:
        path = str(written("as it is written", rows, suffix))
        module = "json" if suffix == "jsonl" else suffix
        read = f"import pyarrow.{module} as r; r.read_{module}({path!r})"
        asked = {
            "verify --require ST": [PRECEDES, "verify", path, "--require", "ST"],
            "convert": [PRECEDES, "convert", path, "-o", str(traces.FOLDER / "converted.parquet")],
        }
        for name, command in asked.items():
            turns = [(once(command), once([sys.executable, "-c", read])) for _ in range(times + 1)][1:]
            one, other = (statistics.median(e.processor for e in side) for side in zip(*turns, strict=True))
            peak = max(one.peak_mib for one, _ in turns)
            found[f"{suffix} {name}"] = _noted(f"{suffix:<6}{name}", one, other) | {"peak_mib": peak}
    return found


def _noted(what: str, one: float, other: float) -> dict[str, float]:
    load = os.getloadavg()[0]
    print(f"  {what:<34}{one:8.3f} {other:8.3f} {one / other:6.2f}  load {load:.1f}", flush=True)
    return {"ours": one, "theirs": other, "ratio": one / other, "load": load}


def main() -> None:
    """Each file in turns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--commands", action="store_true", help="whole processes")
    given = parser.parse_args()
    measured = (commands if given.commands else in_turns)(given.rows, given.times)
    written_to = Path("build/raw_text.json")
    document = json.loads(written_to.read_text(encoding="utf-8")) if written_to.exists() else {}
    document |= {"rows": given.rows, "commands" if given.commands else "read": measured}
    written_to.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
