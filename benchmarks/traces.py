"""The files that are measured, made once and kept in build/bench."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.sql import write_integers
from benchmarks.workload import Workload, write
from precedes.traces import Notices, expand
from precedes.traces.layout.columnar_file import LAYOUT_SCHEMA, VERSION, footer, layout_of
from precedes.traces.layout.conversion import convert

FOLDER = Path("build/bench") / f"layout-{VERSION}"
"""A columnar file of another version is no columnar file any more."""


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """The file of this name, made where it is not there yet."""
    path = FOLDER / name
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"unfinished-{name}")
        make(unfinished)
        unfinished.rename(path)
    return path


def name_of(workload: Workload) -> str:
    """What tells one workload from another."""
    return f"{workload.executions}-{workload.entities}-{workload.messages}-{workload.seed}-{workload.sets}"


def plain(workload: Workload) -> Path:
    """The trace as it comes, in Parquet."""
    return kept(f"plain-{name_of(workload)}.parquet", lambda path: write(workload, str(path)))


def laid_out(workload: Workload) -> Path:
    """The trace converted."""
    source = plain(workload)
    return kept(f"laid-out-{name_of(workload)}.parquet", lambda path: _converted(source, path))


def _converted(source: Path, target: Path) -> None:
    convert([source], target, Notices())


def integers(workload: Workload) -> Path:
    """The trace as integers, for SQL."""
    return kept(f"integers-{name_of(workload)}.parquet", lambda path: write_integers(workload, path))


def shuffled(workload: Workload) -> Path:
    """The trace with its rows in random order."""
    source = plain(workload)

    def make(path: Path) -> None:
        table = pq.read_table(source)
        order = np.random.default_rng(workload.seed).permutation(len(table))
        pq.write_table(table.take(pa.array(order)), path, row_group_size=1_000_000)

    return kept(f"shuffled-{name_of(workload)}.parquet", make)


def repeated(workload: Workload, times: int) -> Path:
    """The laid-out trace so many times as long: its executions again under other names."""
    source = laid_out(workload)
    layout = layout_of(expand([source])[0])
    if layout is None:
        raise RuntimeError(f"{source} is not laid out")

    def make(path: Path) -> None:
        file = pq.ParquetFile(source)
        with pq.ParquetWriter(path, LAYOUT_SCHEMA, compression="zstd") as writer:
            groups = []
            for k in range(times):
                for number, group in enumerate(layout.groups):
                    table = file.read_row_group(number)
                    names = pa.compute.binary_join_element_wise(str(k), table["execution"], "")
                    writer.write_table(table.set_column(0, LAYOUT_SCHEMA.field(0), names), len(table))
                    groups.append(replace(group, first=f"{k}{group.first}", last=f"{k}{group.last}"))
            writer.add_key_value_metadata(footer(groups, layout.told))

    return source if times == 1 else kept(f"laid-out-{name_of(workload)}-x{times}.parquet", make)
