"""What it costs to ask something of each key: `python -m benchmarks.per_key [--quick]`.

`ST per key` against `ST` on one trace of about 1,000,000 events, whose messages have one of ten keys: the scan alone,
the batches being in memory, then `precedes verify` on the trace as it comes and on the trace converted. Once with many
small executions, once with a single large one. Prints a line for each; the load of the machine stands beside it.

`--million`: instead, `precedes verify` on 1,000,000 small executions, converted: `SP per key` and `ST per key` against
`ST`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import traces
from benchmarks.measuring import PRECEDES, Run, calling, process, side_by_side
from benchmarks.workload import Workload
from precedes.core.columns import Batch
from precedes.core.formula import Attribute, AttributeSort
from precedes.engines.columnar.batch_scan import scan
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from precedes.logic.plan import plan
from precedes.traces import Notices, TraceOptions, read_batches
from precedes.traces.layout.conversion import convert

KEYS = 10
KEY = Attribute("key", AttributeSort.TEXT)
ASKED = ("ST per key", "ST")


def keyed(workload: Workload) -> Path:
    """The workload with a column `key`: the same in every row of a message."""

    def make(path: Path) -> None:
        table = pq.read_table(traces.plain(workload))
        numbers = [
            pc.cast(pc.utf8_slice_codeunits(table[name], 1), pa.int64()).to_numpy()
            for name in ("execution", "message")
        ]
        mixed = (numbers[0] * 2_654_435_761 + numbers[1] * 40_503) % (1 << 32) >> 8
        keys = pa.array([f"k{k}" for k in range(KEYS)]).take(pa.array(mixed % KEYS))
        pq.write_table(table.append_column("key", keys), path, row_group_size=500_000)

    return traces.kept(f"keyed-{traces.name_of(workload)}.parquet", make)


def laid_out(workload: Workload) -> Path:
    """The same converted."""
    source = keyed(workload)
    return traces.kept(
        f"keyed-laid-out-{traces.name_of(workload)}.parquet",
        lambda path: _converted(source, path),
    )


def _converted(source: Path, target: Path) -> None:
    convert([source], target, Notices())


def scanning(batches: list[Batch], text: str) -> Run:
    """A scan of batches in memory."""
    prepared = plan([requirement(text, standard_library())])
    return calling(lambda: [scan(batch, prepared, jit=True) for batch in batches])


def verifying(path: Path, text: str) -> Run:
    """The command on a file."""
    return process([PRECEDES, "verify", str(path), "--require", text, "--max-violations", "0"], (0, 1))


def measured(workload: Workload, times: int) -> None:
    """Print the lines for one trace."""
    path = keyed(workload)
    batches = list(read_batches([str(path)], TraceOptions(attributes=(KEY,)), Notices()))
    events = sum(len(batch.event_kind) for batch in batches)
    print(f"{workload.executions:,} executions, {events:,} events")
    for what, runs in (
        ("the scan", [scanning(batches, text) for text in ASKED]),
        ("verify", [verifying(path, text) for text in ASKED]),
        ("verify, converted", [verifying(laid_out(workload), text) for text in ASKED]),
    ):
        ours, theirs = side_by_side(runs[0], runs[1], times)
        ratio = ours.seconds / theirs.seconds
        line = f"  {what:<20}{ours.seconds:9.3f} s {theirs.seconds:9.3f} s {ratio:6.2f}  load {ours.load:.1f}"
        print(line, flush=True)


def million(times: int) -> None:
    """Print the lines for very many executions."""
    workload = Workload(1_000_000, entities=3, messages=3)
    path = laid_out(workload)
    rows = pq.read_metadata(path).num_rows
    print(f"{workload.executions:,} executions, {rows:,} rows")
    for text in ("SP per key", "ST per key"):
        ours, theirs = side_by_side(verifying(path, text), verifying(path, "ST"), times)
        line = (
            f"  {text:<20}{ours.seconds:9.3f} s {theirs.seconds:9.3f} s {ours.seconds / theirs.seconds:6.2f}"
        )
        print(f"{line}  load {ours.load:.1f}", flush=True)


def main() -> None:
    """Arguments, then both traces."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the size")
    parser.add_argument("--million", action="store_true", help="1,000,000 executions")
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    if given.million:
        million(given.times)
        return
    by = 20 if given.quick else 1
    measured(Workload(40_000 // by), given.times)
    measured(Workload(1, entities=10, messages=170_000 // by, violations=0), given.times)


if __name__ == "__main__":
    main()
