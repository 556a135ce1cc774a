"""What it costs to ask about views: `python -m benchmarks.views [--quick]`.

`precedes verify` on 1,000,000 small executions, converted: `virtual_synchrony` and `extended_virtual_synchrony` against
`ST`. Every entity of the workload installs one view before anything else, and another one after everything. Once the
messages go to everybody, so that most executions satisfy what is asked, and once to any entities, so that nearly all
violate it. Prints a line for each question; the load of the machine stands beside it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import traces
from benchmarks.measuring import PRECEDES, Run, process, side_by_side
from benchmarks.workload import Workload
from precedes.traces import Notices
from precedes.traces.layout.conversion import convert

LAST = 1_000_000
"""A place behind all others in a history."""

WORKLOADS = {
    "everybody": Workload(1_000_000, entities=3, messages=3, sets=3),
    "any of them": Workload(1_000_000, entities=3, messages=3),
}
"""What is asked, by whom messages are addressed to."""


def with_views(workload: Workload) -> Path:
    """The workload with two rows more for each entity: the views `first` and `last`, of all entities."""

    def make(path: Path) -> None:
        table = pq.read_table(traces.plain(workload))
        table = table.set_column(
            table.column_names.index("seq"), "seq", pc.add(pc.cast(table["seq"], pa.int64()), 1)
        )
        histories = table.group_by(["execution", "entity"]).aggregate([])
        members = pc.unique(histories["entity"]).sort()
        views = [
            _rows(table.schema, histories, members, view, seq) for view, seq in (("first", 0), ("last", LAST))
        ]
        named = [name for name in views[0].column_names if name not in table.column_names]
        for name in named:
            table = table.append_column(name, pa.nulls(len(table), views[0].schema.field(name).type))
        whole = pa.concat_tables([table, *views]).sort_by("execution")
        pq.write_table(whole, path, row_group_size=500_000)

    return traces.kept(f"views-{traces.name_of(workload)}.parquet", make)


def _rows(schema: pa.Schema, histories: pa.Table, members: pa.Array, view: str, seq: int) -> pa.Table:
    count = len(histories)
    known = {
        "execution": histories["execution"].cast(schema.field("execution").type),
        "entity": histories["entity"].cast(schema.field("entity").type),
        "seq": pa.array(np.full(count, seq)),
        "event": pa.array(["view"]).take(pa.array(np.zeros(count, np.int64))),
    }
    columns = {name: known.get(name, pa.nulls(count, schema.field(name).type)) for name in schema.names}
    columns["view"] = pa.array([view]).take(pa.array(np.zeros(count, np.int64)))
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * len(members))
    everybody = members.take(pa.array(np.tile(np.arange(len(members)), count)))
    columns["members"] = pa.ListArray.from_arrays(offsets, everybody)
    return pa.table(columns)


def laid_out(workload: Workload) -> Path:
    """The same converted."""
    source = with_views(workload)
    return traces.kept(
        f"views-laid-out-{traces.name_of(workload)}.parquet", lambda path: converted(source, path)
    )


def converted(source: Path, target: Path) -> None:
    convert([source], target, Notices())


def verifying(path: Path, text: str) -> Run:
    """The command on a file."""
    return process([PRECEDES, "verify", str(path), "--require", text, "--max-violations", "0"], (0, 1))


def main() -> None:
    """Arguments, then each question beside `ST`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the size")
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    executions = 10_000 if given.quick else 1_000_000
    for to_whom, workload in WORKLOADS.items():
        path = laid_out(replace(workload, executions=executions))
        print(f"{executions:,} executions, {pq.read_metadata(path).num_rows:,} rows, messages to {to_whom}")
        for text in ("virtual_synchrony", "extended_virtual_synchrony"):
            ours, theirs = side_by_side(verifying(path, text), verifying(path, "ST"), given.times)
            times = f"{ours.seconds:9.3f} s {theirs.seconds:9.3f} s {ours.seconds / theirs.seconds:6.2f}"
            print(f"  {text:<28}{times}  load {ours.load:.1f}", flush=True)


if __name__ == "__main__":
    main()
